"""``milpbn export``, and the way back through ``learn --structure`` and ``solve --start``."""

import json

import pytest

from milpbn.deployment import write_javascript, write_sql
from milpbn.interchange import FORMATS, read_network
from milpbn.learning.model import Model


@pytest.mark.parametrize("kind", FORMATS)
def test_a_model_goes_to_stdout_and_to_a_file(milpbn, iris_model, tmp_path, kind):
    shown = milpbn("export", iris_model, "--format", kind)
    assert shown.exit_code == 0, shown.output
    out = tmp_path / "out"
    written = milpbn("export", iris_model, "--format", kind, "--out", out)
    assert (written.exit_code, written.stdout) == (0, "")
    assert out.read_text(encoding="utf-8") == shown.stdout
    assert "petalwidth" in shown.stdout


def test_the_ending_says_the_format(milpbn, iris_model, tmp_path):
    out = tmp_path / "iris.bifxml"
    assert milpbn("export", iris_model, "--out", out).exit_code == 0
    assert read_network(out).variables == Model.load(iris_model).network.variables


@pytest.mark.parametrize("options", [(), ("--out", "x.txt"), ("--format", "yaml")])
def test_no_format_is_a_wrong_option(milpbn, iris_model, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    result = milpbn("export", iris_model, *options)
    assert result.exit_code == 2
    assert "bif" in result.output
    assert not list(tmp_path.iterdir())


def test_code_goes_to_a_file_with_its_ending(milpbn, iris_model, tmp_path):
    model = Model.load(iris_model)
    file = tmp_path / "iris.sql"
    assert (
        milpbn("export", iris_model, "--out", file, "--table", "a.b", "--keep", "id").exit_code == 0
    )
    wanted = write_sql(model.network, model.encoder, table="a.b", keep=["id"])
    assert file.read_text(encoding="utf-8") == wanted
    file = tmp_path / "iris.js"
    assert milpbn("export", iris_model, "--out", file).exit_code == 0
    assert file.read_text(encoding="utf-8") == write_javascript(model.network, model.encoder)
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    file = tmp_path / "iris.onnx"
    assert milpbn("export", iris_model, "--out", file).exit_code == 0
    onnx.checker.check_model(onnx.load(file))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "onnx"), "an ONNX model is not text; give a file with --out"),
        (("--format", "bif", "--table", "x"), "--table needs the format sql"),
        (("--format", "javascript", "--keep", "id"), "--keep needs the format sql"),
    ],
)
def test_options_that_need_another_format_are_refused(milpbn, iris_model, options, message):
    result = milpbn("export", iris_model, *options)
    assert result.exit_code == 2
    assert message in result.output


def test_code_takes_columns_as_they_are_read(milpbn, tmp_path):
    rows = [f"${k % 20},2024-0{1 + k % 9}-11,{'yes' if k % 10 > 4 else 'no'}" for k in range(60)]
    file, out = tmp_path / "rows.csv", tmp_path / "model.json"
    file.write_text("\n".join(["price,day,label", *rows]))
    options = ("--data", file, "--target", "label", "--method", "nb", "--out", out, "--quiet")
    assert milpbn("learn", *options, "--bins", "quantile:3").exit_code == 0
    result = milpbn("export", out, "--format", "sql")
    assert result.exit_code == 0
    assert "takes the column 'price' as milpbn reads it (number, $)" in result.stderr
    assert 't."price"' in result.stdout


def test_the_model_is_not_overwritten(milpbn, iris_model):
    result = milpbn("export", iris_model, "--format", "json", "--out", iris_model)
    assert result.exit_code == 2
    assert "choose another name" in result.output


@pytest.mark.parametrize("kind", ["bif", "xmlbif", "json", "modelstring"])
def test_an_exported_structure_is_parametrised_again(milpbn, iris_model, tmp_path, kind):
    file, out = tmp_path / "structure", tmp_path / "again.json"
    milpbn("export", iris_model, "--format", kind, "--out", file)
    result = milpbn("learn", "--dataset", "iris", "--structure", file, "--out", out, "--quiet")
    assert result.exit_code == 0, result.output
    before, after = Model.load(iris_model), Model.load(out)
    assert after.network.structure == before.network.structure
    assert after.result.objective == pytest.approx(before.result.objective, rel=1e-12)
    assert (after.result.bound, after.result.source) == (None, str(file))
    for mine, theirs in zip(before.network.log_cpts, after.network.log_cpts, strict=True):
        assert (mine == theirs).all()


def test_a_given_structure_may_have_any_parents_and_passes_verification(milpbn, tmp_path):
    file, out = tmp_path / "given.txt", tmp_path / "model.json"
    features = "[sepallength][sepalwidth|sepallength][petalwidth|class:sepallength:sepalwidth]"
    file.write_text(f"[class|sepallength]{features}[petallength]")
    result = milpbn("learn", "--dataset", "iris", "--structure", file, "--out", out, "--quiet")
    assert result.exit_code == 0, result.output
    assert Model.load(out).settings["max_parents"] == 3
    verified = milpbn("verify", out)
    assert verified.exit_code == 0, verified.output


def test_a_structure_of_other_variables_is_refused(milpbn, tmp_path):
    file = tmp_path / "other.txt"
    file.write_text("[class][a|class]")
    result = milpbn("learn", "--dataset", "iris", "--structure", file)
    assert result.exit_code == 1
    assert "variables of" in result.output
    assert "sepalwidth" in result.output


@pytest.mark.parametrize(
    "option", [("--method", "sa"), ("--max-parents", 1), ("--start", "x"), ("--constraints", "x")]
)
def test_a_given_structure_and_a_search_contradict(milpbn, tmp_path, option):
    result = milpbn("learn", "--dataset", "iris", "--structure", tmp_path / "x", *option)
    assert result.exit_code == 2
    assert f"{option[0]} cannot be combined with --structure" in result.output


def test_bif_is_a_warm_start(milpbn, iris_model, tmp_path):
    file = tmp_path / "start.bif"
    milpbn("export", iris_model, "--out", file)
    options = ("--max-parents", 1, "--class-root", "--start", file, "--json")
    result = milpbn("solve", "--dataset", "iris", *options)
    assert result.exit_code == 0, result.output
    start = json.loads(result.stdout)["result"]["warm_start"]
    assert start["source"] == str(file)
    assert start["improvement"] == pytest.approx(0, abs=1e-9)
