"""Structure and resolutions chosen together, against brute force over all of them."""

import numpy as np
import oracle
import pytest
from problems import (
    encoded,
    named,
    random_codes,
    random_maps,
    random_weights,
    resolved_case,
    resolved_truth,
)

from milpbn import learn_structure
from milpbn.anytime import SolveOptions
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.errors import ConstraintError
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import applicable_settings, make_score
from milpbn.scores.rescore import rescore
from milpbn.search.local_search import LocalSearch

SCORES = ("sm", "sbm", "cll", "mdl")


def learn(data, score, case, constraints, method, seed=0, **more):
    return learn_structure(
        data,
        method=method,
        score=make_score(score, **applicable_settings(score, case)),
        max_parents=case["max_parents"],
        class_parents=case["class_parents"],
        constraints=constraints,
        options=SolveOptions(
            emit=("pulp", "highspy")[seed % 2],
        ),
        **more,
    )


def check(seed, score):
    codes, cards, maps, case, limits, budgets = resolved_case(seed, score)
    data = encoded(codes, cards, case["weights"], maps)
    scores = resolved_truth(score, codes, cards, maps, case, limits, budgets)
    everything = {**limits, "budgets": budgets}
    if not scores:
        with pytest.raises(ConstraintError):
            learn(data, score, case, named(everything, data), "branch-and-cut")
        return
    constraints = named(everything, data)
    best = max(scores.values())
    for method in [engine for engine, of in oracle.SOLVABLE if of == score]:
        result = learn(data, score, case, constraints, method, seed, start=None)
        assert result.status == "optimal"
        assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
        assert result.bound == pytest.approx(best, rel=1e-6, abs=1e-6)
        check_structure(result, score, case, data, scores)
    result = learn(data, score, case, constraints, LocalSearch(patience=20))
    assert result.objective <= best + 1e-6 * max(1, abs(best))
    check_structure(result, score, case, data, scores)


def check_structure(result, score, case, data, scores):
    """The brute-force score of the structure is the one that is reported, and so is rescore's."""
    structure = result.structure
    seen = tuple(structure.seen(i) for i in range(len(data.variables)))
    assert scores[structure.parents, seen] == pytest.approx(result.objective, rel=1e-9, abs=1e-9)
    instance = make_score(score, **applicable_settings(score, case))
    again = rescore(instance, structure, data.variables, data.train(), data.train_weights())
    assert again == pytest.approx(result.objective, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("score", SCORES)
def test_engines_prove_the_optimum_over_structures_and_resolutions(score, seed):
    check(seed, score)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 150))
@pytest.mark.parametrize("score", SCORES)
def test_engines_prove_many_optima_over_structures_and_resolutions(score, seed):
    check(seed, score)


@pytest.mark.parametrize("seed", range(6))
def test_searches_report_the_classification_rate_of_their_resolutions(seed):
    codes, cards, maps, case, limits, budgets = resolved_case(seed, "cr")
    data = encoded(codes, cards, case["weights"], maps)
    scores = resolved_truth("cr", codes, cards, maps, {**case, "penalty": 0.0}, limits, budgets)
    if not scores:
        pytest.skip("the constraints leave no structure")
    constraints = named({**limits, "budgets": budgets}, data)
    for method in (
        LocalSearch(patience=20),
        "hc",
        "hc-complete",
        "sa",
        "omi-cr",
        "superparent",
        "tan-cmi",
    ):
        result = learn(data, "cr", case, constraints, method)
        assert result.objective <= max(scores.values()) + 1e-9
        check_structure(result, "cr", case, data, scores)


@pytest.mark.parametrize("validation", [None, "loo", 3])
@pytest.mark.parametrize("penalty", [0.0, 0.1])
@pytest.mark.parametrize("score", ["sm", "sbm"])
def test_enumeration_agrees_with_branch_and_cut(score, penalty, validation):
    rng = np.random.default_rng(5)
    codes, cards = random_codes(rng, 4, 3)
    data = encoded(codes, cards, None, [[], [[0] * cards[1]], [[0, *[1] * (cards[2] - 1)]], []])
    instance = make_score(score, p=0.9, penalty=penalty, validation=validation)
    objective = build_objective(data, instance, SearchSpace(max_parents=2, class_parents=False))
    _, best = best_by_enumeration(objective)
    result = learn_structure(data, score=instance, class_parents=False)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("score", ["sm", "sbm", "cr", "cll"])
@pytest.mark.parametrize("validation", [None, "loo", 4])
def test_the_objective_is_the_definition_in_every_resolution(score, validation):
    rng = np.random.default_rng(8)
    codes, cards = random_codes(rng, 5, 3)
    data = encoded(codes, cards, random_weights(rng, len(codes)), random_maps(rng, cards))
    instance = make_score(score, validation=validation)
    objective = build_objective(data, instance, SearchSpace(max_parents=3), prune=False)
    space = objective.space
    assert space.resolutions is not None
    for _ in range(15):
        families = space.feasible_families()
        for v in rng.permutation(space.n_variables):
            earlier = np.isin(
                space.parent_sets.members[space.offsets[v] : space.offsets[v + 1]], [-1, *range(v)]
            ).all(axis=1)
            families[v] = space.offsets[v] + rng.choice(np.flatnonzero(earlier))
        structure = space.structure(families)
        again = rescore(instance, structure, data.variables, data.train(), data.train_weights())
        assert objective.value(families) == pytest.approx(again, rel=1e-9, abs=1e-9)
        assert objective.state(families).value == pytest.approx(again, rel=1e-6, abs=1e-6)
