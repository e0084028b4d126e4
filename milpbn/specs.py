"""Names with settings in one string, such as ``cl:penalty=0.1,method=cg``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from typing import Any, ClassVar, TypeVar

from milpbn.errors import OptionError

AUTO = "auto"
"""How a setting that validation chooses (None in Python) is written."""


@dataclass(frozen=True)
class Specified:
    """Something with a name and settings; ``str`` gives the form that :func:`read_specified` reads.

    The settings are the fields of the class. A trailing underscore is not part of the name of
    a setting.
    """

    name: ClassVar[str]

    def __str__(self) -> str:
        given = [
            f"{f.name.rstrip('_')}={AUTO if value is None else value}"
            for f in fields(self)
            if (value := getattr(self, f.name)) != f.default or f.default is MISSING
        ]
        return self.name + (":" + ",".join(given) if given else "")


Kind = TypeVar("Kind", bound=Specified)

_READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "float | None": lambda text: None if text == AUTO else float(text),
    "str": str,
}


def read_specified(text: str, what: str, kinds: Mapping[str, type[Kind]]) -> Kind:
    """Read ``NAME`` or ``NAME:SETTING=VALUE,...``.

    Parameters
    ----------
    text
        The string.
    what
        What is read, for messages.
    kinds
        The classes by name; types of settings are int, float, float or None, and str.
    """
    name, _, given = text.partition(":")
    if name not in kinds:
        near = get_close_matches(name, kinds, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise OptionError(f"unknown {what} {text!r}; {hint}known ones: {', '.join(kinds)}")
    kind = kinds[name]
    parts = (part.strip() for part in given.split(","))
    return kind(**dict(_setting(what, kind, part) for part in parts if part))


def _setting(what: str, kind: type[Specified], part: str) -> tuple[str, Any]:
    key, equals, value = (piece.strip() for piece in part.partition("="))
    known = {f.name.rstrip("_"): f for f in fields(kind)}
    if not equals or key not in known:
        names = ", ".join(known) or "none"
        raise OptionError(
            f"{what} {kind.name}: {part!r} is not a setting; write name=value with one of: {names}"
        )
    found = known[key]
    try:
        return found.name, _READERS[str(found.type)](value)
    except ValueError:
        wanted = {"int": "a whole number", "float | None": f"a number or {AUTO}"}
        raise OptionError(
            f"{what} {kind.name}: {key} needs {wanted.get(str(found.type), 'a number')}, not "
            f"{value!r}"
        ) from None
