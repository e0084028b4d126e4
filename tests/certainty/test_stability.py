"""Frequencies of arcs over bootstrap samples."""

from dataclasses import replace

import pytest

from milpbn import Model, learn_classifier, load_dataset, make_settings
from milpbn.certainty.stability import model_stability
from milpbn.certainty.stability_records import Stability
from milpbn.errors import MilpbnError, OptionError


@pytest.fixture(scope="module")
def iris():
    table = load_dataset("iris")
    return learn_classifier(table, make_settings(max_parents=1, class_parents=False)), table


def test_frequencies_of_arcs_and_edges():
    found = Stability(4, 5, "local-search", 0, 0, {("a", "b"): 1, ("b", "a"): 2, ("a", "c"): 4})
    assert not found.complete
    assert found.frequency(("a", "b")) == 0.25
    assert found.edge_frequency(("a", "b")) == found.edge_frequency(("b", "a")) == 0.75
    assert found.frequency(("c", "a")) == 0
    assert found.to_frame().child.tolist() == ["c", "a", "b"]
    assert Stability.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("method", ["local-search", "branch-and-cut"])
def test_the_same_seed_gives_the_same_frequencies_with_any_number_of_jobs(iris, method):
    model, table = iris
    one = model_stability(model, table, resamples=6, method=method, seed=3)
    two = model_stability(model, table, resamples=6, method=method, seed=3, n_jobs=2)
    assert one.resamples == two.resamples == 6
    assert dict(one.counts) == dict(two.counts)
    assert max(one.counts.values()) <= 6
    assert one.optimal == (6 if method == "branch-and-cut" else 0)


def test_frequencies_survive_the_model_file(iris, tmp_path):
    model, table = iris
    found = model_stability(model, table, resamples=3)
    replace(model, stability=found).save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json").stability == found


def test_ctrl_c_keeps_the_finished_samples(iris):
    model, table = iris

    def stop_at(number):
        def watch(done, total):
            if done == number:
                raise KeyboardInterrupt

        return watch

    found = model_stability(model, table, resamples=50, watch=stop_at(2))
    assert (found.resamples, found.wanted, found.complete) == (2, 50, False)


def test_a_time_limit_keeps_the_finished_samples(iris):
    model, table = iris
    found = model_stability(model, table, resamples=50, time_limit=1e-6)
    assert found.resamples == 1


def test_bad_arguments(iris):
    model, table = iris
    with pytest.raises(OptionError, match="local-search or branch-and-cut"):
        model_stability(model, table, method="nb")
    with pytest.raises(MilpbnError, match="at least 1 sample"):
        model_stability(model, table, resamples=0)


def test_ctrl_c_before_the_first_sample_leaves_nothing_to_report(iris, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("milpbn.certainty.stability.results_as_they_come", stop)
    with pytest.raises(MilpbnError, match="no sample was finished; allow more time"):
        model_stability(*iris, resamples=5)
