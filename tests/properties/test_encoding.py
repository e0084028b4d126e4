"""Properties of states, cuts and codes."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_cases import data_sets, frames, names, of, some, structures

from milpbn import Encoder, MDLPDiscretizer
from milpbn.datasets import table_from_frame
from milpbn.datasets.bins import equal_shares, parse_bins, quantile_cuts
from milpbn.encoding import (
    Coarsening,
    ColumnCode,
    EncodedData,
    EncodedFeatures,
    Variable,
    mdlp_cuts,
)
from milpbn.errors import OptionError
from milpbn.explanation import SeenResolutions
from milpbn.structure import Structure

CUTS = st.lists(st.integers(-5, 5), unique=True, min_size=1, max_size=4).map(sorted).map(tuple)


@of("milpbn.Encoder", "milpbn.encoding.EncodedFeatures")
@some
@given(frames())
def test_training_rows_get_the_same_codes_in_prediction(rows):
    frame, labels = rows
    table = table_from_frame(frame, labels, missing="state")
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again == encoder
    features = again.transform(frame.sample(frac=1, random_state=0))
    assert isinstance(features, EncodedFeatures)
    order = frame.sample(frac=1, random_state=0).index.to_numpy()
    assert (features.codes == data.codes[order, 1:]).all()
    assert features.unseen == {}
    assert all((data.codes[:, j] < v.card).all() for j, v in enumerate(data.variables))


@of("milpbn.encoding.ColumnCode", "milpbn.encoding.Variable")
@some
@given(CUTS, st.lists(st.integers(-8, 8), min_size=1), st.booleans())
def test_the_code_of_a_number_is_the_number_of_cuts_below_it(cuts, values, missing):
    column = ColumnCode("x", "numeric", cuts=cuts, missing_state=missing)
    coded = column.encode(pd.Series([*values, None], dtype=float)).codes
    assert coded[:-1].tolist() == [sum(cut < v for cut in cuts) for v in values]
    assert coded[-1] == (column.variable.card - 1 if missing else -1)
    assert column.variable == Variable("x", column.variable.states)
    assert len(set(column.variable.states)) == column.variable.card == len(cuts) + 1 + missing
    assert ColumnCode.from_dict(json.loads(json.dumps(column.to_dict()))) == column


@of("milpbn.encoding.ColumnCode")
@some
@given(st.lists(names, unique_by=str.strip, min_size=1).filter(lambda x: all(map(str.strip, x))))
def test_the_code_of_a_category_is_its_place(states):
    states = tuple(s.strip() for s in states)
    column = ColumnCode("x", "categorical", states=states)
    assert column.encode(pd.Series(states)).codes.tolist() == list(range(len(states)))
    assert column.encode(pd.Series(["not there 123"])).codes.tolist() == [-1]


@of("milpbn.encoding.mdlp_cuts")
@some
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), min_size=4, max_size=40), st.randoms()
)
def test_cuts_depend_on_the_rows_but_not_on_their_order(rows, random):
    values, labels = np.array(rows).T
    cuts = mdlp_cuts(values, labels).tolist()
    assert cuts == sorted(set(cuts))
    assert all(values.min() < cut < values.max() for cut in cuts)
    random.shuffle(rows)
    assert mdlp_cuts(*np.array(rows).T).tolist() == cuts
    assert mdlp_cuts(values, 1 - labels).tolist() == cuts
    # A weight is a repetition.
    doubled = mdlp_cuts(np.repeat(values, 2), np.repeat(labels, 2)).tolist()
    assert mdlp_cuts(values, labels, np.full(len(values), 2.0)).tolist() == doubled


@of("milpbn.EncodedData")
@some
@given(data_sets(weighted=True), st.data())
def test_selected_rows_keep_their_weights(data, more):
    mask = np.array(more.draw(st.lists(st.booleans(), min_size=len(data.codes), max_size=100)))
    part = data.select(mask[: len(data.codes)])
    assert isinstance(part, EncodedData)
    assert len(part.train()) + len(part.test()) == mask[: len(data.codes)].sum()
    assert part.train_weights().tolist() == data.weights[mask[: len(data.codes)]].tolist()


@of("milpbn.datasets.bins.quantile_cuts")
@some
@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(2, 12), st.randoms())
def test_quantiles_leave_no_bin_empty_whatever_the_order(values, n_bins, random):
    cuts = quantile_cuts(values, equal_shares(n_bins)).tolist()
    assert cuts == sorted(set(cuts))
    assert len(np.unique(np.searchsorted(cuts, values))) == len(cuts) + 1 <= n_bins
    assert set(cuts) <= set(quantile_cuts(values, equal_shares(2 * n_bins)).tolist())
    twice = quantile_cuts(np.repeat(values, 2), equal_shares(n_bins)).tolist()
    assert quantile_cuts(values, equal_shares(n_bins), np.full(len(values), 2.0)).tolist() == twice
    random.shuffle(values)
    assert quantile_cuts(values, equal_shares(n_bins)).tolist() == cuts == twice


@of("milpbn.datasets.bins.parse_bins")
@some
@given(st.integers(-9, 99), names)
def test_bins_are_known_or_refused_with_a_way_out(number, name):
    text = f"quantile:{number}"
    if 2 <= number <= 64:
        assert parse_bins(text) == text
    for wrong in (name, *([] if 2 <= number <= 64 else [text])):
        with pytest.raises(OptionError, match="write mdlp, fine, auto, or quantile:K"):
            parse_bins(wrong)


@of("milpbn.encoding.Coarsening", "milpbn.encoding.ColumnCode")
@some
@given(CUTS, st.lists(st.integers(-8, 8), min_size=1), st.booleans(), st.data())
def test_a_coarse_state_is_the_state_for_fewer_cuts(cuts, values, missing, more):
    kept = tuple(sorted(more.draw(st.sets(st.sampled_from(cuts), min_size=1))))
    column = ColumnCode("x", "numeric", cuts=cuts, missing_state=missing, coarsenings=(kept,))
    coarse, fewer = column.variable.coarsenings[0], ColumnCode("x", "numeric", kept, (), missing)
    assert isinstance(coarse, Coarsening)
    assert coarse.states == fewer.variable.states
    assert column.readable(1) == fewer.readable_states
    numbers = pd.Series(values, dtype=float)
    seen = [coarse.of[k] for k in column.encode(numbers).codes]
    assert seen == fewer.encode(numbers).codes.tolist()
    assert ColumnCode.from_dict(json.loads(json.dumps(column.to_dict()))) == column


@of("milpbn.explanation.SeenResolutions")
@some
@given(frames(), st.data())
def test_every_resolution_that_is_used_is_explained_once(rows, more):
    frame, labels = rows
    encoder = Encoder.fit(table_from_frame(frame, labels, bins="auto"))
    variables = encoder.variables
    plain = more.draw(structures([v.name for v in variables]))
    seen = tuple(
        tuple(more.draw(st.integers(0, variables[v].n_resolutions - 1)) for v in plain.scope(child))
        for child in range(len(variables))
    )
    structure = Structure(plain.variables, plain.parents, seen)
    used = {
        (v, r)
        for child, parents in enumerate(structure.parents)
        for v, r in zip(structure.scope(child), structure.seen(child), strict=True)
        if parents and variables[v].coarsenings
    }
    found = SeenResolutions(structure, encoder)
    assert len(set(found.legend)) == len(found.legend) == len(used)
    assert len(str(found).splitlines()) == len(variables)


@of("milpbn.MDLPDiscretizer")
@some
@given(st.data())
def test_the_discretizer_cuts_as_the_classifier_does(more):
    seed, rows = more.draw(st.integers(0, 99)), more.draw(st.integers(20, 60))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = pd.DataFrame({"x": rng.normal(3 * y, 1.0), "noise": rng.normal(size=rows)})
    found = MDLPDiscretizer().fit(X, y)
    encoder = Encoder.fit(table_from_frame(X, pd.Series(y, name="y").map(str), numeric=list(X)))
    cuts = {column.name: column.cuts for column in encoder.columns}
    for name, own in zip(X.columns, found.cuts_, strict=True):
        assert list(own) == list(cuts.get(name, ()))
        codes = np.searchsorted(own, X[name], side="left")
        assert (np.asarray(found.transform(X))[:, list(X).index(name)] == codes).all()
