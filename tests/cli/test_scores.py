"""``milpbn scores`` and ``milpbn solve-scores``."""

import json

import pytest

from milpbn.interchange import read_structure


@pytest.fixture
def car_jkl(milpbn, tmp_path):
    path = tmp_path / "car.jkl"
    result = milpbn("scores", "--dataset", "car", "--score", "mdl", "--out", path)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    return path


def test_scores_go_to_stdout_too(milpbn, car_jkl):
    shown = milpbn("scores", "--dataset", "car", "--score", "bic")
    assert shown.stdout == car_jkl.read_text()
    assert shown.stdout.splitlines()[0] == "7"


def test_the_file_solves_to_the_objective_of_the_data(milpbn, car_jkl, tmp_path):
    out, trace = tmp_path / "structure.json", tmp_path / "trace.csv"
    files = ("--out", out, "--trace", trace)
    by_scores = milpbn("solve-scores", car_jkl, "--json", "--quiet", *files)
    by_data = milpbn("solve", "--dataset", "car", "--score", "mdl", "--json", "--quiet")
    assert by_scores.exit_code == by_data.exit_code == 0, by_scores.output
    mine, theirs = (json.loads(r.stdout)["result"] for r in (by_scores, by_data))
    assert mine["status"] == "optimal"
    assert mine["objective"] == pytest.approx(theirs["objective"], abs=1e-9)
    assert mine["bound"] == pytest.approx(mine["objective"])
    assert mine["trace"]
    assert read_structure(out).to_dict() == mine["structure"]
    assert trace.read_text().startswith("time,objective,bound")


def test_the_report_has_no_classifier_in_it(milpbn, car_jkl):
    result = milpbn("solve-scores", car_jkl)
    assert result.exit_code == 0
    assert "status      optimal" in result.stdout
    assert "accuracy" not in result.stdout
    assert result.stdout.splitlines()[-1].startswith("safety")


@pytest.mark.parametrize(
    "option",
    [
        ("--dataset", "car"),
        ("--score", "mdl"),
        ("--p", 0.9),
        ("--max-parents", 3),
        ("--class-root",),
        ("--require", "a->b"),
    ],
)
def test_options_about_data_do_not_go_with_scores(milpbn, car_jkl, option):
    result = milpbn("solve-scores", car_jkl, *option)
    assert result.exit_code == 2
    assert f"No such option '{option[0]}'" in result.output


def test_the_old_spelling_works_with_a_note(milpbn, car_jkl):
    for old in (("--jkl", car_jkl), (f"--jkl={car_jkl}",)):
        result = milpbn("solve", *old)
        assert result.exit_code == 0
        assert result.stderr.startswith(
            "note: `milpbn solve` with --jkl is now `milpbn solve-scores`"
        )


def test_a_start_that_needs_rows_is_refused(milpbn, car_jkl):
    result = milpbn("solve-scores", car_jkl, "--start", "tan-cmi")
    assert result.exit_code == 1
    assert "tan-cmi" in result.output


def test_a_truncated_file_is_an_error_without_traceback(milpbn, car_jkl):
    text = car_jkl.read_text()
    car_jkl.write_text(text[: len(text) // 2])
    result = milpbn("solve-scores", car_jkl)
    assert result.exit_code == 1
    assert "Error: " in result.stderr
    assert "car.jkl: " in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dataset", "car", "--score", "sm"), "'sm' is not one of 'mdl', 'bic', 'bdeu'"),
        (
            ("--dataset", "car", "--score", "mdl", "--ess", 2),
            "--ess cannot be combined with --score mdl",
        ),
        ((), "give the data to learn from"),
    ],
)
def test_what_scores_refuses(milpbn, options, message):
    result = milpbn("scores", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
