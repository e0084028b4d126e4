"""The engine against brute force over all structures, on random data."""

import numpy as np
import oracle
import pytest
from problems import (
    MANY_PARENTS,
    encoded,
    named,
    random_case,
    random_codes,
    random_weights,
)

from milpbn import learn_structure
from milpbn.anytime import SolveOptions
from milpbn.errors import ConstraintError
from milpbn.scores import applicable_settings, make_score
from milpbn.scores.rescore import rescore


@pytest.mark.parametrize("seed", range(90))
@pytest.mark.parametrize(("engine", "score"), oracle.SOLVABLE)
def test_engine_finds_and_proves_the_brute_force_optimum(engine, score, seed):
    check_against_brute_force(engine, score, seed, *random_case(seed, score))


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize(
    ("engine", "score"), [(e, s) for e, s in oracle.SOLVABLE if s in oracle.MARGINS]
)
def test_the_optimum_over_families_with_many_parents_survives_pruning(
    engine, score, seed, monkeypatch
):
    # Build the program again after every root that stays open, also if few families have gone.
    monkeypatch.setattr("milpbn.engines.branch_and_cut.engine._SHRINK", 1.0)
    codes, cards, case, limits = random_case(seed, score, MANY_PARENTS)
    case["penalty"] = (0.02, 0.1, 0.3, 1.0)[seed % 4]
    case["class_parents"] = len(cards) == 4
    check_against_brute_force(engine, score, seed, codes, cards, case, limits)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("score", oracle.SCORES)
def test_the_optimum_if_families_join_the_program_one_by_one(score, seed, monkeypatch):
    for name, value in (("_FEW_FAMILIES", 0), ("_FIRST_PER_VARIABLE", 1), ("_NEW_PER_VARIABLE", 1)):
        monkeypatch.setattr(f"milpbn.engines.branch_and_cut.relaxation.{name}", value)
    codes, cards, case, limits = random_case(seed, score)
    if seed % 5 == 0:
        case["weights"] = random_weights(np.random.default_rng(seed), len(codes))
    check_against_brute_force("branch-and-cut", score, seed, codes, cards, case, limits)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("engine", "score"), oracle.SOLVABLE)
def test_the_optimum_for_weighted_rows(engine, score, seed):
    codes, cards, case, limits = random_case(seed, score)
    case["weights"] = random_weights(np.random.default_rng(seed), len(codes))
    case["validation"] = "loo" if seed % 2 else None
    check_against_brute_force(engine, score, seed, codes, cards, case, limits)


# The oracle of bdeu multiplies as many numbers as there are rows.
@pytest.mark.parametrize("weight", [1e-9, 1e9, 1e12])
@pytest.mark.parametrize("score", [s for s in oracle.SCORES if s != "bdeu"])
def test_the_optimum_for_tiny_and_huge_weights(score, weight):
    for seed in range(4):
        codes, cards, case, limits = random_case(seed, score)
        case["weights"] = weight * random_weights(np.random.default_rng(seed), len(codes))
        check_against_brute_force("branch-and-cut", score, seed, codes, cards, case, limits)


def test_a_huge_weight_of_all_rows_leaves_the_number_of_nodes():
    found = []
    for weight in (1.0, 2.0**30, 2.0**40):
        codes, cards = random_codes(np.random.default_rng(1), 6, 3)
        weights = np.full(len(codes), weight)
        data, score = encoded(codes, cards, weights), make_score("sm", smoothing="laplace:0.001")
        found.append(learn_structure(data, score=score, max_parents=2, time_limit=30.0))
    small, *large = found
    assert small.status == "optimal"
    for result in large:
        assert result.status == "optimal"
        assert result.bound <= result.objective * (1 + 2e-6)
        assert result.nodes <= 3 * small.nodes + 3


def check_against_brute_force(engine, score, seed, codes, cards, case, limits):
    data = encoded(codes, cards, case.get("weights"))
    parents, values = oracle.scores_of_all(score, codes, cards, **case)
    allowed = [k for k, s in enumerate(parents) if oracle.satisfies(s, **limits)]
    instance = make_score(score, **applicable_settings(score, case))

    def learn():
        return learn_structure(
            data,
            method=engine,
            score=instance,
            start=None,
            max_parents=case["max_parents"],
            class_parents=case["class_parents"],
            constraints=named(limits, data),
            options=SolveOptions(
                emit=("pulp", "highspy")[seed % 2],
            ),
        )

    if not allowed:
        with pytest.raises(ConstraintError):
            learn()
        return
    result = learn()
    best = values[allowed].max()
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert result.bound == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert result.bound >= best - 1e-6 * max(1, abs(best))
    found = list(map(tuple, result.structure.parents))
    assert oracle.satisfies(found, **limits)
    where = next(k for k in allowed if [tuple(s) for s in parents[k]] == found)
    assert values[where] == pytest.approx(best, rel=1e-6, abs=1e-6)
    independent = rescore(
        instance, result.structure, data.variables, data.train(), data.train_weights()
    )
    assert independent == pytest.approx(result.objective, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("score", oracle.TERMS)
@pytest.mark.parametrize("engine", ["monolithic", "branch-and-cut"])
def test_augmented_families_have_their_own_optimum(engine, score, seed):
    codes, cards, case, _ = random_case(seed, score)
    parents, values = oracle.scores_of_all(score, codes, cards, augmented=True, **case)
    result = learn_structure(
        encoded(codes, cards),
        method=engine,
        score=make_score(score, **applicable_settings(score, case)),
        max_parents=case["max_parents"],
        class_parents=case["class_parents"],
        augmented=True,
    )
    assert result.status == "optimal"
    assert result.objective == pytest.approx(values.max(), rel=1e-6, abs=1e-6)
    assert result.bound == pytest.approx(values.max(), rel=1e-6, abs=1e-6)
    assert list(map(tuple, result.structure.parents)) in [list(map(tuple, p)) for p in parents]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("engine", ["monolithic", "branch-and-cut"])
def test_trace_is_monotone_and_brackets_the_optimum(engine, seed):
    codes, cards, case, _ = random_case(seed, "sm")
    _, values = oracle.scores_of_all("sm", codes, cards, **case)
    result = learn_structure(
        encoded(codes, cards),
        method=engine,
        score=make_score("sm", **applicable_settings("sm", case)),
        max_parents=case["max_parents"],
        class_parents=case["class_parents"],
    )
    objectives = [t.objective for t in result.trace if t.objective is not None]
    bounds = [t.bound for t in result.trace if t.bound is not None]
    assert objectives == sorted(objectives)
    # A bound that rounding put below the incumbent is lifted to it.
    assert bounds == pytest.approx(sorted(bounds, reverse=True), rel=1e-9)
    assert all(b >= values.max() - 1e-6 * max(1, abs(values.max())) for b in bounds)
    assert [t.time for t in result.trace] == sorted(t.time for t in result.trace)
