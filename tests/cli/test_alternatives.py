"""``milpbn solve --best`` and ``--within``."""

import json

import pytest

from milpbn import Model
from milpbn.errors import MilpbnError

IRIS = ("solve", "--dataset", "iris", "--max-parents", "1", "--class-root", "--quiet")


def test_the_set_is_reported_and_kept(milpbn, tmp_path):
    file = tmp_path / "model.json"
    result = milpbn(*IRIS, "--within", "2%", "--out", file)
    assert result.exit_code == 0
    found = Model.load(file).alternatives
    assert found.complete
    assert f"alternatives {found}" in result.stdout
    assert f"{found.structures[1].score:14.6f}" in result.stdout
    assert f"alternatives {found}" in milpbn("inspect", file).stdout
    again = json.loads(milpbn(*IRIS, "--within", "2%", "--json").stdout)
    assert again["alternatives"] == found.to_dict()


def test_the_number_is_a_limit(milpbn):
    result = milpbn(*IRIS, "--within", "2%", "--best", "2")
    assert result.exit_code == 0
    assert "the 2 best structures, proven; more may be within 2 %" in result.stdout


def test_a_long_list_is_cut_off_and_compared_on_test_rows(milpbn):
    command = ("solve", "--dataset", "iris", "--class-root", "--holdout", "0.3", "--best", "23")
    found = json.loads(milpbn(*command, "--json", "--quiet").stdout)["alternatives"]["structures"]
    accuracies = [one["test_accuracy"] for one in found]
    lines = milpbn(*command, "--quiet").stdout.splitlines()
    low, high = (f"{100 * a:.2f} %" for a in (min(accuracies), max(accuracies)))
    assert f"{'':13}test accuracy from {low} to {high}" in lines
    assert "3 more structures, see --json" in lines
    last = lines[lines.index("3 more structures, see --json") - 1]
    assert f"{found[19]['score']:.6f}" in last
    assert f"{100 * accuracies[19]:.2f} %" in last


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--within", "150%"], "within must be at least 0 and less than 1"),
        (["--within", "near"], "is not a gap"),
        (["--best", "0"], "0 is not in the range"),
        (["--best", "3", "--method", "monolithic"], "--best requires --method branch-and-cut"),
        (["--best", "3", "--p", "0.6,0.9"], "No such option '--best'"),
    ],
)
def test_bad_options(milpbn, options, message):
    result = milpbn(*IRIS, *options)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("error", [KeyboardInterrupt, MilpbnError("out of time")])
def test_the_model_survives_if_there_are_no_other_structures(milpbn, tmp_path, monkeypatch, error):
    def fail(*arguments):
        raise error

    monkeypatch.setattr("milpbn.certainty.alternatives.alternatives_of", fail)
    options = [option for option in IRIS if option != "--quiet"]
    result = milpbn(*options, "--best", "2", "--out", tmp_path / "model.json")
    assert result.exit_code == 3
    assert "other structures" in result.stderr
    assert Model.load(tmp_path / "model.json").alternatives is None
