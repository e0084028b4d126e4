"""The schema of GBNC model files; see :mod:`milpbn.schema`."""

from __future__ import annotations

from typing import Annotated, Required, TypedDict

from msgspec import Meta

from milpbn.schema import (
    ColumnContent,
    Count,
    DataContent,
    Positive,
    ResultContent,
    SettingsContent,
)

Amount = Annotated[float, Meta(ge=0)]
"""A number of rows, or the sum of their weights."""


class TargetContent(TypedDict):
    """A class variable of a GBNC."""

    name: str
    classes: list[str | int | float | bool]
    dtype: str


class FeaturesContent(TypedDict):
    """The encoding of the features of a GBNC."""

    names: list[str]
    numeric: list[str]
    means: list[float]
    scales: list[float]
    categories: list[ColumnContent]
    mixed: str


class GBNCParameters(TypedDict, total=False):
    """The parameters of a GBNC classifier."""

    validation: Count | None
    max_parents: Required[Count | None]
    mixed: Required[str]
    max_discrete_parents: Required[Count | None]
    loss: Required[str]
    engine: Required[str]
    random_state: Required[Count | None]


class ConfigurationContent(TypedDict):
    """The base model of one configuration of the parents."""

    configuration: Count
    counts: list[Amount]
    base_model: Count | None


class LocalContent(TypedDict):
    """The base models of one class variable."""

    child: Count
    parents: list[Count]
    n_class_parents: Count
    cards: list[Positive]
    n_states: Positive
    frequencies: list[list[float]]
    configurations: list[ConfigurationContent]


class LogisticContent(TypedDict):
    """A logistic regression."""

    classes: list[Count]
    coefficients: list[list[float]]
    intercepts: list[float]


class BaseModelsContent(TypedDict, total=False):
    """All base models of a GBNC."""

    format: Required[str]
    models: list[LogisticContent]
    content: str


class GBNCContent(TypedDict, total=False):
    """A model file for several class variables."""

    data: Required[DataContent]
    settings: Required[SettingsContent]
    parameters: Required[GBNCParameters]
    targets: Required[list[TargetContent]]
    flat: Required[bool]
    named_features: bool
    features: Required[FeaturesContent]
    training: Required[dict[str, Count]]
    result: Required[ResultContent]
    base: str | None
    local_models: Required[list[LocalContent]]
    base_models: Required[BaseModelsContent]
