"""``milpbn update``: a model with new rows in its tables, and with a new search if asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from milpbn import PROCESS_START
from milpbn.cli.drift import note_drift
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED, Interrupts
from milpbn.cli.models import (
    keep_data,
    labelled_rows,
    model_table,
    moved_data_option,
    single_class_model,
)
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import Duration, OutputFile, refuse_options, refuse_overwriting
from milpbn.words import arc_in_list, count

if TYPE_CHECKING:
    import pandas as pd

    from milpbn._types import Codes
    from milpbn.learning.model import Model
    from milpbn.learning.update import StructureUpdate
    from milpbn.result import TracePoint

# How many changed arcs are listed.
_MOST_ARCS = 20


@command(short_help="Add new rows to a model.")
@click.argument("model_file", metavar="MODEL.json")
@click.argument("data_file", metavar="FILE")
@option(
    Group.METHOD,
    "--search",
    is_flag=True,
    help="Read the old rows, too, and search for the best structure of all rows, beginning with "
    "that of the model.",
)
@moved_data_option
@option(
    Group.LIMITS,
    "--time-limit",
    type=Duration(),
    help="Time limit for --search: 90, 90s, 5m, 2h.  [default: the model's]",
)
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(),
    metavar="OUT.json",
    help="Save the updated model here.  [default: MODEL.json]",
)
@option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print what changed as JSON.")
@option(Group.OUTPUT, "--quiet", is_flag=True, help="No notes on stderr.")
@click.pass_context
def update(ctx: click.Context, /, **options: Any) -> None:
    """Add the labelled rows of FILE (CSV, Parquet or ARFF) to MODEL.json.

    The tables are counted from all rows, without the old ones: their counts are in the model.
    The result is the same, to the last bit, as with all rows from the beginning. Cuts, states and
    the structure stay. Only --search can tell whether the structure is still optimal.

    Rows with a missing or unknown value that has no state are left out. A file that was added
    before is refused.

    \b
    Examples:
      milpbn update model.json march.csv
      milpbn update model.json march.csv --search --time-limit 5m --out new.json
    """
    file, new = options["model_file"], options["data_file"]
    refuse_overwriting({"--out": options["out"]}, {"FILE": new, "--data": options["file"]})
    if not options["search"]:
        refuse_options(ctx, ("file", "time_limit"), "requires --search")
    from milpbn.errors import ConstraintError, DataError, ModelFileError, OptionError
    from milpbn.files import check_writable

    out = options["out"] or file
    check_writable(out)
    model = single_class_model(file)
    keep_data(model, {"--out": options["out"]})
    rows = labelled_rows(model, new)
    _refuse_known(model, rows, file, new)
    run = _Run(ctx, options, model, rows)
    try:
        updated = run.search() if options["search"] else run.count()
    except (ModelFileError, OptionError, ConstraintError, DataError) as error:
        raise error.at(file) from None
    run.interrupts.close()
    with Outputs(quiet=options["quiet"]) as outputs:
        if options["as_json"]:
            outputs.report(json.dumps(run.content(updated), indent=1, allow_nan=False))
        else:
            outputs.report("\n".join(run.lines(updated)))
        outputs.write(out, updated.save)
    stopped = run.found is not None and updated.result.status in ("time_limit", "interrupted")
    ctx.exit(EXIT_STOPPED if stopped else 0)


def _refuse_known(model: Model, rows: pd.DataFrame, file: str, new: str) -> None:
    from milpbn.errors import DataError

    sources = (model.data, *model.data.get("updates", ()))
    if rows.attrs["source"]["sha256"] in {source.get("sha256") for source in sources}:
        raise DataError(f"{new}: {file} was learned from these rows already")


class _Run:
    """One update: before it, the model is measured on the new rows."""

    def __init__(
        self, ctx: click.Context, options: dict[str, Any], model: Model, rows: pd.DataFrame
    ) -> None:
        from milpbn.encoding.data import complete_rows
        from milpbn.explanation import drift_of

        self.options, self.model, self.rows = options, model, rows
        self.file = options["data_file"]
        self.interrupts = ctx.find_object(Interrupts) or Interrupts()
        self.found: StructureUpdate | None = None
        self.codes: Codes = model.encoder.encode_labelled(rows, self.file)
        self.left_out = complete_rows(self.codes)[1]
        self.drift = None
        if model.network.has_counts and len(self.codes):
            self.drift = drift_of(model.network, model.encoder, self.codes)
        if self.drift is not None and not options["quiet"]:
            note_drift(self.drift, self.file)
        if self.left_out and not options["quiet"]:
            say(
                f"note: {self.file}: {count(self.left_out, 'row')} left out: a value is missing or "
                "unknown, and its column has no state for it"
            )

    def count(self) -> Model:
        """Count the tables again."""
        from milpbn.learning.update import add_rows

        return add_rows(self.model, self.codes, self.rows.attrs["source"])

    def search(self) -> Model:
        """Search for the best structure of all rows."""
        from dataclasses import replace

        from milpbn.clock import Clock
        from milpbn.learning.update import search_again

        limit = self.options["time_limit"]
        if limit is None:
            limit = self.model.settings.get("time_limit")
        clock = Clock(limit, started=PROCESS_START)
        table = model_table(self.model, self.options["model_file"], self.options["file"])
        table = replace(table, updates=(*table.updates, self.rows))

        def listen(point: TracePoint) -> None:
            if point.source == "end":
                self.interrupts.close()

        self.found = search_again(self.model, table, clock=clock, listener=listen)
        return self.found.model

    def lines(self, updated: Model) -> list[str]:
        """What changed, in words."""
        added, total = len(self.codes) - self.left_out, updated.data["n_rows"]
        measured = self._measured()
        lines = [f"{count(added, 'row')} added to {total - added}; the tables count {total} rows"]
        if measured:
            lines.append(
                f"before, the model predicted {100 * measured['accuracy']:.2f} % of the new rows "
                f"right (log-loss {measured['log_loss']:.4f})"
            )
        result = updated.result
        if self.found is None:
            what = "optimal for" if result.status == "optimal" else "learned from"
            how = "--search looks for the best structure of all rows"
            return [*lines, f"the structure is {what} the first {result.n_rows} rows; {how}"]
        if result.engine == "given structure":
            return [*lines, f"the structure was given; it scores {result.objective:.6f}"]
        lines.append(_verdict(self.found))
        return lines + (_changes(self.found) if self.found.is_better else [])

    def content(self, updated: Model) -> dict[str, Any]:
        """What changed, as data."""
        found = self.found
        return {
            "rows_added": len(self.codes) - self.left_out,
            "rows_left_out": self.left_out,
            "rows": updated.data["n_rows"],
            "changed_columns": [] if self.drift is None else list(self.drift.changed),
            "before": self._measured(),
            "structure": None
            if found is None
            else {
                "old_score": found.objective,
                "score": updated.result.objective,
                "bound": updated.result.bound,
                "still_optimal": found.still_optimal,
            },
        }

    def _measured(self) -> dict[str, float] | None:
        """How well the model predicted the new rows before it had them."""
        import numpy as np

        from milpbn.evaluation.measures import measure_rows
        from milpbn.network.inference import log_posterior

        if not len(self.codes):
            return None
        states = np.array(self.model.encoder.target.states, dtype=object)
        proba = np.exp(log_posterior(self.model.network, self.codes[:, 1:]))
        found = measure_rows(states, proba, states[self.codes[:, 0]])
        assert found.log_likelihood is not None
        return {"accuracy": found.accuracy, "log_loss": -found.log_likelihood / found.rows}


def _verdict(found: StructureUpdate) -> str:
    result = found.model.result
    old = f"on all rows, the old structure scores {found.objective:.6f}"
    if found.is_better:
        proof = {"optimal": "the optimum"}.get(result.status, "the best that was found")
        return f"{old}; {proof} is {result.objective:.6f}"
    if found.still_optimal:
        return f"{old}: it is still optimal"
    if result.gap_rel is not None:
        return f"{old}; nothing better was found, within a gap of {100 * result.gap_rel:.3g} %"
    return f"{old}; {result.engine} found nothing better, which proves nothing"


def _changes(found: StructureUpdate) -> list[str]:
    """The arcs that the better structure has and has not."""
    from milpbn.structure import Structure

    old, new = found.before, found.model.result.structure
    if not (isinstance(old, Structure) and isinstance(new, Structure)):
        return []
    changed = [("+", arc) for arc in new.arcs if arc not in old.arcs]
    changed += [("-", arc) for arc in old.arcs if arc not in new.arcs]
    lines = [f"  {sign} {arc_in_list(*arc)}" for sign, arc in changed[:_MOST_ARCS]]
    more = len(changed) - len(lines)
    return [*lines, *([f"  and {more} more"] if more else [])]
