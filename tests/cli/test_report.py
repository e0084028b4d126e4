from __future__ import annotations

from pathlib import Path

from milpbn import BNClassifier, load_dataset


def test_report_is_one_file(milpbn, iris_model, tmp_path) -> None:
    out = tmp_path / "report.html"
    result = milpbn("report", iris_model, "--out", out)
    assert result.exit_code == 0, result.output
    assert (result.stdout, result.stderr) == ("", f"wrote {out}\n")
    text = out.read_text("utf-8")
    assert "Measured on 150 training rows of iris." in text
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_report_on_other_rows(milpbn, iris_model, iris_rows, tmp_path) -> None:
    out = tmp_path / "report.html"
    result = milpbn("report", iris_model, "--test", iris_rows, "--row", "7,9", "--out", out)
    assert result.exit_code == 0, result.output
    text = out.read_text("utf-8")
    assert f"Measured on 150 rows of {iris_rows}." in text
    assert "<h3>Row 7</h3>" in text
    assert "<h3>Row 9</h3>" in text


def test_report_without_rows(milpbn, tmp_path) -> None:
    iris, path, out = load_dataset("iris"), tmp_path / "iris.json", tmp_path / "report.html"
    BNClassifier(method="nb").fit(iris.features, iris.target).save(path)
    result = milpbn("report", path, "--out", out)
    assert result.exit_code == 0, result.output
    assert "give rows with --test" in result.stderr
    assert "Measured on" not in out.read_text("utf-8")
    refused = milpbn("report", path, "--row", 1, "--out", out)
    assert refused.exit_code == 2
    assert "there are 0 rows" in refused.stderr


def test_report_says_what_is_wrong(milpbn, iris_model, iris_rows, tmp_path) -> None:
    def error(*arguments: object, code: int) -> str:
        result = milpbn("report", *arguments)
        assert result.exit_code == code, result.output
        return result.stderr

    out = tmp_path / "report.html"
    assert "Missing option '--out'" in error(iris_model, code=2)
    assert "must end in .html or .htm" in error(iris_model, "--out", tmp_path / "r.pdf", code=2)
    assert "no folder" in error(iris_model, "--out", tmp_path / "no" / "r.html", code=2)
    assert "there are 150 rows" in error(iris_model, "--row", 151, "--out", out, code=2)
    assert "missing.json" in error("missing.json", "--out", out, code=1)
    assert "missing.csv" in error(iris_model, "--data", "missing.csv", "--out", out, code=1)
    assert not out.exists()
    assert list(Path(tmp_path).iterdir()) == []


def test_report_when_the_data_have_moved(milpbn, iris_rows, tmp_path) -> None:
    rows, model, out = tmp_path / "rows.csv", tmp_path / "iris.json", tmp_path / "report.html"
    rows.write_bytes(iris_rows.read_bytes())
    options = ("--data", rows, "--target", "class", "--method", "nb", "--out", model)
    assert milpbn("learn", *options).exit_code == 0
    rows.unlink()
    result = milpbn("report", model, "--out", out)
    assert result.exit_code == 1
    assert "give rows with --test" in result.stderr
    assert not out.exists()
    assert milpbn("report", model, "--test", iris_rows, "--out", out).exit_code == 0
