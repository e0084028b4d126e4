"""Reading a user's own files: CSV, ARFF and Parquet, plain or gzipped."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import pandas as pd

from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.datasets.arff import parse_arff
from milpbn.datasets.assemble import build_table, unknown_columns
from milpbn.datasets.raw import Columns, RawFrame
from milpbn.datasets.strings import with_objects
from milpbn.datasets.table import Table
from milpbn.datasets.text import column_names, parse_csv, to_utf8
from milpbn.errors import DataError
from milpbn.files import read_limited
from milpbn.messages import Message, option
from milpbn.settings import ColumnNames

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
# Limits on files that may come from strangers: bytes in memory, and how many times as many as in
# the file. Small ones may be compressed as well as can be.
MOST_BYTES = 2**33
_MOST_RATIO = 200
_SMALL = 2**28


def read_table(
    path: str | Path,
    target: str | Sequence[str],
    *,
    checkpoint: Checkpoint = no_checkpoint,
    **columns: Unpack[ColumnNames],
) -> Table:
    """Read a table to learn from, with one class column or several.

    Parameters
    ----------
    path
        A CSV file (separated by comma, semicolon, tab or bar), an ARFF file or a Parquet
        file, plain or gzipped.
    target
        The class column, or a sequence of class columns. Rows in which one of them is
        missing are left out.
    categorical, numeric
        Columns whose kind is not to be guessed. A target among the categorical columns is
        accepted even if it looks like a regression target.
    missing
        ``"auto"``, ``"state"`` or ``"drop"``; see :class:`~milpbn.datasets.table.Table`. With
        one target, incomplete rows stay in the table, and the encoder decides about them.
    drop
        Columns to leave out.
    dates
        What becomes of dates and times: ``"expand"`` replaces a date by year, month, weekday
        and time of day, as numbers; ``"drop"`` leaves it out; ``"keep"`` reads it as categories.
    max_states
        A category with more states than this has its rare states pooled into one, by the
        frequencies in the training rows; None for no limit.
    target_bins
        Cut a numeric target into this many classes of about equal size.
    weight
        The column of the weights of the rows, which is not a feature. Rows of weight 0 are left
        out.
    bins
        How numeric features are cut: ``"mdlp"``, ``"quantile:K"`` or ``"auto"``; see
        :func:`~milpbn.datasets.bins.parse_bins`. Or own cuts for some columns, as in
        ``{"income": [1000, 2000], "*": "auto"}``, where ``"*"`` stands for the others.
    special
        Values that are states of their own, for some numeric columns: ``{"income": [-999]}``.
    min_bin_share
        The smallest share of a column's rows that a bin may have, unless its cuts are given.
    monotone
        The features whose effect on two classes is ``"increasing"`` or ``"decreasing"``: along
        them the second class, in the order of the labels, may not become less (more) likely.
    ordered
        Columns whose categories have an order, and all their categories in this order:
        ``{"size": ["S", "M", "L"]}``.
    checkpoint
        Called between columns if there are many; may raise to stop.

    Returns
    -------
    Table
        Its notes name every decision that an option would change.
    """
    chosen = Columns.given([target] if isinstance(target, str) else target, **columns)
    raw = read_raw(path, checkpoint)
    source = {**raw.source, "columns": chosen.to_dict()}
    return build_table(replace(raw, source=source), chosen, checkpoint)


def read_features(
    path: str | Path,
    columns: Sequence[str],
    targets: str | Sequence[str] = (),
    *,
    keep: Sequence[str] = (),
    strict: bool = True,
) -> pd.DataFrame:
    """Read rows to predict: these columns, as strings or numbers, and every row.

    The encoder of the model knows what the columns mean, so nothing is decided here.
    Other columns are ignored, except for `targets` (one name or several) and `keep`: those
    that exist come last. A column that does not exist is an error; unless `strict`, it is
    missing in every row. ``attrs["notes"]`` says how the file was read, and ``attrs["source"]``
    has its name and checksum.
    """
    raw = read_raw(path)
    names = [str(name) for name in raw.frame.columns]
    absent = [name for name in columns if name not in names]
    unknown = [name for name in keep if name not in names]
    if unknown:
        told = unknown_columns(unknown, names)
        raise DataError(Message(f"{raw.name}: ", option("keep"), f": {told}"))
    if absent and (strict or len(absent) == len(columns)):
        told = unknown_columns(absent, names)
        raise DataError(
            f"{raw.name}: {told}; the model needs {'it' if len(absent) == 1 else 'them'}"
        )
    wanted = [targets] if isinstance(targets, str) else targets
    others = dict.fromkeys(name for name in (*wanted, *keep) if name in names)
    frame = raw.frame.reindex(columns=[*columns, *(name for name in others if name not in columns)])
    notes = (
        [f"{raw.name}: {unknown_columns(absent, names)}; missing in every row."] if absent else []
    )
    frame = with_objects(frame) if raw.untyped else frame
    frame.attrs["notes"] = (*raw.notes, *notes)
    frame.attrs["source"] = raw.source
    return frame


def read_raw(path: str | Path, checkpoint: Checkpoint = no_checkpoint) -> RawFrame:
    """Read the columns of a file; its content and its name tell the format."""
    path = Path(path)
    stored = _read_bytes(path)
    data = unpacked(stored, path)
    suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    source = {"file": str(path), "sha256": hashlib.sha256(stored).hexdigest()}
    if data[:4] == _PARQUET or suffix.lower() in (".parquet", ".pq"):
        return RawFrame(path.name, _parse_parquet(data, path), untyped=False, source=source)
    data, notes = to_utf8(data, path.name)
    if suffix.lower() == ".arff":
        frame, states = parse_arff(data.decode("utf-8"), path.name)
        return RawFrame(path.name, frame, False, states, notes, source)
    frame, more_notes = parse_csv(data, path.name, checkpoint)
    return RawFrame(path.name, frame, True, notes=notes + more_notes, source=source)


def _read_bytes(path: Path) -> bytes:
    try:
        return read_limited(path, MOST_BYTES)
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise DataError(f"{path} is a folder; a file is needed") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise DataError(f"{path} cannot be read: {error}") from error


def unpacked(data: bytes, path: Path) -> bytes:
    """What a gzip file contains, within limits; other data as they are."""
    if data[:2] != _GZIP:
        return data
    most = min(MOST_BYTES, max(_SMALL, _MOST_RATIO * len(data)))
    parts, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while size <= most and (part := file.read(2**24)):
                parts.append(part)
                size += len(part)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: the gzip file is damaged or cut off: {error}") from error
    if size > most:
        raise DataError(
            f"{path}: {len(data)} bytes unpack to more than {most // 2**20} MiB; unpack the file "
            "yourself if that is right"
        )
    return b"".join(parts)


def _parse_parquet(data: bytes, path: Path) -> pd.DataFrame:
    import pyarrow.parquet as pq  # slow to import, and needed for Parquet only

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        cells = file.metadata.num_rows * file.metadata.num_columns
        if 8 * cells > min(MOST_BYTES, max(_SMALL, _MOST_RATIO * len(data))):
            raise DataError(f"{path}: {len(data)} bytes contain {cells} values, which are too many")
        column_names(file.schema_arrow.names, path.name)
        frame: pd.DataFrame = file.read().to_pandas()
    except DataError:
        raise
    except Exception as error:  # Arrow raises many types for files that are not Parquet
        first_line = str(error).partition("\n")[0]
        raise DataError(f"{path}: not a readable Parquet file: {first_line}") from error
    if frame.empty:
        raise DataError(f"{path}: the Parquet file has no rows or no columns")
    frame.columns = pd.Index(column_names([str(name) for name in frame.columns], path.name))
    return frame.reset_index(drop=True)  # an index numbers or names rows; it is not a feature
