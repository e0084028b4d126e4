"""Verification: the claims of a model file, checked against its data.

Nothing that the learner computed is trusted: the data are read and encoded again, the
score is computed from its definition, a bound is derived again, and if the space is small
enough, every structure is enumerated. Entries that say the same must agree. What neither the
data nor the file can confirm is listed (:mod:`milpbn.verification.entries`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import networkx as nx

from milpbn.anytime import Run, SolveOptions
from milpbn.anytime.progress import allowed_gap
from milpbn.clock import Clock, OutOfTime
from milpbn.datasets.monotone import as_typed
from milpbn.datasets.table import Table
from milpbn.encoding import EncodedData, Variable
from milpbn.engines.branch_and_cut.engine import root_bound
from milpbn.engines.enumeration import best_by_enumeration, n_choices
from milpbn.errors import ModelFileError
from milpbn.families import Constraints
from milpbn.files import plain
from milpbn.learning.classifier import Encoded, describe_rows, encode
from milpbn.learning.model import Model
from milpbn.learning.objective import build_objective
from milpbn.learning.refinement import refine
from milpbn.learning.settings import SearchSpace, Settings
from milpbn.network.monotone import broken_trends
from milpbn.result import Result, Status
from milpbn.scores import Objective, Score
from milpbn.scores.definition import n_free_parameters
from milpbn.scores.rescore import rescore
from milpbn.search import run_learner
from milpbn.search.local_search import LocalSearch
from milpbn.structure import AnyStructure, ClassStructures, Structure
from milpbn.verification.absence_claims import absent_alternatives, arc_bounds
from milpbn.verification.checks import (
    DISAGREES,
    Check,
    Verification,
    all_hold,
    check_entries,
    check_source,
    check_status,
    check_that,
    data_errors,
    not_checkable,
)
from milpbn.verification.entries import MODEL, SEARCHED
from milpbn.verification.parameter_claims import report_errors, table_errors
from milpbn.verification.run_claims import (
    result_errors,
    selection_errors,
    settings_errors,
    stability_errors,
    stated_score,
)
from milpbn.verification.structure_claims import (
    Scored,
    alternative_errors,
    arc_errors,
    scored_near,
)

ENUMERABLE = 300_000
"""The largest number of choices of families that is enumerated."""

# The share of the time for the search for a counterexample, and its limit on unsuccessful kicks.
_SEARCH_SHARE = 0.3
_SEARCH_PATIENCE = 300
# The most seconds for a search that tries to refute the bounds of margins or alternatives.
_REFUTING_SECONDS = 60.0


def verify_model(
    model: Model,
    table: Table,
    *,
    content: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    seed: int = 1,
) -> Verification:
    """Check a model against the table that it was learned from.

    Parameters
    ----------
    model
        The model.
    table
        Its data, read again (with the same rows held out).
    content
        The content of the model file. Without it, entries that the model does not keep because
        they follow from others, such as the gap, are not checked.
    time_limit
        Seconds for bounds and enumeration; the rest is fast.
    seed
        Random seed for the search for a counterexample; by default not that of the learner.

    Examples
    --------
    >>> import pathlib, subprocess, sys, tempfile
    >>> from milpbn import load_dataset
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> command = [sys.executable, "-m", "milpbn", "solve", "--dataset", "iris", "--out", file]
    >>> _ = subprocess.run(command, check=True, capture_output=True)
    >>> verification = verify_model(Model.load(file), load_dataset("iris"))
    >>> verification.agrees
    True
    >>> verification.checks[-1].claim
    'no structure scores higher than the bound'
    """
    again = plain(model.to_dict())
    told = again if content is None else content
    checks = (check_entries(told, again), *_checks(model, table, Clock(time_limit), seed))
    searched = () if model.parameters.method == "ml" else SEARCHED
    unchecked = not_checkable((*MODEL, *searched), told, again)
    return Verification(checks, unchecked, _verdict(model.result, checks))


def _verdict(result: Result, checks: Sequence[Check]) -> str:
    if not all_hold(checks):
        return DISAGREES
    if result.bound is None:
        return "Everything agrees. A heuristic found the structure, so there is no bound to check."
    what = "The optimum" if result.status == "optimal" else f"The bound {result.bound:.6f}"
    if proofs := [check.proves for check in checks if check.holds and check.proves]:
        return f"Everything agrees. {what} was proven again by {' and by '.join(proofs)}."
    return (
        f"Everything agrees. {what} depends on the search tree of the run, which was not repeated; "
        "the root bound and a new search do not contradict it."
    )


def _checks(model: Model, table: Table, clock: Clock, seed: int) -> Iterator[Check]:
    yield check_source(model.data, table)
    encoder_check, encoded = _read_again(model, table)
    yield encoder_check
    if encoder_check.holds is False:
        return
    data, searched = encoded.data, model.rows_of_search(encoded.data)
    # The score that the result names is checked, not the one in the settings.
    settings, score = _settings(model), stated_score(model.result)
    yield from _consistency(model, settings, score, encoded, searched)
    yield from _parameters(model, settings, data)
    refined = refine(model.result.structure, data.variables, settings.parameters.resolutions)
    data = searched.searched()
    structure_check = _structure(model, refined, settings.space, data.variables)
    yield structure_check
    if structure_check.holds is False:
        return
    if model.encoder.monotone:
        directions = as_typed(model.encoder.monotone)
        yield check_that("all tables are monotone", broken_trends(model.network), directions)
    yield _objective(model, score, data)
    yield from _sets(model, score, data, settings.space, clock, seed)
    if model.result.bound is not None:
        objective = build_objective(data, score, settings.space, clock=clock)
        yield from _bounds(model, objective, score, clock, seed)


def _settings(model: Model) -> Settings:
    """The settings of the run; those that verification needs must be in the file."""
    for name in ("score", "smoothing", "max_parents", "class_parents"):
        if name not in model.settings or (name != "smoothing" and model.settings[name] is None):
            raise ModelFileError(f"settings: {name!r} is missing, so the score cannot be checked")
    return Settings.from_dict(model.settings)


def _read_again(model: Model, table: Table) -> tuple[Check, Encoded]:
    encoded = encode(table)
    n = len(encoded.data.train())
    same = encoded.encoder.to_dict() == model.encoder.to_dict()
    text = "fitting the encoder again gives the same states and cuts"
    seen = f"{len(encoded.encoder.columns)} features, {n} training rows"
    return Check(text, same, seen), encoded


def _consistency(
    model: Model, settings: Settings, score: Score, encoded: Encoded, searched: EncodedData
) -> Iterator[Check]:
    """Check entries of the file that say the same in different places."""
    rows = plain(describe_rows(encoded))
    yield check_that(
        "the rows are described as they are",
        list(data_errors(model.data, rows)),
        f"{rows['n_rows']} training rows",
    )
    yield check_that(
        "the settings agree with each other and with the result",
        [*settings_errors(model.settings, settings, score), *selection_errors(model, settings)],
        f"{len(model.settings)} settings",
    )
    weight = searched.train_weight()
    size = len(searched.train()), weight, score.scale(weight)
    errors = [*result_errors(model.result, model.settings, *size)]
    errors += stability_errors(model)
    if model.has_newer_rows:
        seen = f"the structure is that of the first {size[0]} of {rows['n_rows']} rows"
        yield Check("the structure was learned from all rows", None, seen)
    yield check_that(
        "the result agrees with its trace", errors, f"{len(model.result.trace)} points"
    )


def _parameters(model: Model, settings: Settings, data: EncodedData) -> Iterator[Check]:
    counted = settings.parameters.counted
    what = "the same counts and probabilities" if counted else "the same counts"
    yield check_that(
        f"counting again gives {what}",
        list(table_errors(model, settings, data)),
        f"{len(data.variables)} tables",
    )
    yield check_that(
        "the report on the parameters agrees with the tables",
        list(report_errors(model, settings, data)),
        model.parameters.method,
    )


def _structure(
    model: Model, refined: AnyStructure, space: SearchSpace, variables: Sequence[Variable]
) -> Check:
    structure = model.result.structure
    parts = structure.structures if isinstance(structure, ClassStructures) else (structure,)
    broken = [rule for part in parts for rule in _broken_rules(part, space, variables)]
    if refined != model.network.structure:
        broken.append("the result and the network have different structures")
    return Check(
        "the structure is acyclic and satisfies limits and constraints",
        not broken,
        "; ".join(broken) or f"{sum(len(part.arcs) for part in parts)} arcs",
    )


def _broken_rules(
    structure: Structure, space: SearchSpace, variables: Sequence[Variable]
) -> Iterator[str]:
    constraints = space.constraints or Constraints()
    if not nx.is_directed_acyclic_graph(structure.to_networkx()):
        yield "there is a cycle"
    arcs = set(structure.arcs)
    for name, parents in structure.to_dict().items():
        limit = min(space.max_parents, constraints.max_parents.get(name, space.max_parents))
        if len(parents) > limit:
            yield f"{name} has {len(parents)} parents, {limit} are allowed"
        for parent in constraints.required_parents(name):
            if (parent, name) not in arcs:
                yield f"{parent}->{name} is required"
        if space.augmented and parents and structure.variables[0] not in (name, *parents):
            yield f"{name} has parents, but not the class"
    for parent, child in sorted(arcs):
        if not constraints.allows(parent, child):
            yield f"{parent}->{child} is forbidden"
        if child == structure.variables[0] and not space.class_parents:
            yield f"{parent}->{child} is not allowed: the class must be a root"
    yield from constraints.budgets.broken_by(structure, n_free_parameters(structure, variables))


def _objective(model: Model, score: Score, data: EncodedData) -> Check:
    claim = "the structure has the stated score, by the score's definition"
    structure, weights = model.result.structure, data.train_weights()
    value = rescore(score, structure, data.variables, data.train(), weights)
    told = model.result.objective
    return Check(
        claim, abs(value - told) <= allowed_gap(told), f"{value:.6f}, the model says {told:.6f}"
    )


def _sets(
    model: Model, score: Score, data: EncodedData, space: SearchSpace, clock: Clock, seed: int
) -> Iterator[Check]:
    """Check the structures behind arc margins and alternatives.

    New searches, for a share of the time, look for structures that refute their bounds.
    """
    if model.arcs is None and model.alternatives is None:
        return
    objective = None
    if score.exact:
        objective = build_objective(data, score, space, prune=False, clock=clock)
    if model.arcs is not None:
        claim = (
            "the structures behind the arc margins satisfy their conditions and have their scores"
        )
        own = model.result.structure
        assert isinstance(own, Structure)
        near = scored_near(own, objective, clock.checkpoint) if objective else iter(())
        errors = list(arc_errors(model, score, data, _in_time(near)))
        seen = f"{len(model.arcs.answers)} answers"
        if not errors and objective:
            errors, again = arc_bounds(model.arcs, own, objective, _part_of(clock), seed)
            seen = f"{seen}; {again}"
        yield Check(claim, not errors, "; ".join(errors[:3]) or seen)
    if model.alternatives is not None:
        errors = list(alternative_errors(model, score, data))
        seen = f"{len(model.alternatives.structures)} structures"
        if not errors and objective:
            every = n_choices(objective.space) <= ENUMERABLE
            time = clock if every else _part_of(clock)
            errors, again = absent_alternatives(
                model.alternatives, objective, time, seed, every=every
            )
            seen = f"{seen}; {again}"
        yield Check("the alternatives have their scores", not errors, "; ".join(errors[:3]) or seen)


def _part_of(clock: Clock) -> Clock:
    """The time for a search that tries to refute bounds."""
    share = min(_REFUTING_SECONDS, _SEARCH_SHARE * clock.remaining)
    return clock.until(clock.elapsed + share)


def _in_time(found: Iterator[Scored]) -> Iterator[Scored]:
    """What is found until the time limit."""
    with suppress(OutOfTime):
        yield from found


def _bounds(
    model: Model, objective: Objective, score: Score, clock: Clock, seed: int
) -> Iterator[Check]:
    """Check the bound against a new root bound, a new search and, if possible, enumeration."""
    result = model.result
    assert result.bound is not None
    if not isinstance(result.structure, Structure):
        yield Check("a bound is stated for one structure", False, "the model is a multinet")
        return
    slack = allowed_gap(result.objective)
    closed = result.bound - result.objective <= allowed_gap(result.objective, result.scale)
    yield check_status(result)
    yield _triviality(result, objective)
    families = objective.space.families(result.structure)
    if score.exact:
        yield _root(result.bound, result.objective, root_bound(objective, families, clock), slack)
    found = run_learner(
        LocalSearch(patience=_SEARCH_PATIENCE),
        objective,
        score,
        Run(
            clock=clock.until(clock.elapsed + min(10.0, _SEARCH_SHARE * clock.remaining)),
            options=SolveOptions(seed=seed),
        ),
    )
    if found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    yield Check(
        "a new search finds nothing above the bound",
        found.objective <= result.bound + slack,
        f"best found {found.objective:.6f}",
    )
    yield _enumeration(result.bound, result.objective, closed, objective, clock, slack)


def _triviality(result: Result, objective: Objective) -> Check:
    """A bound is trivial if it is the one that is known before the search."""
    quick = objective.quick_bound()
    assert result.bound is not None
    far = abs(result.bound - quick) > allowed_gap(quick)
    trivial = result.bound == quick and result.bound > result.objective
    right = not far if result.bound_is_trivial else not trivial
    return Check('the "trivial bound" flag is correct', right, f"the trivial bound is {quick:.6f}")


def _root(told: float, value: float, bound: float, slack: float) -> Check:
    """A root bound must lie above the score; if it lies below the stated bound, it proves it."""
    claim = "a root bound, derived again, lies above the score of the structure"
    proves = "the root bound" if bound <= told + slack else ""
    return Check(claim, bound >= value - slack, f"{bound:.6f}, the model says {told:.6f}", proves)


def _enumeration(
    told: float, value: float, closed: bool, objective: Objective, clock: Clock, slack: float
) -> Check:
    claim = "no structure scores higher than the bound"
    n = n_choices(objective.space)
    if n > ENUMERABLE:
        return Check(claim, None, f"{n:.3g} choices of families are too many to enumerate")
    try:
        _, best = best_by_enumeration(objective, clock.checkpoint)
    except OutOfTime:
        return Check(claim, None, f"the time limit was reached before all {n} choices were tried")
    right = best <= told + slack and (not closed or abs(best - value) <= slack)
    seen = f"the best of all {n} choices of families scores {best:.6f}"
    return Check(claim, right, seen, "enumeration")
