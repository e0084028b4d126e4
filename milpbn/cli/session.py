"""Shared by the learning commands: loading the data, the live table, and the final report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from milpbn import PROCESS_START
from milpbn.cli.data import (
    check_data_options,
    hold_out_rows,
    load_table,
    show_notes,
)
from milpbn.cli.drawing import draw_network_of, plot_gap_of
from milpbn.cli.interrupts import Interrupts
from milpbn.cli.options import check_score
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import refuse_overwriting

if TYPE_CHECKING:
    from milpbn.clock import Clock
    from milpbn.datasets.table import Table
    from milpbn.encoding import EncodedData
    from milpbn.learning.classifier import Encoded
    from milpbn.learning.maximise import Shared
    from milpbn.learning.model import Model
    from milpbn.learning.settings import Settings
    from milpbn.result import TracePoint
    from milpbn.selection.candidates import Selection
    from milpbn.selection.plan import SelectionPlan


# A selection prints a line each time that another such part of its runs is finished.
_PARTS = 5


class Session:
    """One run of a learning command.

    Parameters
    ----------
    ctx, options
        The command and its options.
    settings
        The settings of the run, from the options.
    phases
        The phases between scoring and checking, for the progress line.
    """

    def __init__(
        self,
        ctx: click.Context,
        options: dict[str, Any],
        settings: Settings,
        phases: Sequence[str],
    ) -> None:
        from milpbn.cli.live import GapTable
        from milpbn.clock import Clock

        self.options = options
        self.interrupts = ctx.find_object(Interrupts) or Interrupts()
        self.clock = Clock(options["time_limit"], started=PROCESS_START)
        self.settings = settings
        self.table = GapTable(
            self.clock,
            self.interrupts,
            ("loading", "encoding", "scoring", *phases, "checking", "parameters"),
            quiet=options["quiet"],
        )
        self.encoded: Encoded
        self.rows: Table
        self.selection: Selection | None = None
        self.known: Shared | None = None
        """What the selection has found on parts of the rows."""
        self.missing: str | None = None
        """A file that could not be written during the run."""

    @staticmethod
    def check(options: dict[str, Any]) -> None:
        """Reject options that contradict each other, before anything is read."""
        check_data_options(options)
        refuse_overwriting(
            {
                "--out": options["out"],
                "--trace": options.get("trace_file"),
                "--write-model": options.get("write_model"),
                "--certificate": options.get("certificate"),
                "--plot": options.get("plot"),
                "--draw": options.get("draw"),
                "--plot-selection": options.get("plot_selection"),
                "--checkpoint": options.get("checkpoint"),
            },
            {
                "the data": options["file"],
                "the test rows": options.get("test_file"),
                "the constraints": options["constraints_file"],
                "the unfinished certificate": _draft(options),
            },
        )
        check_score(options)

    @property
    def data(self) -> EncodedData:
        """The encoded rows, available after `load`."""
        return self.encoded.data

    def load(self) -> None:
        """Read and encode the data, and print notes about them."""
        from milpbn.clock import OutOfTime
        from milpbn.learning.classifier import check_constraints, encode, late_by_columns

        try:
            rows = load_table(self.options, self.clock.checkpoint)
        except OutOfTime:
            raise late_by_columns(self.clock, self.options["file"]) from None
        self.rows = hold_out_rows(
            rows,
            test_file=self.options.get("test_file"),
            holdout=self.options.get("holdout"),
            seed=self.options["seed"],
        )
        self.clock.close_phase("loading")
        check_constraints(self.rows, self.settings)
        self.encoded = encode(self.rows, self.clock)
        notes = self.settings.notes(self.data.variables)
        self.settings = self.settings.for_variables(self.data.variables)
        show_notes([*self.data.notes, *notes], self.table.print)

    def select(self, names: Mapping[str, Any], plan: SelectionPlan) -> None:
        """Choose settings by validation on the training rows; `learn` uses them."""
        from milpbn.datasets.table import with_states
        from milpbn.learning.classifier import encode
        from milpbn.selection.choose import select_settings

        def watch(done: int, total: int, what: str) -> None:
            self.table.step(f"selecting, {done} of {total} runs, last {what}")
            if done * _PARTS // total > (done - 1) * _PARTS // total:
                self.table.print(f"selecting: {done} of {total} runs; Ctrl-C keeps them")

        self.selection, self.settings, self.known = select_settings(
            self.rows, names, plan, clock=self.clock, watch=watch
        )
        self.table.step("")
        self.table.print(f"selected {self.selection}")
        rows = with_states(self.rows, **self.settings.states)
        if rows.bins != self.rows.bins:
            told, self.rows, self.encoded = self.data.notes, rows, encode(rows)
            notes = [*self.data.notes, *self.settings.notes(self.data.variables)]
            show_notes((note for note in notes if note not in told), self.table.print)
        self.settings = self.settings.for_variables(self.data.variables)

    def listener(self, point: TracePoint) -> None:
        """Show an any-time event; once there is a result, no signal may keep it from being saved.

        A search for parameters can be stopped again: the best parameters so far are kept.
        """
        from milpbn.learning.classifier import PARAMETERS_BEGIN

        if point.source == PARAMETERS_BEGIN:
            self.interrupts.reopen()
            return
        if point.source == "end":
            self.interrupts.close()
        self.table(point)

    def learn(
        self,
        settings: Settings | None = None,
        clock: Clock | None = None,
        shared: Shared | None = None,
        certificate: str | None = None,
    ) -> Model:
        """Learn a classifier; with separate `settings`, any-time events are not shown."""
        from milpbn.learning.classifier import learn_encoded

        def learn(own: Settings) -> Model:
            return learn_encoded(
                self.encoded,
                own,
                clock=clock or self.clock,
                listener=self.listener if settings is None else None,
                shared=shared or self.known,
                certificate=certificate if own.has_tree else None,
            )

        if self.selection is None:
            model = learn(settings or self.settings)
        else:
            from milpbn.selection.choose import learn_final, selected_model

            model = selected_model(learn_final(learn, self.settings), self.selection)
        if settings is None:
            self.interrupts.close()
        self.note_parameters(model)
        return model

    def note_parameters(self, model: Model) -> None:
        """Print a note if the search for parameters was stopped early."""
        report = model.parameters
        if report.stopped_early:
            why = "Ctrl-C" if report.ended == "interrupted" else "the time limit"
            kept = "best so far" if report.iterations else "maximum-likelihood ones"
            self.table.print(
                f"note: the search for parameters was stopped by {why}; the {kept} are kept"
            )

    def deliver(self, model: Model) -> None:
        """Write the requested files and print the report."""
        from milpbn.cli.report import json_report, text_report, trace_csv, warnings
        from milpbn.files import write_whole

        def plot_candidates(file: str) -> None:
            from milpbn.pictures import plot_selection

            assert model.selection is not None
            plot_selection(model.selection, file, title=self.data.name)

        options = self.options
        with Outputs(quiet=options["quiet"]) as outputs:
            report = json_report if options["as_json"] else text_report
            outputs.report(report(model, self.data))
            for text in () if options["quiet"] else warnings(model, self.data):
                say(text)
            outputs.write(options["out"], model.save)
            outputs.write(
                options["trace_file"], lambda file: write_whole(file, trace_csv(model.result))
            )
            outputs.write(options["plot"], partial(plot_gap_of, model))
            outputs.write(options["draw"], partial(draw_network_of, model))
            outputs.write(options["plot_selection"], plot_candidates)


def _draft(options: dict[str, Any]) -> str | None:
    """Where the certificate is written until it is complete."""
    if not options.get("certificate"):
        return None
    from milpbn.engines.certificates.certificate_file import draft_of

    return str(draft_of(options["certificate"]))
