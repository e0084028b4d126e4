"""The schema of model files: which entries they have, and of which types.

A file is checked against it before anything is built, and a message names the entry that is wrong.
The tables are those of the manual page on model files. Unknown entries are ignored, so that later
versions can add some.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    TypedDict,
)

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from milpbn.errors import ModelFileError
from milpbn.settings import (
    RUN_SETTINGS,
    BudgetNames,
    ScoreNames,
    Setting,
    SmoothingNames,
    TreeNames,
    declared,
)

Count = Annotated[int, Meta(ge=0, le=2**53)]
Positive = Annotated[int, Meta(ge=1, le=2**53)]
Policy = Literal["auto", "state", "drop"]
Parents = dict[str, list[str] | dict[str, list[str]]]
"""Of each variable; for a multinet, of each class and variable."""
FamilyResolutions = dict[str, dict[str, Count]]
"""Of each variable, those in its family that are not 0."""
Resolutions = dict[str, dict[str, Count | dict[str, Count]]]
"""Of each variable, those in its family; for a multinet, of each class and variable."""
Tables = dict[str, list[Any] | dict[str, list[Any]]]
"""Nested lists of numbers, of each variable; for a multinet, of each class and variable."""


class ColumnContent(TypedDict, total=False):
    """How a column is mapped to states."""

    name: Required[str]
    kind: Required[Literal["numeric", "categorical"]]
    cuts: list[float]
    states: list[str]
    missing_state: Required[bool]
    pool: bool
    coarsenings: list[list[float | str]]
    search: Count
    ordered: bool
    special: list[float]
    monotone: int


class ReadingContent(TypedDict, total=False):
    """How a column is made from a raw one."""

    source: Required[str]
    kind: Required[str]
    format: str
    unit: str
    cuts: list[float]


class OwnBinsContent(TypedDict, total=False):
    """Own cuts and special values of columns, and the smallest share of a bin."""

    cuts: dict[str, list[float]]
    special: dict[str, list[float]]
    min_share: float


class EncoderContent(TypedDict, total=False):
    """How raw columns are mapped to states."""

    target: Required[ColumnContent]
    columns: Required[list[ColumnContent]]
    dropped: Required[dict[str, str]]
    missing: Required[Policy]
    readings: dict[str, ReadingContent]
    bins: str
    own_bins: OwnBinsContent
    monotone: dict[str, int]


class FileColumns(TypedDict, total=False):
    """How the columns of the user's file were read."""

    target: Required[Annotated[str, Meta(min_length=1)] | Annotated[list[str], Meta(min_length=1)]]
    categorical: list[str]
    numeric: list[str]
    drop: list[str]
    dates: str
    max_states: Positive | None
    target_bins: Positive | None
    weight: str | None
    ordered: dict[str, list[str]]


class LabelsContent(TypedDict):
    """The labels of a class variable, and their numpy type."""

    labels: list[str | int | float | bool]
    dtype: str | None


class HoldoutContent(TypedDict):
    """The rows that were held out."""

    share: float
    seed: Count


class UpdateContent(TypedDict, total=False):
    """Rows that came later."""

    file: str
    sha256: str
    n_rows: Required[Count]


class DataContent(TypedDict, total=False):
    """Which rows were used."""

    dataset: str
    file: str
    sha256: str | None
    generator: str
    name: str
    rows: Literal["train", "all"]
    n_rows: Count
    n_incomplete_rows: Count
    weighted: bool
    missing: Policy
    bins: str
    own_bins: OwnBinsContent
    monotone: dict[str, int]
    columns: FileColumns
    class_weight: str | dict[str, float] | None
    features: list[str]
    classes: LabelsContent
    named_features: bool
    holdout: HoldoutContent | None
    updates: list[UpdateContent]
    readings: dict[str, ReadingContent]


class ConstraintsContent(TypedDict, total=False):
    """Prior knowledge about the structure."""

    required: list[list[str]]
    forbidden: list[list[str]]
    tiers: list[list[str]]
    max_parents: dict[str, Count]
    max_arcs: Count | None
    max_features: Count | None
    max_parameters: Count | None
    max_cost: Count | None
    feature_costs: dict[str, Count]


def _content(setting: Setting) -> Any:
    """The type of a setting in a file."""
    found = Count if setting.values.content is int else setting.values.content
    return found | None if setting.optional or setting.default is None else found


if TYPE_CHECKING:
    ScoreContent: TypeAlias = dict[str, Any]
    SettingsContent: TypeAlias = dict[str, Any]
else:
    _SCORE = {name: _content(one) for name, one in declared(ScoreNames, SmoothingNames).items()}
    _SCORE["folds"] = Count | None  # the name of the validation in older files
    ScoreContent = TypedDict("ScoreContent", _SCORE, total=False)
    _IN_OTHER_WORDS = {*declared(BudgetNames, TreeNames), "start_source"}
    _RUN = {name: _content(o) for name, o in RUN_SETTINGS.items() if name not in _IN_OTHER_WORDS}
    # A limit of None is that of models for several class variables.
    _RUN |= {"max_parents": Count | None, "constraints": ConstraintsContent}
    SettingsContent = TypedDict("SettingsContent", {**_RUN, **_SCORE}, total=False)


class PointContent(TypedDict):
    """A point of the trace."""

    time: float
    objective: float | None
    bound: float | None
    nodes: Count
    source: str


class StartContent(TypedDict):
    """The start that was offered to the solver."""

    source: str
    objective: float
    accepted: bool | None
    improvement: float | None


