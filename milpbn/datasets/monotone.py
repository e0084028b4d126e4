"""Which features have a monotone effect on the class, as the user says it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from milpbn.errors import DataError, OptionError, by_name
from milpbn.messages import Message, Spelling, listed_names, option, read_list
from milpbn.words import quoted

WORDS = {"increasing": 1, "decreasing": -1}
"""What the directions are called."""

_SIGNS = {"+": "increasing", "-": "decreasing"}


def parse_monotone(given: Mapping[str, str] | None) -> dict[str, int]:
    """The direction of each feature: 1 if the higher class becomes more likely along it, or -1.

    Examples
    --------
    >>> parse_monotone({"age": "increasing", "income": "decreasing"})
    {'age': 1, 'income': -1}
    """
    out = {}
    for name, word in by_name(given or {}, option("monotone"), '{"age": "increasing"}').items():
        if word not in WORDS:
            raise OptionError(
                f"monotone: the effect of {name!r} must be {' or '.join(WORDS)}, not {word!r}"
            )
        out[str(name)] = WORDS[word]
    return out


def read_monotone(text: str) -> dict[str, str]:
    """Read the directions as they are typed.

    Examples
    --------
    >>> read_monotone("age+, income-")
    {'age': 'increasing', 'income': 'decreasing'}
    """
    try:
        items = read_list(text) or [text]
    except ValueError:
        raise OptionError(
            f"{text!r} is not a list of directions; put a feature whose name contains a comma in "
            'double quotes, with its sign: age+,"height, in cm-"'
        ) from None
    out: dict[str, str] = {}
    for item in items:
        if len(item) < 2 or item[-1] not in _SIGNS:
            raise OptionError(f"{item!r} is not a feature with a direction; write age+,income-")
        if item[:-1] in out:
            raise OptionError(f"the feature {item[:-1]!r} is named twice")
        out[item[:-1]] = _SIGNS[item[-1]]
    return out


def in_words(directions: Mapping[str, int]) -> dict[str, str]:
    """The inverse of :func:`parse_monotone`."""
    words = {direction: word for word, direction in WORDS.items()}
    return {name: words[direction] for name, direction in directions.items()}


def as_typed(directions: Mapping[str, int]) -> str:
    """The directions as the command line takes them.

    Examples
    --------
    >>> as_typed({"age": 1, "income": -1})
    'age+,income-'
    """
    return listed_names([f"{name}{'+' if d > 0 else '-'}" for name, d in directions.items()])


def check_monotone(where: str, directions: Mapping[str, int], features: Iterable[str]) -> None:
    """Raise an error if a feature does not exist."""
    names = list(map(str, features))
    for name in directions:
        if name not in names:
            told = f": there is no feature {name!r}; the features are {quoted(names)}"
            raise DataError(Message(f"{where}: ", Spelling("monotone", "--monotone"), told))
