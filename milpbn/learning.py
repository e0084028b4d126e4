"""From encoded rows to a result: families, scores and an engine in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from milpbn.clock import Clock, OutOfTime
from milpbn.encoding.data import EncodedData
from milpbn.engines.monolithic import SolveOptions, solve_monolithic
from milpbn.errors import MilpbnError, OptionError, SolverError
from milpbn.families import Constraints, MergedRows, candidate_families
from milpbn.families.candidates import DEFAULT_MEMORY
from milpbn.network.rescore import rescore
from milpbn.result import Listener, Result
from milpbn.scores import LinearObjective, Objective, Score, make_score
from milpbn.scores.pruning import prune_dominated
from milpbn.structure import Structure

METHODS: dict[str, Callable[..., Result]] = {"monolithic": solve_monolithic}
"""Learners by name."""


@dataclass(frozen=True)
class SearchSpace:
    """Which structures are considered.

    Parameters
    ----------
    max_parents
        Parents per variable, the class counted.
    class_parents
        Whether features may be parents of the class.
    constraints
        Required and forbidden arcs, tiers, parent limits.
    """

    max_parents: int = 2
    class_parents: bool = True
    constraints: Constraints | None = None


def build_objective(
    data: EncodedData,
    score: Score,
    space: SearchSpace,
    *,
    clock: Clock | None = None,
    memory_limit: int = DEFAULT_MEMORY,
) -> Objective:
    """The objective of a score over a search space, from the training rows of `data`."""
    clock = clock or Clock()
    families = candidate_families(
        [v.name for v in data.variables],
        [v.card for v in data.variables],
        max_parents=space.max_parents,
        class_parents=space.class_parents,
        generative=score.generative,
        constraints=space.constraints,
        memory_limit=memory_limit,
    )
    rows = MergedRows.from_codes(data.train())
    try:
        objective = score.objective(families, rows, clock.checkpoint)
        if isinstance(objective, LinearObjective):
            objective = prune_dominated(objective, clock.checkpoint)
    except OutOfTime:
        raise MilpbnError(
            f"the time limit of {clock.limit:g} s ended while {len(families):,} families were "
            "being scored; allow more time or lower max_parents"
        ) from None
    return objective


def learn_structure(
    data: EncodedData,
    *,
    method: str = "monolithic",
    score: str | Score = "sm",
    p: float | None = 0.9,
    gamma: float | None = None,
    smoothing: str = "laplace",
    max_parents: int = 2,
    class_parents: bool = True,
    constraints: Constraints | None = None,
    time_limit: float | None = None,
    start: Structure | None = None,
    options: SolveOptions | None = None,
    listener: Listener | None = None,
) -> Result:
    """Learn a structure from the training rows of `data`.

    Parameters
    ----------
    data
        Encoded rows, see :class:`milpbn.encoding.Encoder`.
    method
        The learner: one of ``METHODS``.
    score, p, gamma, smoothing
        What is maximised, see :func:`milpbn.scores.make_score`.
    max_parents, class_parents, constraints
        The search space, see :class:`SearchSpace`.
    time_limit
        Seconds for everything, or None.
    start
        A structure to begin with.
    options
        Solver settings.
    listener
        Called with every any-time event.

    Examples
    --------
    >>> from milpbn.datasets import load_dataset
    >>> from milpbn.encoding import Encoder
    >>> table = load_dataset("iris")
    >>> data = Encoder.fit(table).encode(table)
    >>> result = learn_structure(data, score="sm", p=0.9, max_parents=1)
    >>> str(result.status), round(result.objective, 4)
    ('optimal', 298.8924)
    """
    clock = Clock(time_limit)
    return run_method(
        data,
        make_score(score, p=p, gamma=gamma, smoothing=smoothing),
        SearchSpace(max_parents, class_parents, constraints),
        method=method,
        clock=clock,
        start=start,
        options=options,
        listener=listener,
    )


def run_method(
    data: EncodedData,
    score: Score,
    space: SearchSpace,
    *,
    method: str,
    clock: Clock,
    start: Structure | None = None,
    start_source: str = "warm-start",
    options: SolveOptions | None = None,
    listener: Listener | None = None,
) -> Result:
    """Learn with a running clock, then check the result from the data up."""
    if method not in METHODS:
        raise OptionError(f"unknown method {method!r}; known methods: {', '.join(METHODS)}")
    options = options or SolveOptions()
    objective = build_objective(data, score, space, clock=clock, memory_limit=options.memory_limit)
    clock.close_phase("scoring")
    result = METHODS[method](
        objective,
        score,
        clock=clock,
        options=options,
        start=start,
        start_source=start_source,
        listener=listener,
    )
    _check(result, score, data)
    clock.close_phase("checking")
    return replace(result, seconds=dict(clock.phases))


def _check(result: Result, score: Score, data: EncodedData) -> None:
    independent = rescore(score, result.structure, data.variables, data.train())
    if abs(independent - result.objective) > 1e-6 * max(1.0, abs(independent)):
        raise SolverError(
            f"the structure scores {independent!r} when computed from the data, but the learner "
            f"reported {result.objective!r}; please report this with the data and the options"
        )
