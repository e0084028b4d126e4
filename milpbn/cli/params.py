"""Option values in people's units: durations, gaps, sizes, name lists, arcs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import click

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType


class Duration(_ParamType):
    """Seconds from ``90``, ``90s``, ``5m`` or ``2h``.

    Examples
    --------
    >>> Duration().convert("1.5m", None, None)
    90.0
    """

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """See :class:`click.ParamType`."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(value).strip())
        if match is None or float(match[1]) <= 0:
            self.fail(f"{value!r} is not a duration; write 90, 90s, 5m or 2h", param, ctx)
        return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


class Gap(_ParamType):
    """A relative gap from ``1%`` or ``0.01``.

    Examples
    --------
    >>> Gap().convert("1%", None, None)
    0.01
    """

    name = "gap"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """See :class:`click.ParamType`."""
        text = str(value).strip()
        try:
            gap = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            gap = -1.0
        if not 0 <= gap < 1 and not (text.endswith("%") and gap >= 1):
            self.fail(f"{value!r} is not a gap; write 1% or 0.01", param, ctx)
        return gap


class Size(_ParamType):
    """Bytes from ``500MB``, ``4GB`` or ``4GiB``.

    Examples
    --------
    >>> Size().convert("2GiB", None, None)
    2147483648
    """

    name = "size"
    _units: ClassVar[dict[str, int]] = {
        "KB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "KIB": 2**10,
        "MIB": 2**20,
        "GIB": 2**30,
    }

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """See :class:`click.ParamType`."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]i?b)", str(value).strip(), re.IGNORECASE)
        if match is None:
            self.fail(f"{value!r} is not a size; write 500MB or 4GB", param, ctx)
        return int(float(match[1]) * self._units[match[2].upper()])


class Names(_ParamType):
    """Column names separated by commas."""

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """See :class:`click.ParamType`."""
        if isinstance(value, tuple):
            return value
        return tuple(name.strip() for name in str(value).split(",") if name.strip())


class ArcParam(_ParamType):
    """An arc ``A->B``."""

    name = "A->B"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        """See :class:`click.ParamType`."""
        from milpbn.errors import ConstraintError
        from milpbn.families.constraints import parse_arc

        try:
            return parse_arc(str(value))
        except ConstraintError as error:
            self.fail(str(error), param, ctx)
