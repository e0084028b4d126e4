"""Files of every format and in every bad shape."""

from __future__ import annotations

import gzip
import hashlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from milpbn.datasets import load_dataset, load_frame, read_features, read_table
from milpbn.datasets.text import MISSING_TOKENS, detect_separator
from milpbn.errors import DataError

TOY = """color,size,class
red,1.5,a
blue,2.5,b
red,3.5,a
blue,4.5,b
red,5.5,a
red,6.5,b
red,7.5,b
"""
ARFF = """% a comment
@RELATION toy

@attribute 'the color' {red, 'dark blue', green}
@attribute size NUMERIC
@ATTRIBUTE class{a,b}

@data
red,1.5,a
'dark blue',2.5,b
?,3.5,a
red,?,b
% another comment
red,5.5,a
red,6.5,b
red, 7.5, b
red,8,a
"""


def test_csv_becomes_a_table(write):
    path = write(TOY)
    table = read_table(path, "class")
    assert table.name == "toy.csv"
    assert table.numeric == ("size",)
    assert table.features["size"].tolist() == [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    assert table.features["color"].tolist() == ["red", "blue", "red", "blue", "red", "red", "red"]
    assert table.target.tolist() == ["a", "b", "a", "b", "a", "b", "b"]
    assert table.target.name == "class"
    assert table.notes == ()
    assert not table.has_test
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    columns = {
        **{"target": "class", "categorical": [], "numeric": [], "drop": []},
        **{"dates": "expand", "max_states": 50, "target_bins": None},
    }
    assert table.source == {"file": str(path), "sha256": digest, "columns": columns}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separator_is_detected(write, separator):
    table = read_table(write(TOY.replace(",", separator)), "class")
    assert list(table.features.columns) == ["color", "size"]
    assert table.numeric == ("size",)


def test_separator_splits_all_lines_alike_into_the_most_fields():
    assert detect_separator("a,b|c;d\n1,2|3;4\n") == ","  # a tie goes to the comma
    assert detect_separator('a;b;c\n"1;5";2;3\n') == ";"
    assert detect_separator("a,b\tc\td\n1\t2\t3\n") == "\t"
    assert detect_separator("alone\n1\n2\n") == ","


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_of_other_systems(write, newline):
    assert len(read_table(write(TOY.replace("\n", newline)), "class").target) == 7


def test_blank_lines_and_blanks_around_values_do_not_matter(write):
    text = "\n" + TOY.replace(",", " , ").replace("\n", "\n\n") + "\n"
    table = read_table(write(text), "class")
    assert table.features["color"].tolist()[:2] == ["red", "blue"]
    assert table.numeric == ("size",)


def test_quoted_fields_may_hold_separators_and_line_ends(write):
    text = TOY.replace("red", '"red, or\npink"')
    assert "red, or\npink" in set(read_table(write(text), "class").features["color"])


def test_blank_column_name_is_replaced_by_its_place(write):
    text = "\n".join(
        f"{i if i >= 0 else ''},{line}" for i, line in enumerate(TOY.split("\n")[:-1], -1)
    )
    assert "column 1" in read_table(write(text), "class").features.columns


def test_gzipped_csv(write):
    table = read_table(write(gzip.compress(TOY.encode(), mtime=0), "toy.csv.gz"), "class")
    assert len(table.target) == 7


@pytest.mark.parametrize("token", sorted(MISSING_TOKENS))
def test_missing_tokens(write, token):
    table = read_table(write(TOY.replace("blue,2.5", f"{token},{token}")), "class")
    assert table.features["color"][1] is None
    assert np.isnan(table.features["size"][1])
    assert table.numeric == ("size",)


def test_none_is_a_value(write):
    table = read_table(write(TOY.replace("blue", "None")), "class")
    assert set(table.features["color"]) == {"None", "red"}


def test_decimal_commas_are_understood_where_the_separator_is_another(write):
    text = TOY.replace(",", ";").replace(".", ",").replace("6,5", "7").replace("7,5", "8,25")
    table = read_table(write(text), "class")
    assert table.features["size"].tolist() == [1.5, 2.5, 3.5, 4.5, 5.5, 7.0, 8.25]
    assert table.notes == ("toy.csv: column 'size' is read with decimal commas.",)


def test_commas_next_to_points_are_not_decimal_commas(write):
    text = TOY.replace(",", ";").replace("1.5", "1,5")
    table = read_table(write(text), "class")
    assert table.numeric == ()
    assert "1,5" in set(table.features["size"])


def test_byte_order_mark_is_not_part_of_a_name(write):
    table = read_table(write(b"\xef\xbb\xbf" + TOY.encode()), "class")
    assert list(table.features.columns) == ["color", "size"]


def test_other_encoding_is_read_as_latin_1_with_a_note(write):
    table = read_table(write(TOY.replace("red", "grün").encode("latin-1")), "class")
    assert "grün" in set(table.features["color"])
    assert "toy.csv: the text is not UTF-8 and is read as Latin-1" in table.notes[0]


def test_parquet(tmp_path):
    frame = pd.DataFrame(
        {
            "n": range(5, 30, 3),
            "maybe": pd.array([1, None, 3, 4, 5, 6, 7, 8, 9], dtype="Int64"),
            "flag": [True, False, True] * 3,
            "city": pd.Categorical(["x", "y", "x"] * 3, categories=["y", "x", "unused"]),
            "word": ["p", None, "q"] * 3,
            "kind": [0.0, 1.0, 1.0] * 3,
        }
    )
    path = tmp_path / "toy.parquet"
    frame.set_index("n").to_parquet(path)
    table = read_table(path, "kind")
    assert list(table.features.columns) == ["maybe", "flag", "city", "word"]  # no index
    assert table.numeric == ("maybe",)
    assert np.isnan(table.features["maybe"][1])
    assert table.features["flag"].tolist()[:2] == ["True", "False"]
    assert table.features["word"].tolist()[:3] == ["p", None, "q"]
    assert set(table.target) == {"0", "1"}
    assert table.states == {}


def test_parquet_is_known_by_its_content(tmp_path):
    path = tmp_path / "toy.data"
    pd.DataFrame({"x": list("aabb"), "y": list("uvuv")}).to_parquet(path)
    assert read_table(path, "y").features["x"].tolist() == list("aabb")


def test_parquet_with_dates(tmp_path):
    path = tmp_path / "toy.parquet"
    frame = pd.DataFrame({"x": list("aabb"), "y": list("uvuv")})
    frame.assign(day=pd.date_range("2020-01-30", periods=4)).to_parquet(path)
    parts = ["day.year", "day.month", "day.weekday"]
    table = read_table(path, "y")
    assert list(table.features.columns) == ["x", *parts]
    assert table.features["day.month"].tolist() == [1, 1, 2, 2]
    assert list(read_table(path, "y", drop=["day"]).features.columns) == ["x"]
    with pytest.raises(DataError, match="target 'day' must contain strings or finite numbers"):
        read_table(path, "day")


def test_parquet_with_lists_names_the_column_and_the_way_out(tmp_path):
    path = tmp_path / "toy.parquet"
    frame = pd.DataFrame({"x": list("aabb"), "y": list("uvuv")})
    frame.assign(tags=[["p"], ["q"], [], ["p"]]).to_parquet(path)
    with pytest.raises(DataError, match=r"toy\.parquet: column 'tags' .* drop=\['tags'\]"):
        read_table(path, "y")


def test_arff(write):
    table = read_table(write(ARFF, "toy.arff"), "class")
    assert table.features["the color"].tolist()[:3] == ["red", "dark blue", None]
    assert table.numeric == ("size",)
    assert np.isnan(table.features["size"][3])
    assert table.features["size"][7] == 8
    assert table.target.tolist() == ["a", "b", "a", "b", "a", "b", "b", "a"]


def test_arff_declares_the_states_of_features(write):
    table = read_table(write(ARFF, "toy.arff"), "class")
    assert table.states == {"the color": ("red", "dark blue", "green")}


@pytest.mark.parametrize("kind", ["date", "DATE yyyy-MM-dd", "date 'yyyy-MM-dd'", "string"])
def test_arff_dates_and_strings(write, kind):
    text = f"@relation r\n@attribute day {kind}\n@attribute c {{u,v}}\n@data\n" + "".join(
        f"'2021-{m:02d}-05',{'uv'[m % 2]}\n" for m in range(1, 13)
    )
    table = read_table(write(text, "toy.arff"), "c")
    assert table.features["day.month"].tolist() == list(range(1, 13))


def test_arff_agrees_with_scipy(write):
    from scipy.io import arff

    text = "@relation r\n@attribute x real\n@attribute c {u,v}\n@data\n" + "".join(
        f"{i / 7!r},{'uv'[i % 2]}\n" for i in range(30)
    )
    path = write(text, "toy.arff")
    data, _ = arff.loadarff(path)
    table = read_table(path, "c")
    assert table.features["x"].tolist() == data["x"].tolist()
    assert table.target.tolist() == [label.decode() for label in data["c"]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("size NUMERIC", "size LIST", r"line 5: attribute 'size' has the type 'LIST'"),
        ("size NUMERIC", "size relational", "remove it or list its values in braces"),
        ("{a,b}", "{a,b", "line 6: the values of attribute 'class' must be on one line"),
        ("{a,b}", "{a,,b}", "separated by commas"),
        ("@attribute size", "@attribute", "line 5: cannot read the attribute|has the type ''"),
        ("@RELATION", "@RELATED", "cannot read line 2 of the ARFF header"),
        ("@data", "", "cannot read line 9 of the ARFF header"),
        ("red,5.5,a", "red,5.5", "line 14 has 2 fields, but there are 3 attributes"),
        ("red,5.5,a", "red,five,a", "line 14: 'five' is not a number, but 'size' is numeric"),
        ("red,5.5,a", "rot,5.5,a", "line 14: 'rot' is not a declared value of 'the color'"),
        ("red,5.5,a", "'red,5.5,a", "cannot read line 14; look for an unclosed quot"),
        ("red,5.5,a", "{0 red, 2 a}", "line 14: sparse ARFF rows are not supported"),
        ("size NUMERIC", "class NUMERIC", "several columns are named 'class'"),
    ],
)
def test_bad_arff(write, old, new, message):
    with pytest.raises(DataError, match=rf"toy\.arff: .*({message})"):
        read_table(write(ARFF.replace(old, new), "toy.arff"), "class")


