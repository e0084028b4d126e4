"""The penalised conditional log-likelihood as results name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PenalisedCLL:
    """Conditional log-likelihood with a BIC penalty for every base model.

    See :mod:`milpbn.mdc.training` for the formula.
    """

    base: str
    mixed: str
    name: str = "pcll"

    def settings(self) -> dict[str, Any]:
        """The settings, as reports and model files show them."""
        return {"base": self.base, "mixed": self.mixed}
