"""Arrow reads a regular file exactly as the reader for rows does, and refuses all others."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from milpbn.datasets import arrow_csv, text
from milpbn.datasets.arrow_csv import regular_columns
from milpbn.datasets.strings import with_objects
from milpbn.errors import DataError

FIELDS = [
    *("", "a", "b c", "1", "1.5", "-2e3", "007", " 1", "2 ", "?", " NA ", "nan", "NAN", "inf"),
    *("größe", "体重", "\u00a0x\u00a0", '"q"', '"q, r"', '"two\nlines"', '"say ""hi"""', '""'),
    *('" padded "', "None", "1e999", "+3", "1_000", "٣", "3,5"),
]
ODD = ['5" pipe', ' "late"', '"early" ', '"open', 'x"y"', '""x', '"""']


def table_of(data):
    """What is read, as lists; or the message of the error."""
    try:
        frame, notes = text.parse_csv(data, "toy.csv")
    except DataError as error:
        return str(error)
    return with_objects(frame).to_dict("list"), notes


def random_file(rng, fields):
    separator = str(rng.choice(list(",;\t|")))
    end = str(rng.choice(["\n", "\r\n", "\r"]))
    width = int(rng.integers(1, 5))
    lines = [separator.join(f"c{j}" for j in range(width))]
    for _ in range(int(rng.integers(0, 8))):
        row = rng.choice(fields, width).tolist()
        lines.append(separator.join(row) if rng.random() < 0.98 else "")
    return (end.join(lines) + (end if rng.random() < 0.5 else "")).encode()


@pytest.mark.parametrize("fields", [FIELDS, FIELDS + ODD], ids=["regular", "odd"])
def test_both_readers_agree(fields, monkeypatch):
    rng = np.random.default_rng(len(fields))
    files = [random_file(rng, fields) for _ in range(250)]
    quick = [table_of(data) for data in files]
    separators = [text.detect_separator(data.decode()) for data in files]
    by_arrow = [regular_columns(d, s, 2) for d, s in zip(files, separators, strict=True)]
    monkeypatch.setattr(text, "regular_columns", lambda *_: None)
    for data, read in zip(files, quick, strict=True):
        assert read == table_of(data), data
    assert sum(columns is not None for columns in by_arrow) > 10  # of those with two columns


@pytest.mark.parametrize(
    "row",
    [b"1,2,3", b"1", b'"1', b'5" pipe,2', b'1, "2"', b'"1"x,2', b'1,"2" ', b'"""1,2'],
)
def test_what_is_not_regular_is_left_to_the_other_reader(row):
    assert regular_columns(b"a,b\n1,2\n" + row + b"\n3,4\n", ",", 2) is None


def test_one_column_is_left_to_the_other_reader():
    assert regular_columns(b"a\n1\n\n2\n", ",", 1) is None


def test_marks_are_followed_across_blocks(monkeypatch):
    rows = [["a", "b"], *([f"x {j}, or", f'"{j}"\n'] for j in range(40))]
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    data = file.getvalue().encode()
    for block in (1, 2, 3, 7, 64):
        monkeypatch.setattr(arrow_csv, "_BLOCK", block)
        assert arrow_csv._quotes_are_regular(data, ",")
        assert not arrow_csv._quotes_are_regular(data[:-3] + data[-2:], ",")


@pytest.mark.parametrize("length", [10, 1000])
def test_rows_longer_than_a_block(length, monkeypatch):
    monkeypatch.setattr(arrow_csv, "_BLOCK", 64)
    data = b"a,b\n" + b"".join(b"%d,%s\n" % (j, b"x" * length) for j in range(20))
    frame, _ = text.parse_csv(data, "toy.csv")
    assert frame["a"].tolist() == [str(j) for j in range(20)]
    assert set(frame["b"]) == {"x" * length}


def test_a_bad_line_far_down_is_named(monkeypatch):
    monkeypatch.setattr(arrow_csv, "_BLOCK", 1 << 12)
    data = b"a,b\n" + b"1,2\n" * 9000 + b"1,2,3\n" + b"1,2\n" * 10
    with pytest.raises(DataError, match="line 9002 has 3 fields, but there are 2 column names"):
        text.parse_csv(data, "toy.csv")
