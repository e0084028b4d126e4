"""The values that a setting may have."""

from __future__ import annotations

import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar


class Values(ABC):
    """A kind of values."""

    @property
    def content(self) -> Any:
        """The type of a value in a model file."""
        return str

    @property
    @abstractmethod
    def what(self) -> str:
        """Which values these are, for messages."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether a value in Python is one of them."""


@dataclass(frozen=True)
class Number(Values):
    """Finite numbers of at least `least`, and strictly between `above` and `below`.

    Examples
    --------
    >>> p = Number(above=0.5, below=1)
    >>> p.accepts(0.9), p.accepts(1), p.what
    (True, False, 'a number above 0.5 and below 1')
    """

    least: float = -math.inf
    above: float = -math.inf
    below: float = math.inf
    content: ClassVar[Any] = float

    @property
    def what(self) -> str:
        """See :class:`Values`."""
        words = {"of at least": self.least, "above": self.above, "below": self.below}
        limits = [f"{word} {limit:g}" for word, limit in words.items() if math.isfinite(limit)]
        return " ".join(["a number", " and ".join(limits)]).strip()

    def accepts(self, value: Any) -> bool:
        """See :class:`Values`."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number = float(value)
        return math.isfinite(number) and self.least <= number and self.above < number < self.below


class Seconds(Number):
    """A duration, which the command line writes as ``90``, ``90s``, ``5m`` or ``2h``."""


class Percentage(Number):
    """A share, which the command line also writes as ``1%``."""


@dataclass(frozen=True)
class Whole(Values):
    """Whole numbers from `least` to `most`.

    Examples
    --------
    >>> Whole(1).accepts(2), Whole(1).accepts(1.5), Whole(1).what
    (True, False, 'a whole number of at least 1')
    """

    least: int = 0
    most: int | None = None
    content: ClassVar[Any] = int

    @property
    def what(self) -> str:
        """See :class:`Values`."""
        if self.most is None:
            return f"a whole number of at least {self.least}"
        return f"a whole number from {self.least} to {self.most}"

    def accepts(self, value: Any) -> bool:
        """See :class:`Values`."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            return False
        return self.least <= int(value) <= (self.most or int(value))


class Bytes(Whole):
    """An amount of memory, which the command line writes as ``500MB`` or ``4GiB``."""


class Switch(Values):
    """True or false."""

    content = bool
    what = "True or False"

    def accepts(self, value: Any) -> bool:
        """See :class:`Values`."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class OneOf(Values):
    """The names in a registry: a mapping or a sequence, given by its module and its name."""

    module: str
    registry: str

    @property
    def names(self) -> Iterable[str]:
        """The names, in the order of the registry."""
        found: Iterable[str] = getattr(importlib.import_module(self.module), self.registry)
        return found

    @property
    def what(self) -> str:
        """See :class:`Values`."""
        return f"one of {', '.join(self.names)}"

    def accepts(self, value: Any) -> bool:
        """See :class:`Values`."""
        return isinstance(value, str) and value in tuple(self.names)


@dataclass(frozen=True)
class Text(Values):
    """Any text, such as the name of a file or a column."""

    what: ClassVar[str] = "a string"

    def accepts(self, value: Any) -> bool:
        """See :class:`Values`."""
        return isinstance(value, str)


class NewFile(Text):
    """A file that is written."""


class OldFile(Text):
    """A file that exists."""


class Anything(Values):
    """Lists, objects or None; whatever uses the setting checks them."""

    what = "a value"

    def accepts(self, value: Any) -> bool:
        """See :class:`Values`."""
        return True


@dataclass(frozen=True)
class Parsed(Anything):
    """What a function reads from a text, given by its module and its name.

    Parameters
    ----------
    module, function
        The function that reads the text.
    content
        The type in a model file.
    as_text
        Whether the command line passes on the text, in its full form.
    """

    module: str
    function: str
    content: Any = str
    as_text: bool = False

    def read(self, text: str) -> Any:
        """Read a text; an error says what is wrong with it."""
        value = getattr(importlib.import_module(self.module), self.function)(text)
        return str(value) if self.as_text else value


class ColumnList(Anything):
    """Names of columns, separated by commas in the shell."""

    what = "names of columns"


class NumbersByColumn(Anything):
    """Numbers for some columns: a dictionary, or ``income=1000,2000`` several times."""

    what = "a dictionary with lists of numbers"


class NamesByColumn(Anything):
    """Names for some columns: a dictionary, or ``size=S,M,L`` several times."""

    what = "a dictionary with lists of names"
