"""The results of a table as a CSV file, with the date and the versions in its first line."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from milpbn.files import write_whole

_PACKAGES = ("milpbn", "highspy", "numpy", "scipy", "scikit-learn")


def write_results(
    path: Path, frame: pd.DataFrame, today: str | None = None, packages: Sequence[str] = ()
) -> None:
    """Write the results; the first line is a comment, with the versions of more packages."""
    date = today or datetime.date.today().isoformat()
    versions = ", ".join(f"{name} {version(name)}" for name in (*_PACKAGES, *packages))
    head = f"# {date}; {versions}, Python {platform.python_version()}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, head + frame.to_csv(index=False))


def read_results(path: Path, dtype: type | None = None) -> tuple[str, pd.DataFrame]:
    """The date with the versions, and the results, as numbers or with the given type."""
    with path.open(encoding="utf-8") as file:
        head = file.readline().removeprefix("#").strip()
    return head, pd.read_csv(path, comment="#", dtype=dtype)
