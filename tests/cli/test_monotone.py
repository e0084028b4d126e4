"""The option --monotone, from the command line to the answers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from milpbn import Model


@pytest.fixture
def clinic(tmp_path):
    random = np.random.default_rng(0)
    age, mass = random.integers(20, 80, 300), random.normal(25, 4, 300).round(1)
    ill = random.random(300) < 1 / (1 + np.exp(-(age - 50) / 8))
    frame = pd.DataFrame({"age": age, "mass": mass, "ill": np.where(ill, "yes", "no")})
    file = tmp_path / "clinic.csv"
    frame.to_csv(file, index=False)
    return file


GIVEN = ("--bins", "quantile:5", "--monotone", "age+,mass-")


def test_a_monotone_model_is_learned_shown_and_verified(milpbn, clinic, tmp_path):
    out, page = tmp_path / "model.json", tmp_path / "page.html"
    result = milpbn("solve", "--data", clinic, "--target", "ill", *GIVEN, "--out", out, "--quiet")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[-1].endswith(" ".join(GIVEN[2:]))
    at = lines.index("monotone    odds of 'yes', each state against the one before")
    assert lines[at + 1].startswith("            age+: <= ")
    steps = [step.split(" x")[1:] for step in lines[at + 1].split(", ")[1:]]
    factors = [float(number) for pair in steps for number in " ".join(pair).split(" to ")]
    assert len(factors) >= len(steps) >= 2
    assert min(factors) >= 1
    assert lines[at] in milpbn("inspect", out).stdout
    verified = milpbn("verify", out)
    assert verified.exit_code == 0
    assert "all tables are monotone (age+,mass-)" in verified.stdout
    assert milpbn("predict", out, clinic).exit_code == 0
    assert milpbn("report", out, "--out", page).exit_code == 0
    assert "effect of age" in page.read_text()
    assert Model.load(out).encoder.monotone == {"age": 1, "mass": -1}


def test_a_table_that_was_changed_is_found(milpbn, clinic, tmp_path):
    out = tmp_path / "model.json"
    given = ("--data", clinic, "--target", "ill", "--bins", "quantile:5", "--monotone", "age+")
    assert milpbn("learn", *given, "--method", "nb", "--out", out).exit_code == 0
    content = json.loads(out.read_text())
    tables = content["log_probabilities"]
    tables["age"] = [row[::-1] for row in tables["age"]]
    out.write_text(json.dumps(content))
    verified = milpbn("verify", out)
    assert verified.exit_code == 4
    assert "the table of age is not monotone along age" in verified.stdout


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--monotone", "age"), "write age+,income-"),
        (("--monotone", "age+,age-"), "named twice"),
        (("--monotone", "agee+"), "--monotone: there is no feature 'agee'"),
        (("--monotone", "age+", "--parameters", "cl"), "--parameters ml"),
        (("--monotone", "age+", "--certificate", "proof"), "does not know monotone effects"),
    ],
)
def test_what_cannot_be_is_refused(milpbn, clinic, given, told):
    result = milpbn("solve", "--data", clinic, "--target", "ill", *given)
    assert result.exit_code != 0
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_the_default_selection_tries_what_keeps_the_directions(milpbn, clinic):
    given = ("--data", clinic, "--target", "ill", "--monotone", "age+", "--select", "auto")
    done = milpbn("solve", *given, "--json")
    assert done.exit_code in (0, 3), done.output
    tried = json.loads(done.stdout)["selection"]["candidates"]
    assert len(tried) > 3
    assert {c["values"]["parameters"] for c in tried} == {"ml"}
    assert not any("monotone" in c["error"] for c in tried)


def test_parameters_that_are_selected_by_name_must_keep_the_directions(milpbn, clinic):
    given = ("--data", clinic, "--target", "ill", "--monotone", "age+")
    done = milpbn("solve", *given, "--select", "parameters=ml,cl")
    assert done.exit_code == 1
    assert "are not kept by the parameters cl; use --parameters ml, and no others" in done.stderr


def test_three_classes_are_refused(milpbn):
    result = milpbn("learn", "--dataset", "iris", "--monotone", "petalwidth+")
    assert result.exit_code == 1
    assert "monotone effects need two classes" in result.stderr


def test_evaluation_keeps_the_directions(milpbn, clinic):
    told = []
    for given in ((), ("--monotone", "age-")):
        result = milpbn("evaluate", "--data", clinic, "--target", "ill", "--method", "nb",
                        "--json", *given)  # fmt: skip
        told.append(json.loads(result.stdout)["methods"][0]["log_loss"])
    assert told[0] < told[1]


def test_names_with_commas_and_blanks_are_typed_in_quotes(milpbn, clinic):
    frame = pd.read_csv(clinic).rename(columns={"age": "age, years", "mass": "body mass"})
    frame.to_csv(clinic, index=False)
    given = "--data", clinic, "--target", "ill", "--monotone", '"age, years+",body mass-'
    result = milpbn("learn", "--method", "nb", *given, "--quiet")
    assert result.stdout.splitlines()[-1].endswith("""--monotone '"age, years+",body mass-'""")
    wrong = milpbn("learn", *given[:-1], '"age, years"+')
    assert wrong.exit_code == 2
    assert "in double quotes, with its sign" in " ".join(wrong.stderr.split())


def test_a_feature_with_a_single_value_may_have_a_direction(milpbn, clinic, tmp_path):
    pd.read_csv(clinic).assign(debt=0).to_csv(clinic, index=False)
    given = "--data", clinic, "--target", "ill", "--monotone", "debt+", "--special", "debt=-1"
    result = milpbn("learn", "--method", "nb", *given, "--out", tmp_path / "model.json")
    assert result.exit_code == 0
    assert "column 'debt' is dropped: '0' is its only value" in result.stderr
    assert "odds of" not in result.stdout
    assert milpbn("verify", tmp_path / "model.json").exit_code == 0
