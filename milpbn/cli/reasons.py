"""What fixes and what flips predictions, for ``milpbn explain --why`` and ``--flip``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from milpbn.words import count, name_in_list

if TYPE_CHECKING:
    from milpbn._types import Codes, IntArray
    from milpbn.learning.model import Model


def chosen_rows(
    model: Model, file: str, rows: tuple[int, ...] | None, strict: bool
) -> tuple[Codes, IntArray]:
    """The codes of the chosen rows of a file, or of all, and their numbers; the first is 1."""
    import numpy as np

    from milpbn.cli.predict import coded
    from milpbn.datasets import read_features

    frame = read_features(file, model.encoder.sources(), strict=strict)
    numbers = np.arange(1, len(frame) + 1) if rows is None else np.array(rows)
    outside = [int(n) for n in numbers if not 1 <= n <= len(frame)]
    if outside:
        raise click.UsageError(
            f"--row {outside[0]}: {file} has {count(len(frame), 'row')}, and the first one is 1"
        )
    chosen = frame.iloc[numbers - 1]
    chosen.attrs = frame.attrs
    return coded(model, file, chosen), numbers


class Answers:
    """The reasons, the flips, or both, of the rows of a file.

    Parameters
    ----------
    model, file, rows, strict
        As for :func:`chosen_rows`.
    why, flip
        What to look for.
    fixed
        Features that flips do not change.
    """

    def __init__(
        self,
        model: Model,
        file: str,
        rows: tuple[int, ...] | None,
        strict: bool,
        why: bool,
        flip: bool,
        fixed: tuple[str, ...],
    ) -> None:
        from milpbn.errors import OptionError
        from milpbn.explanation import flip_of, reason_of

        codes, self.numbers = chosen_rows(model, file, rows, strict)
        network, encoder = model.network, model.encoder
        self.target = encoder.target.name
        self.reasons = [reason_of(network, encoder, row) for row in codes] if why else []
        try:
            flips = [flip_of(network, encoder, row, fixed) for row in codes] if flip else []
        except OptionError as error:
            raise click.UsageError(f"--fixed: {error}") from None
        self.flips = flips

    def text(self) -> str:
        """The answers of each row, one per line."""
        lines = []
        for k, number in enumerate(self.numbers.tolist()):
            found = [*self.reasons[k : k + 1], *self.flips[k : k + 1]]
            lines += [f"row {number}: {name_in_list(self.target)} = {answer}" for answer in found]
        return "".join(f"{line}\n" for line in lines)

    def json(self) -> str:
        """The answers as data."""
        rows: list[dict[str, Any]] = [{"row": number} for number in self.numbers.tolist()]
        for row, reason in zip(rows, self.reasons, strict=False):
            row["reason"] = vars(reason)
        for row, flip in zip(rows, self.flips, strict=False):
            row["flip"] = vars(flip)
        return json.dumps({"rows": rows}, indent=1, allow_nan=False) + "\n"
