"""A terminal does not obey sequences in names and labels, whatever the command."""

import json
import re

import pandas as pd
import pytest

TITLE = "\x1b]0;owned\x07"  # sets the title of a terminal
CSI = "\x9b2J"  # clears it, in one character
REVERSED = "\u202egnp.exe"
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    frame = pd.DataFrame(
        {
            f"size{TITLE}": [f"s{CSI}", "m", "l"] * 20,
            f"color{REVERSED}": ["red", f"blue{TITLE}"] * 30,
            f"class{CSI}": [f"yes{REVERSED}", f"yes{REVERSED}", f"no{TITLE}"] * 20,
        }
    )
    path = tmp_path_factory.mktemp("rows") / f"rows{TITLE}.parquet"
    frame.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def model(milpbn, rows):
    path = rows.with_name("model.json")
    done = milpbn("solve", "--data", rows, "--target", f"class{CSI}", "--out", path)
    assert done.exit_code == 0, done.output
    assert_harmless(done)
    return path


def assert_harmless(done):
    assert not UNSAFE.search(done.stdout)
    assert not UNSAFE.search(done.stderr)


@pytest.mark.parametrize(
    "command",
    [
        ("inspect",),
        ("inspect", "--tables"),
        ("inspect", "--json"),
    ],
)
def test_what_is_shown_of_a_model_is_escaped(milpbn, model, command):
    done = milpbn(*command[:1], model, *command[1:])
    assert done.exit_code == 0, done.output
    assert_harmless(done)
    assert "owned" in done.output


def test_messages_and_tables_are_escaped(milpbn, rows, model, tmp_path):
    for done in (
        milpbn("solve", "--data", rows, "--target", f"klass{TITLE}"),
        milpbn(
            "evaluate", "--data", rows, "--target", f"class{CSI}", "--method", "nb", "--details"
        ),
        milpbn("solve", "--data", rows, "--target", f"class{CSI}", "--require", f"a{TITLE}->b"),
        milpbn("inspect", tmp_path / f"gone{TITLE}.json"),
        milpbn("predict", model, rows, "--keep", f"color{TITLE}"),
    ):
        assert "owned" in done.output
        assert_harmless(done)


def test_reports_and_notebooks_are_escaped(milpbn, rows, model, tmp_path):
    page = tmp_path / "report.html"
    done = milpbn("report", model, "--test", rows, "--row", "1", "--out", page)
    assert done.exit_code == 0, done.output
    assert_harmless(done)
    from milpbn.learning.model import Model

    told = Model.load(model)
    shown = (told.result._repr_html_(), told.network._repr_html_())
    for text in (page.read_text(encoding="utf-8"), *shown):
        assert "owned" in text
        assert r"\u202e" in text
        assert not UNSAFE.search(text)


def test_data_are_printed_as_they_are(milpbn, rows, model):
    done = milpbn("predict", model, rows)
    assert f"P(no{TITLE})" in done.stdout
    assert not UNSAFE.search(done.stderr)


def test_a_long_value_is_not_repeated_as_a_whole(milpbn, tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"x" * 100_000: ["y" * 100_000]}))
    done = milpbn("solve", "--dataset", "corral", "--start", path)
    assert done.exit_code == 1
    assert len(done.stderr) < 5_000
    assert "more characters)" in done.stderr
