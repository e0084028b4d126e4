"""A network: a structure with its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Coarsening, Variable
from milpbn.errors import DataError, OptionError
from milpbn.families.smoothing import Smoothing
from milpbn.markup import folded
from milpbn.network.queries import joint_of, sample_codes
from milpbn.structure import Structure
from milpbn.words import count, quoted, visible

# Rows and columns of a table that a notebook shows.
_SHOWN = 60


@dataclass(frozen=True, repr=False)
class Network:
    """A structure with one conditional probability table per variable.

    Attributes
    ----------
    structure
        The graph; the class is variable 0.
    variables
        Names and states, in the structure's order.
    log_cpts
        For each variable an array with one axis per parent (in the structure's
        order) and the variable's own states last. The states are those of the resolutions in
        which the structure sees the variables.
    counts
        Tables of the same shapes with the (weighted) numbers of training rows; None if they
        are not known, as in imported networks.
    shares
        For each variable, the log-probability of each finest state given the coarser state that
        the family of the variable sees, whatever the parents are; empty if the structure sees all
        variables in their finest states.

    Examples
    --------
    >>> from milpbn import BNClassifier, load_dataset
    >>> car = load_dataset("car")
    >>> network = BNClassifier(method="nb").fit(car.features, car.target).network_
    >>> network
    <Network: class 'class' with 4 states, 6 features, 6 arcs, 63 parameters>
    >>> network.table("safety").round(3)
    safety   high    low    med
    class
    acc     0.530  0.003  0.468
    good    0.431  0.014  0.556
    unacc   0.229  0.476  0.295
    vgood   0.971  0.015  0.015
    >>> network.table("safety", counts=True)
    safety  high  low    med
    class
    acc      204    0    180
    good      30    0     39
    unacc    277  576    357
    vgood     65    0      0
    """

    structure: Structure
    variables: tuple[Variable, ...]
    log_cpts: tuple[FloatArray, ...]
    counts: tuple[FloatArray, ...] | None = None
    shares: tuple[FloatArray, ...] = ()

    def __post_init__(self) -> None:
        for tables in (self.log_cpts, self.counts or ()):
            for i, table in enumerate(tables):
                shape = tuple(c.card for c in self.axes(i))
                if table.shape != shape:
                    name = self.variables[i].name
                    raise DataError(f"the table of {name!r} has shape {table.shape}, not {shape}")
        needed = [v.card for v in self.variables] if self.structure.resolutions else []
        if [len(own) for own in self.shares] != needed:
            raise DataError("a network with coarser states needs a share for each finest state")

    def scope(self, variable: int) -> tuple[int, ...]:
        """The axes of a variable's table: its parents, then itself."""
        return self.structure.scope(variable)

    def axes(self, variable: int) -> tuple[Coarsening, ...]:
        """The states along the axes of a variable's table, as its family sees them."""
        pairs = zip(self.scope(variable), self.structure.seen(variable), strict=True)
        return tuple(resolution_of(self.variables[v], r) for v, r in pairs)

    def look_up(self, variable: int, index: Sequence[Codes]) -> FloatArray:
        """The log-probabilities of finest states; `index` has the codes of each axis."""
        found = self.tied(variable, index)
        return found + self.shares[variable][index[-1]] if self.shares else found

    def tied(self, variable: int, index: Sequence[Codes]) -> FloatArray:
        """The log-probabilities of the states that the family sees, by codes of finest states."""
        if not self.structure.resolutions:
            return self.log_cpts[variable][tuple(index)]
        pairs = zip(self.axes(variable), index, strict=True)
        out: FloatArray = self.log_cpts[variable][
            tuple(np.array(a.of)[codes] for a, codes in pairs)
        ]
        return out

    @cached_property
    def finest(self) -> Network:
        """The same distribution with tables over the finest states, without counts."""
        if not self.structure.resolutions:
            return self
        plain = Structure(self.structure.variables, self.structure.parents)
        tables = []
        for i in range(len(self.variables)):
            states = [range(self.variables[v].card) for v in self.scope(i)]
            tables.append(self.look_up(i, np.ix_(*states)))
        return Network(plain, self.variables, tuple(tables))

    def table(self, variable: str, *, counts: bool = False) -> pd.DataFrame:
        """The probabilities of a variable by the states of its parents.

        One row per configuration of the parents, whose names are those of the index levels;
        one column per state. The table of a variable without parents has a single row. With
        epsilon smoothing, a row may sum to slightly more than 1. The states are those that the
        family of the variable sees.

        Parameters
        ----------
        variable
            The name of the variable.
        counts
            Return the numbers of training rows instead of probabilities; with weights, the sums
            of the weights.
        """
        i = index_of(variable, self.variables)
        names = [self.variables[v].name for v in self.scope(i)]
        *parents, own = (axis.states for axis in self.axes(i))
        return pd.DataFrame(
            (self._counts(i) if counts else np.exp(self.log_cpts[i])).reshape(-1, len(own)),
            index=_configurations(names[:-1], parents),
            columns=pd.Index(own, name=names[-1]),
        )

    def query(
        self, variables: str | Sequence[str], given: Mapping[str, str] | None = None
    ) -> pd.Series[float]:
        """The joint distribution of some variables, given the states of others.

        Everything else is summed out exactly. This is for small questions; to predict rows, use
        the classifier.

        Parameters
        ----------
        variables
            The variables asked for, by name.
        given
            The states of other variables, as in ``{"class": "yes"}``.

        Returns
        -------
        Series
            One probability for each combination of states; the names of the variables are those
            of the index levels.

        Raises
        ------
        OptionError
            If a variable or state does not exist, or the table would be too large.

        Examples
        --------
        >>> from milpbn import BNClassifier, load_dataset
        >>> car = load_dataset("car")
        >>> network = BNClassifier(method="nb").fit(car.features, car.target).network_
        >>> network.query("safety", {"class": "good"}).round(3)
        safety
        high    0.431
        low     0.014
        med     0.556
        Name: probability, dtype: float64
        >>> network.query(["class"], {"safety": "high", "persons": "4"}).round(3).tolist()
        [0.474, 0.07, 0.324, 0.132]
        """
        names = [variables] if isinstance(variables, str) else list(variables)
        asked = [index_of(name, self.variables) for name in names]
        states = {index_of(name, self.variables): state for name, state in (given or {}).items()}
        _check_question(names, given or {})
        codes = {v: self._code(v, state) for v, state in states.items()}
        joint = joint_of(self.finest, asked, codes)
        index = _configurations(names, [self.variables[v].states for v in asked])
        return pd.Series(joint.ravel(), index=index, name="probability")

    def sample(self, n: int, seed: int = 0) -> pd.DataFrame:
        """Draw rows from the network: the states of all variables.

        Parameters
        ----------
        n
            Number of rows.
        seed
            Random seed.

        Examples
        --------
        >>> from milpbn import BNClassifier, load_dataset
        >>> car = load_dataset("car")
        >>> network = BNClassifier(method="nb").fit(car.features, car.target).network_
        >>> rows = network.sample(1000, seed=1)
        >>> rows.columns.tolist()
        ['class', 'buying', 'maint', 'doors', 'persons', 'lug_boot', 'safety']
        >>> bool((rows["class"] == "unacc").mean().round(1) == 0.7)
        True
        """
        if n < 0:
            raise OptionError(f"the number of rows must not be negative, and it is {n}")
        codes = sample_codes(self.finest, n, seed)
        columns = {
            v.name: np.array(v.states, dtype=object)[codes[:, j]]
            for j, v in enumerate(self.variables)
        }
        return pd.DataFrame(columns)

    def _code(self, variable: int, state: str) -> int:
        name, states = self.variables[variable].name, self.variables[variable].states
        if state not in states:
            raise OptionError(f"{name!r} has no state {state!r}; the states are {quoted(states)}")
        return states.index(state)

    def _counts(self, variable: int) -> npt.NDArray[Any]:
        if self.counts is None:
            raise OptionError("the network has no counts: it was imported, or its file is too old")
        found = self.counts[variable]
        # Weights may be fractions.
        return found.astype(np.int64) if (found == np.round(found)).all() else found

    def __repr__(self) -> str:
        arcs = count(len(self.structure.arcs), "arc")
        return (
            f"<Network: {summary(self.variables)}, {arcs}, {count(self.n_parameters, 'parameter')}>"
        )

    def _repr_html_(self) -> str:
        return tables_html(self, repr(self))

    @property
    def has_counts(self) -> bool:
        """Whether the numbers of training rows are known."""
        return self.counts is not None

    @property
    def n_classes(self) -> int:
        """Number of states of the class."""
        return self.variables[0].card

    @cached_property
    def is_normalised(self) -> tuple[bool, ...]:
        """For each table, whether its rows sum to one (with epsilon smoothing they may not)."""
        return tuple(
            bool(np.allclose(np.exp(c).sum(axis=-1), 1.0, rtol=0, atol=1e-12))
            for c in self.log_cpts
        )

    @property
    def n_parameters(self) -> int:
        """Free parameters: (r_i - 1) q_i over the variables."""
        return sum((c.shape[-1] - 1) * prod(c.shape[:-1]) for c in self.log_cpts)


