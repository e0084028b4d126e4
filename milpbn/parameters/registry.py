"""Parameter learners by name, with settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from milpbn.errors import OptionError
from milpbn.parameters.base import Parameters
from milpbn.parameters.cl import ConditionalLikelihood
from milpbn.parameters.ml import MaximumLikelihood
from milpbn.parameters.mm import MaximumMargin

PARAMETERS: dict[str, type[Parameters]] = {
    p.name: p for p in (MaximumLikelihood, ConditionalLikelihood, MaximumMargin)
}

_READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "float | None": float,
    "str": str,
}


def make_parameters(text: str | Parameters) -> Parameters:
    """Read ``ml``, ``cl``, ``mm``, or one with settings: ``cl:penalty=0.1,method=cg``.

    Examples
    --------
    >>> make_parameters("cl").title
    'maximum conditional likelihood'
    >>> str(make_parameters("mm:lambda=0.5,folds=5"))
    'mm:lambda=0.5'
    """
    if isinstance(text, Parameters):
        return text
    name, _, given = str(text).partition(":")
    if name not in PARAMETERS:
        near = get_close_matches(name, PARAMETERS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise OptionError(f"unknown parameters {text!r}; {hint}known ones: {', '.join(PARAMETERS)}")
    kind = PARAMETERS[name]
    settings = dict(_setting(kind, part.strip()) for part in given.split(",") if part.strip())
    return kind(**settings)


def _setting(kind: type[Parameters], part: str) -> tuple[str, Any]:
    key, equals, value = part.partition("=")
    known = {f.name.rstrip("_"): f for f in fields(kind)}
    if not equals or key.strip() not in known:
        names = ", ".join(known) or "none"
        raise OptionError(
            f"parameters {kind.name}: {part!r} is not a setting; write name=value with one of: "
            f"{names}"
        )
    found = known[key.strip()]
    try:
        return found.name, _READERS[str(found.type)](value.strip())
    except ValueError:
        raise OptionError(
            f"parameters {kind.name}: {key.strip()} needs a number, not {value.strip()!r}"
        ) from None
