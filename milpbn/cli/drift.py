"""``milpbn drift``: whether rows look different from those that a model was learned from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import keep_data, single_class_model
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.words import count, name_in_list

if TYPE_CHECKING:
    import pandas as pd

    from milpbn.explanation import Drift

# Longer tables leave out the columns that have not changed.
_MOST = 20


@command(short_help="Compare new rows with the training rows of a model.")
@click.argument("model_file", metavar="MODEL.json")
@click.argument("data_file", metavar="FILE")
@option(Group.CONTENT, "--all", "show_all", is_flag=True, help="List all columns, also many.")
@option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print all columns as JSON.")
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(),
    metavar="OUT.csv",
    help="Write the shares of all states to this file.",
)
def drift(model_file: str, data_file: str, show_all: bool, as_json: bool, out: str | None) -> None:
    """Compare the rows of FILE (CSV, Parquet or ARFF) with those that MODEL.json was learned from.

    For each column, the population stability index (PSI) measures how much the shares of its
    states differ: at 0.1 or more the column has changed, at 0.25 or more it has changed much, if
    chance alone does not explain it. Values that the model does not know count as a state. If
    FILE has the class, it is compared, too.

    \b
    Examples:
      milpbn drift model.json new.csv
      milpbn drift model.json new.csv --out shares.csv
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file, "FILE": data_file})
    from milpbn.cli.rows import rows_of_file
    from milpbn.explanation import drift_of

    model = single_class_model(model_file)
    keep_data(model, {"--out": out})
    found = drift_of(model.network, model.encoder, rows_of_file(model, data_file).codes)
    with Outputs() as outputs:
        if as_json:
            outputs.report(json.dumps(_content(found), indent=1, allow_nan=False))
        else:
            outputs.report(_text(found, None if show_all else _MOST))
        if out:
            outputs.data(out, _shares(found))
        note_drift(found, data_file)


def note_drift(found: Drift, file: str) -> None:
    """Print a note if columns have changed."""
    if found.changed:
        names = ", ".join(map(name_in_list, found.changed))
        say(f"note: {file} looks different from the training rows in {names}")


def _text(found: Drift, most: int | None) -> str:
    from milpbn.widths import aligned

    table = found.columns
    if most is not None and len(table) > most:
        table = table[: max(most, len(found.changed))]
    unknown = bool((table["unknown"] > 0).any())
    lines = [["column", "largest change", "PSI", "by chance", *["unknown"] * unknown, ""]]
    for name, row in _rows(table):
        shares = f"{100 * row['before']:.1f} % -> {100 * row['now']:.1f} %"
        told = [f"{100 * row['unknown']:.1f} %"] * unknown
        numbers = [f"{row['psi']:.3f}", f"{row['chance']:.3f}"]
        change = f"{name_in_list(str(row['state']))}: {shares}"
        lines.append([name_in_list(name), change, *numbers, *told, row["change"]])
    rows = count(found.n_now, "row")
    out = [f"{rows} against {found.n_before} training rows", "", aligned(lines, left=2)]
    if more := len(found.columns) - len(table):
        out += [f"and {count(more, 'column')} that did not change; --all lists them"]
    return "\n".join(out)


def _rows(table: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from zip(table.index, table.to_dict("records"), strict=True)


def _content(found: Drift) -> dict[str, Any]:
    columns = [{"column": name, **row} for name, row in _rows(found.columns)]
    return {"rows": found.n_now, "training_rows": found.n_before, "columns": columns}


def _shares(found: Drift) -> str:
    import pandas as pd

    parts = [t.rename_axis("state").reset_index() for t in found.shares.values()]
    for name, part in zip(found.shares, parts, strict=True):
        part.insert(0, "column", name)
    return pd.concat(parts).to_csv(index=False, lineterminator="\n")