class ResultContent(TypedDict, total=False):
    """What was found and proven."""

    status: Required[Literal["optimal", "feasible", "time_limit", "interrupted", "infeasible"]]
    structure: Required[Parents]
    resolutions: Resolutions
    objective: Required[float]
    bound: Required[float | None]
    score: Required[str]
    score_parameters: ScoreContent
    tolerance: float
    source: str
    engine: str
    solver: str
    nodes: Count
    evaluations: Count
    scale: float
    n_rows: float
    weight: float
    seconds: dict[str, float]
    warm_start: StartContent | None
    trace: list[PointContent]


class ParametersContent(TypedDict, total=False):
    """How the parameters were learned."""

    method: Required[str]
    measure: str
    start: Required[float | None]
    objective: Required[float | None]
    chosen: Required[dict[str, Any]]
    iterations: Required[Count]
    ended: str
    seconds: Required[float]


class CandidateContent(TypedDict, total=False):
    """A candidate of a selection."""

    values: Required[dict[str, Any]]
    scores: dict[str, float]
    standard_errors: dict[str, float]
    n_parameters: float
    seconds: float
    stopped_early: bool
    error: str


class SelectionContent(TypedDict, total=False):
    """How the settings were selected."""

    by: Required[str]
    folds: Required[Count]
    candidates: Required[list[CandidateContent]]
    chosen: Required[Count]
    interrupted: bool


class AnswerContent(TypedDict, total=False):
    """The best score of the structures with an arc, or without an arc between two variables."""

    parent: Required[str]
    child: Required[str]
    present: Required[bool]
    value: Required[float | None]
    bound: Required[float | None]
    changes: Required[dict[str, list[str]]]
    resolutions: FamilyResolutions
    nodes: Count
    seconds: float


class ArcsContent(TypedDict):
    """Arc margins."""

    objective: float
    scale: NotRequired[float]
    answers: list[AnswerContent]


class AlternativeContent(TypedDict):
    """A structure of a set."""

    score: float
    group: Count
    test_accuracy: float | None
    changes: dict[str, list[str]]
    resolutions: NotRequired[FamilyResolutions]


class AlternativesContent(TypedDict, total=False):
    """The best structures."""

    most: Required[Positive]
    within: Required[float | None]
    best: Required[dict[str, list[str]]]
    best_resolutions: FamilyResolutions
    structures: Required[Annotated[list[AlternativeContent], Meta(min_length=1)]]
    rest: Required[float | None]
    complete: Required[bool]
    more: bool
    nodes: Count


class StabilityContent(TypedDict):
    """How often arcs are learned from resampled rows."""

    resamples: Positive
    wanted: Positive
    method: str
    optimal: Count
    seed: Count
    counts: list[tuple[str, str, Positive]]


class ModelContent(TypedDict, total=False):
    """A model file for one class variable."""

    data: Required[DataContent]
    settings: Required[SettingsContent]
    encoder: Required[EncoderContent]
    structure: Required[Parents]
    resolutions: Resolutions
    log_probabilities: Required[Tables]
    log_shares: dict[str, list[float] | dict[str, list[float]]]
    counts: Tables
    parameters: ParametersContent
    result: Required[ResultContent]
    importance: dict[str, Annotated[float, Meta(ge=0)]]
    selection: SelectionContent
    arcs: ArcsContent
    alternatives: AlternativesContent
    stability: StabilityContent


def check_content(content: Any, schema: type) -> None:
    """Raise if the content of a file does not follow a schema; the message names the entry.

    Examples
    --------
    >>> check_content({"share": 0.3, "seed": "x"}, HoldoutContent)
    Traceback (most recent call last):
    milpbn.errors.ModelFileError: seed: expected a whole number, found a string
    """
    try:
        msgspec.convert(content, schema)
    except msgspec.ValidationError as error:
        raise ModelFileError(_in_words(str(error))) from None
    except SystemError:  # how versions before 0.22 of msgspec fail on 10**320
        raise ModelFileError("a number is out of range") from None


def known_entries(kind: type, content: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that are fields of a dataclass; later versions may have written others."""
    return {f.name: content[f.name] for f in fields(kind) if f.name in content}


def labels_from(values: Sequence[Any], dtype: str | None) -> npt.NDArray[Any]:
    """The labels of a class variable, in the numpy type that a file names."""
    kind = np.dtype(dtype).kind if dtype is not None else "U"
    if kind not in "OUSbiuf":
        raise ModelFileError(f"labels of the type {dtype!r} cannot be read")
    # The file does not determine how many bytes a string has.
    labels = np.array(values, dtype={"U": str, "S": bytes}.get(kind, dtype))
    if len(set(labels.tolist())) < len(labels):
        raise ModelFileError("a label is listed twice")
    return labels


_PLACE = re.compile(r"(.*) - at `(?:key in )?\$\.?(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`", re.DOTALL)
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def _in_words(message: str) -> str:
    """A message of msgspec in the words of the manual."""
    match = _PLACE.fullmatch(message)
    what, place = (match[1], match[2]) if match else (message, "")
    if missing := _MISSING.fullmatch(what):
        what = f"{missing[1]!r} is missing"
    what = re.sub(r"Invalid enum value (.*)", r"\1 is not one of the known values", what)
    what = re.sub(r"`([a-z |]+)`", lambda m: _types(m[1]), what)
    what = what.replace("Number out of range", "the number is out of range")
    what = what.replace("Expected", "expected").replace("got", "found")
    return f"{place}: {what}" if place else what


def _types(names: str) -> str:
    return " or ".join(_WORDS.get(name, name) for name in names.split(" | "))
