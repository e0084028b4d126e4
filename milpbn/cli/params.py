"""Types of option values: durations, gaps, sizes, lists of names, arcs, files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click
from click.core import ParameterSource

from milpbn.messages import read_list
from milpbn.settings import values

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
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", str(value).strip(), re.ASCII)
        if match is None or float(match[1]) <= 0:
            self.fail(f"{value!r} is not a duration; write 90, 90s, 5m or 2h", param, ctx)
        return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def _fraction(value: Any) -> tuple[float, str, str]:
    """A number or a percentage as a fraction, NaN if it is neither; the number; the whole text."""
    text = str(value).strip()
    number = text.removesuffix("%").strip()
    try:
        return float(number) / (1 if number == text else 100), number, text
    except ValueError:
        return math.nan, number, text


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
        gap, number, text = _fraction(value)
        if not 0 <= gap < math.inf:
            self.fail(f"{value!r} is not a gap; write 1% or 0.01", param, ctx)
        if gap >= 1 and number == text:
            self.fail(
                f"{value!r} is a fraction and means {100 * gap:g} %; write {number}% if you mean "
                f"{number} %, or {100 * gap:g}%",
                param,
                ctx,
            )
        return gap


class Share(_ParamType):
    """A share of less than a half, from ``5%`` or ``0.05``.

    Examples
    --------
    >>> Share().convert("5%", None, None)
    0.05
    """

    name = "share"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """See :class:`click.ParamType`."""
        share, *_ = _fraction(value)
        if not 0 <= share < 0.5:
            self.fail(f"{value!r} is not a share below a half; write 5% or 0.05", param, ctx)
        return share


class ColumnNumbers(_ParamType):
    """A column and its numbers, ``income=1000,2000``.

    Examples
    --------
    >>> ColumnNumbers().convert("income=1000, 2000", None, None)
    ('income', (1000.0, 2000.0))
    """

    name = "column=numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, tuple[float, ...]]:
        """See :class:`click.ParamType`."""
        if isinstance(value, tuple):
            return value
        column, _, texts = str(value).rpartition("=")
        try:
            numbers = tuple(map(float, texts.split(",")))
        except ValueError:
            numbers = ()
        if not column.strip() or not numbers or not all(map(math.isfinite, numbers)):
            self.fail(f"{value!r} is not a column with numbers; write income=1000,2000", param, ctx)
        return column.strip(), numbers


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
        if isinstance(value, int):
            return value
        match = re.fullmatch(
            r"(\d{1,15}(?:\.\d+)?)\s*([kmg]i?b)", str(value).strip(), re.ASCII | re.IGNORECASE
        )
        if match is None:
            self.fail(f"{value!r} is not a size; write 500MB or 4GB", param, ctx)
        return int(float(match[1]) * self._units[match[2].upper()])


class Number(click.FloatRange):
    """A number strictly between two limits; unlike click's range, it rejects NaN and inf.

    Examples
    --------
    >>> Number(0.5, 1).convert("0.9", None, None)
    0.9
    """

    def __init__(self, low: float, high: float | None = None) -> None:
        super().__init__(min=low, max=high, min_open=True, max_open=high is not None)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """See :class:`click.ParamType`."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class Numbers(Number):
    """One number, or a tuple of several separated by commas.

    Examples
    --------
    >>> Numbers(0.5, 1).convert("0.9", None, None)
    0.9
    >>> Numbers(0.5, 1).convert("0.6, 0.9", None, None)
    (0.6, 0.9)
    """

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """See :class:`click.ParamType`."""
        if isinstance(value, tuple):
            return value
        numbers = tuple(super(Numbers, self).convert(v, param, ctx) for v in str(value).split(","))
        if len(set(numbers)) < len(numbers):
            self.fail(f"{value!r} contains a number twice", param, ctx)
        return numbers if len(numbers) > 1 else numbers[0]


class Jobs(_ParamType):
    """Number of parallel processes as in joblib: -1 for all cores, -2 for all but one.

    Examples
    --------
    >>> Jobs().convert("-1", None, None)
    -1
    """

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """See :class:`click.ParamType`."""
        try:
            jobs = int(str(value))
        except ValueError:
            jobs = 0
        if jobs == 0:
            self.fail(
                f"{value!r} is not a valid number of processes; write 2, or -1 for all cores",
                param,
                ctx,
            )
        return jobs


