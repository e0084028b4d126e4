"""The table of settings: each is declared once, for Python, the shell and model files.

A setting is one entry of a typed dictionary, with its type for Python and a :class:`Setting` for
everything else. :data:`SETTINGS` has them all by name.
"""

from milpbn.settings.columns import ClassWeightNames, ColumnNames, CutNames
from milpbn.settings.declaration import Group, Setting, declared
from milpbn.settings.run import (
    LimitNames,
    MethodNames,
    ParameterNames,
    ProofNames,
    SolveOptions,
    TreeNames,
)
from milpbn.settings.score import ScoreNames
from milpbn.settings.space import BudgetNames, SpaceNames

__all__ = [
    "SETTINGS",
    "BudgetNames",
    "ClassWeightNames",
    "ColumnNames",
    "CutNames",
    "Group",
    "LimitNames",
    "MethodNames",
    "ParameterNames",
    "ProofNames",
    "ScoreNames",
    "Setting",
    "SettingNames",
    "SolveOptions",
    "SpaceNames",
    "TreeNames",
    "declared",
]


class SettingNames(
    ScoreNames,
    SpaceNames,
    MethodNames,
    ParameterNames,
    LimitNames,
    ProofNames,
    TreeNames,
    total=False,
):
    """The keywords of :func:`milpbn.make_settings`; the reference of settings has their meaning."""

    options: SolveOptions | None


SETTINGS = declared(ColumnNames, CutNames, ClassWeightNames, SettingNames)
"""All settings by name."""
