"""Arc margins and the ten best structures: work in all, and against each question from scratch.

Seconds are those of the processor, one thread. "from scratch" solves every tenth question with the
arc required or forbidden by constraints, and multiplies by ten.
"""

import time

from benchmarks.problems import all_rows
from milpbn import Constraints, learn_structure
from milpbn.anytime import Run
from milpbn.certainty.conditions import arc_conditions
from milpbn.certainty.pool import PoolLimits, best_structures
from milpbn.certainty.questions import QuestionSolver
from milpbn.clock import Clock
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score

SETS = {"heart": None, "breast": None, "vote": 1800.0}
"""Data sets, and time limits in seconds."""
EVERY = 10


def from_scratch(data, conditions, names):
    """Processor seconds and nodes of a sample of questions, each as a problem of its own."""
    began, nodes = time.process_time(), 0
    for condition in conditions:
        arc = names[condition.parent], names[condition.child]
        constraints = Constraints(
            required=[arc] if condition.present else [],
            forbidden=[] if condition.present else [arc],
        )
        if not condition.present and condition.parent != 0:
            constraints = Constraints(forbidden=[arc, arc[::-1]])
        nodes += learn_structure(data, class_parents=False, constraints=constraints).nodes
    return time.process_time() - began, nodes


def measure(name, limit):
    data, began = all_rows(name), time.process_time()
    optimum = learn_structure(data, class_parents=False)
    seconds = [time.process_time() - began]
    space = SearchSpace(class_parents=False)
    objective = build_objective(data, make_score("sm"), space, prune=False)
    best = objective.space.families(optimum.structure)
    conditions = arc_conditions(objective.space, best)
    began = time.process_time()
    solver = QuestionSolver(objective, best, conditions, bound=optimum.bound, clock=Clock(limit))
    solver.run()
    seconds.append(time.process_time() - began)
    closed = sum(q.closed for q in solver.questions)
    nodes = sum(q.progress.nodes for q in solver.questions)
    sample = conditions[:: EVERY if limit is None else len(conditions)]
    scratch, scratch_nodes = from_scratch(data, sample, objective.space.names)
    scale = len(conditions) / len(sample)
    began = time.process_time()
    ten = best_structures(
        objective, PoolLimits(10), Run(clock=Clock(limit), start=optimum.structure)
    )
    seconds.append(time.process_time() - began)
    print(
        f"{name:<8}{optimum.nodes:>7}{seconds[0]:>8.1f}{len(conditions):>10}{closed:>8}"
        f"{nodes:>8}{seconds[1]:>9.1f}{scale * scratch_nodes:>10.0f}{scale * scratch:>9.0f}"
        f"{scale * scratch / seconds[1]:>7.1f}{ten.nodes:>8}{seconds[2]:>8.1f} {ten.complete}",
        flush=True,
    )


def run() -> None:
    print(
        f"{'data set':<8}{'nodes':>7}{'s':>8}{'questions':>10}{'closed':>8}{'nodes':>8}{'s':>9}"
        f"{'scratch':>10}{'s':>9}{'ratio':>7}{'10 best':>8}{'s':>8}"
    )
    for name, limit in SETS.items():
        measure(name, limit)
