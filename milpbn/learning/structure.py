"""Structure learning: from encoded rows to a checked result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Unpack

from milpbn.anytime import Progress, simplest_start
from milpbn.clock import Clock
from milpbn.encoding.data import EncodedData
from milpbn.errors import DataError, OptionError, SolverError, TimeLimitError
from milpbn.families import Constraints, MergedRows
from milpbn.files import reserved
from milpbn.learning.certification import check_certifiable, check_no_trends, proof_log
from milpbn.learning.maximise import Shared, maximise
from milpbn.learning.methods import method_name, wants_whole_space
from milpbn.learning.objective import build_objective, family_space
from milpbn.learning.settings import Settings, settings_for_codes
from milpbn.network.monotone import broken_trends
from milpbn.network.multinet import fit_classifier
from milpbn.result import Listener, Result, Status, TracePoint
from milpbn.scores import Objective, Score
from milpbn.scores.definition import n_free_parameters
from milpbn.scores.rescore import rescore
from milpbn.search import Search
from milpbn.search.multinet import MULTINETS, multinet_structures
from milpbn.settings import SettingNames
from milpbn.structure import AnyStructure, ClassStructures, Structure


def learn_structure(
    data: EncodedData,
    *,
    listener: Listener | None = None,
    certificate: str | Path | None = None,
    **settings: Unpack[SettingNames],
) -> Result:
    """Learn a structure from the training rows of `data`.

    Parameters
    ----------
    data
        Encoded rows, see :class:`milpbn.Encoder`.
    listener
        Called with every any-time event.
    certificate
        A file for the proof of the bound, which :func:`milpbn.check.check_certificate` and
        ``milpbn verify --certificate`` can check; only with branch-and-cut.
    settings
        Score, search space, method and limits, such as `score` (``"sm"``), `p`, `max_parents`,
        `method` (``"branch-and-cut"``), `start`, `time_limit`, `gap` and `seed`; the reference of
        settings lists them. `options` are several of them as :class:`milpbn.SolveOptions`. What
        columns become is decided when rows are encoded.

    Returns
    -------
    Result
        The best structure, its score and, from an engine, a bound on all others. The score is
        computed again from the data by independent code before the result is returned.

    Raises
    ------
    MilpbnError
        With a message for the user: the memory limit is too low, constraints contradict each
        other, or an option does not exist.

    Examples
    --------
    >>> from milpbn.datasets import load_dataset
    >>> from milpbn.encoding import Encoder
    >>> table = load_dataset("iris")
    >>> data = Encoder.fit(table).encode(table)
    >>> result = learn_structure(data, score="sm", p=0.9, max_parents=1)
    >>> str(result.status), round(result.objective, 4)
    ('optimal', 298.8924)
    >>> result = learn_structure(data, method="local-search", max_parents=1)
    >>> str(result.status), round(result.objective, 4), result.bound
    ('feasible', 298.8924, None)
    """
    own = settings_for_codes(**settings)
    return run_method(data, own, listener=listener, certificate=certificate)


def run_method(
    data: EncodedData,
    settings: Settings,
    *,
    clock: Clock | None = None,
    listener: Listener | None = None,
    shared: Shared | None = None,
    certificate: str | Path | None = None,
    checked: bool = True,
) -> Result:
    """Learn a structure with a running clock, then check the result against the data.

    A result that only helps to choose settings need not be checked.
    """
    clock, settings = clock or Clock(settings.time_limit), settings.for_variables(data.variables)
    data = data.searched()
    if certificate is not None:
        check_certifiable(settings)
        check_no_trends(data)
    method, shared = settings.method, shared or Shared()
    if isinstance(method, Structure | ClassStructures):
        result = _given_structure(data, settings, clock)
        return _completed(result, data, settings.score, clock)
    objective = shared.objective
    if objective is None:
        try:
            objective = build_objective(
                data,
                settings.score,
                settings.space,
                clock=clock,
                options=settings.options,
                prune=not wants_whole_space(method),
            )
        except TimeLimitError:
            return _simplest(data, settings, clock, listener)
        clock.close_phase("scoring")
    if isinstance(method, str) and method in MULTINETS:
        result = _run_multinet(data, settings, objective, clock, listener)
    else:
        with (
            reserved(settings.options.checkpoint),
            reserved(certificate),
            proof_log(certificate, data, settings, objective) as log,
        ):
            result = maximise(objective, settings, clock, listener, shared, log)
    if checked:
        _check(result, settings, data)
        clock.close_phase("checking")
    return _completed(result, data, settings.score, clock)


def _completed(result: Result, data: EncodedData, score: Score, clock: Clock) -> Result:
    """The result with what it needs to know about the rows, and the time that it took."""
    weight = data.train_weight()
    return replace(
        result,
        n_rows=len(data.train()),
        weight=weight,
        scale=score.scale(weight),
        seconds=dict(clock.phases),
    )


def _given_structure(data: EncodedData, settings: Settings, clock: Clock) -> Result:
    """The result for a given structure: no search, only its score."""
    structure, source = settings.method, settings.start_source
    assert isinstance(structure, Structure | ClassStructures)
    names = tuple(v.name for v in data.variables)
    if absent := sorted(set(names) ^ set(structure.variables)):
        raise DataError(
            f"the variables of {source} are not those of {data.name}: only one of the two has "
            f"{', '.join(absent[:5])}"
        )
    if isinstance(structure, Structure):
        structure = structure.reordered(names)
    if broken := _broken_trends(structure, settings, data):
        raise OptionError(f"{source}: {broken}; choose another structure or direction")
    result = _scored(data, settings, structure, source)
    clock.close_phase("scoring")
    trace = (TracePoint(clock.elapsed, result.objective, None, source="end"),)
    return replace(result, engine="given structure", trace=trace)


def _simplest(
    data: EncodedData, settings: Settings, clock: Clock, listener: Listener | None
) -> Result:
    """Naive Bayes, or the simplest structure that the constraints allow, without a bound."""
    small = settings.space
    if (
        any(v.monotone for v in data.variables)
        and not (small.constraints or Constraints()).required
    ):
        small = replace(small, max_parents=1)  # to find monotone families, they are counted
    space = family_space(data, settings.score, small, settings.options)
    source, families = simplest_start(space)
    result = _scored(data, settings, space.structure(families), source)
    clock.close_phase("scoring")
    trace = tuple(TracePoint(clock.elapsed, result.objective, None, 0, s) for s in (source, "end"))
    if listener is not None:
        for point in trace:
            listener(point)
    late = replace(
        result,
        status=Status.TIME_LIMIT,
        engine=method_name(settings.method),
        trace=trace,
    )
    return _completed(late, data, settings.score, clock)


def _run_multinet(
    data: EncodedData,
    settings: Settings,
    objective: Objective,
    clock: Clock,
    listener: Listener | None,
) -> Result:
    """Learn one structure per class; the score is that of the whole multinet."""
    name = str(settings.method)
    if objective.space.budgets:
        raise OptionError(
            f"{name} learns one structure per class, but max_arcs, max_features, "
            "max_parameters and max_cost limit a single structure; choose another method"
        )
    search = Search(objective, Progress(objective, clock), settings.options.seed)
    rows = MergedRows.from_codes(data.train(), data.train_weights())
    structure, complete = multinet_structures(name, search, rows, data.variables[0].states)
    result = _scored(data, settings, structure, name)
    if not complete:
        result = replace(result, status=Status.TIME_LIMIT)
    clock.close_phase("searching")
    points = (TracePoint(clock.elapsed, result.objective, None, 0, who) for who in (name, "end"))
    trace = tuple(points)
    if listener is not None:
        for point in trace:
            listener(point)
    return replace(result, engine=name, evaluations=1, trace=trace)


def _scored(data: EncodedData, settings: Settings, structure: AnyStructure, source: str) -> Result:
    """The result for a structure, scored by the score's definition, without a bound."""
    score = settings.score
    return Result(
        status=Status.FEASIBLE,
        structure=structure,
        objective=rescore(score, structure, data.variables, data.train(), data.train_weights()),
        bound=None,
        score=score.name,
        score_parameters=score.settings(),
        source=source,
    )


