"""Files from strangers: what would take too much memory or time is refused with a message."""

import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from milpbn.datasets import readers, text
from milpbn.datasets.readers import read_raw
from milpbn.errors import DataError


@pytest.fixture
def small_limits(monkeypatch):
    """Limits that a test reaches quickly."""
    monkeypatch.setattr(readers, "_SMALL", 2**20)
    monkeypatch.setattr(readers, "_MOST_BYTES", 2**26)


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
