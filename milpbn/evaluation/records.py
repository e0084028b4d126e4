"""The record of one fold, and the file that makes an evaluation resumable.

The file has a line of JSON with all settings, then a line for each data set and each finished
fold. It grows by whole lines; a last line that a killed run left unfinished is dropped on reading.
"""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from milpbn.errors import DataError, OptionError, OutputError
from milpbn.evaluation.measures import Measures
from milpbn.files import locked, read_limited

FORMAT = "milpbn-evaluation"
VERSION = 3

Key = tuple[str, str, int]


@dataclass(frozen=True)
class Predictions:
    """Out-of-fold predictions: rows of the table, classes and their probabilities."""

    rows: list[int]
    classes: list[str]
    proba: list[list[float]]


@dataclass(frozen=True)
class FoldRecord:
    """One method on one fold.

    Attributes
    ----------
    method, parameters
        The method's label, and how its parameters are learned.
    fold
        Number of the fold, from 1.
    measures
        Measures of the predictions.
    train_rows
        Number of training rows.
    n_parameters
        Number of free parameters of the network; None for a classifier without a network.
    status, gap
        How structure learning ended, and the relative gap if there is a bound.
    evaluations
        Number of score evaluations of a heuristic; None without structure learning.
    selected
        Hyper-parameters that validation chose.
    seconds
        Time for learning, including selection.
    predictions
        The predictions, if they were requested.
    unconverged
        Number of base models that did not converge.
    data
        Name of the data set.
    """

    method: str
    parameters: str
    fold: int
    measures: Measures
    train_rows: int
    n_parameters: int | None = None
    status: str = ""
    gap: float | None = None
    evaluations: int | None = None
    selected: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    predictions: Predictions | None = None
    unconverged: int = 0
    data: str = ""

    @property
    def key(self) -> Key:
        """What identifies a record within an evaluation."""
        return self.method, self.parameters, self.fold

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> FoldRecord:
        """The inverse of ``dataclasses.asdict``."""
        given = data.get("predictions")
        record = cls(
            **{
                **data,
                "measures": Measures(**data["measures"]),
                "predictions": None if given is None else Predictions(**given),
            }
        )
        numbers = (record.fold, record.measures.rows, record.measures.correct)
        if not all(isinstance(n, int) for n in numbers) or record.measures.rows < 1:
            raise ValueError("a number of rows is not a whole number")
        return record


class ResultFile:
    """A file of fold records under fixed settings, for one data set or several.

    Parameters
    ----------
    path
        The file; created if it does not exist.
    settings
        Everything that the records of all data sets depend on. A file with different settings
        is rejected.
    data
        The data set of this run: its ``"name"``, and everything else that its records depend
        on. A file with other data of this name is rejected.
    """

    def __init__(self, path: str | Path, settings: dict[str, Any], data: dict[str, Any]) -> None:
        self.path = Path(path)
        # Through JSON and back, so that tuples and numbers compare as in the file.
        header = {"format": FORMAT, "version": VERSION, "settings": settings}
        self._header, self._data = json.loads(json.dumps([header, data], allow_nan=False))

    def locked(self) -> AbstractContextManager[None]:
        """Keep other runs from using the file; they would compute the same folds."""
        if self.path.exists() and not self.path.is_file():
            raise OptionError(f"{self.path} is not a regular file, so folds cannot be kept in it")
        return locked(self.path)

    def open(self) -> list[FoldRecord]:
        """Return the records of earlier runs on the data set; begin the file if it is empty.

        The file is changed in place: another one under the same name would not be locked.
        """
        text = self._text()
        if not text:
            self._append(self._header)
            self._append({"data": self._data})
            return []
        whole, _, torn = text.rpartition("\n")
        theirs, read = self._parse(whole)
        mine = self._header["settings"]
        if theirs != mine:
            self._refuse("settings", theirs if isinstance(theirs, dict) else {}, mine)
        if torn:
            os.truncate(self.path, len(whole.encode("utf-8")) + 1)
        name = self._data["name"]
        known = [data for data in read if isinstance(data, dict) and data.get("name") == name]
        if known and known[0] != self._data:
            self._refuse("data", known[0], self._data)
        if not known:
            self._append({"data": self._data})
        return [r for r in read if isinstance(r, FoldRecord) and r.data == name]

    @classmethod
    def read(cls, path: str | Path) -> tuple[dict[str, Any], list[FoldRecord]]:
        """The settings and all records of a file, as far as its evaluation has come."""
        file = cls(path, {}, {"name": ""})
        settings, read = file._parse(file._text().rpartition("\n")[0])
        return settings, [r for r in read if isinstance(r, FoldRecord)]

    def _text(self) -> str:
        try:
            text = read_limited(self.path).decode("utf-8") if self.path.exists() else ""
        except OSError as error:
            raise DataError(f"cannot read {self.path}: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise DataError(f"{self.path} is not a file of evaluation results") from None
        if text and json.dumps(self._header).startswith(text):
            os.truncate(self.path, 0)  # a killed run had only begun the first line
            return ""
        return text

    def append(self, record: FoldRecord) -> None:
        """Add a finished fold; it is on disk when the call returns."""
        self._append(asdict(record))

    def _append(self, content: dict[str, Any]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(content, allow_nan=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror or error}") from None

    def _parse(self, text: str) -> tuple[Any, list[FoldRecord | dict[str, Any]]]:
        """The settings in the first line, and what the other lines contain."""
        first, *lines = text.split("\n")
        return self._settings(first), [self._read(n, line) for n, line in enumerate(lines, 2)]

    def _settings(self, line: str) -> Any:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise DataError(f"{self.path} is not a file of evaluation results; choose another file")
        if found.get("version") != VERSION:
            raise DataError(
                f"{self.path} has version {found.get('version')!r} of the file format, but this "
                f"milpbn writes version {VERSION}; choose another file"
            )
        return found.get("settings")

    def _refuse(self, what: str, theirs: dict[str, Any], mine: dict[str, Any]) -> NoReturn:
        raise OptionError(
            f"{self.path} contains results for other {what} ({_differences(theirs, mine)}); use "
            f"the same {what} to continue, or another file"
        )

    def _read(self, number: int, line: str) -> FoldRecord | dict[str, Any]:
        """The record of a fold, or the description of a data set."""
        try:
            content = json.loads(line)
            if isinstance(content["data"], dict):
                return dict(content["data"])
            return FoldRecord.from_dict(content)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise DataError(
                f"{self.path}, line {number}: not a record of a fold ({error})"
            ) from None


def _differences(theirs: dict[str, Any], mine: dict[str, Any]) -> str:
    shown = [
        f"{k}: {theirs.get(k)!r} in the file, {mine.get(k)!r} now"
        for k in {**mine, **theirs}
        if theirs.get(k) != mine.get(k)
    ]
    return "; ".join(shown[:3]) + (", ..." if len(shown) > 3 else "")
