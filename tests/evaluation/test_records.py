"""The file of finished folds: comes back, goes on, refuses what is not its own."""

import json
from dataclasses import replace

import pytest

from milpbn.errors import DataError, OptionError
from milpbn.evaluation.measures import Measures
from milpbn.evaluation.records import FoldRecord, Predictions, ResultFile

IRIS = {"name": "iris", "rows": 150}
SETTINGS = {"seed": 0, "p": 0.9}
RECORD = FoldRecord(
    "nb", "ml", 1, Measures(10, 7, -3.25, 4.5), 40, 12, "feasible", seconds=0.1, data="iris"
)
WITH_PREDICTIONS = FoldRecord(
    "hc:cr",
    "ml",
    2,
    Measures(2, 1, -0.1, 0.2, 1, auc=0.5, classes=["a", "ä\n"], confusion=[[1, 0], [1, 0]]),
    8,
    gap=0.5,
    selected={"p": 0.9},
    predictions=Predictions([0, 5], ["a", "ä\n"], [[0.1, 0.9], [1.0, 0.0]]),
    data="iris",
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "results.jsonl"
    file = ResultFile(path, SETTINGS, IRIS)
    assert file.open() == []
    file.append(RECORD)
    file.append(WITH_PREDICTIONS)
    return path


def test_records_come_back(path):
    assert ResultFile(path, SETTINGS, IRIS).open() == [RECORD, WITH_PREDICTIONS]


def test_other_settings_are_refused_by_name(path):
    before = path.read_bytes()
    with pytest.raises(OptionError, match=r"other settings \(seed: 0 in the file, 1 now\); use"):
        ResultFile(path, {"seed": 1, "p": 0.9}, IRIS).open()
    with pytest.raises(OptionError, match="smoothing: None in the file, 'laplace' now"):
        ResultFile(path, {**SETTINGS, "smoothing": "laplace"}, IRIS).open()
    assert path.read_bytes() == before


def test_a_file_holds_several_data_sets(path):
    other = {"name": "car", "rows": 1728}
    file = ResultFile(path, SETTINGS, other)
    assert file.open() == []
    on_car = replace(RECORD, data="car")
    file.append(on_car)
    assert ResultFile(path, SETTINGS, other).open() == [on_car]
    assert ResultFile(path, SETTINGS, IRIS).open() == [RECORD, WITH_PREDICTIONS]
    assert sum('"rows": 1728' in line for line in path.read_text().splitlines()) == 1


def test_other_data_of_the_same_name_are_refused(path):
    before = path.read_bytes()
    with pytest.raises(OptionError, match=r"other data \(rows: 150 in the file, 149 now\); use"):
        ResultFile(path, SETTINGS, {"name": "iris", "rows": 149}).open()
    assert path.read_bytes() == before


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_line_that_a_killed_run_left_unfinished_is_dropped(path, cut):
    path.write_bytes(path.read_bytes()[:-cut])
    file = ResultFile(path, SETTINGS, IRIS)
    assert file.open() == [RECORD]
    file.append(WITH_PREDICTIONS)
    assert file.open() == [RECORD, WITH_PREDICTIONS]


@pytest.mark.parametrize("kept", [0, 1, 30])
def test_a_file_that_a_killed_run_has_hardly_begun_is_begun_again(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    file = ResultFile(path, SETTINGS, IRIS)
    assert file.open() == []
    file.append(RECORD)
    assert file.open() == [RECORD]


def test_a_file_in_use_is_refused_until_it_is_free(path):
    first, second = (ResultFile(path, SETTINGS, IRIS) for _ in range(2))
    with first.locked():
        assert first.open() == [RECORD, WITH_PREDICTIONS]
        with pytest.raises(OptionError, match=r"is in use by another run; wait for its end, or"):
            second.locked().__enter__()
        # A torn line is cut off in place, so that the file stays locked.
        with path.open("ab") as file:
            file.write(b'{"torn')
        assert first.open() == [RECORD, WITH_PREDICTIONS]
        with pytest.raises(OptionError, match="in use"):
            second.locked().__enter__()
    with second.locked():
        assert second.open() == [RECORD, WITH_PREDICTIONS]


def test_a_device_cannot_keep_folds():
    with pytest.raises(OptionError, match="/dev/null is not a regular file"):
        ResultFile("/dev/null", SETTINGS, IRIS).locked()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "is not a file of evaluation results"),
        (b"[1]\n", "is not a file of evaluation results"),
        (b"\xff\xfe\n", "is not a file of evaluation results"),
        (b"[" * 100_000 + b"\n", "is not a file of evaluation results"),
        (
            b'{"format": "milpbn-evaluation", "version": 2}\n',
            "has version 2 of the file format, but this milpbn writes version 3; choose another",
        ),
    ],
)
def test_another_file_is_not_touched(path, content, message):
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        ResultFile(path, {}, IRIS).open()
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "{}",
        "[]",
        "null",
        json.dumps({"method": "nb"}),
        json.dumps({"data": "iris", "method": "nb", "fold": 1, "measures": 3, "train_rows": 1}),
    ],
)
def test_a_damaged_line_is_named(path, line):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], line, *lines[2:]]) + "\n")
    with pytest.raises(DataError, match=r"results\.jsonl, line 3: not a record of a fold"):
        ResultFile(path, SETTINGS, IRIS).open()


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(OptionError, match="cannot write"):
        ResultFile(tmp_path / "gone" / "x.jsonl", {}, IRIS).open()


def test_a_file_can_be_read_without_its_settings(path):
    assert ResultFile.read(path) == (SETTINGS, [RECORD, WITH_PREDICTIONS])
    path.write_text(path.read_text()[:-5])  # a killed run
    assert ResultFile.read(path) == (SETTINGS, [RECORD])
