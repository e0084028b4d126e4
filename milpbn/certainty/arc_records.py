"""What is known about each arc: the best structures that differ from a model in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from milpbn.anytime import allowed_gap
from milpbn.schema import known_entries
from milpbn.structure import Structure


@dataclass(frozen=True)
class ArcAnswer:
    """The best score of the structures with an arc, or without an arc between two variables.

    Attributes
    ----------
    parent, child
        The arc.
    present
        True: all structures with the arc. False: all structures without an arc between the two
        variables, in either direction.
    value
        The score of the best structure found; None if none was found.
    bound
        None of these structures scores more; None if there are none at all.
    changes
        How the best structure found differs from the model's: the parents of the variables whose
        families differ.
    resolutions
        The resolutions in these families, without those that are 0.
    nodes, seconds
        The work that was done.
    """

    parent: str
    child: str
    present: bool
    value: float | None
    bound: float | None
    changes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    resolutions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    nodes: int = 0
    seconds: float = 0.0

    def closed(self, scale: float = 1.0) -> bool:
        """Whether the score is proven to be the best, at the tolerance of a score's scale."""
        if self.bound is None:
            return True
        slack = allowed_gap(self.value or 0.0, scale)
        return self.value is not None and self.bound - self.value <= slack

    def loss(self, objective: float, scale: float = 1.0) -> ScoreLoss:
        """By how much these structures score less than the model."""
        low = math.inf if self.bound is None else objective - self.bound
        high = math.inf if self.value is None else objective - self.value
        return ScoreLoss(low, high, self.closed(scale))


@dataclass(frozen=True)
class ScoreLoss:
    """An interval for a loss of score; infinite if no structure is allowed.

    Attributes
    ----------
    low
        Proven: every such structure scores at least this much less than the model.
    high
        Found: a structure scores this much less; infinite if none was found.
    closed
        Whether the two agree, at the usual tolerance.
    """

    low: float
    high: float
    closed: bool

    def __or__(self, other: ScoreLoss) -> ScoreLoss:
        """The loss if the structures of either kind are allowed."""
        return ScoreLoss(
            min(self.low, other.low), min(self.high, other.high), self.closed and other.closed
        )


def show_loss(loss: ScoreLoss | None, tolerance: float) -> str:
    """A loss as one number, or as an interval while it is open.

    Examples
    --------
    >>> show_loss(ScoreLoss(2.1, 2.1, True), 1e-6), show_loss(ScoreLoss(0.5, 2.1, False), 1e-6)
    ('2.1000', '0.5000 to 2.1000')
    """
    if loss is None:
        return ""
    if math.isinf(loss.low):
        return "impossible"
    low, high = ("?" if math.isinf(x) else _rounded(x, tolerance) for x in (loss.low, loss.high))
    return high if loss.closed else f"{low} to {high}"


def _rounded(value: float, tolerance: float) -> str:
    return f"{0.0 if abs(value) <= tolerance else value:.4f}"


@dataclass(frozen=True)
class ArcMargin:
    """How much score an arc decides.

    Attributes
    ----------
    parent, child
        The arc.
    present
        Whether the model has it.
    margin
        For an arc of the model, the loss of all structures without it; for another arc, the loss
        of all structures with it.
    edge
        For an arc of the model, the loss of all structures without an arc between the two
        variables in either direction; otherwise None.
    """

    parent: str
    child: str
    present: bool
    margin: ScoreLoss
    edge: ScoreLoss | None = None

    @property
    def strength(self) -> ScoreLoss:
        """The loss without the edge for an arc of the model, else the margin."""
        return self.edge or self.margin


@dataclass(frozen=True)
class ArcMargins:
    """The answers for all arcs of a model.

    Attributes
    ----------
    objective
        The score of the model's structure.
    answers
        One per arc that is possible.
    scale
        Scores closer to zero than this count as this large where a tolerance is relative to them.
    """

    objective: float
    answers: tuple[ArcAnswer, ...]
    scale: float = 1.0

    @cached_property
    def arcs(self) -> tuple[ArcMargin, ...]:
        """One margin per arc: those of the model first, the largest loss first."""
        losses = {
            (a.parent, a.child, a.present): a.loss(self.objective, self.scale) for a in self.answers
        }
        out = []
        for (parent, child, present), loss in losses.items():
            if present:
                out.append(ArcMargin(parent, child, False, loss))
                continue
            # Without x -> y there is y -> x, or no arc between them.
            turned = losses.get((child, parent, True))
            margin = loss if turned is None else loss | turned
            out.append(ArcMargin(parent, child, True, margin, loss))
        out.sort(key=lambda a: -a.strength.high if a.present else a.margin.high)
        return tuple(sorted(out, key=lambda a: not a.present))

    @property
    def names(self) -> set[str]:
        """The variables of all answers."""
        found: set[str] = set()
        for a in self.answers:
            found.update((a.parent, a.child), a.changes, *a.changes.values())
        return found

    @property
    def closed(self) -> int:
        """Number of answers that are proven."""
        return sum(a.closed(self.scale) for a in self.answers)

    @property
    def complete(self) -> bool:
        """Whether all answers are proven."""
        return self.closed == len(self.answers)

    @property
    def tolerance(self) -> float:
        """A loss up to this counts as none."""
        return allowed_gap(self.objective, self.scale)

    @property
    def best(self) -> float:
        """The highest score among the structures found; above `objective`, if it is not optimal."""
        return max([self.objective, *(a.value for a in self.answers if a.value is not None)])

    def of(self, structure: Structure) -> dict[tuple[str, str], ArcMargin]:
        """The margins of the arcs of a structure."""
        arcs = set(structure.arcs)
        return {(a.parent, a.child): a for a in self.arcs if (a.parent, a.child) in arcs}

    def to_frame(self) -> pd.DataFrame:
        """One line per arc, as intervals: `low` is proven, `high` is attained.

        `edge_low` and `edge_high` are for removing the arc in both directions.
        """
        return pd.DataFrame(
            [
                {
                    "parent": a.parent,
                    "child": a.child,
                    "present": a.present,
                    "low": a.margin.low,
                    "high": a.margin.high,
                    "edge_low": a.edge.low if a.edge else math.nan,
                    "edge_high": a.edge.high if a.edge else math.nan,
                    "proven": a.margin.closed and (a.edge is None or a.edge.closed),
                }
                for a in self.arcs
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for model files."""
        return {
            "objective": self.objective,
            "scale": self.scale,
            "answers": [
                {
                    **{k: v for k, v in vars(a).items() if k != "resolutions" or v},
                    "changes": {k: list(v) for k, v in a.changes.items()},
                }
                for a in self.answers
            ],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ArcMargins:
        """The inverse of :meth:`to_dict`."""
        answers = (ArcAnswer(**known_entries(ArcAnswer, a)) for a in content["answers"])
        scale = float(content.get("scale", cls.scale))
        return cls(float(content["objective"]), tuple(answers), scale)
