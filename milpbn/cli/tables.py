"""The probability tables of a model, as text for people and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

import pandas as pd

from milpbn.explanation.resolutions import seen_cuts
from milpbn.learning.model import Model
from milpbn.messages import option
from milpbn.widths import aligned
from milpbn.words import count, name_in_list

# A table that was not asked for by name shows at most this many configurations of the parents.
_MOST_ROWS = 24
# Characters per line if stdout is not a terminal.
_WIDTH = 100
_INDENT = "  "
_HEADING = "Probabilities in per cent, one line per configuration of the parents."
_ROWS = "The column rows counts the training rows with this configuration."


class ModelTables:
    """The probability tables of a model.

    Parameters
    ----------
    model
        The model.
    names
        The variables; if there are none, all variables of the model.
    """

    def __init__(self, model: Model, names: Sequence[str]) -> None:
        self._codes = {c.name: c for c in (model.encoder.target, *model.encoder.columns)}
        self._tables = {name: model.network.table(name) for name in names or self._codes}
        self._counts = {
            name: model.network.table(name, counts=True)
            for name in self._tables
            if model.network.has_counts
        }
        self._cuts = seen_cuts(model.network.structure, model.encoder)
        self._encoder = model.encoder
        self._most_rows = None if names else _MOST_ROWS

    def to_dict(self) -> dict[str, Any]:
        """The tables as plain data, with probabilities between 0 and 1."""
        return {
            name: _plain(table, self._cuts[name], self._counts.get(name))
            for name, table in self._tables.items()
        }

    def text(self, width: int | None) -> str:
        """One block per variable: states, parents and probabilities in per cent.

        States that do not fit into a line of `width` characters follow below. Unless the
        variables were chosen, long tables are cut off.
        """
        width = width or _WIDTH
        words = {
            name: {state: name_in_list(shown) for state, shown in code.words.items()}
            for name, code in self._codes.items()
        }
        told = f"{_HEADING} {_ROWS}" if self._counts else _HEADING
        heading = "\n".join(wrap(told, width))
        return "\n\n".join([heading, *(self._block(name, words, width) for name in self._tables)])

    def _block(self, name: str, words: Mapping[str, Mapping[str, str]], width: int) -> str:
        table, measure = self._tables[name], self._encoder.measure(name)
        unit = f" ({measure})" if measure else ""
        own = (words[name][state] for state in table.columns)
        states = f"{name_in_list(name)}{unit}: {', '.join(own)}"
        parents = [str(level) for level in table.index.names if level is not None]
        given = ", ".join(map(name_in_list, parents)) or "none"
        lines = [*_wrapped(states, width), *_wrapped(f"parents: {given}", width, _INDENT)]
        shown = table.iloc[: self._most_rows]
        amounts = self._counts[name].sum(axis=1).tolist() if self._counts else None
        for part in _parts(shown, parents, words, width - len(_INDENT), amounts):
            lines += ["", *(f"{_INDENT}{line}" for line in part.splitlines())]
        if left := len(table) - len(shown):
            all_of_them = option("tables", [name]).command_line
            lines.append(f"{_INDENT}... {count(left, 'more line')}; all with {all_of_them}")
        return "\n".join(lines)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    # A long name stays whole: it may be copied into a command.
    return wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}{_INDENT}",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _parts(
    table: pd.DataFrame,
    parents: Sequence[str],
    words: Mapping[str, Mapping[str, str]],
    width: int,
    amounts: Sequence[float] | None,
) -> Iterator[str]:
    """The table as text; states that do not fit on a line follow in another part.

    If there are `amounts`, the number of rows comes before the states.
    """
    given = [
        [words[name].get(label, label) for name, label in zip(parents, labels, strict=False)]
        for labels in _labels(table)
    ]
    left = [list(map(name_in_list, parents)), *given]
    if amounts is not None:
        shown = ["rows", *(f"{amount:.10g}" for amount in amounts[: len(table)])]
        left = [[*cells, amount] for cells, amount in zip(left, shown, strict=True)]
    room = width - sum(max(map(len, column)) + 2 for column in zip(*left, strict=True))
    own = words[str(table.columns.name)]
    columns = [[own[state], *(f"{100 * p:.2f}" for p in table[state])] for state in table.columns]
    while columns:
        widths = [max(map(len, column)) + 2 for column in columns]
        fitting = sum(sum(widths[: k + 1]) - 2 <= room for k in range(len(columns)))
        part, columns = columns[: max(1, fitting)], columns[max(1, fitting) :]
        lines = [[*cells, *own_cells] for cells, *own_cells in zip(left, *part, strict=True)]
        yield aligned(lines, left=len(parents))


def _plain(
    table: pd.DataFrame, cuts: Sequence[float], counts: pd.DataFrame | None
) -> dict[str, Any]:
    parents = [level for level in table.index.names if level is not None]
    rows = [
        {"given": dict(zip(parents, labels, strict=False)), "probabilities": own}
        for labels, own in zip(_labels(table), table.to_numpy().tolist(), strict=True)
    ]
    if counts is not None:
        for row, own in zip(rows, counts.to_numpy().tolist(), strict=True):
            row["counts"] = own
    return {
        "states": list(table.columns),
        **({"cuts": list(cuts)} if cuts else {}),
        "parents": parents,
        "rows": rows,
    }


def _labels(table: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """For each row, the states of the parents; a single empty label without parents."""
    return table.index.to_frame().itertuples(index=False, name=None)
