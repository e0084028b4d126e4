"""From encoded rows to a result: families, scores and an engine in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace

from milpbn.anytime import SolveOptions
from milpbn.anytime.progress import Progress
from milpbn.clock import Clock, OutOfTime
from milpbn.encoding.data import EncodedData
from milpbn.engines.relaxation import Pool
from milpbn.errors import DataError, MilpbnError, OptionError, SolverError
from milpbn.families import Constraints, MergedRows, candidate_families
from milpbn.families.candidates import DEFAULT_MEMORY
from milpbn.families.smoothing import Smoothing, parse_smoothing
from milpbn.maximising import ENGINES, maximise
from milpbn.network.multinet import Classifier
from milpbn.parameters import Parameters, make_parameters
from milpbn.result import Listener, ParameterReport, Result, Status, TracePoint
from milpbn.scores import (
    LinearObjective,
    Objective,
    Score,
    applicable_settings,
    make_score,
)
from milpbn.scores.pruning import prune_dominated
from milpbn.scores.rescore import rescore
from milpbn.search import LEARNERS, Learner, Search, make_learner
from milpbn.search.multinet import MULTINETS, multinet_structures
from milpbn.structure import AnyStructure, Structure

METHODS = (*ENGINES, *LEARNERS, *MULTINETS)
"""The names of everything that learns a structure."""

# The share of a time limit that is kept for parameters which have to be searched for.
_PARAMETERS_SHARE = 0.2


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
    augmented
        Whether a feature with parents must have the class among them. For margins that
        loses nothing and is always so; for generative scores it is a choice.
    """

    max_parents: int = 2
    class_parents: bool = True
    constraints: Constraints | None = None
    augmented: bool = False


def build_objective(
    data: EncodedData,
    score: Score,
    space: SearchSpace,
    *,
    clock: Clock | None = None,
    memory_limit: int = DEFAULT_MEMORY,
    prune: bool = True,
) -> Objective:
    """The objective of a score over a search space, from the training rows of `data`.

    With `prune`, families of a decomposable score that no optimum has are left out.
    """
    clock = clock or Clock()
    families = candidate_families(
        [v.name for v in data.variables],
        [v.card for v in data.variables],
        max_parents=space.max_parents,
        class_parents=space.class_parents,
        generative=score.generative and not space.augmented,
        constraints=space.constraints,
        memory_limit=memory_limit,
    )
    rows = MergedRows.from_codes(data.train())
    try:
        objective = score.objective(families, rows, clock.checkpoint)
        if prune and isinstance(objective, LinearObjective):
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
    method: str | Learner = "branch-and-cut",
    score: str | Score = "sm",
    p: float | None = 0.9,
    gamma: float | None = None,
    smoothing: str = "laplace",
    folds: int | None = None,
    max_parents: int = 2,
    class_parents: bool = True,
    constraints: Constraints | None = None,
    augmented: bool = False,
    time_limit: float | None = None,
    start: Structure | str | None = "local-search",
    options: SolveOptions | None = None,
    listener: Listener | None = None,
) -> Result:
    """Learn a structure from the training rows of `data`.

    Parameters
    ----------
    data
        Encoded rows, see :class:`milpbn.encoding.Encoder`.
    method
        An exact engine (``"branch-and-cut"``, ``"monolithic"``) or a heuristic of
        ``milpbn.search.LEARNERS``, by name or as an object with settings of its own; or
        ``"multinet-cmi"`` or ``"multinet-ear"``, one structure for every class.
    score, p, gamma, smoothing, folds
        What is maximised: the name of a score and its settings (see
        :func:`milpbn.scores.make_score`), or a score that has them already. `p` and
        `smoothing` are ignored by scores without them.
    max_parents, class_parents, constraints, augmented
        The search space, see :class:`SearchSpace`.
    time_limit
        Seconds for everything, or None.
    start
        A structure to begin with; or, for the engines, the name of the heuristic that
        looks for one in a small share of the time; or None.
    options
        Gap to stop at, threads, seed (also of heuristics), memory limit and so on.
    listener
        Called with every any-time event.

    Returns
    -------
    Result
        The best structure, its score and, from an engine, a bound on all others. The score is
        computed again from the data by independent code before the result is returned.

    Raises
    ------
    MilpbnError
        With a message for people: the time ended before there was a structure, the memory
        limit is too low, constraints contradict each other, an option does not exist.

    Examples
    --------
    >>> from milpbn.datasets import load_dataset
    >>> from milpbn.encoding import Encoder
    >>> table = load_dataset("iris")
    >>> data = Encoder.fit(table).encode(table)
    >>> result = learn_structure(data, score="sm", p=0.9, max_parents=1)
    >>> str(result.status), round(result.objective, 4)
    ('optimal', 298.8924)
    >>> result = learn_structure(data, method="local-search", score="sm", max_parents=1)
    >>> str(result.status), round(result.objective, 4), result.bound
    ('feasible', 298.8924, None)
    """
    usual = applicable_settings(score, {"p": p, "smoothing": smoothing})
    return run_method(
        data,
        make_score(score, **usual, gamma=gamma, folds=folds),
        SearchSpace(max_parents, class_parents, constraints, augmented),
        method=method,
        clock=Clock(time_limit),
        start=start,
        options=options,
        listener=listener,
    )


