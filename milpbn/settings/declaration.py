"""What is declared about a setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, get_args

from milpbn.errors import OptionError
from milpbn.messages import Message, Spelling, option
from milpbn.settings.values import Switch, Values


class OptionGroup(Enum):
    """The groups of options, in the order of help texts."""

    DATA = "Data"
    SCORE = "Score"
    METHOD = "Method"
    SPACE = "Search space"
    SELECTION = "Selection of settings"
    PARAMETERS = "Parameters"
    PROOF = "Proof"
    PROTOCOL = "Protocol"
    CONTENT = "Content"
    LIMITS = "Limits and processes"
    OUTPUT = "Output"
    HELP = "Help"


@dataclass(frozen=True)
class Setting:
    """A setting of a run.

    Everything else follows from this: the option and its place in help texts, the check of values
    in Python, what can be selected by validation, the entry in model files, and the reference.

    Attributes
    ----------
    group
        Where help texts and the reference show it.
    values
        Which values it may have.
    help
        What it does, for every face. ``{name}`` is another setting in the spelling of the face,
        ``{scores}`` are the scores that have this setting; other words in braces are registries,
        see :mod:`milpbn.cli.registries`.
    default
        The value if none is given.
    shown
        The default in words, if it depends on other things or is written in another way.
    optional
        Whether None is a value, too, even if the default is another one.
    rare
        Whether only ``--help-all`` describes the option.
    selectable
        Whether validation can choose among several values.
    flags
        The option, if it is not two dashes and the name; empty if there is none.
    metavar
        The value in help texts, for options whose value has a form of its own.
    parameter
        The parameter of the estimators, if it is not the name; empty if there is none.
    needs
        What an engine must be able to do for it, see :class:`~milpbn.learning.methods.Engine`.
    old
        Former names, which work for one release, with a note.
    name
        Its name in Python, in files and, with dashes, in the shell.
    """

    group: OptionGroup
    values: Values
    help: str
    default: Any = None
    shown: str = ""
    optional: bool = False
    rare: bool = False
    selectable: bool = False
    flags: str | None = None
    metavar: str | None = None
    parameter: str | None = None
    needs: str = ""
    old: tuple[str, ...] = ()
    name: str = ""

    @property
    def flag(self) -> str:
        """The option as it is declared; empty if there is none."""
        return dashed(self.name) if self.flags is None else self.flags

    @property
    def of_estimator(self) -> str:
        """The parameter of the estimators; empty if there is none."""
        return self.name if self.parameter is None else self.parameter

    @property
    def spelling(self) -> Spelling:
        """The name in Python and on the command line."""
        return option(self.name, flag=self.flag.partition("/")[0].removeprefix("--"))

    def shown_default(self, value: Any) -> str:
        """A default value on the command line; empty if there is none."""
        if isinstance(self.values, Switch):
            named = [flag.removeprefix("--") for flag in self.flag.split("/")]
            return named[0 if value else -1] if len(named) > 1 else ""
        return "" if value in (None, ()) else str(value)

    def check(self, value: Any, called: str | Spelling | None = None) -> None:
        """Raise an error if a value in Python is wrong; `called` is how the user calls it.

        Examples
        --------
        >>> from milpbn.settings.values import Whole
        >>> threads = Setting(OptionGroup.LIMITS, Whole(1), "Number of threads.", 1, name="threads")
        >>> threads.check(0)
        Traceback (most recent call last):
        milpbn.errors.OptionError: threads must be a whole number of at least 1, not 0
        """
        if value is None and (self.optional or self.default is None):
            return
        if not self.values.accepts(value):
            told = f" must be {self.values.what}, not {value!r}"
            raise OptionError(Message(called or self.spelling, told))


def declared(*names: type) -> dict[str, Setting]:
    """The settings in typed dictionaries, by name.

    Examples
    --------
    >>> from typing import Annotated, TypedDict
    >>> from milpbn.settings.values import Whole
    >>> threads = Setting(OptionGroup.LIMITS, Whole(1), "Number of threads.", 1)
    >>> Names = TypedDict("Names", {"threads": Annotated[int, threads]})
    >>> declared(Names)["threads"].flag
    '--threads'
    """
    annotations: Mapping[str, Any] = {
        k: v for kind in names for k, v in kind.__annotations__.items()
    }
    return {
        name: replace(one, name=name)
        for name, annotation in annotations.items()
        for one in get_args(annotation)
        if isinstance(one, Setting)
    }


def dashed(name: str) -> str:
    """A name as an option."""
    return f"--{name.replace('_', '-')}"
