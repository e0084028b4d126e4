"""Notes about columns: one sentence for each kind of decision, however many columns it concerns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from milpbn.messages import Message, Spelling, option

# A note lists at most this many columns.
_LISTED = 10


@dataclass(frozen=True)
class Kind:
    """The words of one kind of note.

    Attributes
    ----------
    one
        What is said of one column; ``{}`` is the detail.
    many
        What is said of several columns; their details follow the names.
    option
        The option that overrules the decision, or "".
    effect
        What this option does, for one column and for several.
    """

    one: str
    many: str
    option: str = ""
    effect: tuple[str, str] = (" keeps it", " keeps them")


KINDS: Mapping[str, Kind] = {
    "empty": Kind(" is dropped: it has no values", "are dropped because they have no values"),
    "constant": Kind(
        " is dropped: {} is its only value", "are dropped because they have only one value"
    ),
    "row number": Kind(
        " is dropped: it counts up or down like a row number",
        "are dropped because they count up or down like row numbers",
        "numeric",
    ),
    "numeric identifier": Kind(
        " is dropped: its name and its {} suggest an identifier",
        "are dropped because their names and values suggest identifiers",
        "numeric",
    ),
    "identifier": Kind(
        " is dropped: it has {}, like an identifier",
        "are dropped because they look like identifiers",
        "categorical",
    ),
    "same numbers": Kind(
        " is dropped: it has the same values as {}",
        "are dropped because they repeat other columns",
        "numeric",
    ),
    "same categories": Kind(
        " is dropped: it has the same values as {}",
        "are dropped because they repeat other columns",
        "categorical",
    ),
    "same moments": Kind(
        " is dropped: it has the same values as {}",
        "are dropped because they repeat other columns",
    ),
    "few numbers": Kind(
        " has only {} different numbers and is read as categories",
        "have few different numbers and are read as categories",
        "numeric",
        (" keeps it numeric", " keeps them numeric"),
    ),
    "mostly numbers": Kind(
        " holds {}, so it is not numeric",
        "hold numbers and other values, so they are not numeric",
        "numeric",
        (" treats the other values as missing",) * 2,
    ),
    "not a number": Kind(": {}", "have values that are not numbers, which are treated as missing"),
    "numbers": Kind(
        " is read as numbers ({})",
        "are read as numbers",
        "categorical",
        (" reads it as categories", " reads them as categories"),
    ),
    "truth": Kind(
        " spells yes and no as {} and is read as True and False",
        "spell yes and no in several ways and are read as True and False",
        "categorical",
        (" keeps the spellings apart",) * 2,
    ),
    "many states": Kind(
        " has {} different values; the rare ones are pooled into the state 'other'",
        "have many different values; the rare ones are pooled into the state 'other'",
        "max_states",
        (" sets the limit",) * 2,
    ),
    "dates": Kind(
        " holds dates and is replaced by {}",
        "hold dates and are replaced",
        "dates",
        (" leaves it out", " leaves them out"),
    ),
    "times": Kind(
        " holds times and is read as a number of {}",
        "hold times and are read as numbers",
        "dates",
        (" leaves it out", " leaves them out"),
    ),
    "dates dropped": Kind(
        " is dropped: it holds {}",
        "are dropped because they hold dates or times",
        "dates",
        (" reads it as numbers", " reads them as numbers"),
    ),
    "not a date": Kind(": {}", "have values that are not dates, which are treated as missing"),
}
"""The kinds of notes, in the order in which they are printed."""

# The value that overrules the decision, where it does not list the columns.
_VALUES = {"dates": "drop", "times": "drop", "dates dropped": "expand", "many states": ""}


@dataclass(frozen=True)
class Note:
    """One decision about one column."""

    kind: str
    column: str
    detail: str = ""


@dataclass(frozen=True)
class Names:
    """How Python calls the options that notes mention, where it is not by their own names.

    Attributes
    ----------
    parameters
        Options that have another name.
    drops
        Whether an option leaves out columns.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    drops: bool = True

    def option(self, name: str, value: list[str] | str | None = None) -> Spelling:
        """The option with a value, spelled for Python and for the command line."""
        return option(self.parameters.get(name, name), value, flag=name.replace("_", "-"))


def grouped(where: str, notes: Iterable[Note], names: Names) -> list[str]:
    """One sentence per kind of note.

    Examples
    --------
    >>> notes = [Note("constant", "unit", "'cm'"), Note("row number", "n")]
    >>> for sentence in grouped("toy", [*notes, Note("constant", "currency", "'EUR'")], Names()):
    ...     print(sentence)
    toy: 2 columns are dropped because they have only one value: 'unit' ('cm'), 'currency' ('EUR').
    toy: column 'n' is dropped: it counts up or down like a row number; numeric=['n'] keeps it.
    """
    by_kind: dict[str, list[Note]] = {}
    for note in notes:
        by_kind.setdefault(note.kind, []).append(note)
    return [_sentence(where, by_kind[kind], names) for kind in KINDS if kind in by_kind]


def _sentence(where: str, notes: list[Note], names: Names) -> Message:
    kind, columns = KINDS[notes[0].kind], [note.column for note in notes]
    if len(notes) == 1:
        told = f"column {columns[0]!r}{kind.one.format(notes[0].detail)}"
    else:
        told = f"{len(notes)} columns {kind.many}: {_list(notes)}"
    if not kind.option:
        return Message(f"{where}: {told}.")
    listed = columns if len(columns) <= _LISTED else None
    value = _VALUES.get(notes[0].kind, listed) or None
    effect = kind.effect[len(notes) > 1]
    return Message(f"{where}: {told}; ", names.option(kind.option, value), f"{effect}.")


def _list(notes: list[Note]) -> str:
    shown = [
        f"{note.column!r} ({note.detail})" if note.detail else repr(note.column)
        for note in notes[:_LISTED]
    ]
    more = len(notes) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
