"""New rows: tables bit by bit as from all rows, and searches that begin with the old structure."""

from dataclasses import replace

import numpy as np
import pytest

from milpbn import BNClassifier, DataWarning, Encoder, learn_classifier, load_dataset, make_settings
from milpbn.clock import Clock
from milpbn.datasets import read_features
from milpbn.datasets.table import with_states
from milpbn.errors import DataError, OptionError
from milpbn.families.smoothing import parse_smoothing
from milpbn.learning.classifier import Encoded, encode, learn_encoded
from milpbn.learning.model import Model
from milpbn.learning.update import add_rows, search_again
from milpbn.network.multinet import Multinet, fit_classifier
from milpbn.verification.verify import verify_model


def in_parts(name, **settings):
    """A model of the first two thirds of the training rows, and the codes of all."""
    table = load_dataset(name)
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    data = data.select(data.is_train)
    n = 2 * len(data.codes) // 3
    encoded = Encoded(encoder, data.first(n), tuple(table.sources))
    return learn_encoded(encoded, make_settings(**settings), clock=Clock()), data.codes, n


def networks(classifier):
    return classifier.networks if isinstance(classifier, Multinet) else (classifier,)


@pytest.mark.parametrize("smoothing", ["laplace:0.5", "epsilon:1e-4"])
@pytest.mark.parametrize("name", ["heart", "vote", "car", "iris"])
@pytest.mark.parametrize("method", ["nb", "tan-cmi", "multinet-cmi"])
def test_the_tables_are_those_of_all_rows_bit_by_bit(name, method, smoothing):
    model, codes, n = in_parts(name, method=method, smoothing=smoothing)
    later = add_rows(add_rows(model, codes[n : n + 7]), codes[n + 7 :])
    wanted = fit_classifier(
        model.network.structure, model.network.variables, codes, parse_smoothing(smoothing)
    )
    for mine, theirs in zip(networks(later.network), networks(wanted), strict=True):
        for kind in ("log_cpts", "counts"):
            for a, b in zip(getattr(mine, kind), getattr(theirs, kind), strict=True):
                assert np.array_equal(a, b)
    assert later.data["n_rows"] == len(codes)
    assert [u["n_rows"] for u in later.data["updates"]] == [7, len(codes) - n - 7]
    assert (later.result, later.has_newer_rows) == (model.result, True)


def test_an_updated_model_survives_its_file(tmp_path):
    model, codes, n = in_parts("heart", method="nb")
    later = add_rows(model, codes[n:], {"file": "new.csv", "sha256": "0" * 64})
    later.save(tmp_path / "model.json")
    again = Model.load(tmp_path / "model.json")
    assert again.to_dict() == later.to_dict()
    assert again.data["updates"] == [
        {"file": "new.csv", "sha256": "0" * 64, "n_rows": len(codes) - n}
    ]


def test_incomplete_rows_are_left_out():
    model, codes, n = in_parts("heart", method="nb")
    holes = codes[n : n + 10].copy()
    holes[2:5, 3] = -1
    later = add_rows(model, holes)
    assert later.data["n_rows"] == n + 7
    assert later.data["n_incomplete_rows"] == 3
    assert later.network.table("class", counts=True).to_numpy().sum() == n + 7
    with pytest.raises(DataError, match="no new row is complete"):
        add_rows(model, holes[2:5])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"parameters": "cl"}, "cl parameters cannot be updated"),
        ({"parameters": "mm"}, "mm parameters cannot be updated"),
    ],
)
def test_what_needs_the_old_rows_is_refused(settings, told):
    model, codes, n = in_parts("iris", method="nb", **settings)
    with pytest.raises(OptionError, match=told):
        add_rows(model, codes[n:])


def test_resolutions_and_weights_are_refused():
    iris = load_dataset("iris")
    settings = make_settings(max_parents=1, method="tan-cmi")
    coarse = learn_classifier(replace(iris, bins="auto"), make_settings(max_parents=1))
    assert coarse.network.structure.resolutions_to_dict()
    codes = encode(replace(iris, bins="auto")).data.codes
    with pytest.raises(OptionError, match="tables with several resolutions cannot be updated"):
        add_rows(coarse, codes)
    weighted = learn_classifier(replace(iris, class_weight="balanced"), settings)
    weights = learn_classifier(replace(iris, weights=np.full(len(iris), 2.0)), settings)
    with pytest.raises(OptionError, match="learned with weights"):
        add_rows(weights, encode(iris).data.codes)
    assert weighted.result.n_rows == weighted.result.weight  # only the data can tell
    with pytest.raises(OptionError, match="learned with weights"):
        add_rows(weighted, encode(iris).data.codes)
    old = {name: entry for name, entry in weighted.data.items() if name != "weighted"}
    told = replace(weighted, data={**old, "class_weight": "balanced"})
    with pytest.raises(OptionError, match="learned with weights"):
        add_rows(told, encode(iris).data.codes)


def test_new_rows_that_break_a_monotone_effect_are_refused():
    table = with_states(load_dataset("heart"), monotone={"oldpeak": "increasing"})
    model = learn_classifier(table, make_settings(max_parents=1, method="nb"))
    codes = encode(table).data.train()
    place = [v.name for v in model.network.variables].index("oldpeak")
    healthy = codes[codes[:, 0] == 0]
    healthy[:, place] = healthy[:, place].max(initial=0, where=healthy[:, place] < 2)
    with pytest.raises(DataError, match="not monotone along oldpeak; learn a new model"):
        add_rows(model, np.repeat(healthy, 5, axis=0))


