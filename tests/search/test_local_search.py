"""Local search against brute force on small spaces, and against proven optima on real data."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
from problems import encoded, random_codes

from milpbn import Encoder, Structure, learn_structure, load_dataset
from milpbn.clock import Clock
from milpbn.learning import SearchSpace, build_objective
from milpbn.scores import make_score
from milpbn.search import run_learner
from milpbn.search.local_search import LocalSearch

SHAPES = [(3, 2), (4, 2), (5, 2), (4, 3)]


def small_problem(seed, score):
    rng = np.random.default_rng([seed, 7])
    n, max_parents = SHAPES[seed % len(SHAPES)]
    codes, cards = random_codes(rng, n, n_classes=2 + seed % 3)
    return codes, cards, {"max_parents": max_parents, "class_parents": seed % 2 == 0}


@pytest.mark.parametrize("score", ["sm", "mdl"])
def test_finds_the_brute_force_optimum_almost_always(score):
    missed = []
    for seed in range(100):
        codes, cards, space = small_problem(seed, score)
        _, values = oracle.scores_of_all(score, codes, cards, gamma=2.2, **space)
        found = learn_structure(
            encoded(codes, cards),
            method=LocalSearch(patience=40),
            score=score,
            gamma=2.2,
            time_limit=20,
            **space,
        )
        best = values.max()
        assert found.objective <= best + 1e-6 * max(1, abs(best))
        if found.objective < best - 1e-6 * max(1, abs(best)):
            missed.append(seed)
    assert len(missed) <= 1, missed


@pytest.mark.parametrize("score", ["cr", "cll", "sm"])
@pytest.mark.parametrize("folds", [None, 3])
def test_never_ends_below_its_start_for_any_row_score(score, folds):
    codes, cards, space = small_problem(2, score)
    data = encoded(codes, cards)
    names = [v.name for v in data.variables]
    start = Structure.from_arcs(names, [("class", names[1])])
    settings = {"score": score, "folds": folds, **space}
    search = LocalSearch(patience=5)
    result = learn_structure(data, method=search, start=start, **settings)
    objective = build_objective(data, make_score(score, folds=folds), SearchSpace(**space))
    assert result.objective >= objective.value(objective.space.families(start))
    assert result.bound is None
    assert result.evaluations > 0


def test_the_same_seed_gives_the_same_run():
    table = load_dataset("iris")
    data = Encoder.fit(table).encode(table)
    runs = [learn_structure(data, method=LocalSearch(patience=20)) for _ in range(2)]
    assert runs[0].structure == runs[1].structure
    assert runs[0].evaluations == runs[1].evaluations
    assert [p.objective for p in runs[0].trace] == [p.objective for p in runs[1].trace]


def test_the_time_limit_and_an_interrupt_keep_the_best_structure():
    table = load_dataset("german")
    data = Encoder.fit(table).encode(table)
    limited = learn_structure(data, method="local-search", time_limit=1.5)
    assert limited.status == "time_limit"
    assert limited.objective > 0

    def interrupt(point):
        seen.append(point)
        if len(seen) == 3:
            raise KeyboardInterrupt

    seen = []
    stopped = learn_structure(data, method="local-search", listener=interrupt)
    assert stopped.status == "interrupted"
    assert stopped.objective >= seen[2].objective


def all_rows(name):
    table = load_dataset(name)
    table = replace(table, is_train=np.ones(len(table.features), dtype=bool))
    return Encoder.fit(table).encode(table)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.6, 0.9, 0.99])
@pytest.mark.parametrize("name", ["car", "iris", "glass", "heart", "australian", "breast", "vote"])
def test_finds_the_proven_optimum_of_real_data_from_any_seed(name, p):
    data = all_rows(name)
    score = make_score("sm", p=p)
    proven = learn_structure(
        data, method="branch-and-cut", score=score, class_parents=False, time_limit=900
    )
    assert proven.status == "optimal"
    objective = build_objective(data, score, SearchSpace(max_parents=2, class_parents=False))
    enough = proven.objective - 1e-6 * abs(proven.objective)
    reached = []

    def stop(point):
        if point.objective is not None and point.objective >= enough and point.source != "end":
            raise KeyboardInterrupt

    for seed in range(10):
        result = run_learner(
            LocalSearch(), objective, score, clock=Clock(10), seed=seed, listener=stop
        )
        reached.append(result.objective >= enough)
    assert all(reached)
