"""The order-based heuristics: orders against plain loops, parents by hand and by trying all."""

from dataclasses import replace

import numpy as np
import pytest
from problems import encoded, random_codes

from milpbn import learn_structure
from milpbn.clock import Clock
from milpbn.errors import OptionError
from milpbn.search.order_based import OCR, OMI, OMISP, RandomOrder


def first_best(candidates, value):
    """argmax with the first of equals, where rounding is no difference."""
    best = max(map(value, candidates))
    return next(x for x in candidates if value(x) > best - 1e-9)


def test_trace_of_algorithm_1(xor, run):
    """I(C; x1, x2) = log 2 is the largest, and x1 and x2 alone say nothing: no swap.

    x1 -> x2 is added untested. x3 gets x1 (12 rows; x2 would too, but comes later) because
    12 > CR_old = 0, although without a parent it would be 12 as well: two scores.
    """
    result = run("omi-cr", xor)
    assert result.structure.parents == ((), (0,), (0, 1), (0, 1))
    assert result.evaluations == 2


def test_trace_of_the_refinement(xor, run):
    """After the trace above a round tries {} for x2 (8 rows), and {} and x2 for x3 (12, 12).

    Nothing gains, so nothing changes and the search ends: three more scores.
    """
    result = run("omi-cr-ext", xor)
    assert result.structure == run("omi-cr", xor).structure
    assert result.evaluations == 2 + 3


def test_the_better_feature_of_the_first_pair_comes_first(objective_of, search_of):
    """Of 8 rows x2 leaves 5 with (4, 1) rows of the classes in doubt, x1 leaves 5 with (2, 3).

    I(C; x2) = log 2 - 5/8 H(4, 1) = 0.380 > I(C; x1) = log 2 - 5/8 H(2, 3) = 0.272: they
    change places where x1 comes first.
    """
    codes = np.array(
        [
            [0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0],
            [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 2, 0],
        ]
    )  # fmt: skip
    assert OMI().order(search_of(objective_of(codes, [2, 3, 2]))) == [2, 1]
    assert OMI().order(search_of(objective_of(codes[:, [0, 2, 1]], [2, 2, 3]))) == [1, 2]


@pytest.mark.parametrize("seed", range(8))
def test_order_by_mutual_information(objective_of, search_of, information, seed):
    codes, cards = random_codes(np.random.default_rng(seed), 6, 3)
    features = range(1, 6)
    pairs = [(x, y) for x in features for y in features if x < y]
    order = list(first_best(pairs, lambda pair: information(codes, [0], pair)))
    if information(codes, [0], order[:1]) < information(codes, [0], order[1:]) - 1e-9:
        order.reverse()
    while len(order) < 5:
        rest = [x for x in features if x not in order]
        order.append(first_best(rest, lambda x: information(codes, [0], [x], tuple(order))))
    assert OMI().order(search_of(objective_of(codes, cards))) == order


@pytest.mark.parametrize("seed", range(8))
def test_order_by_mutual_information_given_one_feature(objective_of, search_of, information, seed):
    codes, cards = random_codes(np.random.default_rng(seed), 6, 3)
    features = range(1, 6)
    order = [first_best(features, lambda x: information(codes, [0], [x]))]
    while len(order) < 5:
        rest = [x for x in features if x not in order]
        order.append(
            first_best(rest, lambda x: max(information(codes, [0], [x], (y,)) for y in order))
        )
    assert OMISP().order(search_of(objective_of(codes, cards))) == order


@pytest.mark.parametrize("seed", range(8))
def test_order_by_classification_rate(objective_of, search_of, seed):
    codes, cards = random_codes(np.random.default_rng(seed), 6, 3)

    def rate(features):
        groups = {}
        for row in codes.tolist():
            groups.setdefault(tuple(row[x] for x in features), []).append(row[0])
        return sum(max(map(labels.count, labels)) for labels in groups.values())

    order = []
    while len(order) < 5:
        rest = [x for x in range(1, 6) if x not in order]
        order.append(first_best(rest, lambda x: rate([*order, x])))
    assert OCR().order(search_of(objective_of(codes, cards))) == order


def test_random_order_comes_from_the_seed(xor, search_of):
    orders = {tuple(RandomOrder().order(search_of(xor, seed))) for seed in range(20)}
    assert len(orders) == 6
    assert RandomOrder().order(search_of(xor, 3)) == RandomOrder().order(search_of(xor, 3))


