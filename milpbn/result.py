"""One result for every learner, exact or not, and the any-time events that lead to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from milpbn.markup import folded, html_table
from milpbn.structure import AnyStructure, structure_from_dict


class Status(StrEnum):
    """How a run ended.

    ``OPTIMAL`` means a proof at the stated tolerance; ``FEASIBLE`` means that the run
    ended by itself without one (a heuristic, or the requested gap). No result has the
    status ``INFEASIBLE``: it is the status of a solver for a program without a solution.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True)
class TracePoint:
    """One any-time event: what was known after `time` seconds, and what found it."""

    time: float
    objective: float | None
    bound: float | None
    nodes: int = 0
    source: str = ""

    @property
    def gap_rel(self) -> float | None:
        """The relative gap; None while the objective or the bound is missing."""
        return relative_gap(self.objective, self.bound)


Listener = Callable[[TracePoint], None]


def relative_gap(objective: float | None, bound: float | None) -> float | None:
    """``(bound - objective) / |objective|``, as in HiGHS and in Peharz & Pernkopf (2012).

    None without a bound, and if the objective is 0 and the bound is not: no share of it is open.

    Examples
    --------
    >>> relative_gap(50.0, 51.0)
    0.02
    >>> relative_gap(50.0, None) is relative_gap(0.0, 51.0) is None
    True
    """
    if objective is None or bound is None or math.isinf(bound):
        return None
    gap = max(bound - objective, 0.0)
    if gap == 0.0:
        return 0.0
    return gap / abs(objective) if objective != 0.0 else None


# What a result says besides its fields, as properties of it.
_DERIVED = ("gap_abs", "gap_rel", "gap_of_hinge_loss", "log_loss", "log_loss_bound")
# Minus this score is a log-loss.
_LOG_LOSS = "cll"


@dataclass(frozen=True)
class WarmStart:
    """The start that was offered to the solver, and what the solver did with it."""

    source: str
    objective: float
    accepted: bool | None = None
    improvement: float | None = None


