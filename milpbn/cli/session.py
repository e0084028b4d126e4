"""What the learning commands share: reading the data, the live table, delivering a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from milpbn import PROCESS_START
from milpbn.cli.data import DATA_OPTIONS, check_data_options, load_table, show_notes
from milpbn.cli.interrupts import Interrupts
from milpbn.cli.options import given_constraints, given_space
from milpbn.cli.params import refuse_overwriting

if TYPE_CHECKING:
    from milpbn.clock import Clock
    from milpbn.encoding import EncodedData, Encoder
    from milpbn.network.model_file import Model
    from milpbn.result import Result, TracePoint


class Session:
    """One run of a learning command; a context manager that shows the gap table.

    `phases` are those between scoring and checking, for the progress line.
    """

    def __init__(self, ctx: click.Context, options: dict[str, Any], phases: Sequence[str]) -> None:
        from milpbn.cli.live import GapTable
        from milpbn.clock import Clock
        from milpbn.learning import structure_clock
        from milpbn.parameters import make_parameters
        from milpbn.scores import make_score

        self.options = options
        self.interrupts = ctx.find_object(Interrupts) or Interrupts()
        self.clock = Clock(options["time_limit"], started=PROCESS_START)
        self.parameters = make_parameters(options["parameters"])
        self.structure_clock = structure_clock(self.clock, self.parameters)
        self.table = GapTable(
            self.clock,
            self.interrupts,
            ("loading", "encoding", "scoring", *phases, "checking", "parameters"),
            quiet=options["quiet"],
        )
        # With several p, the grid sets the score of each.
        p = 0.9 if options["p"] is None or isinstance(options["p"], tuple) else options["p"]
        self.score = make_score(
            options["score"],
            p=p,
            gamma=options["gamma"],
            smoothing=options["smoothing"],
            ess=1.0 if options["ess"] is None else options["ess"],
            folds=options.get("folds"),
        )
        self.constraints = given_constraints(options)
        self.space = given_space(options, self.constraints)
        self.data: EncodedData
        self.encoder: Encoder

    @staticmethod
    def check(options: dict[str, Any]) -> None:
        """Refuse options that contradict each other, before anything is read."""
        check_data_options(options)
        refuse_overwriting(
            {
                "--out": options["out"],
                "--trace": options["trace_file"],
                "--write-model": options.get("write_model"),
            },
            {"the data": options["file"], "the constraints": options["constraints_file"]},
        )
        if options["p"] is not None and options["gamma"] is not None:
            raise click.UsageError("say --p or --gamma, not both")
        from milpbn.scores import make_score

        score = make_score(options["score"])
        for name in ("p", "gamma", "ess"):
            if options[name] is not None and name not in score.settings():
                raise click.UsageError(f"--{name} does not go with --score {score.name}")

    def load(self) -> None:
        """Read and encode the data, and say what was decided on the way."""
        from milpbn.encoding import Encoder

        rows = load_table(**{name: self.options[name] for name in DATA_OPTIONS})
        self.clock.close_phase("loading")
        self.encoder = Encoder.fit(rows)
        self.data = self.encoder.encode(rows)
        self.clock.close_phase("encoding")
        show_notes(self.data.notes, self.table.print)
        names = [v.name for v in self.data.variables]
        self.constraints.check_names(names, self.encoder.dropped)

    def listener(self, point: TracePoint) -> None:
        """Show an any-time event."""
        if point.source == "end":
            self.interrupts.close()  # there is a result: let nothing stop it from being saved
        self.table(point)

    def model(
        self, result: Result, further: Sequence[str] = (), clock: Clock | None = None
    ) -> Model:
        """The classifier of a result; `further` names more options to record.

        Parameters that have to be searched for may be stopped, like the structure's search:
        the best so far are kept.
        """
        from milpbn.families import parse_smoothing
        from milpbn.network.model_file import Model

        data, options, clock = self.data, self.options, clock or self.clock
        smoothing = parse_smoothing(options["smoothing"])
        searched, deaf = self.parameters.name != "ml", self.interrupts.closed
        if searched and deaf:
            self.interrupts.reopen()
        network, report = self.parameters.fit(
            result.structure, data.variables, data.train(), smoothing, clock
        )
        if searched:
            if deaf:
                self.interrupts.close()
            clock.close_phase("parameters")
            result = replace(result, seconds={**result.seconds, "parameters": report.seconds})
        if report.ended in ("time_limit", "interrupted"):
            why = "by Ctrl-C" if report.ended == "interrupted" else "by the time limit"
            kept = "the best so far are" if report.iterations else "maximum likelihood is"
            self.table.print(f"note: parameters stopped {why}; {kept} kept")
        space = ("max_parents", "class_parents", "augmented", "smoothing")
        names = (*space, "time_limit", "seed", "memory_limit")
        return Model(
            network=network,
            encoder=self.encoder,
            result=result,
            parameters=report,
            settings={
                "score": self.score.name,
                **self.score.settings(),
                **{name: options[name] for name in (*names, *further)},
                "parameters": str(self.parameters),
                "constraints": self.constraints.to_dict(),
            },
            data={
                **data.source,
                "name": data.name,
                "rows": options["rows"],
                "n_rows": int(data.is_train.sum()),
                "n_incomplete_rows": data.n_dropped_rows,
                "missing": self.encoder.missing,
            },
        )

    def deliver(self, model: Model) -> None:
        """Write the files that were asked for and print the report."""
        from milpbn.cli.report import json_report, text_report, trace_csv
        from milpbn.files import write_whole

        options = self.options
        if options["trace_file"]:
            write_whole(options["trace_file"], trace_csv(model.result))
        if options["out"]:
            model.save(options["out"])
        report = json_report if options["as_json"] else text_report
        click.echo(report(model, self.data))
        for name in ("out", "trace_file", "write_model"):
            if options.get(name) and not options["quiet"]:
                click.echo(f"wrote {options[name]}", err=True)
