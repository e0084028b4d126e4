"""The errors and warnings of milpbn. Each message says what is wrong, where, and what to do.

Only :class:`MilpbnError` and its subclasses are meant to reach a user; the command
line prints them without a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from milpbn.messages import Message, Spelling


class MilpbnError(Exception):
    """Base class of all errors that milpbn raises on purpose."""

    def on_command_line(self) -> str:
        """The message with options as they are typed; ``str`` spells them for Python."""
        return self._message().on_command_line()

    def at(self, place: str) -> Self:
        """The same error, with the place where it occurred in front of the message."""
        return type(self)(Message(f"{place}: ", self._message()))

    def _message(self) -> Message:
        told = self.args[0] if len(self.args) == 1 else None
        return told if isinstance(told, Message) else Message(str(self))


class DataError(MilpbnError, ValueError):
    """A file, a table or a column cannot be used as it is."""


class OptionError(MilpbnError, ValueError):
    """A parameter or an option has an invalid value."""


class OutputError(OptionError):
    """A file cannot be written."""


class ConstraintError(MilpbnError, ValueError):
    """The structural constraints contradict each other or the search space."""


# MemoryError has its own __new__ and must come first: Dask's workers call it on unpickling.
class BudgetError(MemoryError, MilpbnError):
    """The problem does not fit into the memory budget."""


class ProofWarning(UserWarning):
    """An exact run goes on without a proof; the message says why, and what would help."""


class CacheWarning(UserWarning):
    """Compiled code cannot be stored, so it is compiled again in every process."""


class ClusterWarning(UserWarning):
    """Worker processes cannot be used any more; the result so far is returned."""


class DataWarning(UserWarning):
    """What was decided about the columns and rows of a table; the message names the way out."""


class FontWarning(UserWarning):
    """A picture shows boxes because no installed font has some characters of a name."""


class OutputWarning(UserWarning):
    """A file cannot be written; what it should have contained is still computed and returned."""


class ModelFileError(MilpbnError, ValueError):
    """A model file is damaged, truncated, of another kind, or of an unknown version."""


class CertificateError(MilpbnError, ValueError):
    """A certificate does not prove what it claims, or is about something else."""


class SolverError(MilpbnError, RuntimeError):
    """The solver failed, or its answer does not hold when checked."""


class TimeLimitError(MilpbnError):
    """The time limit was reached before there was anything to return."""


def by_name(given: object, what: str | Spelling, example: str) -> Mapping[Any, Any]:
    """The argument if it is a mapping, such as a dictionary.

    Examples
    --------
    >>> by_name("a+", "monotone", '{"a": "increasing"}')
    Traceback (most recent call last):
    milpbn.errors.OptionError: monotone must be a dictionary such as {"a": "increasing"}, not 'a+'
    """
    if not isinstance(given, Mapping):
        raise OptionError(Message(what, f" must be a dictionary such as {example}, not {given!r}"))
    return given
