"""Reading a user's own files: CSV, ARFF and Parquet, plain or gzipped."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from milpbn.datasets.arff import parse_arff
from milpbn.datasets.assemble import RawFrame, build_table, unknown_columns
from milpbn.datasets.table import Table
from milpbn.datasets.text import column_names, decode, parse_csv
from milpbn.errors import DataError

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"


def read_table(
    path: str | Path,
    target: str,
    *,
    categorical: Iterable[str] = (),
    numeric: Iterable[str] = (),
    missing: str = "drop",
    drop: Iterable[str] = (),
) -> Table:
    """Read a labelled table to learn from.

    Parameters
    ----------
    path
        A CSV file (separated by comma, semicolon, tab or bar), ARFF file or Parquet file,
        possibly gzipped.
    target
        The class column; rows where it is missing are left out.
    categorical, numeric
        Columns whose kind the user knows better.
    missing
        ``"drop"`` or ``"state"``; see :class:`~milpbn.datasets.table.Table`. Incomplete
        rows stay in the table: it is the encoder that leaves them out.
    drop
        Columns to leave out.

    Returns
    -------
    Table
        Its notes name every decision that an option would change.
    """
    return build_table(
        read_raw(path),
        target,
        categorical=categorical,
        numeric=numeric,
        missing=missing,
        drop=drop,
    )


def read_features(
    path: str | Path, expected_columns: Sequence[str], target: str | None = None
) -> pd.DataFrame:
    """Read rows to predict: the expected columns, as texts or numbers, every row kept.

    The encoder of the model knows what the columns mean, so nothing is decided here.
    Further columns are ignored, except `target`, which comes last if it is there.
    What a user should know of the reading is in ``attrs["notes"]``.
    """
    raw = read_raw(path)
    names = [str(name) for name in raw.frame.columns]
    absent = [name for name in expected_columns if name not in names]
    if absent:
        raise DataError(f"{raw.name}: {unknown_columns(absent, names)}; the model needs it")
    labelled = target is not None and target in names and target not in expected_columns
    frame = raw.frame[[*expected_columns, *([target] if labelled else [])]]
    frame.attrs["notes"] = tuple(raw.notes)
    return frame


def read_raw(path: str | Path) -> RawFrame:
    """The columns of a file, in the format that its content and its name tell."""
    path = Path(path)
    stored = _read_bytes(path)
    data = _decompress(stored, path) if stored[:2] == _GZIP else stored
    suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    source = {"file": str(path), "sha256": hashlib.sha256(stored).hexdigest()}
    if data[:4] == _PARQUET or suffix.lower() in (".parquet", ".pq"):
        return RawFrame(path.name, _parse_parquet(data, path), untyped=False, source=source)
    text, notes = decode(data, path.name)
    if suffix.lower() == ".arff":
        frame, states = parse_arff(text, path.name)
        return RawFrame(path.name, frame, False, states, notes, source)
    frame, more_notes = parse_csv(text, path.name)
    return RawFrame(path.name, frame, True, notes=notes + more_notes, source=source)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise DataError(f"{path} is a folder; a file is needed") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise DataError(f"{path} cannot be read: {error}") from error


def _decompress(data: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: the gzip file is damaged or cut off: {error}") from error


def _parse_parquet(data: bytes, path: Path) -> pd.DataFrame:
    import pyarrow.parquet as pq  # only who reads Parquet waits for it

    try:
        frame: pd.DataFrame = pq.ParquetFile(io.BytesIO(data)).read().to_pandas()
    except Exception as error:  # Arrow raises many types for files that are no Parquet
        first_line = str(error).partition("\n")[0]
        raise DataError(f"{path}: not a readable Parquet file: {first_line}") from error
    if frame.empty:
        raise DataError(f"{path}: the Parquet file has no rows or no columns")
    frame.columns = pd.Index(column_names([str(name) for name in frame.columns], path.name))
    return frame.reset_index(drop=True)  # an index numbers or names rows, it is no feature
