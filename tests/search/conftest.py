"""A data set small enough for traces by hand, and helpers to run learners on codes."""

import math
from collections import Counter

import numpy as np
import pytest
from problems import encoded

from milpbn.anytime import Progress, Run
from milpbn.clock import Clock
from milpbn.families import Constraints
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score
from milpbn.search import Search, make_learner, run_learner


@pytest.fixture
def objective_of():
    """Objective of codes (class first): ``objective_of(codes, cards, score, ...)``."""

    def build(codes, cards, score="cr", max_parents=2, class_parents=False, **constraints):
        space = SearchSpace(max_parents, class_parents, Constraints(**constraints))
        made = score if not isinstance(score, str) else make_score(score)
        return build_objective(encoded(codes, cards), made, space)

    return build


@pytest.fixture
def run():
    """Run a learner, by name or itself, on an objective; options are those of ``Run``."""

    def run(learner, objective, **options):
        return run_learner(make_learner(learner), objective, make_score("cr"), Run(**options))

    return run


@pytest.fixture
def search_of():
    """The setting that a learner gets, without the record around it."""

    def build(objective, seed=0):
        return Search(objective, Progress(objective, Clock()), seed)

    return build


@pytest.fixture
def xor_codes():
    """Twelve rows (class, x1, x2, x3): the class is x1 xor x2; x3 is the class in 8 rows.

    Each of the four points of (x1, x2) occurs three times, twice with x3 = class. With
    Laplace smoothing (Laplace's a = 1), by hand:

    - Naive Bayes: P(x1 | c) = P(x2 | c) = 4/8 for all values; P(x3 = c | c) = (4 + 1) / (6 + 2)
      = 5/8. The margin of a row is + or - log(5/3), by x3 alone: 8 of 12 rows are right.
    - An edge between x1 and x2 (either way): given the class one value is certain, with
      (3 + 1) / (3 + 2) = 4/5 against 1/5 in the other class, a margin of log 4, which
      outweighs x3: 12 of 12 rows.
    - Edges x3 -> x1 and x3 -> x2: all probabilities stay 1/2, as in naive Bayes: 8 rows.
    - Edges x1 -> x3 and x2 -> x3: P(x3 = c | x1, c) = (2 + 1) / (3 + 2) = 3/5, a margin of
      + or - log(3/2) by x3 alone: 8 rows; together with an edge between x1 and x2, 12 rows.
    """
    rows = [
        (x1 ^ x2, x1, x2, (x1 ^ x2) ^ wrong)
        for x1 in (0, 1)
        for x2 in (0, 1)
        for wrong in (0, 0, 1)
    ]
    return np.array(rows)


@pytest.fixture
def xor(objective_of, xor_codes):
    """The classification rate on ``xor_codes``, one feature parent allowed."""
    return objective_of(xor_codes, [2, 2, 2, 2])


@pytest.fixture(scope="session")
def information():
    """Mutual information by counting rows: ``information(codes, a, b, given)``."""
    return _information


def _information(codes, a, b, given=()):
    """I(A; B | S) = sum p(a,b,s) log( p(a,b,s) p(s) / (p(a,s) p(b,s)) ), by counting rows."""
    rows = [tuple(int(v) for v in row) for row in codes]

    def values(row, variables):
        return tuple(row[v] for v in variables)

    n_abs = Counter(values(r, (*a, *b, *given)) for r in rows)
    n_as = Counter(values(r, (*a, *given)) for r in rows)
    n_bs = Counter(values(r, (*b, *given)) for r in rows)
    n_s = Counter(values(r, given) for r in rows)
    total = 0.0
    for key, n in n_abs.items():
        at_a, at_b, at_s = key[: len(a)], key[len(a) : len(a) + len(b)], key[len(a) + len(b) :]
        ratio = n * n_s[at_s] / (n_as[at_a + at_s] * n_bs[at_b + at_s])
        total += n / len(rows) * math.log(ratio)
    return total
