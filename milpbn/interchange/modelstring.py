"""Model strings, bnlearn's one-line notation of a graph: ``[class][a|class][b|class:a]``."""

from __future__ import annotations

import re

from milpbn.interchange.names import MODELSTRING, escape, unescape
from milpbn.structure import Structure

_PART = re.compile(r"\[([^\[\]|]*)(?:\|([^\[\]|]*))?\]")
_WHOLE = re.compile(rf"(?:\s*{_PART.pattern})+\s*")


def write_modelstring(structure: Structure) -> str:
    """The graph as a model string, in the structure's order of variables.

    Examples
    --------
    >>> write_modelstring(Structure(("class", "a", "b"), ((), (0,), (0, 1))))
    '[class][a|class][b|class:a]'
    """
    parts = []
    for name, parents in structure.to_dict().items():
        given = "|" + ":".join(escape(p, MODELSTRING) for p in parents) if parents else ""
        parts.append(f"[{escape(name, MODELSTRING)}{given}]")
    return "".join(parts)


def is_modelstring(text: str) -> bool:
    """Whether a text is a model string."""
    return _WHOLE.fullmatch(text) is not None


def parse_modelstring(text: str) -> Structure:
    """The graph that a model string describes.

    Examples
    --------
    >>> print(parse_modelstring("[class][a|class][b|class:a]"))
    class
    a <- class
    b <- class, a
    """
    parents = {}
    for match in _PART.finditer(text):
        given = match[2].split(":") if match[2] else []
        parents[unescape(match[1])] = [unescape(p) for p in given]
    return Structure.from_dict(parents)