def run_method(
    data: EncodedData,
    score: Score,
    space: SearchSpace,
    *,
    method: str | Learner,
    clock: Clock,
    start: Structure | str | None = None,
    start_source: str = "warm-start",
    options: SolveOptions | None = None,
    listener: Listener | None = None,
    objective: Objective | None = None,
    begin: Structure | None = None,
    pool: Pool | None = None,
) -> Result:
    """Learn with a running clock, then check the result from the data up.

    See :func:`learn_structure`; `start_source` says where a given structure came from, and
    `objective` is what :func:`build_objective` gave, where several methods share it. The
    heuristic that looks for a start begins at `begin`; branch-and-cut takes cuts from a
    `pool` and leaves its own there.
    """
    options = options or SolveOptions()
    if isinstance(method, str) and method not in METHODS:
        raise OptionError(f"unknown method {method!r}; known methods: {', '.join(METHODS)}")
    if objective is None:
        objective = build_objective(
            data,
            score,
            space,
            clock=clock,
            memory_limit=options.memory_limit,
            prune=not _wants_whole_space(method),
        )
        clock.close_phase("scoring")
    if isinstance(method, str) and method in MULTINETS:
        result = _run_multinet(method, objective, score, data, clock, listener)
    else:
        result = maximise(
            objective,
            score,
            method=method,
            clock=clock,
            start=start,
            start_source=start_source,
            options=options,
            listener=listener,
            begin=begin,
            pool=pool,
        )
    _check(result, score, data)
    clock.close_phase("checking")
    return replace(result, n_rows=len(data.train()), seconds=dict(clock.phases))


def _wants_whole_space(method: str | Learner) -> bool:
    if isinstance(method, str) and (method in ENGINES or method in MULTINETS):
        return False
    return make_learner(method).whole_space


def given_structure(
    data: EncodedData,
    score: Score,
    structure: Structure,
    source: str,
    clock: Clock | None = None,
) -> Result:
    """The result of not searching: a structure from elsewhere (`source`) and what it scores."""
    clock = clock or Clock()
    names = tuple(v.name for v in data.variables)
    if absent := sorted(set(names) ^ set(structure.variables)):
        raise DataError(
            f"the variables of {source} are not those of {data.name}: only one of them has "
            f"{', '.join(absent[:5])}"
        )
    structure = Structure.from_arcs(names, structure.arcs)
    value = rescore(score, structure, data.variables, data.train())
    clock.close_phase("scoring")
    return Result(
        status=Status.FEASIBLE,
        structure=structure,
        objective=value,
        bound=None,
        score=score.name,
        score_parameters=score.settings(),
        source=source,
        engine="given structure",
        n_rows=len(data.train()),
        seconds=dict(clock.phases),
        trace=(TracePoint(clock.elapsed, value, None, source="end"),),
    )


