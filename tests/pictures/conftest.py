"""Networks of the kinds that learners produce, from a handful to 58 variables."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from milpbn.structure import Structure

ParentSets = list[tuple[int, ...]]

WORDS = ("make", "address", "internet", "technology", "conference", "business", "85", "re")


def names(n: int) -> tuple[str, ...]:
    long = ["capital_run_length_average", "capital_run_length_longest", "char_freq_$"]
    words = [f"word_freq_{WORDS[k % len(WORDS)]}{k // len(WORDS) or ''}" for k in range(n)]
    return ("class", *(long + words)[: n - 1])


def tan(n: int) -> ParentSets:
    rng = random.Random(n)
    return [(), (0,), *((0, rng.randrange(max(1, v - 9), v)) for v in range(2, n))]


def forest(n: int) -> ParentSets:
    rng = random.Random(n)
    sets: ParentSets = [()]
    for v in range(1, n):
        kind = rng.random()
        lone = v == 1 or kind < 0.35
        sets.append(() if kind < 0.1 else (0,) if lone else (0, rng.randrange(1, v)))
    return sets


def dag(n: int) -> ParentSets:
    rng = random.Random(n)
    sets: ParentSets = [()]
    for v in range(1, n):
        before = range(max(1, v - 8), v)
        features = rng.sample(before, min(len(before), rng.randint(0, 2)))
        sets.append(((0,) if rng.random() < 0.8 else ()) + tuple(features))
    return sets


def with_class_parents(n: int) -> ParentSets:
    sets = dag(n)
    sets[0], sets[1], sets[2] = (1, 2), (), ()
    return sets


def star(n: int) -> ParentSets:
    return [(), (0,), *((0, 1) for _ in range(2, n))]


def naive_bayes(n: int) -> ParentSets:
    return [(), *((0,) for _ in range(1, n))]


def empty(n: int) -> ParentSets:
    return [()] * n


KINDS: dict[str, Callable[[int], ParentSets]] = {
    f.__name__: f for f in (tan, forest, dag, with_class_parents, star, naive_bayes, empty)
}
CASES = [f"{kind}-{n}" for kind in KINDS for n in (4, 12, 20, 37, 58)] + ["empty-1"]


def build(case: str) -> Structure:
    kind, size = case.split("-")
    return Structure(names(int(size)), tuple(KINDS[kind](int(size))))


@pytest.fixture(params=CASES)
def structure(request: pytest.FixtureRequest) -> Structure:
    """Each of the networks above."""
    return build(request.param)


@pytest.fixture(scope="session")
def make() -> Callable[[str], Structure]:
    """Build one of the networks above by name, as in ``make("tan-20")``."""
    return build
