"""Passes over the rows in several threads: the same numbers, bit by bit."""

import threading

import numpy as np
import pytest
from problems import random_codes

from milpbn.families import MergedRows, candidate_families, passes
from milpbn.scores import make_score


@pytest.fixture(autouse=True)
def always_divided(monkeypatch):
    """Divide even the shortest pass."""
    monkeypatch.setattr(passes, "_SHORT", 0)


@pytest.mark.parametrize("validation", [None, "loo"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("score", ["sm", "cr", "sbm"])
def test_scores_do_not_depend_on_the_number_of_threads(score, n_classes, validation):
    codes, cards = random_codes(np.random.default_rng(n_classes), 5, n_classes)
    names = ["class", "a", "b", "c", "d"]
    found = []
    for threads in (1, 2, 3):
        space = candidate_families(names, cards, threads=threads)
        objective = make_score(score, validation=validation).objective(
            space, MergedRows.from_codes(codes)
        )
        state = objective.state(space.feasible_families())
        sums = [state.scores(v, space.of(v)) for v in range(len(names))]
        found.append((np.concatenate(sums), objective.tables.exact[: objective.tables._used]))
    for scores, tables in found[1:]:
        assert np.array_equal(scores, found[0][0])
        assert np.array_equal(tables, found[0][1])


def test_every_family_has_its_turn_in_one_thread():
    seen, names = np.zeros(7, dtype=int), set()

    def work(part):
        seen[part] += 1
        names.add(threading.current_thread().name.rsplit("_")[0])

    passes.divided(7, 10, 3, work)
    assert (seen == 1).all()
    assert names == {"milpbn-pass"}


def test_an_error_in_a_thread_is_not_lost():
    def work(part):
        raise MemoryError

    with pytest.raises(MemoryError):
        passes.divided(7, 10, 3, work)
