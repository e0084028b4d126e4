"""The option --bins of the commands that learn."""

from __future__ import annotations

import json

import pytest
from seen_models import seen_model

from milpbn import Model
from milpbn.datasets import load_frame


def test_a_model_keeps_its_bins(milpbn, tmp_path):
    file, out = tmp_path / "iris.csv", tmp_path / "model.json"
    load_frame("iris").to_csv(file, index=False)
    own = ("--data", file, "--target", "class", "--bins", "quantile:4")
    result = milpbn("learn", *own, "--method", "nb", "--out", out)
    assert result.exit_code == 0
    assert "--bins quantile:4" in result.stdout.splitlines()[-1]  # how to estimate the accuracy
    model = Model.load(out)
    assert model.encoder.bins == model.data["bins"] == "quantile:4"
    assert all(len(column.cuts) == 3 for column in model.encoder.columns)
    assert "bins        quantile:4\n" in result.stdout
    assert "bins        quantile:4\n" in milpbn("inspect", out).stdout
    assert milpbn("verify", out).exit_code == 0
    predicted = milpbn("predict", out, file)
    assert predicted.exit_code == 0


def test_a_file_without_bins_was_cut_by_mdlp(milpbn, tmp_path):
    out = tmp_path / "model.json"
    assert milpbn("learn", "--dataset", "iris", "--method", "nb", "--out", out).exit_code == 0
    content = json.loads(out.read_text())
    assert "bins" not in content["encoder"]
    del content["data"]["bins"]
    out.write_text(json.dumps(content))
    assert milpbn("verify", out).exit_code == 0


@pytest.mark.parametrize("command", ["solve", "learn", "path", "evaluate", "missing-curve"])
def test_bad_bins_are_named(milpbn, command):
    result = milpbn(command, "--dataset", "iris", "--bins", "quantile:1")
    assert result.exit_code == 2
    assert "--bins" in result.stderr
    assert "write mdlp, fine, auto, or quantile:K with a number K from 2 to 64" in result.stderr


def test_evaluate_cuts_as_asked(milpbn):
    sizes = []
    for bins in ("mdlp", "quantile:9"):
        result = milpbn("evaluate", "--dataset", "iris", "--method", "nb", "--bins", bins, "--json")
        sizes.append(json.loads(result.stdout)["methods"][0]["n_parameters"])
    assert sizes[1] > sizes[0]


def test_several_class_variables_have_no_bins(milpbn):
    result = milpbn("mdc", "solve", "--dataset", "Jura", "--bins", "auto")
    assert result.exit_code == 2
    assert "No such option '--bins'" in result.stderr or "No such option: --bins" in result.stderr


@pytest.fixture(scope="module")
def seen_file(tmp_path_factory):
    """A model file whose families see their columns in several resolutions."""
    path = tmp_path_factory.mktemp("seen") / "model.json"
    seen_model().save(path)
    return path


def test_inspect_shows_resolutions_in_the_units_of_the_user(milpbn, seen_file):
    lines = milpbn("inspect", seen_file).stdout.splitlines()
    assert "sepallength (2 bins) <- class, petallength (4 bins)" in lines
    assert lines[-1] == "petalwidth in 4 bins: <= 0.35, 0.35 to 1.35, 1.35 to 1.85, > 1.85"


def test_tables_have_the_states_that_families_see(milpbn, seen_file):
    text = milpbn("inspect", seen_file, "--tables").stdout
    assert "petalwidth: <= 0.8, 0.8 to 1.75, > 1.75\n" in text
    assert "  Iris-setosa      1.35 to 1.85     0" in text
    told = json.loads(milpbn("inspect", seen_file, "--tables", "--json").stdout)["tables"]
    assert told["petalwidth"]["cuts"] == [0.8, 1.75]
    assert len(told["sepalwidth"]["rows"]) == 3 * 4


def test_cards_and_explanations_have_them_too(milpbn, seen_file, tmp_path):
    card = milpbn("card", seen_file).stdout
    assert "(start)  petallength = 1.55 to 4.35" in card
    assert "> 3.05      petalwidth = 1.35 to 1.85" in card
    rows = tmp_path / "rows.csv"
    load_frame("iris").iloc[[60]].drop(columns="class").to_csv(rows, index=False)
    told = json.loads(milpbn("explain", seen_file, rows, "--row", 1, "--json").stdout)["rows"][0]
    by_name = {item["variable"]: item for item in told["contributions"]}
    assert by_name["petalwidth"]["state"] == "0.8 to 1.75"
    assert by_name["sepalwidth"]["given"] == {"petalwidth": "0.35 to 1.35"}
    assert by_name["class"]["given"] == {"petallength": "1.55 to 4.35"}


