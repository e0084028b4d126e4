"""Optima that were proven by both engines, which share neither a program nor a bound."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from milpbn import Encoder, learn_structure, load_dataset

CAR = {0.6: 618.8498362496788, 0.9: 2952.250581633129, 0.99: 5341.518972524576}
"""The optimum by p: two parents, the class as the root, all rows."""


def minutes(method, p):
    return method == "monolithic" and p != 0.9


@pytest.mark.parametrize(
    ("method", "p"),
    [
        pytest.param(method, p, marks=pytest.mark.slow if minutes(method, p) else ())
        for method, p in product(["branch-and-cut", "monolithic"], CAR)
    ],
)
def test_car_with_the_class_as_root(method, p):
    table = load_dataset("car")
    data = Encoder.fit(table).encode(table)
    data = replace(data, is_train=np.ones(1728, dtype=bool))
    result = learn_structure(data, method=method, p=p, max_parents=2, class_parents=False)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(CAR[p], rel=1e-9)
    assert result.bound == pytest.approx(CAR[p], rel=1e-6)
