"""The waterfall plot of one prediction."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from milpbn import BNClassifier
from milpbn.pictures.waterfall import draw_waterfall, waterfall_bars


@pytest.fixture(scope="module")
def model():
    # Two columns that say the same as the class, in all rows but one.
    y = [0] * 1000 + [1] * 1000
    X = pd.DataFrame({"a": list("u" * 1000 + "v" * 1000), "b": list("s" * 999 + "t" * 1001)})
    return BNClassifier(method="nb").fit(X, y)


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ({"a": "u", "b": "s"}, "P(0) > 0.999"),
        ({"a": "v", "b": "t"}, "P(1) > 0.999"),
        ({"a": None, "b": None}, "P(0) = 0.500"),
    ],
)
def test_a_prediction_is_never_certain(model, row, title):
    explanation = model.explain(pd.DataFrame([row]))
    axes = Figure().subplots()
    draw_waterfall(explanation, axes, 0)
    assert axes.get_title(loc="right").endswith(f", {title}")
    bars = waterfall_bars(explanation, 0)
    odds = explanation.to_dict(0)["log_odds"]
    assert sum(bar.size for bar in bars) == pytest.approx(next(iter(odds.values())))
