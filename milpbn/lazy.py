"""Names of a package that are imported on first use, so that importing the package is quick."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package.

    Parameters
    ----------
    package
        The name of the package.
    homes
        For each name of the package the module that defines it.

    Examples
    --------
    >>> find = lazy_names("milpbn", {"Result": "milpbn.result"})
    >>> find("Result").__name__
    'Result'
    """

    def find(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
