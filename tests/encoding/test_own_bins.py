"""Own cuts, special values and the smallest share of a bin, from a table to a model."""

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier, BNClassifierCV, Encoder, evaluate
from milpbn.datasets import table_from_frame
from milpbn.datasets.table import with_states
from milpbn.encoding.mdlp import mdlp_cuts
from milpbn.errors import DataError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore::milpbn.errors.DataWarning")


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    income = random.uniform(500, 3000, 200).round()
    income[::10] = -999
    labels = np.where(income + random.normal(0, 300, 200) > 1500, "good", "bad")
    labels[::10] = "good"
    return pd.DataFrame({"income": income, "age": random.uniform(20, 70, 200).round()}), labels


def income_of(table):
    return next(c for c in Encoder.fit(table).columns if c.name == "income")


def test_own_cuts_replace_those_of_the_rule(rows):
    given = {"income": [2000, 1000], "*": "quantile:3"}
    encoder = Encoder.fit(table_from_frame(*rows, bins=given))
    assert encoder.columns[0].cuts == (1000.0, 2000.0)
    assert len(encoder.columns[1].cuts) == 2
    assert Encoder.from_dict(encoder.to_dict()) == encoder


@pytest.mark.parametrize("bins", ["mdlp", "quantile:4", "fine", "auto"])
def test_special_values_are_states_apart_and_no_cut_is_learned_from_them(rows, bins):
    frame, labels = rows
    column = income_of(table_from_frame(frame, labels, bins=bins, special={"income": [-999]}))
    plain = frame["income"] != -999
    without = income_of(table_from_frame(frame[plain], labels[plain], bins=bins))
    assert column.cuts == without.cuts
    assert column.coarsenings == without.coarsenings
    state = column.variable.states.index("-999")
    coded = column.encode(pd.Series([-999, "-999.0", -998, None])).codes
    assert coded.tolist() == [state, state, 0, -1]
    for r in range(column.variable.n_resolutions):
        resolution = column.variable.resolution(r)
        assert resolution.states[resolution.of[state]] == "-999"
        assert resolution.of.count(resolution.of[state]) == 1
        assert column.variable.ordered_in(r) == resolution.card - 1


@pytest.mark.parametrize("bins", ["mdlp", "quantile:8", "fine", "auto"])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_bin_is_smaller_than_its_least_share(rows, bins, weighted):
    frame, labels = rows
    weights = np.random.default_rng(1).uniform(0.5, 2, len(frame)) if weighted else None
    table = table_from_frame(frame, labels, bins=bins, min_bin_share=0.2)
    table = table if weights is None else pd_weighted(table, weights)
    column = income_of(table)
    codes = column.encode(frame["income"]).codes
    shares = np.bincount(codes, weights) / (len(codes) if weights is None else weights.sum())
    assert shares.min() >= 0.2 - 1e-9
    assert len(column.cuts) >= 1


def pd_weighted(table, weights):
    from milpbn.datasets.table import weighted

    return weighted(table, weights)


def test_the_best_cut_with_enough_rows_is_chosen():
    values, labels = np.arange(10), [0] + [1] * 9
    assert mdlp_cuts(np.repeat(values, 9), np.repeat(labels, 9)).tolist() == [0.5]
    found = mdlp_cuts(np.repeat(values, 9), np.repeat(labels, 9), min_share=0.2)
    assert found.tolist() == [1.5]


def test_a_column_whose_values_are_all_in_one_own_bin_is_left_out(rows):
    encoder = Encoder.fit(table_from_frame(*rows, bins={"income": [1e6]}))
    assert encoder.dropped["income"] == "all values are in one bin"


def test_special_values_that_never_occur_are_noted(rows):
    table = table_from_frame(*rows, special={"income": [-999, -998]})
    told = [note for note in Encoder.fit(table).notes(table) if "special" in note]
    assert told == ["Column 'income': special values that are never in the training rows: -998."]


