"""Optima that were proven twice, by two formulations."""

from dataclasses import replace

import numpy as np
import pytest

from milpbn import Encoder, learn_structure, load_dataset


@pytest.mark.parametrize(
    ("p", "optimum"),
    [
        (0.9, 2952.250581633129),
        pytest.param(0.6, 618.8498362496788, marks=pytest.mark.slow),
        pytest.param(0.99, 5341.518972524576, marks=pytest.mark.slow),
    ],
)
def test_car_with_the_class_as_root(p, optimum):
    table = load_dataset("car")
    data = Encoder.fit(table).encode(table)
    data = replace(data, is_train=np.ones(1728, dtype=bool))
    result = learn_structure(data, method="monolithic", p=p, max_parents=2, class_parents=False)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(optimum, rel=1e-9)
    assert result.bound == pytest.approx(optimum, rel=1e-6)
