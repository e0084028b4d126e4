"""Messages that name options: as parameters in Python, with dashes on the command line."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Self


@dataclass(frozen=True)
class Spelling:
    """One thing that has two names.

    Attributes
    ----------
    python
        What Python calls it.
    command_line
        What the command line calls it.
    """

    python: str
    command_line: str

    def __str__(self) -> str:
        return self.python

    def on_command_line(self) -> str:
        """The name on the command line."""
        return self.command_line


def option(
    name: str, value: str | Sequence[str] | bool | None = None, *, flag: str = ""
) -> Spelling:
    """An option, with or without a value.

    Parameters
    ----------
    name
        The parameter in Python.
    value
        A string, several strings, or True for an option that takes no value; None to mention
        the option alone.
    flag
        The option without its dashes, if it is not the parameter's name.

    Examples
    --------
    >>> option("missing", "state")
    Spelling(python="missing='state'", command_line='--missing state')
    >>> option("numeric", ["age", "body mass"]).command_line
    "--numeric 'age,body mass'"
    >>> print(option("drop", ["name, given", "zip"]).command_line)
    --drop '"name, given",zip'
    >>> option("class_root", True).command_line, option("drop").command_line
    ('--class-root', '--drop')
    """
    dashed = "--" + (flag or name).replace("_", "-")
    if value is None:
        return Spelling(name, dashed)
    if isinstance(value, bool):
        return Spelling(f"{name}={value}", dashed)
    if isinstance(value, str):
        return Spelling(f"{name}={value!r}", f"{dashed} {_in_a_shell(value)}")
    listed = listed_names(value)
    return Spelling(f"{name}={list(value)}", f"{dashed} {_in_a_shell(listed)}")


def listed_names(names: Sequence[str]) -> str:
    """Names as the command line lists them: separated by commas, in quotes if they have one.

    Examples
    --------
    >>> print(listed_names(["id", "name, given"]))
    id,"name, given"
    """
    return ",".join(map(_in_a_list, names))


def read_list(text: str) -> list[str]:
    """The inverse of :func:`listed_names`; raises ValueError if quotes do not match.

    Examples
    --------
    >>> read_list('id, "name, given"')
    ['id', 'name, given']
    """
    try:
        rows = list(csv.reader(StringIO(text), skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from error
    return [item.strip() for row in rows for item in row if item.strip()]


def _in_a_shell(text: str) -> str:
    """A text as it is typed in a shell; control characters must not reach the terminal."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + repr(text)[1:-1].replace("\\'", "'").replace("'", "\\'") + "'"


def _in_a_list(name: str) -> str:
    """A name as an item of a list that is separated by commas."""
    plain = not any(mark in name for mark in ',"\n\r') and name == name.strip()
    return name if plain else '"' + name.replace('"', '""') + '"'


class Message(str):
    """A text for Python users that also knows its form for the command line.

    Parameters
    ----------
    parts
        Texts, spellings and messages, which are joined.

    Examples
    --------
    >>> message = Message("use ", option("missing", "state"), " instead")
    >>> message
    "use missing='state' instead"
    >>> message.on_command_line()
    'use --missing state instead'
    """

    _parts: tuple[str | Spelling, ...]

    def __new__(cls, *parts: str | Spelling) -> Self:
        """Join the parts."""
        message = super().__new__(cls, "".join(map(str, parts)))
        message._parts = parts
        return message

    def __getnewargs__(self) -> tuple[str | Spelling, ...]:  # type: ignore[override]
        return self._parts

    def on_command_line(self) -> str:
        """The text with options as they are typed."""
        return "".join(map(on_command_line, self._parts))


def on_command_line(text: str | Spelling) -> str:
    """What the command line prints for a text, which need not be a :class:`Message`."""
    return text.on_command_line() if isinstance(text, Message | Spelling) else text
