"""Numbers and names in sentences."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise


def count(number: int, what: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {what}" + ("s" if number != 1 else "")


def quoted(names: Iterable[object], limit: int = 20) -> str:
    """Names in quotation marks, separated by commas; at most `limit` of them.

    Examples
    --------
    >>> print(quoted(["age", "body mass", "zip"], limit=2))
    'age', 'body mass' and 1 more
    """
    listed = [repr(name) for name in names]
    more = len(listed) - limit
    return ", ".join(listed[:limit]) + (f" and {more} more" if more > 0 else "")


def name_in_list(name: str) -> str:
    r"""A name as an item of a list: in double quotes if it could be misread.

    Examples
    --------
    >>> [name_in_list(name) for name in ("age", "a, b", "two\nlines", "größe")]
    ['age', '"a, b"', '"two\\nlines"', 'größe']
    """
    plain = name.isprintable() and name == name.strip() and name
    if plain and not any(mark in name for mark in (",", '"', "<-", "->")):
        return name
    shown = escaped(name.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{shown}"'


def arc_in_list(parent: str, child: str) -> str:
    """An arc as an item of a list.

    Examples
    --------
    >>> arc_in_list("age", "a, b")
    'age -> "a, b"'
    """
    return f"{name_in_list(parent)} -> {name_in_list(child)}"


def escaped(text: str) -> str:
    r"""A text with escape sequences instead of control characters.

    Examples
    --------
    >>> print(escaped("\x1b[31mred"))
    \x1b[31mred
    """
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


# Characters that move the cursor, start a terminal's commands or reverse the order of letters.
_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""A text for a terminal: lines and tabs stay, other control characters are escaped.

    Names and labels come from files, and a terminal would obey the sequences in them.

    Examples
    --------
    >>> print(visible("age\x1b[2J\u202e"))
    age\x1b[2J\u202e
    """
    return _UNSAFE.sub(lambda match: escaped(match[0]), text)


def between_cuts(cuts: Sequence[float]) -> list[str]:
    """Names of the intervals between cuts; their ends are rounded as long as they stay distinct.

    Examples
    --------
    >>> between_cuts((10.0, 12.5))
    ['<= 10', '10 to 12.5', '> 12.5']
    """
    ends = [f"{cut:.10g}" for cut in cuts]
    if len(set(ends)) < len(ends):
        ends = [repr(float(cut)) for cut in cuts]
    middle = [f"{low} to {high}" for low, high in pairwise(ends)]
    return [f"<= {ends[0]}", *middle, f"> {ends[-1]}"]


def memory(size: float) -> str:
    """A number of bytes, for people.

    Examples
    --------
    >>> memory(3.5 * 2**30), memory(50e6), memory(800)
    ('3.5 GiB', '47.7 MiB', '800 bytes')
    """
    units = ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)
    return next((f"{size / b:.1f} {unit}" for unit, b in units if size >= b), f"{size:.0f} bytes")


def probability(p: float, digits: int = 4) -> str:
    """A probability with so many digits; a prediction is never certain.

    Examples
    --------
    >>> probability(0.25), probability(0.99999), probability(0.00001)
    ('0.2500', '> 0.9999', '< 0.0001')
    """
    least = 10**-digits
    if least / 2 <= p < 1 - least / 2:
        return f"{p:.{digits}f}"
    return f"> {1 - least:.{digits}f}" if p > 0.5 else f"< {least:.{digits}f}"


def assignment(name: str, state: str) -> str:
    """A variable and its state, which may be an interval of :func:`between_cuts`.

    Examples
    --------
    >>> assignment("cp", "4"), assignment("age", "> 54.5")
    ('cp = 4', 'age > 54.5')
    """
    return f"{name} {state}" if state.startswith(("<= ", "< ", "> ")) else f"{name} = {state}"