def _run_multinet(
    method: str,
    objective: Objective,
    score: Score,
    data: EncodedData,
    clock: Clock,
    listener: Listener | None,
) -> Result:
    """One structure a class; the score is that of the whole multinet."""
    search = Search(objective, Progress(objective, clock, None), seed=0)
    rows = MergedRows.from_codes(data.train())
    try:
        structure = multinet_structures(method, search, rows, data.variables[0].states)
    except OutOfTime:
        raise MilpbnError(
            f"the time limit of {clock.limit:g} s ended before {method} had its trees; allow more"
        ) from None
    value = rescore(score, structure, data.variables, data.train())
    clock.close_phase("searching")
    trace = tuple(TracePoint(clock.elapsed, value, None, 0, who) for who in (method, "end"))
    if listener is not None:
        for point in trace:
            listener(point)
    return Result(
        status=Status.FEASIBLE,
        structure=structure,
        objective=value,
        bound=None,
        score=score.name,
        score_parameters=score.settings(),
        source=method,
        engine=method,
        evaluations=1,
        trace=trace,
    )


def learn_parameters(
    data: EncodedData,
    structure: AnyStructure,
    *,
    parameters: str | Parameters = "ml",
    smoothing: str | Smoothing = "laplace",
    time_limit: float | None = None,
) -> tuple[Classifier, ParameterReport]:
    """Learn parameters for a structure from the training rows of `data`.

    Parameters
    ----------
    data
        Encoded rows, see :class:`milpbn.encoding.Encoder`.
    structure
        Over the variables of `data`, in their order.
    parameters
        ``"ml"``, ``"cl"`` or ``"mm"``, with settings as ``"cl:penalty=0.1"``; see
        ``milpbn.parameters.PARAMETERS``.
    smoothing
        Of the maximum-likelihood parameters, which the others begin with.
    time_limit
        Seconds, or None. When time is over, the best parameters so far are the answer.

    Examples
    --------
    >>> from milpbn.datasets import load_dataset
    >>> from milpbn.encoding import Encoder
    >>> from milpbn.network.inference import accuracy
    >>> table = load_dataset("mofn-3-7-10")
    >>> data = Encoder.fit(table).encode(table)
    >>> structure = learn_structure(data, method="nb").structure
    >>> for parameters in ("ml", "cl"):
    ...     network, report = learn_parameters(data, structure, parameters=parameters)
    ...     print(parameters, round(accuracy(network, data.test()), 3))
    ml 0.921
    cl 1.0
    """
    if structure.variables != tuple(v.name for v in data.variables):
        raise OptionError(
            "the structure's variables are not those of the data: "
            f"{', '.join(structure.variables)} against {', '.join(v.name for v in data.variables)}"
        )
    learner, clock = make_parameters(parameters), Clock(time_limit)
    return learner.fit(structure, data.variables, data.train(), parse_smoothing(smoothing), clock)


def structure_clock(clock: Clock, parameters: Parameters) -> Clock:
    """The clock of the structure's learner: some of the limit is kept for the parameters."""
    if parameters.name == "ml" or clock.limit == float("inf"):
        return clock
    return clock.until((1 - _PARAMETERS_SHARE) * clock.limit)


def _check(result: Result, score: Score, data: EncodedData) -> None:
    if not score.has_definition():
        return  # a score of a user's own: there is no second path to check it by
    independent = rescore(score, result.structure, data.variables, data.train())
    if abs(independent - result.objective) > 1e-6 * max(1.0, abs(independent)):
        raise SolverError(
            f"the structure scores {independent!r} when computed from the data, but the learner "
            f"reported {result.objective!r}; please report this with the data and the options"
        )