def index_of(variable: str, variables: Sequence[Variable]) -> int:
    """The position of the variable with this name."""
    names = [v.name for v in variables]
    if variable not in names:
        raise OptionError(f"there is no variable {variable!r}; the variables are {quoted(names)}")
    return names.index(variable)


def _check_question(names: Sequence[str], given: Mapping[str, str]) -> None:
    if not names:
        raise OptionError("a query needs the name of a variable")
    twice = [name for k, name in enumerate(names) if name in names[:k] or name in given]
    if twice:
        where = "given, too" if twice[0] in given else "named twice"
        raise OptionError(f"a query asks for {twice[0]!r}, which is {where}")


def summary(variables: Sequence[Variable]) -> str:
    """The class and the number of features in a few words."""
    target, *features = variables
    return f"class {target.name!r} with {target.card} states, {count(len(features), 'feature')}"


def tables_html(network: Any, heading: str) -> str:
    """The tables of a network or multinet, folded; each is shown with a click."""
    parts = [f"<p>{escape(heading)}</p>"]
    for variable in network.variables:
        table = network.table(variable.name).iloc[:_SHOWN, :_SHOWN]
        parents = [name for name in table.index.names if name is not None]
        given = f" given {', '.join(parents)}" if parents else ""
        parts.append(folded(f"{variable.name}{given}", table.to_html(float_format="{:.4f}".format)))
    return visible("".join(parts))