@pytest.mark.parametrize("max_parents", [2, 3])
@pytest.mark.parametrize("score", ["cr", "cll", "sm"])
def test_parents_are_the_best_before_in_the_order(objective_of, run, search_of, score, max_parents):
    """Algorithm 1 with all sets of at most k earlier features, by plain loops."""
    for seed in range(5):
        codes, cards = random_codes(np.random.default_rng(seed), 5, 2)
        objective = objective_of(codes, cards, score, max_parents)
        order, space = OMI().order(search_of(objective)), objective.space
        families = np.array([space.find(v, (0,) if v else ()) for v in range(5)])
        families[order[1]] = space.find(order[1], (0, order[0]))
        old = -np.inf
        for j in (2, 3):
            sets = [s for s in _subsets(order[:j]) if 1 <= len(s) < max_parents]
            values = {}
            for s in sets:
                families[order[j]] = space.find(order[j], (0, *s))
                values[s] = objective.value(families)
            best = max(values, key=values.get)
            gains = values[best] > old + 1e-6
            old = max(old, values[best])
            families[order[j]] = space.find(order[j], (0, *best) if gains else (0,))
        assert run("omi-cr", objective).objective == pytest.approx(objective.value(families))


def _subsets(items):
    out = [()]
    for x in items:
        out += [(*s, x) for s in out]
    return out


@pytest.mark.parametrize("max_parents", [2, 3])
def test_refinement_ends_where_no_feature_gains(objective_of, run, search_of, max_parents):
    improved = 0
    for seed in range(12):
        codes, cards = random_codes(np.random.default_rng(seed), 6, 2)
        objective = objective_of(codes, cards, "cll", max_parents)
        plain, refined = run("omi-cr", objective), run("omi-cr-ext", objective)
        assert refined.objective >= plain.objective
        improved += refined.objective > plain.objective
        order = OMI().order(search_of(objective))
        families = objective.space.families(refined.structure)
        for j, feature in enumerate(order):
            for s in _subsets(order[:j]):
                family = objective.space.find(feature, (0, *s))
                if family is not None:
                    changed = families.copy()
                    changed[feature] = family
                    assert objective.value(changed) <= refined.objective + 1e-6
    assert improved


def test_information_needs_rows(objective_of, run, xor_codes):
    objective = replace(objective_of(xor_codes, [2] * 4, "mdl"), rows=None)
    with pytest.raises(OptionError, match=r"omi-cr computes mutual information .* not keep"):
        run("omi-cr", objective)
    assert run("ro-cr", objective).structure.parents[0] == ()


@pytest.mark.parametrize("method", ["tan-cmi", "omi-crcl"])
def test_structures_by_information_do_not_depend_on_the_score(method):
    rng = np.random.default_rng(3)
    codes, cards = random_codes(rng, 6, 3)
    data = encoded(codes, cards)
    found = [
        learn_structure(data, method=method, score=score, class_parents=False).structure
        for score in ("cr", "mdl", "bdeu")
    ]
    assert found[0] == found[1] == found[2]


def test_parents_by_the_rate_of_cl_parameters_by_hand(xor, run):
    """x1 -> x2 is added untested; CL cannot do better than all 12 rows, and x3 takes x1."""
    result = run("omi-crcl", xor)
    assert result.structure.parents == ((), (0,), (0, 1), (0, 1))
    assert result.evaluations == 2


def test_cl_parameters_choose_other_parents_than_frequencies(objective_of, run):
    """Naive Bayes with CL parameters knows "at least two of three": no edge gains any more."""
    bits = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    labels = (bits.sum(axis=1) >= 2).astype(int)
    noise = np.array([[0], [1], [1], [0], [1], [0], [0], [1]])
    codes = np.tile(np.column_stack([labels, bits, noise]), (4, 1))
    objective = objective_of(codes, [2, 2, 2, 2, 2])
    result = run("omi-crcl", objective)
    edges = sum(len(p) - 1 for p in result.structure.parents[1:])
    assert edges == 2  # the two that algorithm 1 adds without asking for a gain


def test_crcl_stopped_at_once_still_answers(xor, run):
    result = run("omi-crcl", xor, clock=Clock(1e-9))
    assert result.status == "time_limit"
    assert result.structure.parents[1:] == ((0,), (0,), (0,))
