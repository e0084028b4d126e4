"""Cuttings of the encoder, and the several resolutions of its variables."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from toy_tables import make_table

from milpbn.datasets import load_dataset
from milpbn.encoding import ColumnCode, Encoder
from milpbn.errors import DataError


def numbers(bins: str, n_train: int | None = None, **options):
    """A column that MDLP cuts at 10, and one that it does not cut."""
    rng = np.random.default_rng(0)
    x = [*rng.permutation(40) / 4, *(10.1 + rng.permutation(40) / 4)]
    noise = [*rng.permutation(80) * 1.0]
    return make_table(
        {"x": x, "noise": noise}, "n" * 40 + "y" * 40, ("x", "noise"), n_train, bins=bins, **options
    )


def test_quantile_bins_have_equal_sizes_and_keep_columns_without_a_cut():
    assert Encoder.fit(numbers("mdlp")).dropped == {"noise": "no cut found"}
    table = numbers("quantile:5")
    encoder = Encoder.fit(table)
    assert (encoder.dropped, encoder.bins) == ({}, "quantile:5")
    codes = encoder.encode(table).codes
    for j in (1, 2):
        assert np.bincount(codes[:, j]).tolist() == [16] * 5
    assert all(v.n_resolutions == 1 for v in encoder.variables)


def test_cuts_are_learned_from_training_rows_only():
    table = numbers("quantile:4", n_train=60)
    changed = table.features.copy()
    changed.loc[60:] += 1000
    for bins in ("quantile:4", "auto"):
        one, other = (
            Encoder.fit(replace(table, bins=bins, features=features))
            for features in (table.features, changed)
        )
        assert one == other


def test_few_integers_become_few_bins():
    table = make_table({"k": [1, 2, 3, 3, 2, 1] * 4}, "nyn" * 8, ("k",), bins="quantile:10")
    assert Encoder.fit(table).columns[0].cuts == (1.5, 2.5)
    alike = make_table({"k": [7.0] * 6, "m": [*"uvuvuv"]}, "nynyny", ("k",), bins="quantile:3")
    assert Encoder.fit(alike).dropped == {"k": "constant"}


def test_weights_move_the_cuts_like_repeated_rows():
    table = numbers("auto")
    times = np.random.default_rng(1).integers(1, 4, len(table))
    repeated = replace(
        table,
        features=table.features.loc[table.features.index.repeat(times)].reset_index(drop=True),
        targets=table.targets.loc[table.targets.index.repeat(times)].reset_index(drop=True),
        is_train=None,
    )
    assert Encoder.fit(replace(table, weights=times.astype(float))) == Encoder.fit(repeated)


def test_auto_offers_the_bins_of_mdlp_first_then_quantiles():
    x, noise = Encoder.fit(numbers("auto")).columns
    mdlp = Encoder.fit(numbers("mdlp")).columns[0].cuts
    assert x.coarsenings[0] == mdlp
    assert [len(cuts) + 1 for cuts in x.coarsenings[1:]] == [8, 4]  # 2 bins are MDLP's
    assert [len(cuts) + 1 for cuts in noise.coarsenings] == [8, 4, 2]
    sixteen = set(Encoder.fit(numbers("quantile:16")).columns[0].cuts)
    assert set(x.cuts) == {*sixteen, *mdlp}


def test_resolutions_are_nested_and_agree_with_cutting_again():
    table = load_dataset("iris")
    encoder = Encoder.fit(replace(table, bins="auto"))
    fine = encoder.encode(table).codes
    for j, column in enumerate(encoder.columns, 1):
        variable = column.variable
        assert variable.n_resolutions == 1 + len(column.coarsenings) > 2
        values = table.features[column.name]
        for r, cuts in enumerate(column.coarsenings, 1):
            coarse = replace(column, cuts=cuts, coarsenings=())
            assert variable.resolution(r).states == coarse.variable.states
            assert column.readable(r) == coarse.readable_states
            seen = np.array(variable.resolution(r).of)[fine[:, j]]
            assert seen.tolist() == coarse.encode(values).codes.tolist()
        maps = [variable.resolution(r).of for r in range(variable.n_resolutions)]
        assert len(set(maps)) == len(maps)  # no resolution is offered twice
        assert min(variable.resolution(r).card for r in range(variable.n_resolutions)) > 1


def test_missing_stays_a_state_of_its_own():
    x = [*range(20), *[None] * 4]
    letters = [*"aaaaaaaabbbbbccccddd", *[None] * 4]
    table = make_table({"x": x, "w": letters}, "ny" * 12, ("x",), missing="state", bins="auto")
    for variable in Encoder.fit(table).variables[1:]:
        assert variable.coarsenings
        for coarse in variable.coarsenings:
            assert coarse.states[-1] == "missing"
            assert [k for k, state in enumerate(coarse.of) if state == coarse.card - 1] == [
                variable.card - 1
            ]


def test_categories_keep_frequent_states_and_pool_the_rest():
    letters = [*"aabbbbcccdeeeeeef"]
    table = make_table({"w": letters}, "nynynynynynynynyn", bins="auto")
    (column,) = Encoder.fit(table).columns
    assert column.states == ("a", "b", "c", "d", "e", "f")
    assert column.coarsenings == (("b", "c", "e"), ("e",))
    assert column.variable.coarsenings[0].states == ("b", "c", "e", "other")
    assert column.variable.coarsenings[0].of == (3, 0, 1, 3, 2, 3)
    assert column.variable.coarsenings[1].of == (1, 1, 1, 1, 0, 1)


def test_the_pool_of_rare_states_belongs_to_the_rest():
    letters = [*"aaaabbbbccdde"]
    table = make_table({"w": letters}, "nynynynynynyn", bins="auto", max_states=4)
    (column,) = Encoder.fit(table).columns
    assert (column.states, column.pool) == (("a", "b", "c"), True)
    assert column.coarsenings == (("a",),)
    assert column.variable.coarsenings[0].of == (0, 1, 1, 1)


def test_two_states_have_no_coarsening_and_the_class_has_none():
    table = make_table({"w": [*"uvuvuv"]}, "abcabc", bins="auto")
    assert [v.n_resolutions for v in Encoder.fit(table).variables] == [1, 1]


def test_a_state_named_other_keeps_its_name():
    letters = ["other"] * 5 + ["a"] * 4 + ["b"] * 3 + ["c"] * 2 + ["d"]
    table = make_table({"w": letters}, "nyn" * 5, bins="auto")
    (column,) = Encoder.fit(table).columns
    assert column.variable.coarsenings[0].states == ("a", "b", "other", "other_2")


def test_encoders_survive_a_file():
    table = load_dataset("heart")
    for bins in ("quantile:7", "auto"):
        encoder = Encoder.fit(replace(table, bins=bins))
        again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
        assert again == encoder
        assert again.variables == encoder.variables
        assert [v.coarsenings for v in again.variables] == [
            v.coarsenings for v in encoder.variables
        ]


@pytest.mark.parametrize("kept", [(), (3.0,), (4.0, 2.0)])
def test_a_coarsening_that_is_none_is_refused(kept):
    with pytest.raises(DataError, match=r"'x'.* is not one of its coarsenings"):
        ColumnCode("x", "numeric", cuts=(2.0, 4.0), coarsenings=(kept,))


def test_resolutions_in_words():
    column = ColumnCode(
        "w, kg", "categorical", states=(*"abc",), missing_state=True, coarsenings=(("b",),)
    )
    assert column.in_words(1) == '"w, kg" in 3 states: b, other, missing'
    ages = ColumnCode("age", "numeric", cuts=(30.0, 42.5), missing_state=True)
    assert ages.in_words(0) == "age in 3 bins: <= 30, 30 to 42.5, > 42.5, missing"
    many = replace(ages, cuts=tuple(map(float, range(10, 19))))
    told = "age in 10 bins and missing, cut at 10, 11, 12, 13, 14, 15, 16, 17, 18"
    assert many.in_words(0) == told
    more = replace(ages, cuts=tuple(map(float, range(10, 30))))
    assert more.in_words(0) == "age in 21 bins and missing, cut at 10, 11, 12, ..., 29"


def test_predictions_of_unknown_rows_are_coded_by_the_finest_states():
    encoder = Encoder.fit(numbers("auto"))
    codes = encoder.transform(pd.DataFrame({"x": [-1e9, 1e9, None], "noise": [0, 0, 0]})).codes
    assert codes[:, 0].tolist() == [0, encoder.variables[1].card - 1, -1]
