r"""Reversible escaping of names for formats that allow only some characters.

A character that a format does not allow becomes ``_xHHHH_``, its code in hexadecimal, as in
spreadsheet files (ECMA-376, ``ST_Xstring``). If a name itself contains such an escape, its
underscore is escaped, so :func:`unescape` restores every name exactly.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_ESCAPE = re.compile(r"_x([0-9A-F]{4,6})_")
_LOOKS_ESCAPED = r"_(?=x[0-9A-F]{4})"
_EMPTY = "_x_"

_NUMBER = r"-?[0-9.]+(?:e[+-]?[0-9]+)?"
_INTERVALS = (
    (re.compile(rf"\(-inf, ({_NUMBER})\]"), "up_to_{}"),
    (re.compile(rf"\(({_NUMBER}), ({_NUMBER})\]"), "from_{}_to_{}"),
    (re.compile(rf"\(({_NUMBER}), inf\)"), "above_{}"),
)
_IN_NUMBER = re.compile(r"\+")
_WORD_NUMBER = _NUMBER.replace("[+-]?", r"(?:\+|_x002B_|-)?")
_IN_WORDS = re.compile(
    f"up_to_({_WORD_NUMBER})|from_({_WORD_NUMBER})_to_({_WORD_NUMBER})|above_({_WORD_NUMBER})"
)

WORD = re.compile(rf"{_LOOKS_ESCAPED}|[^A-Za-z0-9_.-]|^[0-9.-]")
"""What a word of BIF cannot contain: it consists of letters, digits and ``_.-``, and begins with a
letter or an underscore."""

WORD_OR_NUMBER = re.compile(rf"{_LOOKS_ESCAPED}|[^A-Za-z0-9_.-]|^(?![0-9]+\Z)[0-9.-]")
"""The same for states of BIF, which may be whole numbers too."""

IDENTIFIER = re.compile(rf"{_LOOKS_ESCAPED}|[^A-Za-z0-9_]|^[0-9]")
"""What an identifier of NET cannot contain."""

QUOTED = re.compile(rf"{_LOOKS_ESCAPED}|[^A-Za-z0-9_.<>=+-]")
"""What a quoted state of NET should not contain: Hugin allows more, other readers do not."""

_INVISIBLE = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]"
_OUTER_BLANK = r"^\s|\s\Z|(?<=\s)\s"

XML = re.compile(rf"{_LOOKS_ESCAPED}|{_INVISIBLE}|{_OUTER_BLANK}")
"""What XML cannot contain, and the blanks that its readers trim or merge."""

MODELSTRING = re.compile(rf"{_LOOKS_ESCAPED}|[\[\]|:]|{_INVISIBLE}|{_OUTER_BLANK}")
"""What has a special meaning in a model string."""

JKL = re.compile(rf"{_LOOKS_ESCAPED}|\s|^#|{_INVISIBLE}")
"""What separates names in a file of local scores."""


def escape(name: str, unsafe: re.Pattern[str], keywords: Collection[str] = ()) -> str:
    r"""Escape what `unsafe` matches in a name, or the first letter of a keyword.

    Examples
    --------
    >>> escape("petal length", WORD)
    'petal_x0020_length'
    >>> escape("table", WORD, {"table"})
    '_x0074_able'
    """
    if name in ("", _EMPTY):
        return _EMPTY if name == "" else "_x005F_x_"
    if name.lower() in keywords:
        return _code(name[0]) + name[1:]
    return unsafe.sub(lambda match: _code(match[0]), name)


def state_word(state: str, unsafe: re.Pattern[str], keywords: Collection[str] = ()) -> str:
    """Escape a state; an interval becomes words that people can read.

    A state that already looks like such words is escaped, so that :func:`state_of` restores every
    state exactly.

    Examples
    --------
    >>> state_word("(-inf, 2.45]", WORD), state_word("(2.45, 4.75]", WORD)
    ('up_to_2.45', 'from_2.45_to_4.75')
    >>> state_word("above_7", WORD)
    '_x0061_bove_7'
    """
    if _IN_WORDS.fullmatch(state):
        return _code(state[0]) + escape(state[1:], unsafe)
    for interval, words in _INTERVALS:
        if found := interval.fullmatch(state):
            return words.format(*(escape(end, _IN_NUMBER) for end in found.groups()))
    return escape(state, unsafe, keywords)


def state_of(text: str) -> str:
    """The state that :func:`state_word` has written.

    Examples
    --------
    >>> state_of("from_2.45_to_4.75"), state_of("_x0061_bove_7")
    ('(2.45, 4.75]', 'above_7')
    """
    found = _IN_WORDS.fullmatch(text)
    if not found:
        return unescape(text)
    below, low, high, above = (unescape(end) if end else "" for end in found.groups())
    if below:
        return f"(-inf, {below}]"
    return f"({above}, inf)" if above else f"({low}, {high}]"


def unescape(text: str) -> str:
    """The original name of a name that :func:`escape` changed.

    Examples
    --------
    >>> unescape("petal_x0020_length")
    'petal length'
    """
    if text == _EMPTY:
        return ""
    return _ESCAPE.sub(_character, text)


def _code(character: str) -> str:
    return f"_x{ord(character):04X}_"


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code <= 0x10FFFF else match[0]