def test_reports_list_the_resolutions(milpbn, seen_file, tmp_path):
    page = tmp_path / "page.html"
    assert milpbn("report", seen_file, "--out", page).exit_code == 0
    html = page.read_text()
    assert "<li>petalwidth in 3 bins: &lt;= 0.8, 0.8 to 1.75, &gt; 1.75</li>" in html
    assert "<title>petalwidth (4 bins) → sepalwidth (2 bins)</title>" in html
    assert "sepalwidth (2 bins) depends on class, petalwidth (4 bins)." in html
    assert ">2 bins given 4 bins</text>" in html


def test_exports_name_the_coarser_states(milpbn, seen_file):
    told = json.loads(milpbn("export", seen_file, "--format", "json").stdout)["variables"]
    seen = {v["name"]: v.get("seen", {}) for v in told}
    assert seen["petalwidth"] == {"petalwidth": ["(-inf, 0.8]", "(0.8, 1.75]", "(1.75, inf)"]}
    assert list(seen["sepallength"]) == ["petallength", "sepallength"]
    assert all(len(v["states"]) > 8 for v in told[1:])  # the finest ones
    assert r"petalwidth\n3 bins" in milpbn("export", seen_file, "--format", "dot").stdout


def test_a_model_with_resolutions_goes_all_the_way(milpbn, tmp_path):
    out, rows = tmp_path / "model.json", tmp_path / "rows.csv"
    own = ("--dataset", "iris", "--bins", "auto", "--max-parents", "1", "--class-root")
    result = milpbn("solve", *own, "--best", "4", "--out", out)
    assert result.exit_code == 0
    assert "note: Variables have several resolutions" in result.stderr
    assert "status      optimal" in result.stdout
    model = Model.load(out)
    assert model.alternatives.complete
    otherwise = [model.alternatives.seen_otherwise(k) for k in range(4)]
    assert otherwise[0] == []
    name = next(names[0] for names in otherwise if names)
    shown = result.stdout.split("compared with structure 1")[1]
    assert f"{name} (" in shown
    assert " bins)" in next(line for line in shown.splitlines() if "+ class -> " in line)
    frame = load_frame("iris").drop(columns="class")
    frame.iloc[::3, 2] = None
    frame.to_csv(rows, index=False)
    assert milpbn("predict", out, rows).exit_code == 0
    assert milpbn("verify", out).exit_code == 0
    assert milpbn("export", out, "--format", "bif").exit_code == 0


@pytest.fixture
def clinic(tmp_path):
    file = tmp_path / "clinic.csv"
    lines = [
        f"{-999 if i % 9 == 0 else 20 + i % 50},{i % 4},{'yn'[i % 50 > 25]}" for i in range(200)
    ]
    file.write_text("\n".join(["age,visits,ill", *lines]) + "\n")
    return file


OWN = ("--cuts", "visits=0.5", "--special", "age=-999", "--min-bin-share", "20%")


def test_own_bins_go_from_the_options_to_the_answers(milpbn, clinic, tmp_path):
    out, page = tmp_path / "model.json", tmp_path / "page.html"
    given = ("--data", clinic, "--target", "ill", *OWN)
    result = milpbn("solve", *given, "--out", out, "--quiet")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].endswith(" ".join(OWN))
    encoder = Model.load(out).encoder
    assert encoder.columns[0].readable_states[-1] == "-999"
    assert encoder.columns[1].cuts == (0.5,)
    assert f"bins        {' '.join(OWN)}\n" in milpbn("inspect", out).stdout
    verified = milpbn("verify", out)
    assert verified.exit_code == 0
    assert "fitting the encoder again gives the same states and cuts" in verified.stdout
    assert milpbn("predict", out, clinic).exit_code == 0
    assert milpbn("report", out, "--out", page).exit_code == 0
    assert "special values of age: -999" in page.read_text()
    for kind in ("sql", "javascript"):
        assert "-999" in milpbn("export", out, "--format", kind).stdout


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--cuts", "visits"), "write income=1000,2000"),
        (("--special", "age=x"), "write income=1000,2000"),
        (("--min-bin-share", "60%"), "not a share below a half"),
        (("--cuts", "age=30", "--cuts", "age=40"), "names the column 'age' twice"),
        (("--cuts", "agee=30"), "--cuts: there is no feature 'agee'"),
        (("--special", "ill=1"), "--special: there is no feature 'ill'"),
    ],
)
def test_bad_own_bins_are_named(milpbn, clinic, option, told):
    result = milpbn("learn", "--data", clinic, "--target", "ill", *option)
    assert result.exit_code != 0
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_evaluate_takes_own_bins(milpbn, clinic):
    found = set()
    for own in ((), OWN):
        result = milpbn(
            "evaluate", "--data", clinic, "--target", "ill", "--method", "nb", "--json", *own
        )
        found.add(json.loads(result.stdout)["methods"][0]["log_loss"])
    assert len(found) == 2
