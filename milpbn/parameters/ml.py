"""ML: smoothed relative frequencies, which maximise the likelihood of the training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from milpbn._types import Codes, FloatArray
from milpbn.clock import Clock
from milpbn.encoding.columns import Variable
from milpbn.families.smoothing import Smoothing
from milpbn.network.multinet import Classifier, fit_classifier
from milpbn.parameters.base import Parameters
from milpbn.result import ParameterReport
from milpbn.structure import AnyStructure


@dataclass(frozen=True)
class MaximumLikelihood(Parameters):
    """Maximum likelihood with the smoothing of the run (Laplace or epsilon)."""

    name = "ml"
    title = "maximum likelihood"
    counted = True

    def fit(
        self,
        structure: AnyStructure,
        variables: Sequence[Variable],
        codes: Codes,
        smoothing: Smoothing,
        clock: Clock | None = None,
        weights: FloatArray | None = None,
        guess: Mapping[str, Any] | None = None,
    ) -> tuple[Classifier, ParameterReport]:
        """See :class:`~milpbn.parameters.Parameters`."""
        network = fit_classifier(structure, variables, codes, smoothing, weights)
        return network, ParameterReport(str(self))
