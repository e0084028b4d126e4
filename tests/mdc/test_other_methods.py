"""Binary relevance, classifier chains and the class powerset."""

from itertools import permutations

import numpy as np
import pytest
from mdc.brute_force import random_problem
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from milpbn.errors import OptionError
from milpbn.mdc import (
    BinaryRelevance,
    ClassifierChains,
    ClassPowerset,
    GBNCClassifier,
    exact_match_score,
)
from milpbn.selection.validation import ValidationSplit


@pytest.mark.parametrize("method", [BinaryRelevance, ClassifierChains, ClassPowerset])
def test_baselines_share_the_interface(mixed, method):
    X, y = mixed
    model = clone(method(GaussianNB())).fit(X, y)
    predicted = model.predict(X)
    assert predicted.shape == y.shape
    assert model.score(X, y) == exact_match_score(y, predicted)
    assert model.score(X, y) > 0.4
    for proba, classes in zip(model.predict_proba(X), model.classes_, strict=True):
        assert proba.shape == (len(X), len(classes))
        assert proba.sum(axis=1) == pytest.approx(1.0)


def test_binary_relevance_is_gbnc_without_arcs(mixed):
    X, y = mixed
    apart = GBNCClassifier(mixed="one-hot", max_parents=0, loss="hamming").fit(X, y)
    relevance = BinaryRelevance().fit(X, y)
    assert (apart.predict(X) == relevance.predict(X)).all()
    for one, two in zip(apart.predict_proba(X), relevance.predict_proba(X), strict=True):
        assert one == pytest.approx(two)


def test_chains_see_the_classes_before_them():
    # The second class is a copy of the first, which no feature can tell.
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, size=200)
    y = np.column_stack([first, first])
    model = ClassifierChains(n_chains=3).fit(rng.normal(size=(200, 2)), y)
    predicted = model.predict(rng.normal(size=(50, 2)))
    assert (predicted[:, 0] == predicted[:, 1]).all()


def test_chains_vote():
    X, codes, _, _ = random_problem(0, 3, n=120)
    model = ClassifierChains(GaussianNB(), n_chains=3, random_state=1).fit(X, codes)
    assert len({tuple(chain.order) for chain in model.chains_}) == 3
    proba = model.predict_proba(X)
    for j, share in enumerate(proba):
        assert np.isin((3 * share).round(9), [0, 1, 2, 3]).all()
        winners = model.classes_[j][share.argmax(axis=1)]
        assert (model.predict(X)[:, j] == winners).all()
    # Orders disagree on some rows.
    assert all(((share > 0) & (share < 1)).any() for share in proba)


def held_out_chain(X, codes, order, folds):
    """The log-likelihood of held-out rows under a chain that knows the true classes before."""
    total = 0.0
    for k in np.unique(folds):
        train, matrix = folds != k, X
        for j in order:
            model = GaussianNB(var_smoothing=0.1).fit(matrix[train], codes[train, j])
            place = np.searchsorted(model.classes_, codes[~train, j])
            proba = model.predict_proba(matrix[~train])
            total += np.log(proba[np.arange(len(place)), place]).sum()
            states = np.unique(codes[:, j])
            matrix = np.column_stack([matrix, codes[:, j, None] == states])
    return total


@pytest.mark.parametrize("seed", range(3))
def test_validation_chooses_the_order_of_a_chain(seed):
    X, codes, _, _ = random_problem(seed, 3, cards=[2, 2, 3], n=120)
    model = ClassifierChains(GaussianNB(var_smoothing=0.1), order="auto").fit(X, codes)
    _, joint = np.unique(codes, axis=0, return_inverse=True)
    folds = np.empty(120, dtype=int)
    for k, (_, out) in enumerate(ValidationSplit(0).split(X, joint.ravel())):
        folds[out] = k
    truth = {order: held_out_chain(X, codes, order, folds) for order in permutations(range(3))}
    assert len(model.chains_) == 1
    assert model.orders_ == [[f"y{j}" for j in model.chains_[0].order]]
    assert tuple(model.chains_[0].order) == max(truth, key=truth.get)
    assert model.selected() == {"order": model.orders_[0]}


def test_many_class_variables_have_some_orders_tried():
    X, codes, _, _ = random_problem(0, 4, cards=[2, 2, 2, 2], n=60)
    drawn = ClassifierChains(GaussianNB(), n_chains=5, random_state=3).fit(X, codes)
    chosen = ClassifierChains(GaussianNB(), order="auto", n_chains=5, random_state=3).fit(X, codes)
    assert len(drawn.orders_) == 5
    assert chosen.orders_[0] in drawn.orders_
    with pytest.raises(OptionError, match="order must be one of random, auto, not 'best'"):
        ClassifierChains(order="best").fit(X, codes)


def test_class_powerset_predicts_only_joint_states_it_has_seen(mixed):
    X, y = mixed
    seen = set(map(tuple, y.to_numpy(dtype=object)))
    assert set(map(tuple, ClassPowerset().fit(X, y).predict(X))) <= seen
