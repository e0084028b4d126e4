"""Decisions of the smallest expected cost."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from milpbn import BNClassifier
from milpbn.errors import OptionError
from milpbn.network.costs import Costs, read_costs


def test_no_other_decision_costs_less():
    random = np.random.default_rng(0)
    for _ in range(20):
        matrix = random.uniform(-1, 5, (3, 3))
        named = {i: dict(enumerate(row)) for i, row in enumerate(matrix.tolist())}
        proba = random.dirichlet(np.ones(3), 30)
        chosen = Costs.of(named, range(3)).decide(proba)
        for share, own in zip(proba, chosen, strict=True):
            expected = [sum(share[t] * matrix[t, p] for t in range(3)) for p in range(3)]
            assert expected[own] == min(expected)


@pytest.mark.parametrize("seed", range(5))
def test_with_two_classes_a_threshold_decides(seed):
    random = np.random.default_rng(seed)
    early, late = random.uniform(0.1, 5, 2)
    costs = Costs.of({"no": {"yes": early, "no": -1}, "yes": {"no": late}}, ["no", "yes"])
    share = np.linspace(0, 1, 101)
    chosen = costs.decide(np.column_stack([1 - share, share]))
    clear = abs(share - costs.threshold) > 1e-9
    assert ((share > costs.threshold) == chosen)[clear].all()
    assert costs.threshold == pytest.approx((early + 1) / (early + 1 + late))


def test_some_costs_leave_no_choice():
    always = Costs.of({0: {1: -1}, 1: {0: 1}}, [0, 1])
    assert always.threshold == -np.inf
    assert Costs.of({0: {1: 1}, 1: {0: -1}}, [0, 1]).threshold == np.inf


def test_equal_costs_give_the_most_probable_class():
    X, y = load_iris(return_X_y=True)
    model = BNClassifier(method="nb").fit(X, y)
    costs = {i: {j: 1 for j in range(3) if j != i} for i in range(3)}
    assert (model.decide(X, costs) == model.predict(X)).all()


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        ({"yes": {"no": 1}}, "predicting 'yes' if 'no' is true is missing"),
        ({"yes": {"no": 1}, "no": {"yess": 1}}, "'yess' is not a class"),
        ({"yes": {"no": "much"}, "no": {"yes": 1}}, "must be a number, not 'much'"),
        ({"yes": {"no": np.inf}, "no": {"yes": 1}}, "must be a number"),
    ],
)
def test_incomplete_costs_are_refused(costs, told):
    with pytest.raises(OptionError, match=told):
        Costs.of(costs, ["no", "yes"])


def test_costs_are_read_from_a_table(tmp_path):
    file = tmp_path / "costs.csv"
    file.write_text('true,no,"yes, sir"\nno,0,1\n"yes, sir",5,-1\n')
    named = read_costs(str(file))
    assert named == {"no": {"no": 0, "yes, sir": 1}, "yes, sir": {"no": 5, "yes, sir": -1}}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no=5", "write TRUE:PREDICTED=COST"),
        ("no:yes=5,no:yes=6", "given twice"),
        ("no:yes=a lot", "must be a number"),
        ("absent.csv", "cannot read costs from absent.csv"),
    ],
)
def test_what_is_not_a_cost_is_named(text, told):
    with pytest.raises(OptionError, match=told):
        read_costs(text)


def test_costs_are_named_by_class():
    for given in ([[0, 1], [2, 0]], {"sick": 10, "healthy": 1}):
        with pytest.raises(OptionError, match="costs must be a dictionary such as"):
            Costs.of(given, ["healthy", "sick"])


def test_a_class_with_a_comma_is_typed_in_quotes():
    costs = {"well, so far": {"ill": 2.0}, "ill": {"well, so far": 1.0}}
    assert read_costs('"well, so far:ill=2","ill:well, so far=1"') == costs


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(OptionError, match="cannot read costs from"):
        read_costs("\x00")
