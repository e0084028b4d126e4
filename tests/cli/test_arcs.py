"""``milpbn arcs``: the table, the model file, and what it refuses."""

import json
import shutil
import time

import pytest

from milpbn import Model


@pytest.fixture(autouse=True)
def clock_of_arcs_starts_now(monkeypatch):
    monkeypatch.setattr("milpbn.cli.additions.PROCESS_START", time.perf_counter())


@pytest.fixture
def copy(iris_model, tmp_path):
    """A model file that may be changed."""
    return shutil.copy(iris_model, tmp_path / "iris.json")


def test_the_margins_are_printed_and_kept_in_the_model_file(milpbn, copy):
    result = milpbn("arcs", copy, "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "questions   4 of 4 closed" in result.stdout
    assert "Proven: 1 of 1 arc and 1 of 1 edge" in result.stdout
    arcs = Model.load(copy).arcs
    assert arcs.complete
    assert f" {arcs.arcs[0].margin.high:18.4f}\n" in result.stdout
    shown = milpbn("inspect", copy).stdout
    assert result.stdout.strip() in shown
    assert json.loads(milpbn("inspect", copy, "--json").stdout)["arcs"] == arcs.to_dict()


def test_json_and_another_file(milpbn, copy, tmp_path):
    before = copy.read_text()
    result = milpbn("arcs", copy, "--json", "--out", tmp_path / "new.json")
    assert result.exit_code == 0
    assert "wrote" in result.stderr
    assert copy.read_text() == before
    assert json.loads(result.stdout) == Model.load(tmp_path / "new.json").arcs.to_dict()


def test_out_of_time_the_intervals_stay_open_and_the_next_run_closes_them(milpbn, copy):
    result = milpbn("arcs", copy, "--time-limit", "0.001")
    # Without time there is not even a first bound, unless reading the data took none.
    assert result.exit_code in (1, 3)
    assert milpbn("arcs", copy).exit_code == 0


def test_thickness_shows_the_margins(milpbn, copy, tmp_path):
    milpbn("arcs", copy)
    milpbn("inspect", copy, "--draw", tmp_path / "net.dot")
    assert "penwidth=4.00" in (tmp_path / "net.dot").read_text()
    result = milpbn("inspect", copy, "--draw", tmp_path / "net.svg")
    assert result.exit_code == 0
    assert "proven loss of score without the edge" in (tmp_path / "net.svg").read_text()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--time-limit", "soon"], 2, "is not a duration"),
        (["--data", "other.csv"], 2, "leave out --data"),
        (["--out", "nowhere/model.json"], 2, "there is no folder nowhere"),
    ],
)
def test_bad_options(milpbn, copy, options, code, message):
    result = milpbn("arcs", copy, *options)
    assert result.exit_code == code
    assert message in result.stderr


def test_a_missing_file(milpbn, tmp_path):
    result = milpbn("arcs", tmp_path / "none.json")
    assert result.exit_code == 1
    assert "cannot read" in result.stderr


@pytest.mark.parametrize("command", ["arcs", "stability"])
def test_settings_that_are_missing_are_named_with_the_file(milpbn, copy, command):
    content = json.loads(copy.read_text())
    del content["settings"]["score"]
    copy.write_text(json.dumps(content))
    result = milpbn(command, copy)
    assert result.exit_code == 1
    assert f"{copy}: settings: 'score' is missing" in result.stderr