def resolution_of(variable: Variable, index: int) -> Coarsening:
    """One of the resolutions of a variable; raises if it does not exist."""
    if index >= variable.n_resolutions:
        raise DataError(f"variable {variable.name!r} has no resolution {index}")
    return variable.resolution(index)


def _configurations(names: list[str], states: Sequence[tuple[str, ...]]) -> pd.Index[str]:
    """The states of the parents in the order of a table; an empty label without parents."""
    if not names:
        return pd.Index([""])
    if len(names) == 1:
        return pd.Index(states[0], name=names[0])
    return pd.MultiIndex.from_product(states, names=names)


def seen_in(
    variables: Sequence[Variable], codes: Codes, scope: Sequence[int], seen: Sequence[int]
) -> tuple[list[Variable], Codes]:
    """Variables and rows of codes as a family sees them: in the resolutions `seen` of `scope`.

    Examples
    --------
    >>> x = Variable("x", ("a", "b", "c"), (Coarsening(("ab", "c"), (0, 0, 1)),))
    >>> seen_in([x], np.array([[0], [1], [2]]), [0], [1])[1].ravel().tolist()
    [0, 0, 1]
    """
    shown = list(variables)
    for v, r in zip(scope, seen, strict=True):
        if r:
            coarse = resolution_of(variables[v], r)
            shown[v] = Variable(variables[v].name, coarse.states)
            codes = codes.copy()
            codes[:, v] = np.array(coarse.of)[codes[:, v]]
    return shown, codes


def fit_network(
    structure: Structure,
    variables: Sequence[Variable],
    codes: Codes,
    smoothing: Smoothing,
    weights: FloatArray | None = None,
) -> Network:
    """Smoothed maximum-likelihood parameters from complete rows of codes; they may have weights.

    The rows are counted directly, without the tables of the learners, so that the definitions
    of the scores are independent of those tables.
    """
    tables = []
    for i in range(len(variables)):
        scope = structure.scope(i)
        seen, rows = seen_in(variables, codes, scope, structure.seen(i))
        counts = np.zeros(tuple(seen[v].card for v in scope))
        np.add.at(counts, tuple(rows[:, v] for v in scope), 1.0 if weights is None else weights)
        tables.append(counts)
    cpts = tuple(smoothing.log_theta(counts, axis=-1) for counts in tables)
    shares = fit_shares(structure, variables, codes, smoothing, weights)
    return Network(structure, tuple(variables), cpts, tuple(tables), shares)


def fit_shares(
    structure: Structure,
    variables: Sequence[Variable],
    codes: Codes,
    smoothing: Smoothing,
    weights: FloatArray | None = None,
) -> tuple[FloatArray, ...]:
    """The shares of a network, see :class:`Network`; they always add up to 1."""
    if not structure.resolutions:
        return ()
    out = []
    for i, variable in enumerate(variables):
        of = np.array(resolution_of(variable, structure.seen(i)[-1]).of)
        counts = np.bincount(codes[:, i], weights, minlength=variable.card)
        share = np.zeros(variable.card)
        for inside in (of == k for k in range(of.max() + 1)):
            share[inside] = scipy.special.log_softmax(smoothing.log_theta(counts[inside], axis=0))
        out.append(share)
    return tuple(out)