def _broken_trends(structure: AnyStructure, settings: Settings, data: EncodedData) -> str:
    """Which monotone effects the tables of a structure do not have, in words."""
    if not any(v.monotone for v in data.variables):
        return ""
    rows, weights = data.train(), data.train_weights()
    network = fit_classifier(structure, data.variables, rows, settings.smoothing, weights)
    return "; ".join(broken_trends(network))


def _check(result: Result, settings: Settings, data: EncodedData) -> None:
    budgets = (settings.space.constraints or Constraints()).budgets
    if isinstance(result.structure, Structure):
        size = n_free_parameters(result.structure, data.variables)
        if broken := "; ".join(budgets.broken_by(result.structure, size)):
            raise SolverError(f"{broken}; please report this with the data and the options")
    if broken := _broken_trends(result.structure, settings, data):
        raise SolverError(f"{broken}; please report this with the data and the options")
    if not settings.score.has_definition():
        return  # a user's own score: there is no second way to compute it
    independent = rescore(
        settings.score, result.structure, data.variables, data.train(), data.train_weights()
    )
    if abs(independent - result.objective) > 1e-6 * max(1.0, abs(independent)):
        raise SolverError(
            f"the structure scores {independent!r} when computed from the data, but the learner "
            f"reported {result.objective!r}; please report this with the data and the options"
        )
