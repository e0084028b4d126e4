"""A full disk, a closed pipe and a file that cannot be written do not cost the result."""

import json
import os
import shutil

import pytest

from milpbn.cli.outputs import Outputs
from milpbn.errors import OutputError
from milpbn.evaluation.records import ResultFile
from milpbn.files import write_whole

FULL = "/dev/full"
CORRAL = ("--dataset", "corral", "--max-parents", "1")

pytestmark = pytest.mark.skipif(not os.path.exists(FULL), reason="needs /dev/full")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_a_full_disk_costs_neither_the_report_nor_the_model(milpbn, temporary):
    done = milpbn("solve", *CORRAL, "--out", FULL)
    assert done.exit_code == 1
    assert "status      optimal" in done.stdout
    assert "objective" in done.stdout
    (saved,) = temporary.glob("milpbn-*/full")
    assert f"cannot write {FULL}: No space left on device; saved as {saved} instead" in done.stderr
    assert json.loads(saved.read_text())["format"] == "milpbn-model"


def test_a_failing_trace_does_not_stop_the_model_file(milpbn, tmp_path):
    done = milpbn("solve", *CORRAL, "--trace", FULL, "--out", tmp_path / "model.json")
    assert done.exit_code == 1
    assert "status      optimal" in done.stdout
    assert f"wrote {tmp_path / 'model.json'}" in done.stderr
    assert (tmp_path / "model.json").exists()


@pytest.mark.parametrize(
    ("command", "out"),
    [
        (("learn", *CORRAL, "--method", "nb"), "--out"),
        (("path", *CORRAL, "--penalty", "0,1", "--folds", "0"), "--out"),
        (("missing-curve", "--dataset", "corral", "--classifier", "nb+ml"), "--out"),
        (("evaluate", *CORRAL, "--method", "nb"), "--csv"),
    ],
)
def test_the_report_comes_first(milpbn, command, out):
    plain = milpbn(*command, "--quiet")
    done = milpbn(*command, out, FULL, "--quiet")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == plain.stdout.splitlines()[0]
    assert "No space left on device; saved as" in done.stderr


@pytest.fixture
def full(tmp_path):
    """A name with this ending that stands for a full disk."""

    def name(ending):
        path = tmp_path / f"full{ending}"
        path.symlink_to(FULL)
        return path

    return name


@pytest.mark.parametrize(
    ("command", "ending", "begins"),
    [
        (("predict", "MODEL", "ROWS"), ".csv", "prediction,"),
        (("export", "MODEL"), ".bif", "network iris"),
        (("explain", "MODEL", "ROWS"), ".csv", "row,"),
        (("explain", "MODEL", "ROWS", "--row", 1), ".txt", "row 1"),
        (("report", "MODEL"), ".html", "<!DOCTYPE html>"),
        (("scores", *CORRAL), ".jkl", "7"),
        (("datasets", "export", "iris"), ".csv", "sepallength,"),
    ],
)
def test_data_for_a_full_disk_are_saved_elsewhere(
    milpbn, full, temporary, iris_model, iris_rows, command, ending, begins
):
    files = {"MODEL": iris_model, "ROWS": iris_rows}
    done = milpbn(*(files.get(word, word) for word in command), "--out", full(ending))
    assert done.exit_code == 1
    (saved,) = temporary.glob(f"milpbn-*/full{ending}")
    assert f"No space left on device; saved as {saved} instead" in done.stderr
    assert "wrote" not in done.stderr
    assert saved.read_text().lower().startswith(begins.lower())


def test_the_accuracy_is_reported_even_if_the_predictions_cannot_be_written(
    milpbn, full, iris_model, iris_rows
):
    done = milpbn("predict", iris_model, iris_rows, "--out", full(".csv"))
    assert done.exit_code == 1
    assert "on 150 labelled rows" in done.stderr


@pytest.mark.parametrize(
    ("command", "option", "ending"),
    [
        (("card",), "--out", ".csv"),
        (("inspect",), "--draw", ".dot"),
        (("inspect",), "--plot", ".svg"),
        (("arcs",), "--out", ".json"),
        (("stability", "--resamples", 2), "--out", ".json"),
    ],
)
def test_the_report_about_a_model_comes_before_its_files(
    milpbn, full, temporary, iris_model, command, option, ending
):
    copy = shutil.copy(iris_model, temporary / "iris.json")
    plain = milpbn(*command, copy)
    done = milpbn(*command, iris_model, option, full(ending))
    assert done.exit_code == 1
    assert done.stdout == plain.stdout
    (saved,) = temporary.glob(f"milpbn-*/full{ending}")
    assert f"No space left on device; saved as {saved} instead" in done.stderr


def test_the_pictures_of_a_multinet_are_saved_together(milpbn, full, temporary, tmp_path):
    model = tmp_path / "model.json"
    learned = milpbn("learn", "--dataset", "corral", "--method", "multinet-cmi", "--out", model)
    assert learned.exit_code == 0, learned.output
    for state in ("0", "1"):
        (tmp_path / f"net-{state}.dot").symlink_to(FULL)
    done = milpbn("inspect", model, "--draw", tmp_path / "net.dot")
    assert done.exit_code == 1
    saved = sorted(temporary.glob("milpbn-*/net-?.dot"))
    assert len(saved) == 2
    assert f"saved as {saved[0]}, {saved[1]} instead" in done.stderr


def test_one_file_of_a_grid_that_fails_does_not_stop_the_others(milpbn, tmp_path):
    (tmp_path / "0.6.json").symlink_to(FULL)
    done = milpbn("solve", *CORRAL, "--p", "0.6,0.9", "--out", tmp_path / "{p}.json")
    assert done.exit_code == 1
    assert len(done.stdout.splitlines()) == 3
    assert f"wrote {tmp_path / '0.9.json'}" in done.stderr
    assert "0.6.json: No space left on device; saved as" in done.stderr


def test_nothing_to_write_to_is_said_once(temporary, capsys):
    temporary.rmdir()
    outputs = Outputs(quiet=False)
    outputs.report("the report")
    outputs.write(FULL, lambda file: write_whole(file, "text"))
    with pytest.raises(OutputError, match=r"cannot write .*; choose another folder"):
        outputs.__exit__(None, None, None)
    assert capsys.readouterr().out == "the report\n"


def test_a_full_disk_below_stdout_does_not_stop_the_model_file(process, tmp_path):
    code = (
        "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1);"
        "from milpbn.cli import main; main()"
    )
    done = process("solve", *CORRAL, "--out", tmp_path / "model.json", code=code)
    assert done.returncode == 1
    assert "cannot write the output: No space left on device" in done.stderr
    assert (tmp_path / "model.json").exists()


def test_an_evaluation_goes_on_without_its_file(milpbn, tmp_path, monkeypatch):
    kept, real = [], ResultFile._append

    def full_after_two(self, content):
        kept.append(content)
        if len(kept) > 3:  # the data, then two folds
            raise OutputError(f"cannot write {self.path}: No space left on device")
        real(self, content)

    monkeypatch.setattr(ResultFile, "_append", full_after_two)
    command = ("evaluate", "--dataset", "corral", "--folds", "4", "--method", "nb")
    done = milpbn(*command, "--out", tmp_path / "r.jsonl")
    assert done.exit_code == 1
    assert "nb" in done.stdout
    assert "No space left on device; this fold and later ones are not kept" in done.stderr
    monkeypatch.undo()
    again = milpbn(*command, "--out", tmp_path / "r.jsonl")
    assert again.exit_code == 0
    assert "3/4" in again.stderr
    assert "1/4" not in again.stderr
