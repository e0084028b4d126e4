"""Files from strangers: what would take too much memory or time is refused with a message."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inputs import in_time

from milpbn.clock import Clock, OutOfTime
from milpbn.datasets import generators, readers, text
from milpbn.datasets.readers import read_raw, read_table
from milpbn.encoding import Encoder
from milpbn.errors import DataError, TimeLimitError
from milpbn.learning.classifier import encode


@pytest.fixture
def small_limits(monkeypatch):
    """Limits that a test reaches quickly."""
    monkeypatch.setattr(readers, "_SMALL", 2**20)
    monkeypatch.setattr(readers, "MOST_BYTES", 2**26)


@pytest.fixture
def bomb(tmp_path):
    """A gzip file a thousand times smaller than what is in it."""
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,class\n" + b"1,2\n" * 2**22, mtime=0))
    return path


def test_a_gzip_bomb_is_not_unpacked(small_limits, bomb):
    with pytest.raises(DataError, match=r"bomb\.csv\.gz: \d+ bytes unpack to more than \d+ MiB"):
        read_raw(bomb)


def test_unpacking_stops_at_the_limit(small_limits, bomb, monkeypatch):
    sizes, real = [], gzip.GzipFile.read

    def read(self, size=-1):
        sizes.append(len(part := real(self, size)))
        return part

    monkeypatch.setattr(gzip.GzipFile, "read", read)
    with pytest.raises(DataError):
        read_raw(bomb)
    assert sum(sizes) <= 2**24  # one piece; the file has as many bytes, and 1000 times that is 2^34


def test_well_compressed_small_files_are_read(tmp_path):
    path = tmp_path / "zeros.csv.gz"
    path.write_bytes(gzip.compress(b"a,class\n" + b"0,0\n" * 10_000, mtime=0))
    assert len(read_raw(path).frame) == 10_000


def test_a_parquet_bomb_is_not_unpacked(small_limits, tmp_path):
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"a": np.zeros(2**21), "class": np.zeros(2**21)}), path)
    assert path.stat().st_size < 2**16
    with pytest.raises(DataError, match=r"bomb\.parquet: \d+ bytes contain 4194304 values"):
        read_raw(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_a_file_without_an_end_is_not_read_for_ever(small_limits):
    with pytest.raises(DataError, match=r"/dev/zero cannot be read: .*larger than the limit"):
        read_raw("/dev/zero")


@pytest.mark.parametrize("suffix", ["csv", "arff", "parquet"])
def test_too_many_columns_are_counted_and_refused(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(text, "MAX_COLUMNS", 50)
    names = [f"c{j}" for j in range(51)]
    path = tmp_path / f"wide.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table({name: [1] for name in names}), path)
    elif suffix == "csv":
        path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    else:
        header = "".join(f"@attribute {name} numeric\n" for name in names)
        path.write_text(header + "@data\n")
    with pytest.raises(DataError, match="there are 51 columns; at most 50 can be read, so choose"):
        read_raw(path)


@pytest.fixture
def late():
    """A checkpoint of a run whose time is over."""

    def checkpoint():
        raise OutOfTime

    return checkpoint


def wide_file(path, n_features):
    table = generators.wide(0, n_train=40, n_features=n_features, n_classes=2)
    table.features.assign(label=table.target).to_csv(path, index=False)
    return path


def test_a_late_run_reads_few_columns_anyway(tmp_path, late):
    table = read_table(wide_file(tmp_path / "few.csv", 499), "label", checkpoint=late)
    encoder = Encoder.fit(table, late)
    assert encoder.encode(table, late).codes.shape == (40, len(encoder.variables))


def test_a_late_run_does_not_read_many_columns(tmp_path, late):
    path = wide_file(tmp_path / "many.csv", 501)
    with pytest.raises(OutOfTime):
        read_table(path, "label", checkpoint=late)
    table = generators.wide(0, n_train=40, n_features=501, n_classes=2)
    for work in (Encoder.fit, Encoder.fit(table).encode):
        with pytest.raises(OutOfTime):
            work(table, checkpoint=late)
    with pytest.raises(TimeLimitError, match="before all columns were read and encoded"):
        encode(table, Clock(limit=0.0))


@pytest.mark.parametrize("value", ["9" * 300_000 + "x", "-" + "1" * 300_000 + "e"])
def test_long_fields_are_read_in_linear_time(tmp_path, value):
    path = tmp_path / "long.csv"
    path.write_text("a,class\n" + f"{value},u\n1.5,v\n2.5,u\n{value},v\n" * 5)
    with in_time():  # time in proportion to the square would be half an hour
        table = read_table(path, "class")
    assert value in set(table.features["a"])