@dataclass(frozen=True)
class Result:
    """What a learner found, what it proved, and what it cost.

    Attributes
    ----------
    status
        See :class:`Status`.
    structure
        The best structure; for a multinet, one per class.
    objective
        Its score, computed from the data again and not taken from the solver.
    bound
        No structure in the search space scores higher than this (at `tolerance`);
        None for heuristics.
    bound_is_trivial
        Whether the bound is the one that was known before the search: every row at its hinge, or
        every variable with its best parents.
    tolerance, scale
        Relative tolerance at which bound and optimality are stated. Objectives closer to zero than
        the scale count as that large.
    score, score_parameters
        The score's name and settings (p, gamma, smoothing, ...).
    source
        What found the structure: ``"naive-bayes"``, ``"warm-start"``, ``"HiGHS"``, ...
    engine, solver
        The engine and the solver with its version.
    nodes, evaluations
        Number of branch-and-bound nodes, and of score evaluations by heuristics.
    n_rows, weight
        Number of training rows, and the sum of their weights; 0 if there were none, as for local
        scores.
    seconds
        Seconds per phase; ``sum(seconds.values())`` is the time of the run.
    """

    status: Status
    structure: AnyStructure
    objective: float
    bound: float | None
    score: str
    score_parameters: dict[str, Any] = field(default_factory=dict)
    bound_is_trivial: bool = False
    tolerance: float = 1e-6
    scale: float = 1.0
    source: str = ""
    engine: str = ""
    solver: str = ""
    nodes: int = 0
    evaluations: int = 0
    n_rows: int = 0
    weight: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)
    warm_start: WarmStart | None = None
    trace: tuple[TracePoint, ...] = ()

    @property
    def gap_abs(self) -> float | None:
        """``bound - objective``, never negative."""
        return None if self.bound is None else max(self.bound - self.objective, 0.0)

    @property
    def gap_rel(self) -> float | None:
        """The gap as a fraction of ``|objective|``."""
        return relative_gap(self.objective, self.bound)

    @property
    def gap_of_hinge_loss(self) -> float | None:
        """The gap as a fraction of the hinge loss ``gamma * weight - objective``.

        If the soft margin is near zero, its relative gap means little, but the hinge loss
        stays away from zero. None if the score has no gamma or there is no bound.
        """
        gamma = self.score_parameters.get("gamma")
        if gamma is None or self.gap_abs is None or not self.weight:
            return None
        loss = gamma * self.weight - self.objective
        return self.gap_abs / loss if loss > 0 else 0.0

    @property
    def log_loss(self) -> float | None:
        """The log-loss per row, if the score is minus a log-loss.

        It is that of the rows that the score sees: of held-out rows with a validation. A penalty
        for parameters is part of it.
        """
        known = self.score == _LOG_LOSS and self.weight
        return -self.objective / self.weight if known else None

    @property
    def log_loss_bound(self) -> float | None:
        """No structure in the search space has a log-loss below this."""
        if self.log_loss is None or self.bound is None:
            return None
        return max(-self.bound, 0.0) / self.weight

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; :meth:`from_dict` is the inverse."""
        out = asdict(self)
        out["status"] = str(self.status)
        out["structure"] = self.structure.to_dict()
        if resolutions := self.structure.resolutions_to_dict():
            out["resolutions"] = resolutions
        out |= {name: getattr(self, name) for name in _DERIVED}
        return out

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Result:
        """Rebuild a result written by :meth:`to_dict`; a string for a number raises ValueError."""
        seen = data.get("resolutions")
        data = {k: v for k, v in data.items() if k not in (*_DERIVED, "resolutions")}
        start = data.get("warm_start")
        return cls(
            **{
                **data,
                "status": Status(data["status"]),
                "structure": structure_from_dict(data["structure"], seen),
                "objective": float(data["objective"]),
                "bound": _float_or_none(data["bound"]),
                "score_parameters": _score_parameters(**data.get("score_parameters", {})),
                "tolerance": float(data.get("tolerance", cls.tolerance)),
                "scale": float(data.get("scale", cls.scale)),
                "n_rows": int(float(data.get("n_rows", 0))),
                "weight": float(data.get("weight", data.get("n_rows", 0))),
                "seconds": {k: float(v) for k, v in data.get("seconds", {}).items()},
                "warm_start": _warm_start(**start) if start else None,
                "trace": tuple(_trace_point(**p) for p in data.get("trace", ())),
            }
        )

    def facts(self) -> list[tuple[str, str]]:
        """Names and values in words, as they are printed."""
        facts = [("status", str(self.status)), ("score", _score_line(self))]
        facts.append(("objective", f"{self.objective:.6f}"))
        if self.bound is not None:
            trivial = " (trivial: known before the search)" if self.bound_is_trivial else ""
            facts += [("bound", f"{self.bound:.6f}{trivial}"), ("gap", format_gap(self))]
        if self.gap_abs is not None and self.weight and self.status is not Status.OPTIMAL:
            facts.append(("open", _open_line(self)))
        if (said := log_loss_in_words(self)) is not None:
            facts.append(("proven", said))
        facts.append(("found by", self.source))
        if self.warm_start is not None:
            facts.append(("warm start", _start_line(self.warm_start)))
        facts.append(("engine", f"{self.engine} ({self.solver})" if self.solver else self.engine))
        if self.nodes:
            facts.append(("nodes", str(self.nodes)))
        if self.evaluations:
            facts.append(("evaluations", str(self.evaluations)))
        phases = ", ".join(f"{k} {v:.2f}" for k, v in self.seconds.items())
        facts.append(("seconds", f"{sum(self.seconds.values()):.2f} ({phases})"))
        return facts

    def __str__(self) -> str:
        return "\n".join(f"{name:<12}{value}" for name, value in self.facts())

    def _repr_html_(self) -> str:
        return html_table(self.facts()) + folded("structure", self.structure._repr_html_())


@dataclass(frozen=True)
class ParameterReport:
    """How parameters were learned.

    Attributes
    ----------
    method
        The learner and its settings, as :func:`~milpbn.parameters.make_parameters` reads them.
    measure
        What was maximised: ``"likelihood"``, ``"conditional log-likelihood"``, ...
    start, objective
        Its value on the training rows at the maximum-likelihood start and at the end,
        without any penalty; None for maximum likelihood itself.
    chosen
        The settings that cross-validation chose, by name.
    iterations
        Number of steps of the optimiser.
    ended
        ``"converged"``, ``"iterations"`` (the requested or chosen number was reached),
        ``"time_limit"`` or ``"interrupted"``.
    seconds
        Time for learning the parameters.
    """

    method: str
    measure: str = "likelihood"
    start: float | None = None
    objective: float | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    iterations: int = 0
    ended: str = "converged"
    seconds: float = 0.0

    @property
    def stopped_early(self) -> bool:
        """Whether the time limit or an interrupt ended the search."""
        return self.ended in ("time_limit", "interrupted")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ParameterReport:
        """The inverse of :meth:`to_dict`; a string for a number raises ValueError."""
        return cls(
            **{
                **data,
                "method": str(data["method"]),
                "start": _float_or_none(data["start"]),
                "objective": _float_or_none(data["objective"]),
                "chosen": dict(data["chosen"]),
                "iterations": int(data["iterations"]),
                "seconds": float(data["seconds"]),
            }
        )

    def __str__(self) -> str:
        if self.objective is None or self.start is None:
            return self.method
        chosen = ", ".join(
            f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in self.chosen.items()
        )
        end = {"time_limit": "; stopped by the time limit", "interrupted": "; interrupted"}
        return (
            f"{self.method} ({self.measure} {self.start:.4f} -> {self.objective:.4f}"
            + (f"; {chosen}" if chosen else "")
            + f"; {self.iterations} steps{end.get(self.ended, '')})"
        )


def _float_or_none(value: Any) -> float | None:
    return None if value is None else float(value)


def _score_parameters(**settings: Any) -> dict[str, Any]:
    # Only gamma is used in computations.
    return {k: float(v) if k == "gamma" else v for k, v in settings.items()}


def _warm_start(source: Any, objective: Any, accepted: Any, improvement: Any) -> WarmStart:
    taken = None if accepted is None else bool(accepted)
    return WarmStart(str(source), float(objective), taken, _float_or_none(improvement))


def _trace_point(time: Any, objective: Any, bound: Any, nodes: Any, source: Any) -> TracePoint:
    return TracePoint(
        float(time), _float_or_none(objective), _float_or_none(bound), int(nodes), str(source)
    )


def _open_line(result: Result) -> str:
    """The gap per row and of the hinge loss; a score near zero makes the relative gap useless."""
    assert result.gap_abs is not None
    line, share = f"{result.gap_abs / result.weight:.3g} per row", result.gap_of_hinge_loss
    return line if share is None else f"{line}, {100 * share:.2f} % of the hinge loss"


def log_loss_in_words(result: Result) -> str | None:
    """What is proven about the log-loss, as a sentence; None for other scores and heuristics."""
    found, least = result.log_loss, result.log_loss_bound
    if found is None or least is None:
        return None
    settings = result.score_parameters
    how = str(settings.get("validation", ""))
    rows = {"": "training", "loo": "leave-one-out"}.get(how, f"{how}-fold held-out")
    kind = f"penalised {rows}" if settings.get("penalty") else rows
    claim = (
        f"no structure in the search space has a {kind} log-loss below "
        f"{_rounded(least, math.floor)} per row"
    )
    if result.status is Status.OPTIMAL:
        return claim
    return f"{claim}; found {_rounded(found, math.ceil)}"


def _rounded(value: float, direction: Callable[[float], int]) -> str:
    """A number that is not negative, with four decimals, or four digits if it is small."""
    digits = 4 if value < 1e-300 else max(4, 3 - math.floor(math.log10(value)))
    return f"{direction(value * 10**digits) / 10**digits:.{digits}f}"


def _score_line(result: Result) -> str:
    settings = ", ".join(
        f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v}"
        for k, v in result.score_parameters.items()
    )
    return f"{result.score} ({settings})" if settings else result.score


def _start_line(start: WarmStart) -> str:
    verdict = {True: "accepted", False: "rejected", None: "not tried"}[start.accepted]
    line = f"{start.source}, {start.objective:.6f}, {verdict}"
    if start.improvement is not None:
        line += f", improved by {start.improvement:.6f}"
    return line


def format_gap(result: Result) -> str:
    """The gap as text: in per cent, absolute, and with its tolerance."""
    if result.gap_abs is None:
        return "-"
    if result.gap_rel is None:
        return f"{result.gap_abs:.6f} (tolerance {result.tolerance:g})"
    return f"{100 * result.gap_rel:.4f} % ({result.gap_abs:.6f}; tolerance {result.tolerance:g})"
