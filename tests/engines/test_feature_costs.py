"""Costs of features: every engine and the heuristics against brute force."""

import numpy as np
import oracle
import pytest
from problems import encoded, random_budgets, random_codes

from milpbn import BNClassifier, Constraints, learn_structure, load_dataset
from milpbn.engines.branch_and_cut.cuts.features import FeatureOracle, FeatureRow
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.errors import ConstraintError, OptionError
from milpbn.families import Budgets, candidate_families
from milpbn.families.budgets import read_feature_costs
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score
from milpbn.search import LEARNERS
from milpbn.structure import Structure

SHAPES = [(3, 2), (4, 2), (4, 1), (5, 2), (4, 3)]


def random_problem(seed, score):
    """Rows, a space, costs of some features with a limit, and sometimes other budgets."""
    rng = np.random.default_rng([seed, 11])
    n, most = SHAPES[seed % len(SHAPES)]
    codes, cards = random_codes(rng, n, n_classes=2 + seed % 2)
    data = encoded(codes, cards)
    costs = rng.choice([0, 1, 2, 7, 20, 999], n)
    costs[0] = 0
    costs[1] = max(costs[1], 1)
    limit = int(rng.integers(0, costs.sum() + 1))
    limits = {"max_cost": limit, "costs": costs.tolist()}
    budgets = {"max_cost": limit}
    budgets["feature_costs"] = {
        v.name: int(c) for v, c in zip(data.variables[1:], costs[1:], strict=True) if c
    }
    if seed % 3 == 0:
        others = random_budgets(rng, cards)
        limits, budgets = {**limits, **others}, {**budgets, **others}
    space = {"max_parents": most, "class_parents": seed % 2 == 0}
    structures, values = oracle.scores_of_all(score, codes, cards, gamma=2.2, **space)
    within = [oracle.satisfies(s, budgets=limits, cards=cards) for s in structures]
    return data, space, budgets, limits, cards, values[within]


def check(seed, score, engine):
    data, space, budgets, limits, cards, values = random_problem(seed, score)
    settings = {**space, **budgets, "score": score, "gamma": 2.2}
    if not len(values):
        with pytest.raises(ConstraintError, match="no structure is small enough"):
            learn_structure(data, method=engine, **settings)
        return
    result = learn_structure(data, method=engine, start=None, **settings)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(values.max(), rel=2e-6, abs=2e-6)
    assert result.bound >= values.max() - 1e-6
    assert all(point.bound >= values.max() - 1e-6 for point in result.trace if point.bound)
    assert oracle.satisfies(result.structure.parents, budgets=limits, cards=cards)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("score", ["sm", "mdl"])
def test_branch_and_cut_proves_the_best_structure_within_the_cost(score, seed):
    check(seed, score, "branch-and-cut")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("score", ["sm", "mdl"])
def test_the_monolithic_program_proves_it_too(score, seed):
    check(seed, score, "monolithic")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 150))
@pytest.mark.parametrize("score", ["sm", "sbm", "mdl"])
def test_branch_and_cut_proves_it_on_many_problems(score, seed):
    check(seed, score, "branch-and-cut")


@pytest.mark.parametrize("seed", range(12))
def test_enumeration_knows_the_costs(seed):
    data, space, budgets, _, _, values = random_problem(seed, "sm")
    if len(values):
        own = SearchSpace(**space, constraints=Constraints(**budgets))
        objective = build_objective(data, make_score("sm", gamma=2.2), own)
        assert best_by_enumeration(objective)[1] == pytest.approx(values.max(), abs=1e-6)


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_heuristics_stay_within_the_cost(learner):
    for seed in range(6):
        data, space, budgets, limits, cards, values = random_problem(seed, "sm")
        if not len(values):
            continue
        found = learn_structure(data, method=learner, gamma=2.2, **space, **budgets)
        assert oracle.satisfies(found.structure.parents, budgets=limits, cards=cards)
        assert found.objective <= values.max() + 1e-6


def test_rows_hold_for_all_structures_within_the_cost_and_cut_off_the_others():
    rng = np.random.default_rng(2)
    names, costs = ["class", "a", "b", "c"], {"a": 3, "b": 10_000, "c": 1}
    rules = Constraints(max_cost=10_001, feature_costs=costs)
    space = candidate_families(names, [2, 2, 3, 2], constraints=rules)
    features = FeatureOracle(space, "cost")
    rows = [FeatureRow(tuple(rng.integers(0, 4, 3).tolist()), "cost") for _ in range(10)]
    seen = set()
    for parents in oracle.structures(4, 2, True, False):
        candidates = oracle.families(4, 2, True, False)
        found = [space.find(i, candidates[i][k]) for i, k in enumerate(parents)]
        if None in found:
            continue
        eta = np.zeros(len(space))
        eta[found] = 1.0
        within = space.fits(np.array(found))
        seen.add(within)
        assert bool(features.separate(eta)) is not within
        if within:
            assert all(features.coefficients(row) @ eta <= features.limit for row in rows)
    assert seen == {True, False}


def test_costs_are_whole_numbers_of_features():
    assert read_feature_costs('"a, b=3",c=0') == {"a, b": 3, "c": 0}
    for text in ("", "a", "a=", "a=1.5", "a=1,a=2", "=3"):
        with pytest.raises(OptionError, match="no list of features and costs"):
            read_feature_costs(text)
    for cost in (-1, 0.5, True, "2", 10_001):
        with pytest.raises(ConstraintError, match="the cost of 'a' must be a whole number"):
            Budgets(feature_costs={"a": cost})
    with pytest.raises(ConstraintError, match="max_cost requires feature_costs"):
        Budgets(max_cost=3)
    star = Structure.from_arcs(["y", "a", "b"], [("y", "a"), ("y", "b")])
    own = Budgets(max_cost=6, feature_costs={"a": 5, "b": 2, "z": 9})
    assert own.cost_of(star) == 7
    assert list(own.broken_by(star, 9)) == [
        "the features of the structure cost 7, but max_cost is 6"
    ]


def test_names_of_costs_are_checked_and_columns_left_out_are_free(tmp_path):
    heart = load_dataset("heart")
    X, y = heart.features, heart.target
    costs = {"thal": 20, "ca": 30, "chol": 4}  # MDLP leaves chol out
    model = BNClassifier(max_parents=1, max_cost=25, feature_costs=costs).fit(X, y)
    used = {v for arc in model.structure_.arcs for v in arc}
    assert model.optimal_
    assert "ca" not in used
    model.save(tmp_path / "model.json")
    again = BNClassifier.load(tmp_path / "model.json")
    assert (again.max_cost, again.feature_costs) == (25, costs)
    with pytest.raises(ConstraintError, match="cost of 'thall': there is no such variable"):
        BNClassifier(max_cost=1, feature_costs={"thall": 3}).fit(X, y)
    with pytest.raises(ConstraintError, match="'class' is the class; only features have costs"):
        BNClassifier(max_cost=1, feature_costs={"class": 3}).fit(X, y)
