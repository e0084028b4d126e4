"""The settings of columns: how they are read, and which states they become.

Bundled data sets are read as their catalog says; only their bins, the effects of their features and
their missing values can be chosen.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from milpbn.settings.declaration import OptionGroup, Setting
from milpbn.settings.values import (
    ColumnList,
    NamesByColumn,
    NumbersByColumn,
    OneOf,
    Parsed,
    Percentage,
    Text,
    Whole,
)

if TYPE_CHECKING:
    from milpbn.datasets.own_bins import Bins

MISSING_POLICIES = ("auto", "state", "drop")
"""What becomes of missing values in training rows; see :class:`~milpbn.datasets.table.Table`."""

DATES = ("expand", "drop", "keep")
"""What becomes of columns with dates and times: numbers, nothing, or categories."""

MAX_STATES = 50
"""A category with more states than this has its rare states pooled, unless the user says more."""

_data = partial(Setting, OptionGroup.DATA)


class StateNames(TypedDict, total=False):
    """Which states the values of a column become."""

    missing: Annotated[
        str,
        _data(
            OneOf(__name__, "MISSING_POLICIES"),
            "What becomes of missing values in training rows. auto: they are a state of their own, "
            "and columns that are mostly empty are left out; state: a state in every column; drop: "
            "incomplete rows are left out.",
            "auto",
            shown="the data set's policy, or auto",
        ),
    ]
    bins: Annotated[
        "Bins",
        _data(
            Parsed("milpbn.datasets.bins", "parse_bins"),
            "How numeric columns are cut: where the classes change (mdlp), into fine bins for "
            "parameters with smooth effects (fine), into K bins with about the same number of "
            "rows, or in several resolutions among which the structure chooses (auto).",
            "mdlp",
            selectable=True,
            metavar="mdlp|fine|quantile:K|auto",
        ),
    ]
    special: Annotated[
        Mapping[str, Sequence[float]] | None,
        _data(
            NumbersByColumn(),
            "Values of a numeric column that are states of their own, such as codes for refused "
            "answers: income=-999,-998. May be repeated.",
            rare=True,
            metavar="COLUMN=X,...",
        ),
    ]
    min_bin_share: Annotated[
        float,
        _data(
            Percentage(0, below=0.5),
            "Smallest share of a column's rows in a bin: 5%. Cuts given by {cuts} are kept.",
            0.0,
            shown="0",
            rare=True,
            metavar="SHARE",
            old=("min_bin",),
        ),
    ]
    monotone: Annotated[
        Mapping[str, str] | None,
        Setting(
            OptionGroup.SPACE,
            Parsed("milpbn.datasets.monotone", "read_monotone"),
            "Features along which the second of two classes may not become less (+) or more (-) "
            "likely, everything else equal: age+,income-.",
            rare=True,
            metavar="FEATURE+,FEATURE-",
        ),
    ]


class CutNames(TypedDict, total=False):
    """What Python says with `bins`."""

    cuts: Annotated[
        Mapping[str, Sequence[float]],
        _data(
            NumbersByColumn(),
            "Your own cuts of a numeric column: income=1000,2000. May be repeated.",
            rare=True,
            metavar="COLUMN=X,...",
            parameter="",
        ),
    ]


class FileNames(TypedDict, total=False):
    """How the columns of a file are read."""

    categorical: Annotated[
        Iterable[str],
        _data(
            ColumnList(),
            "Columns of FILE to read as categories: a,b,c. Put a name that contains a comma in "
            'double quotes: a,"b, c".',
            (),
            rare=True,
            parameter="categorical_features",
        ),
    ]
    numeric: Annotated[
        Iterable[str],
        _data(
            ColumnList(),
            "Columns of FILE to read as numbers: a,b,c.",
            (),
            rare=True,
            parameter="numeric_features",
        ),
    ]
    drop: Annotated[
        Iterable[str],
        _data(ColumnList(), "Columns of FILE to leave out: a,b,c.", (), rare=True, parameter=""),
    ]
    dates: Annotated[
        str,
        _data(
            OneOf(__name__, "DATES"),
            "Replace dates in FILE with year, month, weekday and time of day, leave them out, or "
            "read them as categories.",
            "expand",
            rare=True,
        ),
    ]
    max_states: Annotated[
        int | None,
        _data(
            Whole(2),
            "Maximum number of states of a categorical column of FILE; the rarest values share "
            "one state.",
            MAX_STATES,
            optional=True,
            rare=True,
        ),
    ]
    target_bins: Annotated[
        int | None,
        _data(
            Whole(2),
            "Cut the numeric class column of FILE into this many classes of about equal size.",
            rare=True,
            parameter="",
        ),
    ]
    ordered: Annotated[
        Mapping[str, Sequence[str]] | None,
        _data(
            NamesByColumn(),
            "All categories of a categorical column of FILE, in their order: size=S,M,L. May be "
            "repeated.",
            rare=True,
            metavar="COLUMN=A,B,...",
        ),
    ]
    weight: Annotated[
        str | None,
        _data(
            Text(),
            "Column of FILE with the weights of the rows; not a feature. A weight of 2 counts a "
            "row twice.",
            rare=True,
            metavar="COLUMN",
            parameter="",
        ),
    ]


class ClassWeightNames(TypedDict, total=False):
    """Which classes count more."""

    class_weight: Annotated[
        str | Mapping[Any, float] | None,
        _data(
            Parsed("milpbn.datasets.weights", "read_class_weight"),
            "Factors for the weights of the rows of each class: sick=5,healthy=1; balanced gives "
            "all classes the same total weight.",
            rare=True,
            metavar="balanced|LABEL=W,...",
        ),
    ]


class ColumnNames(FileNames, StateNames, total=False):
    """The settings of columns that functions for tables take."""
