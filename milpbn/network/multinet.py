"""The Bayesian multinet: one network over the features per class.

    P(c, z) = P(c) P_c(z),   each P_c with its own structure and parameters

The network of a class is an ordinary network whose class variable has a single state, so
looking up rows and summing out missing features work as for networks.

References
----------
Geiger & Heckerman (1996), Knowledge representation and inference in similarity networks and
Bayesian multinets.
Pernkopf & Bilmes (2005), Discriminative versus generative parameter and structure
learning of Bayesian network classifiers, section 2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.errors import DataError
from milpbn.families.smoothing import Smoothing
from milpbn.network.network import (
    Network,
    fit_network,
    fit_shares,
    index_of,
    summary,
    tables_html,
)
from milpbn.structure import AnyStructure, ClassStructures
from milpbn.words import count


@dataclass(frozen=True, repr=False)
class Multinet:
    """One network per class.

    Attributes
    ----------
    structure
        The structures of the classes.
    variables
        Names and states, the class first.
    networks
        For each class, a network whose first variable has this class as its only state; the
        table of that variable holds ``log P(c)``.
    """

    structure: ClassStructures
    variables: tuple[Variable, ...]
    networks: tuple[Network, ...]

    def __post_init__(self) -> None:
        if self.structure.classes != self.variables[0].states:
            raise DataError(
                "a multinet needs one structure per state of the class, in the order of the states"
            )

    def table(self, variable: str, *, counts: bool = False) -> pd.DataFrame:
        """The probabilities of a variable by the class and the states of its parents.

        As :meth:`Network.table`, with all classes in one table: the index levels are the class
        and every variable that is a parent in the network of some class. The label is empty
        where it is not a parent.
        """
        target = self.variables[0].name
        own = [network.table(variable, counts=counts) for network in self.networks]
        if index_of(variable, self.variables) == 0:
            return pd.concat(own, axis=1).rename_axis(columns=target)
        used = {name for table in own for name in table.index.names} - {target, None}
        levels = [target, *(v.name for v in self.variables if v.name in used)]
        labels = []
        for state, table in zip(self.variables[0].states, own, strict=True):
            given = table.index.to_frame(index=False).assign(**{target: state})
            labels.append(given.reindex(columns=levels, fill_value=""))
        return pd.concat(own).set_axis(pd.concat(labels).set_index(levels).index)

    def __repr__(self) -> str:
        parameters = count(self.n_parameters, "parameter")
        return f"<Multinet: {summary(self.variables)}, one network per class, {parameters}>"

    def _repr_html_(self) -> str:
        return tables_html(self, repr(self))

    @property
    def has_counts(self) -> bool:
        """Whether the numbers of training rows are known."""
        return all(network.has_counts for network in self.networks)

    @property
    def n_classes(self) -> int:
        """Number of states of the class."""
        return self.variables[0].card

    @property
    def n_parameters(self) -> int:
        """Free parameters of the class and of all features."""
        # A class with a single state has no free parameter in its own network.
        return self.n_classes - 1 + sum(n.n_parameters for n in self.networks)

    @property
    def log_prior(self) -> FloatArray:
        """``log P(c)``."""
        return np.array([n.log_cpts[0][0] for n in self.networks])


Classifier = Network | Multinet
"""A network or a multinet."""


def class_variables(variables: Sequence[Variable], c: int) -> tuple[Variable, ...]:
    """The variables of the network of class c: the class has only this state."""
    return (Variable(variables[0].name, (variables[0].states[c],)), *variables[1:])


def fit_multinet(
    structure: ClassStructures,
    variables: Sequence[Variable],
    codes: Codes,
    smoothing: Smoothing,
    weights: FloatArray | None = None,
) -> Multinet:
    """Smoothed maximum-likelihood parameters from complete rows of codes; they may have weights."""
    counts = np.bincount(codes[:, 0], weights, minlength=variables[0].card).astype(np.float64)
    log_prior = smoothing.log_theta(counts, axis=-1)
    networks = []
    for c, own in enumerate(structure.structures):
        inside = codes[:, 0] == c
        rows = codes[inside].copy()
        rows[:, 0] = 0
        amounts = None if weights is None else weights[inside]
        network = fit_network(own, class_variables(variables, c), rows, smoothing, amounts)
        tables = (np.array([log_prior[c]]), *network.log_cpts[1:])
        # The shares are those of all classes, so that they cancel between classes.
        shares = fit_shares(own, variables, codes, smoothing, weights)
        shares = (np.zeros(1), *shares[1:]) if shares else ()
        networks.append(replace(network, log_cpts=tables, shares=shares))
    return Multinet(structure, tuple(variables), tuple(networks))


def fit_classifier(
    structure: AnyStructure,
    variables: Sequence[Variable],
    codes: Codes,
    smoothing: Smoothing,
    weights: FloatArray | None = None,
) -> Classifier:
    """Smoothed maximum-likelihood parameters for one structure, or for one per class."""
    if isinstance(structure, ClassStructures):
        return fit_multinet(structure, variables, codes, smoothing, weights)
    return fit_network(structure, variables, codes, smoothing, weights)


def count_more(network: Classifier, codes: Codes, smoothing: Smoothing) -> Classifier:
    """The classifier of smoothed maximum likelihood after more complete rows of codes.

    Its counts are known. All variables are seen in their finest states: the shares of finer ones
    cannot be counted from the tables.
    """
    more = fit_classifier(network.structure, network.variables, codes, smoothing)
    if isinstance(network, Multinet):
        assert isinstance(more, Multinet)
        pairs = zip(network.networks, more.networks, strict=True)
        parts = [_recounted(one, other, smoothing) for one, other in pairs]
        totals = np.array([own.counts[0][0] for own in parts if own.counts is not None])
        log_prior = smoothing.log_theta(totals, axis=-1)
        networks = (
            replace(own, log_cpts=(log_prior[c : c + 1], *own.log_cpts[1:]))
            for c, own in enumerate(parts)
        )
        return replace(network, networks=tuple(networks))
    assert isinstance(more, Network)
    return _recounted(network, more, smoothing)


def _recounted(network: Network, more: Network, smoothing: Smoothing) -> Network:
    assert network.counts is not None
    assert more.counts is not None
    counts = tuple(a + b for a, b in zip(network.counts, more.counts, strict=True))
    log_cpts = tuple(smoothing.log_theta(table, axis=-1) for table in counts)
    return replace(network, log_cpts=log_cpts, counts=counts)
