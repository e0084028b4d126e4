"""Drift: the index by its definition, what chance explains, unknown values, coarse states."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from milpbn import BNClassifier, learn_classifier, load_dataset, make_settings
from milpbn.encoding import Encoder
from milpbn.errors import DataError, OptionError
from milpbn.explanation import drift_of
from milpbn.explanation.drift import UNKNOWN
from milpbn.network.network import Network


@pytest.fixture(scope="module")
def car():
    table = load_dataset("car")
    return table, BNClassifier(method="tan-cmi").fit(table.features, table.target)


def by_definition(before, now):
    """PSI with half a row added to every state."""
    e, a = before + 0.5, now + 0.5
    e, a = e / e.sum(), a / a.sum()
    return float(((a - e) * np.log(a / e)).sum())


@pytest.mark.parametrize("method", ["nb", "tan-cmi", "multinet-cmi"])
def test_the_index_is_that_of_its_definition(method):
    table = load_dataset("car").train()
    model = learn_classifier(table, make_settings(method=method))
    rows = table.features.sample(200, random_state=1)
    found = drift_of(
        model.network,
        model.encoder,
        np.column_stack([np.full(200, -1), model.encoder.transform(rows).codes]),
    )
    assert "class" not in found.columns.index
    for column in model.encoder.columns:
        before, now = (
            f[column.name].value_counts().reindex(column.states, fill_value=0).to_numpy(float)
            for f in (table.features, rows)
        )
        told = found.columns.loc[column.name]
        assert told["psi"] == pytest.approx(by_definition(before, now))
        k = len(column.states)
        assert told["chance"] == pytest.approx(chi2.ppf(0.99, k - 1) * (1 / len(table) + 1 / 200))
        shares = found.shares[column.name]
        assert shares["before"].to_numpy() == pytest.approx(before / before.sum())
        assert shares["now"].to_numpy() == pytest.approx(now / now.sum())
    assert (found.n_before, found.n_now) == (len(table), 200)


def test_samples_of_the_same_rows_have_not_changed(car):
    table, model = car
    for seed in range(20):
        rows = table.features.sample(100, replace=True, random_state=seed)
        assert model.drift(rows).changed == ()


def test_chance_is_exceeded_as_often_as_it_says(car):
    table, model = car
    exceeded = [
        row["psi"] > row["chance"]
        for seed in range(60)
        for _, row in model.drift(
            table.features.sample(150, replace=True, random_state=seed)
        ).columns.iterrows()
    ]
    # 1 % of 360, if the training rows were a sample, too; they are all there is.
    assert np.mean(exceeded) < 0.03


def test_columns_that_changed_come_first_with_the_state_that_changed_most(car):
    table, model = car
    rows = table.features.copy()
    rows.loc[rows.index[:600], "doors"] = "2"
    found = model.drift(rows, table.target)
    assert found.changed == ("doors",)
    first = found.columns.iloc[0]
    assert (first.name, first["state"]) == ("doors", "2")
    assert first["before"] == pytest.approx(0.25)
    assert first["now"] > 0.4
    assert found.columns.loc["class", "psi"] == 0
    assert repr(found) == "<Drift: 1728 rows against 1728; changed columns: doors>"


def test_unknown_and_missing_values_are_a_state(car):
    table, model = car
    rows = table.features.copy()
    rows.loc[rows.index[:300], "doors"] = "6"
    rows.loc[rows.index[300:500], "doors"] = None
    found = model.drift(rows)
    assert found.columns.loc["doors", "unknown"] == pytest.approx(500 / 1728)
    assert found.shares["doors"].loc[UNKNOWN].to_list() == pytest.approx([0, 500 / 1728])
    assert found.columns.loc["doors", ["state", "change"]].to_list() == [UNKNOWN, "changed much"]


def test_a_missing_state_is_a_state_like_others():
    table = load_dataset("vote", missing="state")
    model = learn_classifier(table, make_settings(method="nb"))
    rows = table.features.copy()
    rows.iloc[:, 0] = None
    codes = model.encoder.transform(rows).codes
    codes = np.column_stack([np.full(len(codes), -1), codes])
    found = drift_of(model.network, model.encoder, codes)
    assert found.columns.iloc[0][["state", "now", "unknown"]].to_list() == ["missing", 1.0, 0.0]


def test_columns_are_compared_in_the_states_that_families_see():
    table = replace(load_dataset("iris"), bins="auto")
    model = learn_classifier(table, make_settings(max_parents=1))
    data = Encoder.fit(table).encode(table)
    found = drift_of(model.network, model.encoder, data.codes)
    assert found.columns["psi"].to_numpy() == pytest.approx(0)
    coarse = [
        (v.name, v.resolution(model.network.structure.seen(i)[-1]).card)
        for i, v in enumerate(model.network.variables)
    ]
    assert {name: len(found.shares[name]) for name, _ in coarse} == dict(coarse)
    assert all(isinstance(t, pd.DataFrame) for t in found.shares.values())


def test_networks_without_counts_and_no_rows_are_refused(car):
    _, model = car
    network = model.network_
    imported = Network(network.structure, network.variables, network.log_cpts)
    codes = np.zeros((3, 7), dtype=int)
    with pytest.raises(OptionError, match="no counts of its training rows"):
        drift_of(imported, model.encoder_, codes)
    with pytest.raises(DataError, match="no row to compare"):
        drift_of(network, model.encoder_, codes[:0])
