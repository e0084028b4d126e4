"""The types and ranges of what a checker reads: nothing is converted, nothing is guessed.

A shape is a type or describes one: ``range(a, b)`` a whole number within it, ``float`` a finite
number, a frozenset one of its strings, ``[shape]`` a list of any length, ``(shape, shape)`` a list
with these entries, and ``{name: shape}`` an object with exactly these entries. Python takes True
for 1 and 2.0 for 2; here they differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from milpbn.errors import CertificateError

MOST = 2**53
"""Whole numbers up to this are exact in double precision."""

COUNT = range(MOST + 1)


def need(holds: bool, otherwise: str) -> None:
    """Reject the certificate unless something holds."""
    if not holds:
        raise CertificateError(otherwise)


def finite(number: Any, what: str) -> float:
    """A number that is finite, as a float."""
    value = float(number)
    need(math.isfinite(value), f"{what} is not a finite number")
    return value


def typed(value: Any, shape: Any, name: str) -> Any:
    """The value, if it has this shape; lists of fixed length become tuples."""
    if isinstance(shape, dict):
        need(type(value) is dict and value.keys() == shape.keys(), _other(name, shape, value))
        return {key: typed(value[key], kind, key) for key, kind in shape.items()}
    if isinstance(shape, list | tuple):
        need(type(value) is list, f"{name} is not a list")
        if isinstance(shape, tuple):
            need(len(value) == len(shape), f"{name} has {len(value)} entries, not {len(shape)}")
            return tuple(typed(v, kind, name) for v, kind in zip(value, shape, strict=True))
        if isinstance(shape[0], range) and value:  # long lists of numbers are checked at once
            need(set(map(type, value)) == {int}, f"{name} has an entry that is not a whole number")
            typed(min(value), shape[0], name), typed(max(value), shape[0], name)
            return value
        return [typed(v, shape[0], name) for v in value]
    if isinstance(shape, range):
        need(type(value) is int and value in shape, f"{name} is {short(value)}, which cannot be")
    elif isinstance(shape, frozenset):
        need(type(value) is str and value in shape, f"{name} is {short(value)}, which is unknown")
    elif shape is float:
        need(type(value) in (int, float), f"{name} is {short(value)}, which is not a number")
        return finite(value, name)
    else:
        need(type(value) is shape, f"{name} is {short(value)}, not of the type {shape.__name__}")
    return value


def same(one: Any, other: Any) -> bool:
    """Whether two contents of JSON are equal, with the same types."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def short(value: Any) -> str:
    """A value in a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _other(name: str, shape: Mapping[str, Any], value: Any) -> str:
    if type(value) is not dict:
        return f"{name} is not an object"
    missing, odd = sorted(shape.keys() - value.keys()), sorted(value.keys() - shape.keys())
    parts = [f"{', '.join(missing)} missing"] if missing else []
    parts += [f"unknown entries {short(odd)}"] if odd else []
    return f"{name}: {'; '.join(parts)}"
