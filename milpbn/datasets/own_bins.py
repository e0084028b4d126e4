"""What the user says about the bins of single columns: own cuts, special values, small bins."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from milpbn.datasets.bins import MDLP, parse_bins
from milpbn.errors import DataError, OptionError, by_name
from milpbn.messages import Message, Spelling, option
from milpbn.settings import check_settings
from milpbn.words import quoted

OTHERS = "*"
"""In a mapping of bins: the columns that it does not name."""

Bins = str | Mapping[str, str | Sequence[float]]
"""The setting `bins`: a way to cut all numeric columns, or cuts for some of them."""

Numbers = Mapping[str, tuple[float, ...]]
"""Numbers for some columns."""


@dataclass(frozen=True)
class OwnBins:
    """The bins that the user knows better than any rule.

    Attributes
    ----------
    cuts
        The cuts of some columns: value v is in bin ``number of cuts < v``.
    special
        The special values of some columns, such as -999 for "refused to answer". Each is a
        state of its own, and no cut is learned from it.
    min_share
        The smallest share of a column's rows that a bin may have. Missing and special values
        do not count, and given cuts are kept in any case.

    Examples
    --------
    >>> own = OwnBins({"income": (1000.0, 2000.0)}, {"income": (-999.0,)}, 0.05)
    >>> own.columns
    ['income']
    >>> " ".join(own.on_command_line())
    '--cuts income=1000,2000 --special income=-999 --min-bin-share 5%'
    """

    cuts: Numbers = field(default_factory=dict)
    special: Numbers = field(default_factory=dict)
    min_share: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.cuts or self.special or self.min_share)

    @property
    def columns(self) -> list[str]:
        """The columns that are named, which are numeric."""
        return list(dict.fromkeys((*self.cuts, *self.special)))

    def check(
        self,
        where: str,
        features: Iterable[str],
        numeric: Collection[str],
        unused: Collection[str] = (),
    ) -> None:
        """Raise an error if a column is named that does not exist or is not numeric.

        Columns that exist but say nothing, such as those with a single value, are `unused`.
        """
        names = list(map(str, features))
        for parameter, flag, given in (
            ("bins", "cuts", self.cuts),
            ("special", "special", self.special),
        ):
            told = f"{where}: ", Spelling(parameter, f"--{flag}")
            for name in given:
                if name in unused:
                    continue
                if name not in names:
                    why = f": there is no feature {name!r}; the features are {quoted(names)}"
                    raise DataError(Message(*told, why))
                if name not in numeric:
                    why = f": {name!r} is a category, and only numbers have bins"
                    raise DataError(Message(*told, why))

    def together(self, others: str) -> Bins:
        """The setting `bins`: cuts of columns, and how the others are cut."""
        if not self.cuts:
            return others
        rest = {} if others == MDLP else {OTHERS: others}
        return {**{name: list(cuts) for name, cuts in self.cuts.items()}, **rest}

    def on_command_line(self) -> list[str]:
        """The options that say the same."""
        return [
            *(_spelled("cuts", name, cuts) for name, cuts in self.cuts.items()),
            *(_spelled("special", name, values) for name, values in self.special.items()),
            *([f"--min-bin-share {100 * self.min_share:.10g}%"] if self.min_share else []),
        ]

    def in_words(self) -> list[str]:
        """What was given, for people."""
        kinds = ("cuts", self.cuts), ("special values", self.special)
        told = [
            f"{what} of {name}: {', '.join(f'{x:.10g}' for x in numbers)}"
            for what, given in kinds
            for name, numbers in given.items()
        ]
        least = f"at least {100 * self.min_share:.10g} % of the rows in a bin"
        return [*told, *([least] if self.min_share else [])]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a JSON file, without what is not used."""
        return {
            **({"cuts": _as_lists(self.cuts)} if self.cuts else {}),
            **({"special": _as_lists(self.special)} if self.special else {}),
            **({"min_share": self.min_share} if self.min_share else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> OwnBins:
        """The inverse of :meth:`to_dict`."""
        return own_bins(data.get("cuts"), data.get("special"), data.get("min_share", 0.0))


def split_bins(
    bins: Bins, special: Mapping[str, Sequence[float]] | None = None, min_share: float = 0.0
) -> tuple[str, OwnBins]:
    """How columns are cut that have no own cuts, and what the user says about single ones.

    Examples
    --------
    >>> split_bins({"income": [1000, 2000], "*": "auto"})
    ('auto', OwnBins(cuts={'income': (1000.0, 2000.0)}, special={}, min_share=0.0))
    """
    if not isinstance(bins, Mapping):
        return parse_bins(bins), own_bins(None, special, min_share)
    others = bins.get(OTHERS, MDLP)
    cuts = {name: own for name, own in bins.items() if name != OTHERS}
    if not isinstance(others, str):
        raise OptionError(f"bins: '{OTHERS}' stands for the other columns and needs a name: mdlp")
    return parse_bins(others), own_bins(cuts, special, min_share)


def own_bins(
    cuts: Mapping[str, Any] | None, special: Mapping[str, Any] | None, min_share: float
) -> OwnBins:
    """Check and sort what the user gave."""
    check_settings({"min_bin_share": min_share})
    return OwnBins(
        _sorted_numbers(Spelling("bins", "--cuts"), cuts or {}),
        _sorted_numbers(option("special"), special or {}),
        float(min_share),
    )


def _sorted_numbers(what: Spelling, given: Mapping[str, Any]) -> Numbers:
    out = {}
    for name, values in by_name(given, what, '{"income": [-999]}').items():
        try:
            if isinstance(values, str):
                raise TypeError
            numbers = tuple(sorted(float(value) for value in values))
        except (TypeError, ValueError):
            told = f": column {name!r} needs a list of numbers, not {values!r}"
            raise OptionError(Message(what, told)) from None
        if not numbers or not all(map(math.isfinite, numbers)):
            raise OptionError(Message(what, f": column {name!r} needs finite numbers"))
        if len(set(numbers)) < len(numbers):
            raise OptionError(Message(what, f": column {name!r} has a number twice"))
        out[str(name)] = numbers
    return out


def _as_lists(numbers: Numbers) -> dict[str, list[float]]:
    return {name: list(values) for name, values in numbers.items()}


def _spelled(flag: str, name: str, numbers: Sequence[float]) -> str:
    listed = ",".join(repr(number).removesuffix(".0") for number in numbers)
    return option(flag, f"{name}={listed}").command_line
