"""Categories whose order is declared, or known from their type."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier, Encoder, Model, load_model, read_table
from milpbn.cli.data import load_table
from milpbn.cli.models import model_table
from milpbn.datasets import table_from_frame
from milpbn.errors import DataError, OptionError
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.settings import make_settings

SIZES = ["S", "M", "L", "XL"]


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Rows in which larger sizes are more often bad."""
    rng = np.random.default_rng(1)
    code = rng.integers(0, 4, 90)
    bad = np.where(rng.random(90) < (1 + code) / 6, "bad", "good")
    size = [SIZES[k] if k < 90 - 3 else None for k in code]
    return pd.DataFrame({"size": size, "grade": code % 3 + 1, "class": bad})


@pytest.fixture(scope="module")
def file(rows: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ordered") / "rows.csv"
    rows.to_csv(path, index=False)
    return path


def test_declared_categories_keep_their_order_and_are_ordered(file: Path) -> None:
    encoder = Encoder.fit(read_table(file, "class", ordered={"size": [*SIZES, "XXL"]}))
    size, grade = encoder.variables[1:]
    assert (size.states, size.ordered) == ((*SIZES, "XXL"), 5)
    assert (grade.states, grade.ordered) == (("1", "2", "3"), 3)
    assert Encoder.from_dict(encoder.to_dict()) == encoder
    assert Encoder.fit(read_table(file, "class")).variables[1].ordered == 0


def test_numbers_can_be_put_in_another_order(file: Path) -> None:
    encoder = Encoder.fit(read_table(file, "class", ordered={"grade": [3, 2, 1]}))
    assert encoder.variables[2].states == ("3", "2", "1")
    assert encoder.transform(pd.DataFrame({"size": ["S"], "grade": [1.0]})).codes[0, 1] == 2


def test_ordered_categoricals_of_pandas_need_no_declaration(rows: pd.DataFrame) -> None:
    kind = pd.CategoricalDtype(SIZES, ordered=True)
    frame = rows.astype({"size": kind}).drop(columns="class")
    table = table_from_frame(frame, rows["class"])
    model = BNClassifier(method="nb", parameters="cl:penalty=3").fit(frame, rows["class"])
    for variable in (Encoder.fit(table).variables[1], model.encoder_.variables[1]):
        assert (variable.states, variable.ordered) == (tuple(SIZES), 4)
    declared = BNClassifier(method="nb", parameters="cl:penalty=3", ordered={"size": SIZES})
    plain = rows.drop(columns="class")
    found = declared.fit(plain, rows["class"]).predict_proba(plain)
    np.testing.assert_allclose(found, model.predict_proba(plain))
    unordered = BNClassifier(method="nb", parameters="cl:penalty=3").fit(plain, rows["class"])
    assert not np.allclose(found, unordered.predict_proba(plain))  # the smooth prior applies


def test_the_order_survives_the_model_file(rows: pd.DataFrame, tmp_path: Path) -> None:
    frame = rows.drop(columns="class")
    model = BNClassifier(method="nb", ordered={"size": SIZES}).fit(frame, rows["class"])
    model.save(tmp_path / "model.json")
    again = BNClassifier.load(tmp_path / "model.json")
    assert again.encoder_.variables[1].ordered == 4
    assert again.ordered == {"size": SIZES}


def test_a_model_of_a_file_knows_how_to_read_it_again(file: Path, tmp_path: Path) -> None:
    table = read_table(file, "class", ordered={"size": SIZES})
    learn_classifier(table, make_settings(method="nb")).save(tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    assert isinstance(model, Model)
    again = model_table(model, "model.json", None)
    assert (again.ordered, again.states) == (table.ordered, table.states)


@pytest.mark.parametrize(
    ("ordered", "message"),
    [
        ({"size": ["S", "M", "L"]}, r"column 'size' holds 'XL', but only 'S', 'M', 'L' are decl"),
        ({"sise": SIZES}, r"ordered: there is no column 'sise' \(close matches: 'size'\)"),
        ({"class": ["good", "bad"]}, r"ordered=\['class'\]: 'class' is a target"),
    ],
)
def test_what_does_not_fit_the_data_is_named(
    file: Path, ordered: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_table(file, "class", ordered=ordered)


@pytest.mark.parametrize("states", [["S"], ["S", "S"], "SML", []])
def test_an_order_has_two_different_categories(file: Path, states: list[str]) -> None:
    with pytest.raises(OptionError, match="'size' needs at least two different categories"):
        read_table(file, "class", ordered={"size": states})


def test_a_column_is_not_both_ordered_and_numeric(file: Path, rows: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="'grade' cannot be both ordered and numeric"):
        read_table(file, "class", ordered={"grade": [1, 2, 3]}, numeric=["grade"])
    both = BNClassifier(ordered={"grade": [1, 2, 3]}, numeric_features=["grade"])
    with pytest.raises(OptionError, match="column 'grade' is both in ordered and in numeric_fea"):
        both.fit(rows.drop(columns="class"), rows["class"])


def test_the_option_of_the_command_line(file: Path) -> None:
    table = load_table({"file": str(file), "target": "class", "ordered": {"size": tuple(SIZES)}})
    assert (table.ordered, table.states) == (("size",), {"size": tuple(SIZES)})


def test_a_direction_of_ordered_categories_needs_no_numbers(rows: pd.DataFrame) -> None:
    features, up = rows[["size"]], {"size": "increasing"}
    typed = features.assign(size=pd.Categorical(rows["size"], SIZES, ordered=True))
    for frame, ordered in [(features, {"size": SIZES}), (typed, {})]:
        table = table_from_frame(frame, rows["class"], monotone=up, ordered=ordered)
        assert Encoder.fit(table).variables[1].states[:4] == tuple(SIZES)
        model = BNClassifier(method="nb", monotone=up, ordered=ordered).fit(frame, rows["class"])
        assert model.encoder_.variables[1].states[:4] == tuple(SIZES)
    with pytest.raises(DataError, match=r"holds no numbers.*; give the order .* with ordered"):
        table_from_frame(features, rows["class"], monotone=up)
