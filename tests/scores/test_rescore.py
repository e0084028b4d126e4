"""The independent scores against the oracle, on every kind of structure."""

import numpy as np
import oracle
import pytest
from problems import encoded, random_codes, random_weights

from milpbn.errors import OptionError
from milpbn.families import FamilyTables, MergedRows
from milpbn.families.counts import FamilyCounts
from milpbn.scores import SCORES, applicable_settings, make_score
from milpbn.scores.base import DecomposableScore
from milpbn.scores.rescore import rescore
from milpbn.structure import Structure


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("validation", [None, "loo"])
@pytest.mark.parametrize("score", oracle.SCORES)
@pytest.mark.parametrize("seed", range(6))
def test_random_structures_score_as_the_oracle_says(seed, score, validation, weighted):
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, 4, n_classes=2 + seed % 2)
    data = encoded(codes, cards)
    names = tuple(v.name for v in data.variables)
    case = {"max_parents": 2, "class_parents": True, "gamma": 1.3, "ess": 2.5}
    case["validation"] = validation
    case["weights"] = random_weights(rng, len(codes)) if weighted else None
    structures, values = oracle.scores_of_all(score, codes, cards, **case)
    kind = make_score(score, **applicable_settings(score, case))
    for k in rng.choice(len(structures), 15):
        structure = Structure(names, tuple(map(tuple, structures[k])))
        value = rescore(kind, structure, data.variables, data.codes, case["weights"])
        assert value == pytest.approx(values[k], abs=1e-9)


@pytest.mark.parametrize("score", oracle.SCORES)
def test_the_order_of_the_rows_does_not_matter(score):
    codes, cards = random_codes(np.random.default_rng(8), 4, n_classes=3)
    data = encoded(codes, cards)
    structure = Structure(("class", "x1", "x2", "x3"), ((1,), (), (0,), (0, 1)))
    kind = make_score(score)
    there = rescore(kind, structure, data.variables, data.codes)
    back = rescore(kind, structure, data.variables, data.codes[::-1])
    assert there == pytest.approx(back)


def test_a_class_without_rows_is_a_competitor_too():
    data = encoded([[0, 0], [0, 1], [1, 1]], [3, 2])
    structure = Structure(("class", "x1"), ((), ()))
    # P = 3/6, 2/6, 1/6: the strongest competitor of class 0 is class 1.
    expected = 2 * np.log(3 / 2) + np.log(2 / 3)
    assert rescore(make_score("sm"), structure, data.variables, data.codes) == pytest.approx(
        expected
    )
    # Own against rest: 3/2 twice, 2/3 once; class 2 has no row to score.
    assert rescore(make_score("sbm"), structure, data.variables, data.codes) == pytest.approx(
        expected
    )


@pytest.mark.parametrize("validation", [None, 3, "loo"])
@pytest.mark.parametrize("name", SCORES)
def test_a_definition_uses_nothing_of_the_learners(monkeypatch, name, validation):
    codes, cards = random_codes(np.random.default_rng(3), 4, n_classes=3)
    data = encoded(codes, cards)
    structure = Structure(("class", "x1", "x2", "x3"), ((1,), (), (0,), (0, 1)))
    score = make_score(name, **applicable_settings(name, {"validation": validation}))
    expected = rescore(score, structure, data.variables, data.codes)

    def forbidden(*_, **__):
        raise AssertionError("a definition must not use this")

    for owner, method in (
        (FamilyTables, "log_probabilities"),
        (FamilyTables, "own_against_rest"),
        (FamilyTables, "ensure"),
        (FamilyCounts, "of"),
        (MergedRows, "from_codes"),
        (MergedRows, "split"),
        (type(score), "objective"),
    ):
        monkeypatch.setattr(owner, method, forbidden)
    monkeypatch.setattr("milpbn.families.counts.mixed_radix", forbidden)
    if isinstance(score, DecomposableScore):
        monkeypatch.setattr(type(score), "local", forbidden)
        monkeypatch.setattr("milpbn.scores.base.counts_by_family", forbidden)
    assert rescore(score, structure, data.variables, data.codes) == expected


def test_a_score_without_a_definition_is_named():
    class Plain(DecomposableScore):
        name = "plain"
        title = "plain"

        def local(self, counts, total):
            return 0.0

    data = encoded([[0, 0], [1, 1]], [2, 2])
    structure = Structure(("class", "x1"), ((), ()))
    with pytest.raises(OptionError, match="the score plain has no definition"):
        rescore(Plain(), structure, data.variables, data.codes)
