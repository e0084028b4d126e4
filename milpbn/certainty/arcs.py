"""Arc margins: what structures score that lack an arc of a model, or have another one.

There is one question per possible arc. For an arc of the model it asks for the best score without
an arc between the two variables; for any other arc, for the best score with it. A structure
without x -> y has y -> x or no arc between the two, so the best score without an arc of the model
follows from two answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

from milpbn.certainty.arc_records import ArcAnswer, ArcMargins
from milpbn.certainty.conditions import arc_conditions
from milpbn.certainty.problem import ModelProblem
from milpbn.certainty.questions import Question, QuestionSolver
from milpbn.clock import Clock
from milpbn.datasets.table import Table
from milpbn.learning.model import Model

Watch = Callable[[int, int], None]
"""Called with the number of questions that are closed, and of all."""


def model_arc_margins(
    model: Model,
    table: Table,
    *,
    time_limit: float | None = None,
    clock: Clock | None = None,
    seed: int = 0,
    watch: Watch | None = None,
) -> ArcMargins:
    """The margin of every arc: by how much structures score less that differ in it.

    Parameters
    ----------
    model
        A model with one structure and a score that engines can maximise. If it has margins
        already, open questions are continued from there.
    table
        The rows that it was learned from.
    time_limit
        Seconds for everything, or None. Each open question gets an equal share of what is left.
    clock
        A running clock, instead of a time limit.
    seed
        Random seed of the primal heuristics.
    watch
        Called after each piece of work.

    Returns
    -------
    ArcMargins
        An interval per arc. After the time limit or Ctrl-C, some of them are still open.

    Examples
    --------
    >>> from milpbn import learn_classifier, load_dataset, make_settings
    >>> table = load_dataset("iris")
    >>> settings = make_settings(max_parents=1, class_parents=False)
    >>> model = learn_classifier(table, settings)
    >>> margins = model_arc_margins(model, table)
    >>> margins.complete
    True
    >>> margins.to_frame()[["parent", "child", "present", "low", "high"]].head(2).round(3)
      parent        child  present     low    high
    0  class   petalwidth     True  10.924  10.924
    1  class  petallength    False   3.659   3.659
    """
    clock = clock or Clock(time_limit)
    problem = ModelProblem.of_model(model, table, clock)
    best, result = problem.families, model.result
    solver = QuestionSolver(
        problem.objective,
        best,
        arc_conditions(problem.objective.space, best),
        bound=math.inf if result.bound is None else result.bound,
        clock=clock,
        seed=seed,
    )
    before = _resume(solver, problem, model.arcs)

    def tell() -> None:
        if watch is not None:
            watch(sum(q.closed for q in solver.questions), len(solver.questions))

    tell()
    with suppress(KeyboardInterrupt):
        solver.run(lambda question: tell())
    records = (question.progress for question in solver.questions)
    problem.check((r.families, r.value) for r in records if r.families is not None)
    answers = (_answer(question, problem, before) for question in solver.questions)
    return ArcMargins(result.objective, tuple(answers), problem.objective.scale)


_Key = tuple[str, str, bool]


def _resume(
    solver: QuestionSolver, problem: ModelProblem, margins: ArcMargins | None
) -> dict[_Key, ArcAnswer]:
    """Give the solver what an earlier run has found and proven."""
    known = {(a.parent, a.child, a.present): a for a in margins.answers} if margins else {}
    for question in solver.questions:
        answer = known.get(_key(question, problem))
        if answer is None:
            continue
        if answer.value is not None:
            solver.offer(problem.changed(answer.changes, answer.resolutions), "earlier run")
        bound = -math.inf if answer.bound is None else answer.bound
        question.progress.improve_bound(bound, 0, "earlier run")
    return known


def _key(question: Question, problem: ModelProblem) -> _Key:
    names, condition = problem.structure.variables, question.condition
    return names[condition.parent], names[condition.child], condition.present


def _answer(question: Question, problem: ModelProblem, before: dict[_Key, ArcAnswer]) -> ArcAnswer:
    key, progress = _key(question, problem), question.progress
    earlier = before.get(key)
    found = progress.families
    parents, resolutions = ({}, {}) if found is None else problem.changes(found)
    return ArcAnswer(
        *key,
        value=None if found is None else progress.value,
        bound=progress.bound if math.isfinite(progress.bound) else None,
        changes=parents,
        resolutions=resolutions,
        nodes=progress.nodes + (earlier.nodes if earlier else 0),
        seconds=question.seconds + (earlier.seconds if earlier else 0.0),
    )