class Names(_ParamType):
    """Names separated by commas; a name that contains a comma is in double quotes.

    Examples
    --------
    >>> Names().convert('id, "name, given"', None, None)
    ('id', 'name, given')
    """

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """See :class:`click.ParamType`."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(read_list(str(value)))
        except ValueError:
            self.fail(
                f"{value!r} is not a list of names; put a name that contains a comma in double "
                'quotes: id,"name, given"',
                param,
                ctx,
            )


class Order(_ParamType):
    """A column and its categories in order: ``size=S,M,L``.

    Examples
    --------
    >>> Order().convert("size=S,M,L", None, None)
    ('size', ('S', 'M', 'L'))
    """

    name = "column=categories"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, tuple[str, ...]]:
        """See :class:`click.ParamType`."""
        if isinstance(value, tuple):
            return value
        name, _, listed = str(value).partition("=")
        states = Names().convert(listed, param, ctx)
        if not name.strip() or len(states) < 2:
            self.fail(
                f"{value!r} is not a column with its categories in order; write size=S,M,L",
                param,
                ctx,
            )
        return name.strip(), states


class Candidates(_ParamType):
    """A setting and its candidate values, ``p=0.6,0.9``, or ``auto``.

    Examples
    --------
    >>> Candidates().convert("max-parents=1,2", None, None)
    ('max_parents', (1, 2))
    >>> Candidates().convert("penalty=0.5,bic", None, None)
    ('penalty', (0.5, 'bic'))
    """

    name = "name=values|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, tuple[float | str, ...]]:
        """See :class:`click.ParamType`."""
        if isinstance(value, tuple):
            return value
        name, equals, texts = str(value).partition("=")
        if not equals and name.strip() == "auto":
            return "auto", ()
        values = tuple(_number_or_text(text.strip()) for text in texts.split(","))
        if not equals or not name.strip() or "" in values:
            self.fail(
                f"{value!r} is not a list of candidates; write p=0.6,0.9 or parameters=ml,cl, or "
                "auto",
                param,
                ctx,
            )
        return name.strip().replace("-", "_"), values


def _number_or_text(text: str) -> float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


class Parsed(_ParamType):
    """A text that a function of milpbn reads; what is wrong with it becomes a usage error.

    Parameters
    ----------
    name
        The type in help texts.
    kind
        What reads it.
    """

    def __init__(self, name: str, kind: values.Parsed) -> None:
        self.name, self.parse = name, kind.read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """See :class:`click.ParamType`."""
        from milpbn.errors import MilpbnError

        try:
            return self.parse(str(value))
        except MilpbnError as error:
            self.fail(error.on_command_line(), param, ctx)


ARC = Parsed("A->B", values.Parsed("milpbn.families.constraints", "parse_arc"))
"""An arc ``A->B``; a name that contains ``->`` is in double quotes."""

PENALTIES = Parsed("penalties", values.Parsed("milpbn.scores.concave", "parse_penalties"))
"""Numbers or ``bic``, separated by commas."""

COSTS = Parsed("costs", values.Parsed("milpbn.network.costs", "read_costs"))
"""Costs by true and predicted class: ``sick:healthy=10,healthy:sick=1``, or a CSV file."""

FOLDS = Parsed("folds", values.Parsed("milpbn.mdc.settings", "read_number_of_folds"))
"""A number of folds, or ``none``."""

BASE = Parsed("base", values.Parsed("milpbn.mdc.base_estimators", "make_base", as_text=True))
"""A base model, with settings after a colon."""


class Counts(_ParamType):
    """Whole numbers from ``0,5,10``.

    Examples
    --------
    >>> Counts().convert("0, 5,10", None, None)
    (0, 5, 10)
    """

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """See :class:`click.ParamType`."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
            self.fail(f"{value!r} is not a list of whole numbers; write 0,5,10", param, ctx)
        return tuple(sorted({int(part) for part in parts}))


class OutputFile(_ParamType):
    """An output file; rejected immediately if it cannot be written.

    Parameters
    ----------
    suffixes
        The allowed extensions; any extension if there are none.
    """

    name = "file"

    def __init__(self, *suffixes: str) -> None:
        self._suffixes = suffixes

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """See :class:`click.ParamType`."""
        from milpbn.errors import OptionError
        from milpbn.files import check_writable

        path = str(value)
        if path.startswith("--"):  # the option that follows, because the file was forgotten
            self.fail(
                f"a file is missing before {path}; write ./{path} for such a file", param, ctx
            )
        if self._suffixes and Path(path).suffix not in self._suffixes:
            self.fail(f"{path!r} must end in {' or '.join(self._suffixes)}", param, ctx)
        try:
            check_writable(path)
        except OptionError as error:
            self.fail(error.on_command_line(), param, ctx)
        return path


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn an error about options into a usage error, with the spelling of the command line."""
    from milpbn.errors import OptionError

    try:
        yield
    except OptionError as error:
        raise click.UsageError(error.on_command_line()) from None


def refuse_options(ctx: click.Context, names: Sequence[str], why: str) -> None:
    """Raise an error if one of these options is on the command line; `why` is the reason."""
    for name in names:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(p for p in ctx.command.params if p.name == name).opts[0]
            raise click.UsageError(f"{option} {why}")


def refuse_overwriting(
    outputs: Mapping[str, str | None], inputs: Mapping[str, str | None] | None = None
) -> None:
    """Raise an error if an output (option and file) would replace an input or another output."""
    taken = {_same(file): what for what, file in (inputs or {}).items() if file}
    for option, file in outputs.items():
        # Devices (/dev/null, /dev/stdout) may be given several times.
        if not file or (Path(file).exists() and not Path(file).is_file()):
            continue
        if _same(file) in taken:
            raise click.UsageError(
                f"{option} {file} is also {taken[_same(file)]}; choose another name"
            )
        taken[_same(file)] = option


def _same(file: str) -> Path:
    return Path(file).resolve()
