"""The penalised conditional log-likelihood of class networks, as results report it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from milpbn.scores.local import LocalScores


@dataclass(frozen=True)
class PenalisedCLL(LocalScores):
    """Conditional log-likelihood with a BIC penalty for every base model.

    Its local scores come from trained base models; see :mod:`milpbn.mdc.training` for the
    formula.
    """

    base: str = ""
    mixed: str = ""
    name = "pcll"
    title = "penalised conditional log-likelihood"

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`."""
        return {"base": self.base, "mixed": self.mixed}
