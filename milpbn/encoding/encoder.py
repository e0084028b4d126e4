"""The encoder: learned from the training rows only, applied to all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from milpbn._types import BoolArray, Codes
from milpbn.clock import Checkpoint, column_by_column, no_checkpoint
from milpbn.datasets.bins import AUTO, MDLP, parse_bins
from milpbn.datasets.own_bins import OwnBins
from milpbn.datasets.readings import Reading
from milpbn.datasets.strings import MISSING_TOKENS
from milpbn.datasets.table import AUTO as AUTOMATIC
from milpbn.datasets.table import DROP, STATE, Table
from milpbn.datasets.values import without_tokens
from milpbn.encoding.columns import CATEGORICAL, ColumnCode, Variable
from milpbn.encoding.data import EncodedData, EncodedFeatures
from milpbn.encoding.fitting import EMPTY, NO_CUT, REASONS, categorical_code, feature_code
from milpbn.encoding.texts import sorted_states
from milpbn.errors import DataError, ModelFileError
from milpbn.messages import Message, option
from milpbn.settings.columns import MISSING_POLICIES
from milpbn.words import count, quoted

# A note on missing values lists at most this many columns.
_LISTED = 10

__all__ = ["ColumnCode", "EncodedData", "EncodedFeatures", "Encoder", "Variable"]


@dataclass(frozen=True)
class Encoder:
    """Turns raw columns into the states of discrete variables.

    Attributes
    ----------
    target
        The code of the class column.
    columns
        The codes of the features that are kept, in the order of the table.
    dropped
        The features left out, with the reason: ``"no cut found"`` (by MDLP), ``"constant"``,
        ``"every state is rare"`` or ``"mostly empty"``.
    missing
        The policy for missing values; see :attr:`milpbn.datasets.Table.missing`.
    readings
        How columns are made from raw ones; see :attr:`milpbn.datasets.Table.readings`.
    bins
        How numeric columns were cut; see :attr:`milpbn.datasets.Table.bins`.
    own_bins
        What was given for single columns; see :attr:`milpbn.datasets.Table.own_bins`.
    monotone
        The directions of effects; see :attr:`milpbn.datasets.Table.monotone`.

    Examples
    --------
    >>> table = Table(
    ...     name="toy",
    ...     features=pd.DataFrame({"size": [1.0, 2.0, 3.0, 11.0, 12.0, 13.0], "unit": ["cm"] * 6}),
    ...     targets=pd.DataFrame({"kind": ["small"] * 3 + ["tall"] * 3}),
    ...     numeric=("size",),
    ... )
    >>> encoder = Encoder.fit(table)
    >>> encoder.variables
    (Variable(name='kind', states=('small', 'tall')),
     Variable(name='size', states=('(-inf, 7]', '(7, inf)')))
    >>> encoder.dropped
    {'unit': 'constant'}
    >>> encoder.encode(table).codes.T
    array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]], dtype=int32)
    >>> encoder.transform(pd.DataFrame({"size": ["3", "20.5", "huge"]}))
    EncodedFeatures(codes=array([[ 0], [ 1], [-1]], dtype=int32),
                    unseen={'size': {'huge': 1}}, missing_counts={})
    """

    target: ColumnCode
    columns: tuple[ColumnCode, ...]
    dropped: dict[str, str]
    missing: str
    readings: dict[str, Reading] = field(default_factory=dict)
    bins: str = MDLP
    own_bins: OwnBins = field(default_factory=OwnBins)
    monotone: dict[str, int] = field(default_factory=dict)

    @classmethod
    def fit(cls, table: Table, checkpoint: Checkpoint = no_checkpoint) -> Encoder:
        """Learn states and cuts from the training rows of a table.

        The table must have one class variable. A column gets a missing state if a value is missing
        in its training rows. Under the policy ``"drop"`` training rows with a missing feature are
        ignored; under ``"auto"`` columns that are mostly empty are left out. A category with more
        states than the table's `max_states` keeps the most frequent ones, and a last state stands
        for all other values. A weight of 2 counts a row twice, for cuts as well. The table's
        `bins` say how numeric columns are cut; under ``"auto"``, features have several
        resolutions.

        `checkpoint` is called between columns if there are many, and may raise to stop.
        """
        _check_table(table)
        assert table.is_train is not None
        used = table.is_train & ~table.incomplete if table.missing == DROP else table.is_train
        train = table.rows(used)
        if len(train) == 0:
            raise DataError(
                Message(
                    f"{table.name}: no training row is left to learn from; if few rows are "
                    "complete, use ",
                    option("missing", AUTOMATIC),
                )
            )
        target = categorical_code(table, train.target)
        if target.variable.card < 2:
            raise DataError(
                f"{table.name}: a classifier needs two classes, but column {target.name!r} "
                f"is {target.states[0]!r} in every training row"
            )
        if table.monotone and target.variable.card > 2:
            raise DataError(
                f"{table.name}: monotone effects need two classes, but column {target.name!r} has "
                f"{target.variable.card}; merge classes, or learn one class against the rest"
            )
        labels, weights = target.encode(train.target).codes, train.row_weights()
        features = column_by_column(table.features.columns, checkpoint)
        fitted = [feature_code(train, name, labels, weights) for name in features]
        kept = tuple(column for column, reason in fitted if not reason)
        names = {target.name, *(column.name for column in kept)}
        return cls(
            target=target,
            columns=kept,
            dropped={column.name: reason for column, reason in fitted if reason},
            missing=table.missing,
            readings={name: r for name, r in table.readings.items() if name in names},
            bins=table.bins,
            own_bins=table.own_bins,
            monotone=dict(table.monotone),
        )

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The class, then the features that are kept."""
        return (self.target.variable, *(column.variable for column in self.columns))

    def encode(self, table: Table, checkpoint: Checkpoint = no_checkpoint) -> EncodedData:
        """Encode the training and test rows of a table.

        Under the policy ``"drop"``, training rows with a missing feature are left out; test rows
        never are. The notes name what was left out or not recognised. The table's updates come
        last, as training rows; those with a value that has no state are left out. `checkpoint` is
        called between columns if there are many, and may raise to stop.
        """
        _check_table(table)
        complete = self._complete(table)
        kept = table.rows(complete)
        labels = self.target.encode(kept.target)
        codes = np.empty((len(kept), len(self.columns) + 1), dtype=np.int32)
        codes[:, 0] = labels.codes
        features = self._transform(kept.features, table.name, codes[:, 1:], checkpoint)
        assert kept.is_train is not None
        data = EncodedData(
            name=table.name,
            variables=self.variables,
            codes=codes,
            is_train=kept.is_train,
            weights=kept.row_weights(),
            n_dropped_rows=int((~complete).sum()),
            notes=(
                *table.notes,
                *self.notes(table),
                *_notes_on_values(self.target.name, labels.unseen, features.unseen),
            ),
            source=table.source,
        )
        for k, frame in enumerate(table.updates, 1):
            later = self.encode_labelled(frame, f"{table.name}, update {k}")
            data = data.followed_by(later, frame.attrs.get("source", {}))
        return data

    def encode_labelled(self, frame: pd.DataFrame, where: str) -> Codes:
        """Codes of raw rows that have a class, the class first; other rows are left out.

        A value without a state has the code -1. A class that the encoder does not know is an error
        that names the rows as `where`.
        """
        target = self.target.name
        if target not in frame:
            raise DataError(f"{where}: there is no column {target!r}, which is the class")
        labels = self.read_labels(frame[target])
        known = labels.notna().to_numpy(dtype=bool)
        coded = self.target.encode(labels[known])
        if coded.unseen:
            raise DataError(
                f"{where}: column {target!r} has classes that the model does not know: "
                f"{_tally(coded.unseen)}; learn a new model from all rows"
            )
        codes = np.empty((int(known.sum()), len(self.columns) + 1), dtype=np.int32)
        codes[:, 0] = coded.codes
        self._transform(frame[known], where, codes[:, 1:])
        return codes

    def transform(self, frame: pd.DataFrame) -> EncodedFeatures:
        """Encode rows to predict; every row is kept.

        Columns are found by name, and other columns are ignored. They may hold numbers or
        strings, from any reader, and may be raw (with dates and units) or those of a table.
        """
        codes = np.empty((len(frame), len(self.columns)), dtype=np.int32)
        return self._transform(frame, "rows to predict", codes)

    def sources(self) -> list[str]:
        """The raw columns that :meth:`transform` needs."""
        return list(dict.fromkeys(self._source(column) for column in self.columns))

    def measure(self, name: str) -> str:
        """The unit of a column, or what its numbers count; empty if there is nothing to add."""
        reading = self.readings.get(name)
        return "" if reading is None else reading.measure

    def read_labels(self, labels: pd.Series[Any]) -> pd.Series[Any]:
        """The class labels of raw rows: as they are, unless a numeric target was cut."""
        reading = self.readings.get(self.target.name)
        return labels if reading is None else reading.apply(labels)

    def _source(self, column: ColumnCode, names: Container[str] = ()) -> str:
        """The raw column that a column is made from, unless `names` has the column itself."""
        made = column.name in self.readings and column.name not in names
        return self.readings[column.name].source if made else column.name

    def _transform(
        self,
        frame: pd.DataFrame,
        where: str,
        codes: Codes,
        checkpoint: Checkpoint = no_checkpoint,
    ) -> EncodedFeatures:
        """Fill the array `codes`, which has a column for each feature."""
        names = [str(name) for name in frame.columns]
        place = {name: j for j, name in enumerate(names)}
        sources = [self._source(column, place) for column in self.columns]
        absent = [source for source in dict.fromkeys(sources) if source not in place]
        if absent:
            raise DataError(
                f"{where}: no column is named {quoted(absent)}, but the model needs it; "
                f"the columns are {quoted(names)}"
            )
        times = Counter(names)
        twice = [source for source in dict.fromkeys(sources) if times[source] > 1]
        if twice:
            raise DataError(f"{where}: two columns are named {quoted(twice)}; rename one")
        unseen, missing_counts = {}, {}
        pairs = column_by_column(zip(self.columns, sources, strict=True), checkpoint)
        for j, (column, source) in enumerate(pairs):
            values = frame.iloc[:, place[source]]
            if column.kind == CATEGORICAL and not MISSING_TOKENS.intersection(column.states):
                values = without_tokens(values)
            if column.name in self.readings:
                values = self.readings[column.name].apply(values)
            coded = column.encode(values)
            codes[:, j] = coded.codes
            if coded.unseen:
                unseen[source] = coded.unseen
            if coded.n_missing:
                missing_counts[source] = coded.n_missing
        return EncodedFeatures(codes, unseen, missing_counts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a JSON file; numbers are read back exactly."""
        return {
            "target": self.target.to_dict(),
            "columns": [column.to_dict() for column in self.columns],
            "dropped": dict(self.dropped),
            "missing": self.missing,
            **({"readings": told} if (told := self._readings_to_dict()) else {}),
            **({"bins": self.bins} if self.bins != MDLP else {}),
            **({"monotone": dict(self.monotone)} if self.monotone else {}),
            **({"own_bins": self.own_bins.to_dict()} if self.own_bins else {}),
        }

    def _readings_to_dict(self) -> dict[str, Any]:
        return {name: reading.to_dict() for name, reading in self.readings.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Encoder:
        """The inverse of :meth:`to_dict`."""
        try:
            encoder = cls(
                target=ColumnCode.from_dict(data["target"]),
                columns=tuple(map(ColumnCode.from_dict, data["columns"])),
                dropped={str(name): str(reason) for name, reason in data["dropped"].items()},
                missing=str(data["missing"]),
                readings={
                    str(name): Reading.from_dict(told)
                    for name, told in data.get("readings", {}).items()
                },
                bins=parse_bins(data.get("bins", MDLP)),
                monotone={str(name): int(d) for name, d in data.get("monotone", {}).items()},
                own_bins=OwnBins.from_dict(data.get("own_bins", {})),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFileError(f"the encoder cannot be read: {error!r}") from error
        if encoder.missing not in MISSING_POLICIES:
            raise ModelFileError(
                f"the encoder has an unknown missing-value policy {encoder.missing!r}"
            )
        return encoder

    def _complete(self, table: Table) -> BoolArray:
        """The rows that are used under the policy for missing values: all test rows."""
        used = np.ones(len(table), dtype=bool)
        if self.missing != DROP:
            return used
        assert table.is_train is not None
        names = {column.name for column in self.columns} | self.dropped.keys()
        known = [name for name in table.features.columns if name in names]
        used[table.is_train] = table.features.loc[table.is_train, known].notna().all(axis=1)
        return used

    def notes(self, table: Table) -> list[str]:
        """Which rows, classes and features of the table are left out."""
        complete = self._complete(table)
        notes: list[str] = [*self._notes_on_holes(table, complete)]
        assert table.is_train is not None
        learned = table.target[table.is_train & complete]
        lost = sorted_states(set(table.target[table.is_train]) - set(learned))
        if lost:
            notes.append(f"Classes left out because they have no complete row: {quoted(lost)}.")
        for reason in REASONS:
            if names := self._dropped_for(reason):
                notes.append(_left_out(reason, names))
        for name, values in self.own_bins.special.items():
            if name not in table.features:
                continue  # a note of the table says why
            known = table.train().features[name].to_numpy(dtype=np.float64, na_value=np.nan)
            unused = [f"{value:.10g}" for value in values if value not in known]
            if unused:
                told = f"never in the training rows: {', '.join(unused)}"
                notes.append(f"Column {name!r}: special values that are {told}.")
        for column in self.columns:
            own = self.own_bins.cuts.get(column.name, ())
            left_out = [f"{cut:.10g}" for cut in own if cut not in column.cuts]
            if left_out:
                told = f"{'cuts' if len(left_out) > 1 else 'cut'} {', '.join(left_out)}"
                notes.append(
                    f"Column {column.name!r}: left out because of a monotone effect: {told}."
                )
        if not self.columns:
            notes.append("No feature is left: only the class distribution can be learned.")
        return notes

    def _dropped_for(self, reason: str) -> list[str]:
        return [name for name, why in self.dropped.items() if why == reason]

    def _notes_on_holes(self, table: Table, complete: BoolArray) -> Iterator[str]:
        """What became of missing values in training rows: of rows, and of columns."""
        assert table.is_train is not None
        n_train, n_lost = int(table.is_train.sum()), int((~complete).sum())
        absent = table.train().features.isna().mean()
        if n_lost:
            worst = str(absent.idxmax())
            told = (
                f"Left out: {n_lost} of {count(n_train, 'training row')} with a missing feature; "
                f"{worst!r} is missing most often ({absent[worst]:.0%}); "
            )
            keeps = f" keeps {'it' if n_lost == 1 else 'them'}."
            yield Message(told, option("missing", AUTOMATIC), keeps)
        if self.missing != AUTOMATIC:
            return
        empty = self._dropped_for(EMPTY)
        parts: list[str] = []
        if empty:
            listed = ", ".join(f"{name!r} ({absent[name]:.0%} empty)" for name in empty[:_LISTED])
            more = f" and {len(empty) - _LISTED} more" if len(empty) > _LISTED else ""
            one = len(empty) == 1
            told = f"{listed}{more} {'is' if one else 'are'} left out ("
            keeps = f" keeps {'it' if one else 'them'})"
            parts.append(Message(told, option("missing", STATE), keeps))
        if states := [column.name for column in self.columns if column.missing_state]:
            parts.append(f"those of {quoted(states, _LISTED)} are a state of their own")
        if parts:
            rows = f"{n_train} of {count(n_train, 'training row')} are used."
            yield Message("Missing values: ", *(p for q in parts for p in (q, "; ")), rows)


def _left_out(reason: str, names: list[str]) -> Message:
    told = f"Features left out ({reason}): {quoted(names)}"
    if reason != NO_CUT:
        return Message(f"{told}.")
    effect = f" keeps {'it' if len(names) == 1 else 'them'}."
    return Message(f"{told}; ", option("bins", AUTO), effect)


def _notes_on_values(
    target: str, labels: dict[str, int], features: dict[str, dict[str, int]]
) -> list[str]:
    notes = []
    if labels:
        notes.append(
            f"Column {target!r}: labels never seen in training, counted as errors: "
            f"{_tally(labels)}."
        )
    for name, values in features.items():
        notes.append(
            f"Column {name!r}: values never seen in training, treated as unknown: {_tally(values)}."
        )
    return notes


def _check_table(table: Table) -> None:
    names = [*table.features.columns, table.target.name]
    if len(table.features) != len(table.target):
        raise DataError(
            f"{table.name}: {len(table.features)} rows of features, {len(table.target)} labels"
        )
    unnamed = [name for name in names if not isinstance(name, str)]
    if unnamed:
        raise DataError(f"{table.name}: column names must be strings, not {quoted(unnamed)}")
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise DataError(f"{table.name}: two columns are named {quoted(twice)}; rename one")
    for what, mentioned in (("numeric", table.numeric), ("states", table.states)):
        unknown = [name for name in mentioned if name not in names]
        if unknown:
            raise DataError(f"{table.name}: {what} names unknown columns: {quoted(unknown)}")
    both = [name for name in table.numeric if name in table.states]
    if both:
        raise DataError(f"{table.name}: states are declared for the numeric {quoted(both)}")
    if table.target.isna().any():
        row = int(np.flatnonzero(table.target.isna())[0])
        raise DataError(
            f"{table.name}: the class {table.target.name!r} is missing in row {row + 1}; "
            f"leave out such rows"
        )


def _tally(counts: dict[str, int], limit: int = 10) -> str:
    listed = [f"{value!r} ({n}x)" for value, n in list(counts.items())[:limit]]
    more = len(counts) - len(listed)
    return ", ".join(listed) + (f" and {more} more" if more else "")
