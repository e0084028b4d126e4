"""Effects of features: tables of naive Bayes, averages where features interact, pictures."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from milpbn import BNClassifier
from milpbn.errors import OptionError
from milpbn.explanation import effects_of
from milpbn.pictures import plot_effects
from milpbn.pictures.effects import draw_effect


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    age = (40 + 12 * y + 8 * rng.standard_normal(400)).round(1)
    colour = np.where(rng.random(400) < 0.4 + 0.3 * y, "red", "blue")
    return pd.DataFrame({"age": age, "colour": colour}), y


@pytest.fixture(scope="module")
def model(rows):
    return BNClassifier(method="nb").fit(*rows)


def test_the_effect_in_naive_bayes_is_the_contribution_up_to_its_mean(rows, model):
    contributions = model.explain(rows[0], of=1).contributions["colour"]
    (effect,) = model.effects(rows[0], ["colour"])
    found = effect.to_frame()[1].loc[rows[0]["colour"]].to_numpy()
    assert found == pytest.approx((contributions - contributions.mean()).to_numpy())


def test_the_mean_over_the_rows_is_zero_and_two_classes_mirror_each_other(rows, model):
    for effect in model.effects(rows[0]):
        assert effect.shares.sum() == pytest.approx(1)
        assert effect.shares @ effect.log_odds == pytest.approx(np.zeros(2))
        assert effect.log_odds[:, 0] == pytest.approx(-effect.log_odds[:, 1])
        assert list(effect.shown) == [1]


def test_effects_of_features_that_interact_are_means_over_the_rows():
    X = pd.DataFrame({"a": list("uuvvuvuv") * 40, "b": list("stststss") * 40})
    y = (X["a"] == "u").to_numpy() ^ (X["b"] == "s").to_numpy() ^ (np.arange(320) % 11 == 0)
    model = BNClassifier(method="tan-cmi").fit(X, y)
    (effect,) = model.effects(X, ["a"])
    means = [model.explain(X.assign(a=s), of=True).log_odds.mean() for s in effect.states]
    share = X["a"].value_counts(normalize=True)[list(effect.states)].to_numpy()
    assert effect.to_frame()[True].to_numpy() == pytest.approx(np.array(means) - share @ means)


def test_the_largest_effects_come_first_and_missing_features_are_summed_out(rows, model):
    X = rows[0].copy()
    X.loc[:50, "age"] = np.nan
    sizes = [effect.size for effect in model.effects(X)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(np.isfinite(effect.log_odds).all() for effect in model.effects(X))


def test_many_rows_are_thinned_out_evenly(rows, model):
    many = pd.concat([rows[0]] * 7, ignore_index=True)
    for few, all_of_them in zip(model.effects(rows[0]), model.effects(many), strict=True):
        assert few.log_odds == pytest.approx(all_of_them.log_odds, abs=1e-9)


def test_an_unknown_feature_and_no_rows_are_refused(rows, model):
    with pytest.raises(OptionError, match="no feature 'agee'; its features are 'age', 'colour'"):
        model.effects(rows[0], ["agee"])
    with pytest.raises(OptionError, match="no rows"):
        effects_of(model.network_, model.encoder_, np.empty((0, 2), dtype=np.int64))


def test_numbers_are_steps_in_the_users_units_and_categories_have_names(rows, model):
    age, colour = model.effects(rows[0], ["age", "colour"])
    axes = Figure().subplots()
    draw_effect(age, axes)
    drawn = axes.lines[0]
    assert set(age.cuts) <= set(drawn.get_xdata())
    assert drawn.get_ydata()[0] == age.log_odds[0, 1]
    axes = Figure().subplots()
    draw_effect(colour, axes)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["blue", "red"]


def test_states_that_are_no_numbers_are_crosses_with_their_names(rows):
    X = rows[0].copy()
    X.loc[::7, "age"] = np.nan
    X.loc[1::9, "age"] = -999
    model = BNClassifier(method="nb", special={"age": [-999]}).fit(X, rows[1])
    (age,) = model.effects(X, ["age"])
    axes = Figure().subplots()
    draw_effect(age, axes)
    assert [text.get_text().strip() for text in axes.texts] == ["-999", "missing"]
    assert axes.lines[1].get_ydata().tolist() == age.log_odds[-2:, 1].tolist()
    assert min(axes.lines[1].get_xdata()) > max(age.cuts)


def test_a_picture_of_effects(rows, model, tmp_path):
    plot_effects(model.effects(rows[0]), tmp_path / "effects.png", title="customers")
    assert (tmp_path / "effects.png").stat().st_size > 5000
    with pytest.raises(OptionError, match="no effects"):
        plot_effects([], tmp_path / "none.png")
