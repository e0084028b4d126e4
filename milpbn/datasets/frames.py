"""The features that a scikit-learn estimator receives: a frame, and its categorical columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy.typing as npt
import pandas as pd

from milpbn._types import FloatArray
from milpbn.datasets.infer import CATEGORICAL, FEW_VALUES, NUMERIC, Rules
from milpbn.datasets.monotone import check_monotone
from milpbn.datasets.notes import Names
from milpbn.datasets.raw import Columns
from milpbn.datasets.screening import screen
from milpbn.datasets.table import Table, without_holes
from milpbn.datasets.values import show_value
from milpbn.errors import OptionError
from milpbn.settings import ColumnNames

# What notes about the columns call these parameters.
_NAMES = Names({"categorical": "categorical_features", "numeric": "numeric_features"}, drops=False)


def as_pandas(X: Any) -> Any:
    """A data frame of any library as one of pandas; everything else as it is.

    Narwhals knows the libraries. A lazy frame is computed.

    Examples
    --------
    >>> import pyarrow
    >>> as_pandas(pyarrow.table({"size": [1.5, 2.5]})).dtypes.to_dict()
    {'size': dtype('float64')}
    >>> as_pandas([[1.5], [2.5]])
    [[1.5], [2.5]]
    """
    if isinstance(X, pd.DataFrame) or not hasattr(type(X), "columns"):
        return X
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame.to_pandas() if isinstance(frame, nw.DataFrame) else X


def frame_of(X: Any, checked: npt.NDArray[Any], names: list[str] | None = None) -> pd.DataFrame:
    """`X` as a frame: a frame keeps its types, the columns of an array are x0, x1, ...

    `checked` is the array that scikit-learn's validation returned for `X`, and `names` are the
    columns of the training rows, by position.
    """
    if isinstance(X, pd.DataFrame):
        frame = X.reset_index(drop=True)
        frame.columns = pd.Index(names or [str(c) for c in frame.columns])
        return frame
    names = names or [f"x{j}" for j in range(checked.shape[1])]
    return pd.DataFrame(checked, columns=names).infer_objects()


def labelled_table(
    frame: pd.DataFrame,
    classes: Mapping[str, tuple[pd.Series[str], tuple[str, ...]]],
    *,
    several: bool = False,
    weights: FloatArray | None = None,
    categorical_features: str | Sequence[int] | Sequence[str] = "from_dtype",
    numeric_features: Sequence[int] | Sequence[str] = (),
    **columns: Unpack[ColumnNames],
) -> Table:
    """The table that a classifier learns from, by the rules for files.

    Parameters
    ----------
    frame
        The features.
    classes
        The labels of each class variable and its states, by its name.
    several
        Whether the rules are those for several class variables, whose base models take numbers as
        they are.
    weights
        The positive weight of each row.
    categorical_features, numeric_features, columns
        See :class:`~milpbn.BNClassifier`. With several class variables, no states are pooled.
    """
    wanted = dict.fromkeys(
        _chosen(frame, categorical_features, "categorical_features"), CATEGORICAL
    )
    for name in _chosen(frame, numeric_features, "numeric_features"):
        if name in wanted:
            raise OptionError(
                f"column {name!r} is both in categorical_features and in numeric_features"
            )
        wanted[name] = NUMERIC
    given = Columns.given(list(classes), **columns)
    max_states = None if several else given.max_states
    for name in _chosen(frame, list(given.ordered), "ordered"):
        if wanted.get(name) == NUMERIC:
            raise OptionError(f"column {name!r} is both in ordered and in numeric_features")
    own, directions = given.own_bins, given.monotone
    rules = Rules(
        "X",
        missing=given.missing,
        dates=given.dates,
        max_states=max_states,
        few_values=0 if several else FEW_VALUES,
        ordered=given.ordered,
        taken=frozenset(classes),
        binned=frozenset(own.columns),
        directed=frozenset(directions),
        names=_NAMES,
    )
    screened = screen(frame, rules, wanted)
    check_monotone("X", directions, [*screened.features.columns, *screened.unused])
    own.check("X", screened.features.columns, screened.numeric, screened.unused)
    table = Table(
        name="X",
        features=screened.features,
        targets=pd.DataFrame({name: labels for name, (labels, _) in classes.items()}),
        numeric=screened.numeric,
        states={**screened.ordered, **{name: states for name, (_, states) in classes.items()}},
        weights=weights,
        missing=given.missing,
        readings=screened.readings,
        max_states=max_states,
        bins=given.bins,
        own_bins=own,
        monotone=dict(directions),
        notes=screened.notes,
        ordered=tuple(screened.ordered),
    )
    return without_holes(table) if several else table


def _chosen(
    frame: pd.DataFrame, chosen: str | Sequence[int] | Sequence[str], parameter: str
) -> set[str]:
    """The names of columns that are chosen by position or name; none from ``"from_dtype"``."""
    if isinstance(chosen, str):
        if chosen != "from_dtype" or parameter != "categorical_features":
            raise OptionError(
                f"{parameter} must be 'from_dtype' or a list of columns, not {chosen!r}"
            )
        return set()
    names, found = list(map(str, frame.columns)), set()
    for c in chosen:
        known = c in names if isinstance(c, str) else -len(names) <= c < len(names)
        if not known:
            raise OptionError(f"{parameter}: there is no column {c!r}")
        found.add(c if isinstance(c, str) else names[c])
    return found


def texts(values: pd.Series[Any]) -> pd.Series[Any]:
    """A column of categories as strings, with None for missing values."""
    shown = [None if pd.isna(v) else show_value(v) for v in values]
    return pd.Series(shown, dtype=object, name=values.name)