def test_few_values_with_own_cuts_are_numbers(rows):
    frame, labels = rows
    frame = frame.assign(children=np.arange(200) % 3)
    table = table_from_frame(frame, labels, bins={"children": [0.5]})
    assert "children" in table.numeric
    assert "children" not in table_from_frame(frame, labels).numeric


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"bins": {"incme": [1]}}, DataError, "bins: there is no feature 'incme'"),
        ({"special": {"class": [1]}}, DataError, "special: there is no feature 'class'"),
        ({"bins": {"town": [1]}}, DataError, "holds no numbers.*; remove it from bins and special"),
        ({"bins": {"income": []}}, OptionError, "needs finite numbers"),
        ({"bins": {"income": "1000"}}, OptionError, "needs a list of numbers"),
        ({"special": {"income": [np.nan]}}, OptionError, "needs finite numbers"),
        ({"bins": {"income": [1, 1]}}, OptionError, "has a number twice"),
        ({"bins": {"*": [1, 2]}}, OptionError, "stands for the other columns"),
        ({"bins": {"*": "best"}}, OptionError, "unknown bins 'best'"),
        ({"min_bin_share": 0.5}, OptionError, "a number of at least 0 and below 0.5"),
        ({"special": [-999]}, OptionError, "special must be a dictionary such as"),
        ({"monotone": "income+"}, OptionError, "monotone must be a dictionary such as"),
        ({"ordered": ["town"]}, OptionError, "ordered must be a dictionary such as"),
    ],
)
def test_what_cannot_be_done_is_refused(rows, settings, error, told):
    frame, labels = rows
    frame = frame.assign(town=np.where(np.arange(200) % 3, "Graz", "Wien"))
    with pytest.raises(error, match=told):
        table_from_frame(frame, labels, **settings)
    with pytest.raises(error, match=told):
        BNClassifier(**settings).fit(frame, labels)


def test_a_classifier_keeps_them(rows, tmp_path):
    frame, labels = rows
    settings = {
        "bins": {"income": [1000, 2000], "*": "quantile:3"},
        "special": {"income": [-999]},
        "min_bin_share": 0.05,
    }
    model = BNClassifier(method="nb", **settings).fit(frame, labels)
    states = ("<= 1000", "1000 to 2000", "> 2000", "-999")
    assert model.encoder_.columns[0].readable_states == states
    model.save(tmp_path / "model.json")
    again = BNClassifier.load(tmp_path / "model.json")
    refitted = BNClassifier(**again.get_params()).fit(frame, labels)
    for other in (again, refitted):
        assert other.encoder_ == model.encoder_
        assert other.predict_proba(frame) == pytest.approx(model.predict_proba(frame))
    alone = model.predict_proba(pd.DataFrame({"income": [-999.0, -998.0], "age": [40, 40]}))
    assert alone[0] != pytest.approx(alone[1])


def test_candidates_share_them(rows):
    settings = {"bins": {"income": [1000], "*": "quantile:3"}, "special": {"income": [-999]}}
    model = BNClassifierCV(param_grid={"method": ["nb"]}, **settings).fit(*rows)
    assert model.encoder_.columns[0].cuts == (1000.0,)
    assert model.best_params_["bins"] == "quantile:3"


def test_evaluation_takes_them(rows):
    table = table_from_frame(*rows)
    own = {"bins": {"income": [1500]}, "special": {"income": [-999]}}
    found = evaluate(table, ["nb"], folds=3, **own).summaries()[0]
    wanted = evaluate(with_states(table, **own), ["nb"], folds=3).summaries()[0]
    assert (
        found.log_loss
        == wanted.log_loss
        != evaluate(table, ["nb"], folds=3).summaries()[0].log_loss
    )


@pytest.mark.parametrize("values", [[np.nan] * 200, [-1.0] * 200])
def test_columns_that_say_nothing_may_have_bins_and_a_direction(rows, values):
    frame, labels = rows
    frame = frame.assign(debt=values)
    own = {"special": {"debt": [-1]}, "monotone": {"debt": "increasing"}}
    assert list(table_from_frame(frame, labels, **own).features) == ["income", "age"]
    model = BNClassifier(method="nb", **own).fit(frame, labels)
    assert "debt" not in [v.name for v in model.encoder_.variables]
