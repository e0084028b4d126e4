"""Data with several class variables."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def mixed():
    """Numbers and categories; y has texts and numbers; the kind depends on the color."""
    rng = np.random.default_rng(7)
    n = 240
    size = rng.normal(size=n)
    color = rng.choice(["red", "blue"], size=n)
    kind = np.where((size > 0) == (color == "red"), "car", "truck")
    kind = np.where(rng.random(n) < 0.05, "car", kind)
    wheels = np.where(kind == "car", 4, 6)
    wheels = np.where(rng.random(n) < 0.1, 4, wheels)
    X = pd.DataFrame({"size": size, "color": color})
    return X, pd.DataFrame({"kind": kind, "wheels": wheels})
