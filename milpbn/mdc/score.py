"""The scores of class networks, as results report them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from milpbn.scores.local import LocalScores


@dataclass(frozen=True)
class PenalisedCLL(LocalScores):
    """Conditional log-likelihood with a BIC penalty for every base model.

    Its local scores come from trained base models; see :mod:`milpbn.mdc.local_scores` for the
    formula.
    """

    base: str = ""
    mixed: str = ""
    name = "pcll"
    title = "penalised conditional log-likelihood"

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`."""
        return {"base": self.base, "mixed": self.mixed}


@dataclass(frozen=True)
class HeldOutCLL(PenalisedCLL):
    """Conditional log-likelihood of rows that are held out, fold by fold."""

    validation: int = 0
    fold_seed: int = 0
    name = "hcll"
    title = "held-out conditional log-likelihood"

    def settings(self) -> dict[str, Any]:
        """See :class:`~milpbn.scores.Score`."""
        own = {"validation": self.validation, "fold_seed": self.fold_seed}
        return {**super().settings(), **own}
