"""A network: a structure with its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.errors import DataError
from milpbn.families.smoothing import Smoothing
from milpbn.structure import Structure


@dataclass(frozen=True)
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
        order) and the variable's own states last.
    """

    structure: Structure
    variables: tuple[Variable, ...]
    log_cpts: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        for i, cpt in enumerate(self.log_cpts):
            shape = tuple(self.variables[v].card for v in self.scope(i))
            if cpt.shape != shape:
                raise DataError(
                    f"the table of {self.variables[i].name!r} has shape {cpt.shape}, not {shape}"
                )

    def scope(self, variable: int) -> tuple[int, ...]:
        """The axes of a variable's table: its parents, then itself."""
        return (*self.structure.parents[variable], variable)

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
    cpts = []
    for i, parents in enumerate(structure.parents):
        scope = (*parents, i)
        counts = np.zeros(tuple(variables[v].card for v in scope))
        np.add.at(counts, tuple(codes[:, v] for v in scope), 1.0 if weights is None else weights)
        cpts.append(smoothing.log_theta(counts, axis=-1))
    return Network(structure, tuple(variables), tuple(cpts))