@pytest.mark.parametrize("text", ["", "@relation x\n@data\n", ARFF.split("@data")[0] + "@data\n"])
def test_arff_without_content(write, text):
    with pytest.raises(DataError, match=r"toy\.arff: the ARFF file has no (@data|rows|@attr)"):
        read_table(write(text, "toy.arff"), "class")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "toy.csv: the file is empty"),
        (b"\n \n"[:1], "the file is empty"),
        (b"color,class\n", "column names, but no rows"),
        (TOY.replace("3.5,a", "3.5").encode(), "line 4 has 2 fields, but there are 3 column"),
        (TOY.replace("3.5,a", "3.5,a,b").encode(), "line 4 has 4 fields"),
        (TOY.replace("red,3.5", '"red,3.5').encode(), r"line 8 cannot be read: .*quotation mark"),
        (TOY.replace("size", "color").encode(), "several columns are named 'color'"),
        (TOY.encode() + b"\x00", r"not a text file: line 9 has the control character '\\x00'"),
        (TOY.replace("blue", "bl\x1b[31mue\x00").encode(), r"line 3 has the .* '\\x1b'; remove"),
        (bytes(range(256)), "not a text file"),
        (TOY.encode("utf-16"), "UTF-16; save it as UTF-8"),
        (gzip.compress(TOY.encode(), mtime=0)[:-9], "gzip file is damaged or cut off"),
        (b"\x1f\x8b" + b"junk" * 9, "gzip file is damaged or cut off"),
        (b"PAR1" + b"junk" * 9, "not a readable Parquet file"),
        (
            b"PK\x03\x04\x14\x00",
            "this is an Excel workbook or another zip file; save the table as CSV",
        ),
    ],
)
def test_bad_csv(write, content, message):
    with pytest.raises(DataError, match=message):
        read_table(write(content), "class")


