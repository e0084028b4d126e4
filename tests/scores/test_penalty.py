"""A cost per free parameter: the same in the objective, the searches, the programs and the file."""

import math

import numpy as np
import oracle
import pytest
from problems import encoded, named, random_case

from milpbn import BNClassifier, learn_structure, load_dataset
from milpbn.errors import OptionError
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.network.multinet import fit_classifier
from milpbn.scores import applicable_settings, make_score
from milpbn.scores.definition import n_free_parameters
from milpbn.search.local_search import LocalSearch


def problem(seed, penalty, score="sm"):
    codes, cards, case, _ = random_case(seed, score)
    data = encoded(codes, cards)
    settings = applicable_settings(score, {"gamma": case["gamma"], "penalty": penalty})
    made = make_score(score, **settings)
    space = SearchSpace(case["max_parents"], case["class_parents"])
    return data, made, build_objective(data, made, space, prune=False)


def random_structure(objective, rng):
    space = objective.space
    while True:
        families = np.array([rng.choice(space.of(i)) for i in range(space.n_variables)])
        try:
            return families, space.structure(families)
        except ValueError:  # a cycle
            continue


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("score", ["sm", "sbm", "cll"])
def test_the_cost_is_the_penalty_times_the_free_parameters(score, seed):
    rng = np.random.default_rng(seed)
    data, _, plain = problem(seed, 0.0, score)
    _, made, dear = problem(seed, 0.7, score)
    for _ in range(5):
        families, structure = random_structure(dear, rng)
        network = fit_classifier(structure, data.variables, data.train(), made.smoothing)
        expected = plain.value(families) - 0.7 * network.n_parameters
        assert dear.value(families) == pytest.approx(expected)
        assert made.definition(structure, data.variables, data.train()) == pytest.approx(expected)
        assert dear.quick_bound() >= dear.value(families)
        if score in oracle.HINGES:
            assert dear.row_bound(dear.margin_range()[1]) >= dear.value(families) - 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_searches_see_the_cost(seed):
    rng = np.random.default_rng(seed)
    _, _, objective = problem(seed, 0.3)
    families, _ = random_structure(objective, rng)
    state = objective.state(families)
    assert state.value == pytest.approx(objective.value(families))
    for variable in range(objective.space.n_variables):
        candidates = np.array(objective.space.of(variable))
        exact = []
        for f in candidates:
            other = families.copy()
            other[variable] = f
            exact.append(objective.value(other))
        assert state.scores(variable, candidates) == pytest.approx(exact, rel=1e-5, abs=1e-5)
        # What misses the threshold may be given up, what reaches it may not.
        threshold = float(np.median(exact))
        found = state.scores(variable, candidates, threshold)
        reached = np.array(exact) > threshold + 1e-4
        assert found[reached] == pytest.approx(np.array(exact)[reached], rel=1e-5, abs=1e-5)
        best = int(candidates[int(np.argmax(exact))])
        state.exchange(variable, best)
        families[variable] = best
        assert state.value == pytest.approx(objective.value(families))


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_local_search_finds_the_sparse_optimum_of_small_problems(seed):
    codes, cards, case, limits = random_case(seed, "sm")
    case["penalty"] = (0.05, 0.2, 0.8)[seed % 3]
    data = encoded(codes, cards)
    parents, values = oracle.scores_of_all("sm", codes, cards, **case)
    allowed = [k for k, s in enumerate(parents) if oracle.satisfies(s, **limits)]
    if not allowed:
        pytest.skip("the constraints leave no structure")
    found = learn_structure(
        data,
        method=LocalSearch(patience=60),
        gamma=case["gamma"],
        penalty=case["penalty"],
        validation=case["validation"],
        max_parents=case["max_parents"],
        class_parents=case["class_parents"],
        constraints=named(limits, data),
    )
    assert found.objective == pytest.approx(values[allowed].max(), rel=1e-6, abs=1e-6)


def test_a_high_cost_empties_the_network_and_bic_grows_with_the_rows():
    table = load_dataset("heart")
    sizes = []
    for penalty in (0.0, 0.5, "bic", 100.0):
        model = BNClassifier(penalty=penalty, max_parents=2, class_parents=False, time_limit=None)
        model.fit(table.features, table.target)
        assert model.optimal_
        sizes.append(len(model.structure_.arcs))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0
    assert make_score("sm", penalty="BIC").cost_per_parameter(100) == 0.5 * math.log(100)


def test_the_penalty_is_a_setting_only_where_there_is_one():
    assert make_score("sm", penalty=0.5).settings()["penalty"] == 0.5
    assert make_score("sbm", penalty="bic").settings()["penalty"] == "bic"
    assert "penalty" not in make_score("sm").settings()
    for wrong in (-1, "many", math.inf, math.nan):
        with pytest.raises(OptionError, match="the penalty must be a number from 0 on, or bic"):
            make_score("sm", penalty=wrong)
    with pytest.raises(OptionError, match="the score cr has no setting 'penalty'"):
        make_score("cr", penalty=1.0)


def test_a_multinet_pays_for_the_tables_of_every_class():
    table = load_dataset("monks-1")
    from milpbn import Encoder

    data = Encoder.fit(table).encode(table)
    result = learn_structure(data, method="multinet-cmi", penalty=0.1, class_parents=False)
    free = learn_structure(data, method="multinet-cmi", class_parents=False)
    network = fit_classifier(
        result.structure, data.variables, data.train(), make_score("sm").smoothing
    )
    assert n_free_parameters(result.structure, data.variables) == network.n_parameters
    assert result.objective == pytest.approx(free.objective - 0.1 * network.n_parameters)
