"""``milpbn predict``: any file that has the columns, and truthful notes on the rest."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from milpbn.datasets import load_frame

Run = Callable[..., Result]


def _predicted(result: Result) -> pd.DataFrame:
    assert result.exit_code == 0, result.stderr
    return pd.read_csv(io.StringIO(result.stdout))


def test_labels_and_probabilities_for_every_row(
    milpbn: Run, iris_model: Path, iris_rows: Path
) -> None:
    result = milpbn("predict", iris_model, iris_rows)
    predicted = _predicted(result)
    classes = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
    assert list(predicted) == ["prediction", *(f"P({c})" for c in classes)]
    probability = predicted.iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert (predicted["prediction"] == np.array(classes)[probability.argmax(axis=1)]).all()
    hits = (predicted["prediction"] == pd.read_csv(iris_rows)["class"]).mean()
    assert result.stderr == f"accuracy {100 * hits:.2f} % on 150 labelled rows\n"


def test_accuracy_on_the_training_rows_is_called_that(
    milpbn: Run, iris_rows: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.json"
    learn = ("learn", "--data", iris_rows, "--target", "class", "--method", "nb", "--out", model)
    assert milpbn(*learn, "--quiet").exit_code == 0
    told = "has the rows that the model was learned from"
    assert told in milpbn("predict", model, iris_rows).stderr
    some = tmp_path / "some.csv"
    some.write_text("".join(iris_rows.read_text().splitlines(keepends=True)[:100]))
    assert told not in milpbn("predict", model, some).stderr


def test_columns_come_in_any_order_with_others_between(
    milpbn: Run, iris_model: Path, iris_rows: Path, tmp_path: Path
) -> None:
    rows = pd.read_csv(iris_rows)
    shuffled = rows[rows.columns[::-1]].drop(columns="class")
    shuffled.insert(2, "remark", "a, b")
    shuffled.to_csv(tmp_path / "shuffled.csv", index=False)
    shuffled.to_parquet(tmp_path / "shuffled.parquet")
    expected = milpbn("predict", iris_model, iris_rows)
    for name in ("shuffled.csv", "shuffled.parquet"):
        result = milpbn("predict", iris_model, tmp_path / name)
        assert result.stdout == expected.stdout
        assert result.stderr == ""  # no labels, no accuracy


def test_missing_and_unseen_values_are_summed_out_and_told(
    milpbn: Run, iris_model: Path, iris_rows: Path, tmp_path: Path
) -> None:
    rows = pd.read_csv(iris_rows, dtype=str).iloc[[0, 0, 2, 3]].reset_index(drop=True)
    rows.loc[0, "petalwidth"] = "?"
    rows.loc[1, "petalwidth"] = "wide"
    rows.loc[2, "class"] = "Iris-nova"
    rows.loc[3, "class"] = ""
    file = tmp_path / "rows.csv"
    rows.to_csv(file, index=False)
    result = milpbn("predict", iris_model, file)
    predicted = _predicted(result)
    assert (predicted.iloc[0] == predicted.iloc[1]).all()  # unseen is treated as missing
    assert result.stderr.splitlines() == [
        f"note: {file}: column 'petalwidth' has 1 value never seen in training ('wide'), "
        "treated as missing",
        f"note: {file}: 1 missing value in 'petalwidth'",
        f"note: {file}: column 'class' has 1 label never seen in training ('Iris-nova'), "
        "counted as errors",
        "accuracy 66.67 % on 3 labelled rows",
    ]


def test_rows_without_any_value_get_the_prior(
    milpbn: Run, iris_model: Path, iris_rows: Path, tmp_path: Path
) -> None:
    rows = pd.read_csv(iris_rows).head(1).drop(columns="class").astype(object)
    rows.loc[0] = None
    rows.to_csv(tmp_path / "empty.csv", index=False)
    predicted = _predicted(milpbn("predict", iris_model, tmp_path / "empty.csv"))
    np.testing.assert_allclose(predicted.iloc[:, 1:], 1 / 3)


def test_a_messy_file_is_read_as_in_training(milpbn: Run, messy_csv: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    learned = milpbn("solve", "--data", messy_csv, "--target", "Klasse №", "--out", model)
    assert learned.exit_code == 0, learned.stderr
    result = milpbn("predict", model, messy_csv)
    assert len(_predicted(result)) == 60
    assert "column 'Größe (cm)' is read with decimal commas" in result.stderr
    assert "6 missing values in 'Farbe'" in result.stderr
    assert "on 60 labelled rows" in result.stderr


def test_out_takes_the_place_of_stdout(
    milpbn: Run, iris_model: Path, iris_rows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "predictions.csv"
    result = milpbn("predict", iris_model, iris_rows, "--out", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"wrote {out}\n" in result.stderr
    assert out.read_text() == milpbn("predict", iris_model, iris_rows).stdout
    assert list(tmp_path.iterdir()) == [out]


def test_neither_the_rows_nor_the_model_are_overwritten(
    milpbn: Run, iris_model: Path, iris_rows: Path
) -> None:
    for file in (iris_model, iris_rows):
        before = file.read_bytes()
        result = milpbn("predict", iris_model, iris_rows, "--out", file)
        assert result.exit_code == 2
        assert "choose another name" in result.stderr
        assert file.read_bytes() == before


def test_an_absent_column_is_missing_in_every_row(
    milpbn: Run, iris_model: Path, iris_rows: Path, tmp_path: Path
) -> None:
    rows, blank = tmp_path / "rows.csv", tmp_path / "blank.csv"
    frame = pd.read_csv(iris_rows)
    frame.rename(columns={"petalwidth": "petal_width"}).to_csv(rows, index=False)
    frame.assign(petalwidth="?").to_csv(blank, index=False)
    result, expected = (milpbn("predict", iris_model, file) for file in (rows, blank))
    pd.testing.assert_frame_equal(_predicted(result), _predicted(expected))
    assert "rows.csv: there is no column 'petalwidth'" in result.stderr
    assert "'petal_width'" in result.stderr
    assert "; missing in every row" in result.stderr
    out = tmp_path / "predictions.csv"
    refused = milpbn("predict", iris_model, rows, "--strict", "--out", out)
    assert refused.exit_code == 1
    assert "there is no column 'petalwidth'" in refused.stderr
    assert not out.exists()


def test_a_file_without_any_column_of_the_model_is_refused(
    milpbn: Run, iris_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    result = milpbn("predict", iris_model, tmp_path / "other.csv")
    assert result.exit_code == 1
    assert "the model needs them" in result.stderr


def test_columns_are_copied_to_the_output(
    milpbn: Run, iris_model: Path, iris_rows: Path, tmp_path: Path
) -> None:
    rows = pd.read_csv(iris_rows)
    rows["name, given"] = [f"flower {i}" for i in range(len(rows))]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    result = milpbn(
        "predict", iris_model, tmp_path / "rows.csv", "--keep", '"name, given",petalwidth'
    )
    predicted = _predicted(result)
    assert list(predicted)[:3] == ["name, given", "petalwidth", "prediction"]
    assert predicted["name, given"].tolist() == rows["name, given"].tolist()
    assert predicted["petalwidth"].tolist() == rows["petalwidth"].tolist()
    unknown = milpbn("predict", iris_model, tmp_path / "rows.csv", "--keep", "nam")
    assert unknown.exit_code == 1
    assert "--keep: there is no column 'nam'" in unknown.stderr


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_a_file_that_cannot_be_read_is_named(
    milpbn: Run, iris_model: Path, tmp_path: Path, name: str
) -> None:
    result = milpbn("predict", iris_model, tmp_path / name)
    assert result.exit_code == 1
    assert str(tmp_path / name) in result.stderr


def test_both_files_are_needed(milpbn: Run, iris_model: Path) -> None:
    result = milpbn("predict", iris_model)
    assert result.exit_code == 2
    assert "Missing argument 'FILE'" in result.stderr


def test_costs_choose_the_prediction(milpbn, tmp_path):
    out, rows = tmp_path / "model.json", tmp_path / "heart.csv"
    load_frame("heart").to_csv(rows, index=False)
    assert milpbn("learn", "--dataset", "heart", "--method", "nb", "--out", out).exit_code == 0
    plain = milpbn("predict", out, rows)
    result = milpbn("predict", out, rows, "--costs", "2:1=5,1:2=1")
    assert result.exit_code == 0
    assert "'2' is predicted if its probability is at least 0.1667" in result.stderr
    found = pd.read_csv(io.StringIO(result.stdout))
    assert ((found["P(2)"] > 1 / 6) == (found["prediction"] == 2)).all()
    least = np.minimum(5 * found["P(2)"], found["P(1)"])
    assert found["expected cost"].to_numpy() == pytest.approx(least.to_numpy())
    truth = load_frame("heart")["class"].astype(int)
    before = pd.read_csv(io.StringIO(plain.stdout))["prediction"]
    means = [np.where(truth == p, 0, np.where(truth == 2, 5, 1)).mean()
             for p in (found["prediction"], before)]  # fmt: skip
    assert means[0] < means[1]
    assert "mean cost {:.4g}; of the most probable classes {:.4g}".format(*means) in result.stderr
    wrong = milpbn("predict", out, rows, "--costs", "2:1=5")
    assert wrong.exit_code == 1
    assert "predicting '2' if '1' is true is missing" in wrong.stderr
