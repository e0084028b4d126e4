"""The entries of a model file by their paths: which differ, and which nobody can check."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from milpbn.settings import LimitNames, ProofNames, declared

RUN = (
    "milpbn",
    *(f"settings.{name}" for name in (*declared(LimitNames, ProofNames), "start")),
    *(f"result.{name}" for name in ("solver", "nodes", "evaluations", "seconds", "source")),
    *("result.warm_start", "result.trace"),
)
"""Entries of every model that say how the run went; only their consistency can be checked."""

MODEL = (
    *RUN,
    *("parameters.seconds", "selection"),
    *(f"arcs.answers[].{name}" for name in ("bound", "nodes", "seconds")),
    *(f"alternatives.{name}" for name in ("most", "within", "rest", "complete", "more", "nodes")),
    "alternatives.structures[].test_accuracy",
    "stability",
)
"""Entries of a model for one class variable that data and file can contradict, but not prove."""

SEARCHED = tuple(f"parameters.{name}" for name in ("chosen", "iterations", "ended"))
"""More such entries, if the parameters were learned by a search."""


def differences(told: Any, again: Any, path: str = "") -> Iterator[str]:
    """What is wrong with the entries of a file that `again` has too.

    Examples
    --------
    >>> list(differences({"a": {"b": 1}, "c": 2}, {"a": {"b": 3}}))
    ['a.b is 1, not 3']
    """
    if isinstance(told, Mapping) and isinstance(again, Mapping):
        for name in told.keys() & again.keys():
            yield from differences(told[name], again[name], _below(path, name))
    elif _is_list(told) and _is_list(again) and len(told) == len(again):
        for k, (one, other) in enumerate(zip(told, again, strict=True)):
            yield from differences(one, other, f"{path}[{k}]")
    elif not _same(told, again):
        yield f"{path} is {_short(told)}, not {_short(again)}"


def unknown_entries(told: Any, again: Any, path: str = "") -> Iterator[str]:
    """Paths of the entries of a file that `again` does not have.

    Examples
    --------
    >>> list(unknown_entries({"a": {"b": 1}, "c": 2}, {"a": {}}))
    ['a.b', 'c']
    """
    if isinstance(told, Mapping) and isinstance(again, Mapping):
        for name, value in told.items():
            if name in again:
                yield from unknown_entries(value, again[name], _below(path, name))
            else:
                yield _below(path, name)
    elif _is_list(told) and _is_list(again):
        for k, (one, other) in enumerate(zip(told, again, strict=False)):
            yield from unknown_entries(one, other, f"{path}[{k}]")


def present(paths: Sequence[str], content: Any) -> tuple[str, ...]:
    """Those of some paths that lead to an entry; ``[]`` stands for any item of a list.

    Examples
    --------
    >>> present(["a[].b", "a[].c", "d"], {"a": [{"b": 1}]})
    ('a[].b',)
    """
    return tuple(path for path in paths if _leads(path.split("."), content))


def covers(path: str, place: str) -> bool:
    """Whether an entry, such as ``a[3].b.c``, is at a path, such as ``a[].b``, or below it."""
    place = re.sub(r"\[\d+\]", "[]", place)
    return place == path or place.startswith((f"{path}.", f"{path}["))


def _leads(steps: Sequence[str], content: Any) -> bool:
    if not steps:
        return True
    name = steps[0].removesuffix("[]")
    if not isinstance(content, Mapping) or name not in content:
        return False
    below = content[name]
    if steps[0].endswith("[]"):
        return any(_leads(steps[1:], one) for one in below)
    return _leads(steps[1:], below)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _same(told: Any, again: Any) -> bool:
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in (told, again))
    if numbers:
        return math.isclose(told, again, rel_tol=1e-9, abs_tol=1e-12)
    return type(told) is type(again) and bool(told == again)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
