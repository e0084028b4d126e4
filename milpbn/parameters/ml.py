"""ML: smoothed relative frequencies, the parameters that make the training rows likeliest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milpbn.clock import Clock
from milpbn.encoding.columns import Variable
from milpbn.families.smoothing import Smoothing
from milpbn.network.network import Codes, Network, fit_network
from milpbn.parameters.base import Parameters
from milpbn.result import ParameterReport
from milpbn.structure import Structure


@dataclass(frozen=True)
class MaximumLikelihood(Parameters):
    """Maximum likelihood with the smoothing of the run (Laplace or epsilon)."""

    name = "ml"
    title = "maximum likelihood"

    def fit(
        self,
        structure: Structure,
        variables: Sequence[Variable],
        codes: Codes,
        smoothing: Smoothing,
        clock: Clock | None = None,
    ) -> tuple[Network, ParameterReport]:
        """See :class:`~milpbn.parameters.Parameters`."""
        return fit_network(structure, variables, codes, smoothing), ParameterReport(str(self))
