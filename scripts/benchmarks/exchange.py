"""Evaluations of single exchanges (SM) per second: the compiled kernel against plain numpy.

The plain version builds the candidate array (candidates x rows x classes) by table
look-ups and reduces it. Both sides see the same structure (a local optimum, where a search
spends its time), the same variables and the same candidates, on one core. "in search" lets the
kernel abandon a candidate once it cannot beat the structure, as it does inside a search.
"""

import resource
import time

import numpy as np

from benchmarks.problems import objective_of
from milpbn.anytime import Run
from milpbn.clock import Clock
from milpbn.scores import make_score
from milpbn.search import run_learner
from milpbn.search.local_search import LocalSearch

SETS = ("vehicle", "segment", "chess", "spambase", "satimage", "letter")
SECONDS = 2.0


def plain_scores(objective, families, variable, candidates):
    tables, labels = objective.tables, objective.rows.labels
    rest = tables.total([f for i, f in enumerate(families) if i != variable])
    total = rest[None] + np.stack([tables.by_row(f) for f in candidates])
    at = np.arange(len(labels))
    own = total[:, at, labels]
    total[:, at, labels] = -np.inf
    margins = own - total.max(axis=2)
    return np.minimum(margins, objective.gamma) @ objective.rows.weights


def per_second(score, variables, space):
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        for v in variables:
            candidates = np.array(space.of(v))
            score(v, candidates)
            count += len(candidates)
            if time.perf_counter() - began > SECONDS:
                break
    return count / (time.perf_counter() - began)


def measure(name):
    objective = objective_of(name)
    space = objective.space
    found = run_learner(LocalSearch(patience=3), objective, make_score("sm"), Run(clock=Clock(20)))
    families = space.families(found.structure)
    state = objective.state(families)
    variables = list(range(1, space.n_variables))
    plain = per_second(lambda v, c: plain_scores(objective, families, v, c), variables, space)
    full = per_second(lambda v, c: state.scores(v, c), variables, space)
    search = per_second(lambda v, c: state.scores(v, c, state.value), variables, space)
    v = variables[len(variables) // 2]
    candidates = np.array(space.of(v))
    exact = plain_scores(objective, families, v, candidates)
    error = np.abs(exact - state.scores(v, candidates)).max()
    print(
        f"{name:<10}{len(objective.rows):>7}{space.n_classes:>9}{plain:>10.0f}{full:>11.0f}"
        f"{full / plain:>7.1f}{search:>11.0f}{search / plain:>7.1f}{error:>10.1e}"
    )


def run() -> None:
    print(
        f"{'data set':<10}{'rows':>7}{'classes':>9}{'plain':>10}{'all rows':>11}{'ratio':>7}",
        end="",
    )
    print(f"{'in search':>11}{'ratio':>7}{'error':>10}")
    for name in SETS:
        measure(name)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB")
