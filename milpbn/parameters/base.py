"""The interface of the parameter learners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from milpbn._types import Codes, FloatArray
from milpbn.clock import Clock
from milpbn.encoding.columns import Variable
from milpbn.families.smoothing import Smoothing
from milpbn.network.multinet import Classifier
from milpbn.result import ParameterReport
from milpbn.specs import Specified
from milpbn.structure import AnyStructure


@dataclass(frozen=True)
class Parameters(Specified, ABC):
    """A way to learn parameters for a given structure.

    The settings are the fields of the class; ``str`` gives them in the form that
    :func:`make_parameters` reads.
    """

    title: ClassVar[str]
    counted: ClassVar[bool] = False
    """Whether the parameters are shares of counts, so that nothing is searched for."""

    @property
    def resolutions(self) -> tuple[int, ...]:
        """The resolution of tables with one feature, with two, ...; 0 is the finest.

        Tables with more features, here all, are seen as the search saw them. Fine bins need
        neighbours that support each other.
        """
        return ()

    @abstractmethod
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
        """Learn parameters from complete rows of codes; return the network and a report.

        Without `weights`, every row counts as one. `guess` is what this learner chose for similar
        rows: it is tried first, and used if there is no time to choose.
        """

    def settled(self, chosen: Mapping[str, Any]) -> Parameters:
        """The learner with what it chose for similar rows as given settings."""
        return self
