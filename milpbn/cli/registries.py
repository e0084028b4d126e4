"""Choices and help texts that come from the registries of scores, methods and formats.

Registries are slow to import, so they are read only when a help text is shown or a value is
checked; ``milpbn --help`` does neither.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.grouping import Command
from milpbn.settings import SETTINGS, Setting

if TYPE_CHECKING:
    from milpbn.scores import Score

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice


class Registered(_Choice):
    """A choice among the names of a registry.

    Parameters
    ----------
    names
        Returns the names, in the order of the help text.

    Examples
    --------
    >>> Registered(registry("milpbn.learning.methods", "ENGINES")).choices
    ('branch-and-cut', 'monolithic')
    """

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self._names = names
        self.case_sensitive = True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The current names."""
        return tuple(self._names())


class RegistryCommand(Command):
    """A command whose docstring has placeholders, filled in when it is shown.

    Parameters
    ----------
    places
        For each placeholder, such as ``{methods}``, the function that returns its lines.
    """

    def __init__(
        self, *args: Any, places: Mapping[str, Callable[[], Iterable[str]]], **attributes: Any
    ) -> None:
        self._places = places
        super().__init__(*args, **attributes)

    @property
    def help(self) -> str | None:
        """The help text, with the placeholders filled in."""
        text = self._text
        for place, lines in self._places.items():
            text = text.replace(f"  {place}", "\n".join(f"  {line}" for line in lines()))
        return text

    @help.setter
    def help(self, value: str | None) -> None:
        self._text = inspect.cleandoc(value or "")


def registry(module: str, name: str) -> Callable[[], Iterable[str]]:
    """A function that returns the names of a registry: a mapping or sequence of a module."""

    def names() -> Iterable[str]:
        found: Iterable[str] = getattr(importlib.import_module(module), name)
        return found

    return names


def learner_lines() -> list[str]:
    """The heuristics with their titles."""
    from milpbn.search import LEARNERS, make_learner

    return _table({name: make_learner(name).title for name in LEARNERS})


def multinet_lines() -> list[str]:
    """The multinet learners with their titles."""
    from milpbn.search.multinet import MULTINETS

    return _table(MULTINETS)


def _table(titles: Mapping[str, str]) -> list[str]:
    return [f"{name:<14}{title}" for name, title in titles.items()]


def parameter_learners() -> str:
    """The parameter learners, separated by commas."""
    from milpbn.parameters import PARAMETERS

    return ", ".join(PARAMETERS)


def base_models() -> str:
    """The kinds of base models, separated by commas."""
    from milpbn.mdc.base_estimators import BASES

    return ", ".join(BASES)


def criteria() -> str:
    """What settings can be selected by, separated by commas."""
    from milpbn.selection.criteria import CRITERIA

    return ", ".join(CRITERIA)


def default_classifiers() -> str:
    """The classifiers that `missing-curve` compares, separated by commas."""
    from milpbn.evaluation.missing_curve import DEFAULT_CLASSIFIERS

    return ", ".join(DEFAULT_CLASSIFIERS)


def on_command_line(setting: Setting) -> str:
    """The option of a setting."""
    return setting.spelling.on_command_line()


def methods() -> str:
    """Everything that learns a structure, separated by commas."""
    from milpbn.learning.methods import METHODS

    return ", ".join(METHODS)


def help_text(setting: Setting, spell: Callable[[Setting], str] = on_command_line) -> str:
    """The help text of a setting, which may name other settings and what is in a registry."""

    class Places(dict[str, str]):
        def __missing__(self, word: str) -> str:
            if word == "scores":
                return scores_with(setting.name)
            return spell(SETTINGS[word]) if word in SETTINGS else _LISTS[word]()

    return setting.help.format_map(Places())


def exact_scores() -> str:
    """The scores that can be maximised exactly, each with its other names."""
    return _scores(lambda s: s.exact)


def all_scores() -> str:
    """All scores: those that can be maximised exactly, then those for heuristics only."""
    return f"{exact_scores()}; with heuristics also {_scores(lambda s: not s.exact)}"


def _scores(where: Callable[[type[Score]], bool]) -> str:
    from milpbn.scores import SCORES

    return ", ".join(
        f"{s.name} (= {', '.join(s.aliases)})" if s.aliases else s.name
        for s in SCORES.values()
        if where(s)
    )


def scores_with(setting: str) -> str:
    """The scores that have a setting, separated by commas."""
    from milpbn.scores import score_names

    return ", ".join(score_names(lambda s: setting in s.parameter_names()))


def generative_scores() -> str:
    """The generative scores, separated by commas."""
    from milpbn.scores import score_names

    return ", ".join(score_names(lambda s: s.generative))


def decomposable_scores() -> Iterable[str]:
    """The scores that are sums over families, with their other names."""
    from milpbn.scores import score_names

    return score_names(lambda s: s.decomposable, aliases=True)


_LISTS = {
    "known_scores": all_scores,
    "exact_scores": exact_scores,
    "penalised_scores": lambda: scores_with("penalty"),
    "scores_with_p": lambda: scores_with("p"),
    "generative_scores": generative_scores,
    "methods": methods,
    "parameter_learners": parameter_learners,
}