def halves(name):
    """A table of every second training row, and the others as later rows."""
    table = load_dataset(name).train()
    odd = np.arange(len(table)) % 2 == 1
    later = table.rows(odd)
    frame = later.features.assign(**{table.target.name: later.target})
    return table.rows(~odd), frame


@pytest.mark.parametrize("settings", [{"max_parents": 1}, {"score": "mdl"}])
def test_a_new_search_finds_the_optimum_of_all_rows(settings):
    old, later = halves("monks-3")
    model = learn_classifier(old, make_settings(**settings))
    both = replace(old, updates=(later,))
    found = search_again(model, both)
    fresh = learn_encoded(encode(both), make_settings(**settings), clock=Clock())
    assert found.model.result.objective == pytest.approx(fresh.result.objective)
    assert found.still_optimal is (
        found.objective >= fresh.result.objective - 1e-6 * abs(fresh.result.objective)
    )
    assert found.is_better is not found.still_optimal
    assert found.model.result.n_rows == found.model.data["n_rows"] == len(old) + len(later)
    assert not found.model.has_newer_rows
    counted = add_rows(model, model.encoder.encode_labelled(later, "later"))
    same = fit_classifier(
        model.network.structure,
        model.network.variables,
        encode(both).data.codes,
        parse_smoothing("laplace"),
    )
    for mine, theirs in zip(counted.network.log_cpts, same.log_cpts, strict=True):
        assert np.array_equal(mine, theirs)


def test_verification_knows_the_rows_of_the_tables_and_of_the_structure():
    old, later = halves("monks-3")
    model = learn_classifier(old, make_settings(max_parents=1))
    both = replace(old, updates=(later,))
    counted = add_rows(model, model.encoder.encode_labelled(later, "later"))
    checked = verify_model(counted, both)
    assert checked.agrees
    assert "the first" in next(c.seen for c in checked.checks if "from all rows" in c.claim)
    searched = search_again(model, both).model
    assert verify_model(searched, both).agrees
    # Without the later rows, or with others, counts and descriptions differ.
    assert not verify_model(counted, old).agrees
    assert not verify_model(counted, replace(old, updates=(later.iloc[::-1].tail(9),))).agrees
    false = replace(counted, result=replace(counted.result, n_rows=counted.result.n_rows + 1))
    assert not verify_model(false, both).agrees


def test_a_search_refuses_other_rows():
    old, _ = halves("iris")
    model = learn_classifier(old, make_settings(method="nb"))
    with pytest.raises(DataError, match="do not give the states and cuts of the model"):
        search_again(model, replace(old, features=old.features * 2))


def test_partial_fit_counts_on():
    car = load_dataset("car")
    X, y = car.features, car.target
    model = BNClassifier(method="nb").partial_fit(X[::2], y[::2], classes=sorted(set(y)))
    first = model.result_
    assert model.partial_fit(X[1::2], y[1::2]) is model
    fresh = BNClassifier(method="nb").fit(X, y)
    assert np.array_equal(model.predict_proba(X), fresh.predict_proba(X))
    assert model.result_ is first
    with pytest.raises(AttributeError, match="it was updated"):
        _ = model.feature_importances_
    with pytest.warns(DataWarning, match="The new rows look different in .*'safety'"):
        model.partial_fit(X[y == "vgood"], y[y == "vgood"])
    with pytest.raises(DataError, match="the class 'new' in row 2 was not in the rows"):
        model.partial_fit(X[:2], ["acc", "new"])
    with pytest.raises(OptionError, match="later rows cannot have weights"):
        model.partial_fit(X[:2], y[:2], sample_weight=[1, 2])
    with pytest.raises(DataError, match="the class 'best' has no row"):
        BNClassifier(method="nb").partial_fit(X, y, classes=["acc", "best"])


def test_labelled_rows_are_read_as_for_learning(tmp_path):
    """Dates, units and cut targets of a file are read by the decisions of the model."""
    lines = [f"{1 + i % 28}.{1 + i % 12}.2021;${i}.50;{i * 1.5}" for i in range(60)]
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("day;price;y\n" + "\n".join(lines[:50]))
    new.write_text("y;price;day\n" + "\n".join(";".join(x.split(";")[::-1]) for x in lines[50:]))
    from milpbn import read_table

    table = read_table(old, "y", target_bins=2, bins="quantile:3")
    model = learn_classifier(table, make_settings(method="nb"))
    frame = read_features(new, model.encoder.sources(), ["y"])
    codes = model.encoder.encode_labelled(frame, "new.csv")
    assert codes.shape == (10, len(model.network.variables))
    assert (codes[:, 0] == 1).all()  # the largest numbers
    prices = [v.name for v in model.network.variables].index("price")
    assert (codes[:, prices] == 2).all()


def test_estimators_whose_tables_are_no_counts_cannot_add_rows():
    for told in ({"parameters": "cl"}, {"class_weight": "balanced"}):
        model = BNClassifier(method="nb", **told)
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError):
            _ = model.partial_fit
