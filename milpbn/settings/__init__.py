"""The table of settings: each is declared once, for Python, the shell and model files.

A setting is one entry of a typed dictionary, with its type for Python and a :class:`Setting` for
everything else. :data:`SETTINGS` has them all by name.
"""

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from milpbn.settings.columns import ClassWeightNames, ColumnNames, CutNames, FileNames, StateNames
from milpbn.settings.declaration import OptionGroup, Setting, declared
from milpbn.settings.run import (
    LimitNames,
    MethodNames,
    ParameterNames,
    ProofNames,
    SolveOptions,
    TreeNames,
)
from milpbn.settings.score import ScoreNames, SmoothingNames
from milpbn.settings.space import BudgetNames, SpaceNames

__all__ = [
    "RUN_SETTINGS",
    "SETTINGS",
    "BudgetNames",
    "ClassWeightNames",
    "ColumnNames",
    "CutNames",
    "FileNames",
    "LimitNames",
    "MethodNames",
    "OptionGroup",
    "ParameterNames",
    "ProofNames",
    "ScoreNames",
    "Setting",
    "SettingNames",
    "SmoothingNames",
    "SolveOptions",
    "SpaceNames",
    "StateNames",
    "TreeNames",
    "check_settings",
    "chosen_states",
    "declared",
    "renamed",
]


class SettingNames(
    ScoreNames,
    SpaceNames,
    MethodNames,
    ParameterNames,
    LimitNames,
    ProofNames,
    TreeNames,
    StateNames,
    total=False,
):
    """The keywords of :func:`milpbn.make_settings`; the reference of settings has their meaning."""

    options: SolveOptions | None


RUN_SETTINGS = {n: s for n, s in declared(SettingNames).items() if n not in declared(StateNames)}
"""The settings of a run on encoded rows, by name."""

SETTINGS = declared(SettingNames, ColumnNames, CutNames, ClassWeightNames)
"""All settings by name."""


def check_settings(
    names: Mapping[str, Any], called: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Raise an error for a wrong value; `called` are other names that the user knows.

    Examples
    --------
    >>> check_settings({"gap": -1})
    Traceback (most recent call last):
    milpbn.errors.OptionError: gap must be a number of at least 0, not -1
    """
    for name, value in names.items():
        if name in SETTINGS:
            SETTINGS[name].check(value, called.get(name))


def renamed(names: Mapping[str, Any], *, warn: bool = True) -> dict[str, Any]:
    """The settings by their names; former names work for one release, with a warning.

    Files keep their former names without one.

    Examples
    --------
    >>> renamed({"p": 0.9})
    {'p': 0.9}
    """
    new = {old: name for name, one in SETTINGS.items() for old in one.old}
    for old in names:
        if old in new and warn:
            told = f"the setting {old} is now called {new[old]}"
            warnings.warn(told, DeprecationWarning, stacklevel=4)
    return {new.get(name, name): value for name, value in names.items()}


def chosen_states(names: Mapping[str, Any]) -> StateNames:
    """Those of some settings that say which states columns become."""
    return cast("StateNames", {name: names[name] for name in declared(StateNames) if name in names})