def test_parquet_that_is_cut_off(tmp_path, write):
    pd.DataFrame({"x": list("aabb"), "y": list("uvuv")}).to_parquet(tmp_path / "whole.parquet")
    data = (tmp_path / "whole.parquet").read_bytes()
    for damaged in (data[: len(data) // 2], data[:-4], b"", b"x,y\n"):
        with pytest.raises(DataError, match=r"cut\.parquet: not a readable Parquet file"):
            read_table(write(damaged, "cut.parquet"), "y")


def test_parquet_with_a_name_twice(tmp_path):
    column = pa.array(["u", "v"])
    pq.write_table(pa.Table.from_arrays([column, column], ["x", "x"]), tmp_path / "toy.parquet")
    with pytest.raises(DataError, match=r"toy\.parquet: several columns are named 'x'"):
        read_table(tmp_path / "toy.parquet", "x")


def test_parquet_without_rows(tmp_path):
    pd.DataFrame({"x": [], "y": []}).to_parquet(tmp_path / "toy.parquet")
    with pytest.raises(DataError, match="no rows or no columns"):
        read_table(tmp_path / "toy.parquet", "y")


def test_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*nowhere\.csv"):
        read_table(tmp_path / "nowhere.csv", "class")


def test_folder_instead_of_a_file(tmp_path):
    with pytest.raises(DataError, match="is a folder; a file is needed"):
        read_table(tmp_path, "class")


def test_file_that_cannot_be_opened(write, monkeypatch):
    def refuse(path, most):
        raise OSError("no")

    monkeypatch.setattr("milpbn.datasets.readers.read_limited", refuse)
    with pytest.raises(DataError, match=r"toy\.csv cannot be read: no"):
        read_table(write(TOY), "class")


def test_name_with_a_nul():
    with pytest.raises(DataError, match="cannot be read"):
        read_table("a\0b.csv", "class")


@pytest.mark.parametrize("suffix", ["csv", "arff", "parquet", "csv.gz"])
@pytest.mark.parametrize("seed", range(15))
def test_junk_raises_nothing_but_data_errors(write, suffix, seed):
    rng = np.random.default_rng(seed)
    valid = {"arff": ARFF.encode(), "csv.gz": gzip.compress(TOY.encode(), mtime=0)}.get(
        suffix, TOY.encode()
    )
    alphabet = [*b"ab,;|\t\"'\n\r{}@?.0159eE+- %\\", 0, 255]
    refused = []
    for _ in range(20):
        junk = bytes(rng.choice(alphabet, size=rng.integers(0, 80)).tolist())
        at = int(rng.integers(len(valid)))
        for content in (junk, valid[:at] + junk + valid[at:], rng.bytes(60)):
            # Some junk is a fine table; what is not must say so in the one agreed way.
            try:
                table = read_table(write(content, f"junk.{suffix}"), "class")
            except DataError as error:
                refused.append(str(error))
            else:
                assert len(table.features) == len(table.target) > 0
    assert len(refused) > 30
    assert all(f"junk.{suffix}" in message for message in refused)


def test_features_come_raw_in_the_expected_order(write):
    text = "extra,size,color\n1,01.50,red\n2,?,NA\n3,big,None\n"
    frame = read_features(write(text), ["color", "size"])
    assert frame.columns.tolist() == ["color", "size"]
    assert frame["color"].tolist() == ["red", None, "None"]
    assert frame["size"].tolist() == ["01.50", None, "big"]
    assert frame.attrs["notes"] == ()


def test_features_bring_the_target_along_where_it_is(write):
    assert read_features(write(TOY), ["size"], "class").columns.tolist() == ["size", "class"]
    assert read_features(write(TOY), ["size"], "label").columns.tolist() == ["size"]


def test_missing_expected_columns_are_named_with_near_matches(write):
    with pytest.raises(
        DataError,
        match=r"toy\.csv: there is no column 'colour', 'Size ' \(close matches: 'color'",
    ):
        read_features(write(TOY), ["colour", "class", "Size "])


def test_features_tell_of_the_encoding(write):
    frame = read_features(write(TOY.replace("red", "grün").encode("latin-1")), ["color"])
    assert "Latin-1" in frame.attrs["notes"][0]


def test_blank_line_in_a_file_of_one_column_is_a_missing_value(write):
    frame = read_features(write("color\nred\n\nblue\n\n\n"), ["color"])
    assert frame["color"].tolist() == ["red", None, "blue"]


@pytest.mark.parametrize("name", ["iris", "adult", "vote", "spambase"])
def test_bundled_sets_written_as_csv_are_read_back_alike(tmp_path, name):
    load_frame(name).to_csv(tmp_path / "set.csv", index=False)
    bundled = load_dataset(name, missing="auto")
    table = read_table(tmp_path / "set.csv", "class")
    assert table.numeric == bundled.numeric
    pd.testing.assert_frame_equal(table.features, bundled.features)
    assert table.target.equals(bundled.target)
