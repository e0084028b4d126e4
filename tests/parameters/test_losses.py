"""The row objectives: values by hand, derivatives against finite differences."""

import numpy as np
import pytest

from milpbn.parameters.losses import ConditionalLoss, MarginLoss

LOSSES = [
    ConditionalLoss(),
    MarginLoss(0.3),
    MarginLoss(2.0),
    MarginLoss(1.0, h=0.1, eta=1.0),
]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_derivative_is_that_of_the_value(loss, n_classes):
    rng = np.random.default_rng(n_classes)
    joint = rng.normal(scale=2.0, size=(12, n_classes))
    labels, weights = rng.integers(0, n_classes, 12), rng.integers(1, 4, 12).astype(float)
    _, by_joint = loss(joint, labels, weights)
    step = 1e-6
    for u in range(12):
        for c in range(n_classes):
            up, down = joint.copy(), joint.copy()
            up[u, c] += step
            down[u, c] -= step
            slope = (loss(up, labels, weights)[0] - loss(down, labels, weights)[0]) / (2 * step)
            assert by_joint[u, c] == pytest.approx(slope, abs=1e-6)


def test_a_weight_is_a_repetition():
    joint, labels = np.array([[0.0, 1.0, -1.0], [2.0, 0.5, 0.0]]), np.array([1, 0])
    for loss in LOSSES:
        merged = loss(joint, labels, np.array([2.0, 3.0]))[0]
        apart = loss(joint[[0, 0, 1, 1, 1]], labels[[0, 0, 1, 1, 1]], np.ones(5))[0]
        assert merged == pytest.approx(apart)


@pytest.mark.parametrize(
    ("margin", "value"),
    [
        (-3.0, -3.0),
        (0.5, 0.5),
        # In the corner: 1 - (1 + h - y)^2 / (4 h) with h = 1/2.
        (1.0, 1 - 0.25 / 2),
        (1.25, 1 - 0.0625 / 2),
        (1.5, 1.0),
        (50.0, 1.0),
    ],
)
def test_the_rounded_hinge_by_hand(margin, value):
    joint = np.array([[margin, 0.0]])
    assert MarginLoss(1.0)(joint, np.array([0]), np.ones(1))[0] == pytest.approx(value)


def test_the_competitor_is_nearly_the_best_other_class():
    joint = np.array([[0.0, -1.0, -1.1, -5.0]])
    exact = 1.0
    soft = MarginLoss(0.1, eta=10.0)(joint, np.array([0]), np.ones(1))[0] / 0.1
    assert exact - np.log(3) / 10 <= soft <= exact
    sharp = MarginLoss(0.1, eta=1e4)(joint, np.array([0]), np.ones(1))[0] / 0.1
    assert sharp == pytest.approx(exact, abs=1e-3)


def test_certain_and_hopeless_rows_stay_finite():
    joint, labels = np.array([[0.0, -2000.0], [0.0, -2000.0]]), np.array([0, 1])
    for loss in LOSSES:
        value, by_joint = loss(joint, labels, np.ones(2))
        assert np.isfinite(value)
        assert np.isfinite(by_joint).all()
