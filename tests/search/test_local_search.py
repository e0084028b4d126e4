"""Local search against brute force on small spaces, and against proven optima on real data."""

import numpy as np
import oracle
import pytest
from problems import all_rows, encoded, random_budgets, random_codes

from milpbn import Encoder, Structure, learn_structure, load_dataset
from milpbn.anytime import Run, SolveOptions
from milpbn.anytime.progress import Progress
from milpbn.clock import Clock
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score
from milpbn.search import run_learner
from milpbn.search.base import Search
from milpbn.search.local_search import Climber, LocalSearch

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
            **space,
        )
        best = values.max()
        assert found.objective <= best + 1e-6 * max(1, abs(best))
        if found.objective < best - 1e-6 * max(1, abs(best)):
            missed.append(seed)
    assert len(missed) <= 1, missed


def test_finds_the_brute_force_optimum_within_budgets():
    missed, runs = [], 0
    for seed in range(32):
        codes, cards, space = small_problem(seed, "sm")
        budgets = random_budgets(np.random.default_rng([seed, 3]), cards)
        structures, values = oracle.scores_of_all("sm", codes, cards, gamma=2.2, **space)
        within = [oracle.satisfies(s, budgets=budgets, cards=cards) for s in structures]
        if not any(within):
            continue
        found = learn_structure(
            encoded(codes, cards), method=LocalSearch(patience=40), gamma=2.2, **budgets, **space
        )
        best = values[within].max()
        assert found.objective <= best + 1e-6 * max(1, abs(best))
        runs += 1
        if found.objective < best - 1e-6 * max(1, abs(best)):
            missed.append(seed)
    assert len(missed) <= 1, missed
    assert runs >= 20


@pytest.mark.parametrize("score", ["cr", "cll", "sm"])
@pytest.mark.parametrize("validation", [None, 3, "loo"])
def test_never_ends_below_its_start_for_any_row_score(score, validation):
    codes, cards, space = small_problem(2, score)
    data = encoded(codes, cards)
    names = [v.name for v in data.variables]
    start = Structure.from_arcs(names, [("class", names[1])])
    settings = {"score": score, "validation": validation, **space}
    search = LocalSearch(patience=5)
    result = learn_structure(data, method=search, start=start, **settings)
    made = make_score(score, validation=validation)
    objective = build_objective(data, made, SearchSpace(**space))
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


@pytest.mark.parametrize("status", ["time_limit", "interrupted"])
def test_the_time_limit_and_an_interrupt_keep_the_best_structure(now, status):
    table = load_dataset("german")
    data = Encoder.fit(table).encode(table)
    seen = []

    def third_is_the_last(point):
        seen.append(point)
        if len(seen) == 3 and status == "interrupted":
            raise KeyboardInterrupt
        if len(seen) == 3:
            now[0] += 60

    result = learn_structure(data, method="local-search", time_limit=60, listener=third_is_the_last)
    assert result.status == status
    assert result.objective == seen[2].objective > seen[0].objective
    assert [point.source for point in seen[3:]] == ["end"]


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.6, 0.9, 0.99])
@pytest.mark.parametrize("name", ["car", "iris", "glass", "heart", "australian", "breast", "vote"])
def test_finds_the_proven_optimum_of_real_data_from_any_seed(name, p):
    data = all_rows(name)
    score = make_score("sm", p=p)
    proven = learn_structure(data, method="branch-and-cut", score=score, class_parents=False)
    assert proven.status == "optimal"
    objective = build_objective(data, score, SearchSpace(max_parents=2, class_parents=False))
    enough = proven.objective - 1e-6 * abs(proven.objective)
    reached = []

    def stop(point):
        if point.objective is not None and point.objective >= enough and point.source != "end":
            raise KeyboardInterrupt

    for seed in range(10):
        result = run_learner(
            LocalSearch(),
            objective,
            score,
            Run(listener=stop, options=SolveOptions(seed=seed)),
        )
        reached.append(result.objective >= enough)
    assert all(reached)


@pytest.mark.parametrize(("name", "k"), [("heart", 1), ("heart", 2), ("vehicle", 1)])
def test_small_optima_are_found_if_gamma_is_small(name, k):
    """Large structures are then local optima; also from a start that is one."""
    data = all_rows(name)
    objective = build_objective(data, make_score("sm", p=0.501), SearchSpace(k))
    start = learn_structure(data, method="tan-cmi").structure if k > 1 else None
    found = run_learner(LocalSearch(5), objective, make_score("sm", p=0.501), Run(start=start))
    exact = learn_structure(data, p=0.501, max_parents=k)
    assert exact.status == "optimal"
    assert found.objective >= exact.objective - 1e-6


def climber(objective, families, seed=0):
    progress = Progress(objective, Clock(), None)
    return Climber(Search(objective, progress, seed, np.asarray(families)), "test")


def test_a_subtree_is_joined_again_by_a_variable_that_was_not_its_root():
    # x3 copies x1 within each class; x2 is the root of x2 -> x3, so that x3 has a parent
    # already and x1 would have to become a child of x3's tree by turning it round.
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, 400)
    x1 = rng.integers(0, 2, 400)
    x3 = x1 ^ label
    x2 = np.where(rng.random(400) < 0.9, x3, 1 - x3)
    codes = np.stack([label, x1, x2, x3], axis=1)
    data = encoded(codes, [2, 2, 2, 2])
    objective = build_objective(data, make_score("sm"), SearchSpace(class_parents=False))
    names = [v.name for v in data.variables]
    arcs = [("class", "x1"), ("class", "x2"), ("class", "x3"), ("x2", "x3")]
    start = objective.space.families(Structure.from_arcs(names, arcs))
    search = climber(objective, start)
    before = search.state.value
    assert search.transplants()
    assert search.state.value > before
    assert search.state.value == pytest.approx(objective.value(search.state.families))
    arcs = objective.space.structure(search.state.families).arcs
    assert {frozenset(a) for a in arcs} >= {frozenset(("x1", "x3"))}


@pytest.mark.parametrize("score", ["sm", "mdl"])
@pytest.mark.parametrize("seed", range(12))
def test_transplants_gain_or_leave_everything_as_it_was(score, seed):
    rng = np.random.default_rng([seed, 11])
    codes, cards = random_codes(rng, 6, n_classes=2 + seed % 2)
    space = SearchSpace(max_parents=2 + seed % 2, class_parents=seed % 3 == 0)
    objective = build_objective(encoded(codes, cards), make_score(score), space, prune=False)
    search = climber(objective, objective.space.feasible_families(), seed)
    search.kick(objective.space.n_variables)
    for _ in range(20):
        before, value = search.state.families.copy(), search.state.value
        gained = search.transplants()
        after = search.state.families
        assert len(objective.space.structure(after).order) == objective.space.n_variables
        if not gained:
            assert np.array_equal(after, before)
            break
        assert search.state.value > value
    else:
        raise AssertionError("twenty gains in a row")
