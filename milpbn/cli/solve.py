"""``milpbn solve``: learn a structure with a bound on how far it is from the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from milpbn import PROCESS_START
from milpbn.cli.data import check_data_options, data_options, load_table
from milpbn.cli.interrupts import Interrupts
from milpbn.cli.params import (
    ArcParam,
    Duration,
    Gap,
    Number,
    OutputFile,
    ScoreName,
    Size,
    SmoothingText,
    refuse_overwriting,
)

if TYPE_CHECKING:
    from milpbn.clock import Clock
    from milpbn.encoding import EncodedData, Encoder
    from milpbn.families import Constraints
    from milpbn.learning import SearchSpace
    from milpbn.result import Listener, Result, TracePoint
    from milpbn.scores import Score
    from milpbn.structure import Structure

EXIT_STOPPED = 3


@click.command(short_help="Learn a structure from data.")
@data_options
@click.option(
    "--score",
    type=ScoreName(),
    default="sm",
    show_default=True,
    help="sm, sbm, mdl (= bic) or bdeu.",
)
@click.option(
    "--p", type=Number(0.5, 1), help="Desired class probability of sm and sbm.  [default: 0.9]"
)
@click.option("--gamma", type=Number(0), help="Desired log-margin instead of --p.")
@click.option("--ess", type=Number(0), help="Equivalent sample size of bdeu.  [default: 1]")
@click.option(
    "--max-parents",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Parents of a variable, the class included.",
)
@click.option(
    "--class-parents/--class-root",
    default=True,
    show_default=True,
    help="Whether features may be parents of the class.",
)
@click.option(
    "--smoothing",
    type=SmoothingText(),
    default="laplace",
    show_default=True,
    help="laplace[:COUNT] or epsilon[:VALUE].",
)
@click.option("--require", type=ArcParam(), multiple=True, help="An arc that must be there.")
@click.option("--forbid", type=ArcParam(), multiple=True, help="An arc that must not be there.")
@click.option("--constraints", "constraints_file", metavar="FILE", help="TOML or JSON file.")
@click.option(
    "--engine",
    type=click.Choice(["branch-and-cut", "monolithic"]),
    default="monolithic",
    show_default=True,
    help="How the problem is solved.",
)
@click.option(
    "--emit",
    type=click.Choice(["pulp", "highspy"]),
    default="pulp",
    show_default=True,
    help="How the monolithic model reaches HiGHS.",
)
@click.option(
    "--warm-start",
    metavar="FILE|NAME|none",
    default="local-search",
    show_default=True,
    help="Start from a model or structure file, from what a heuristic finds, or from nothing.",
)
@click.option("--time-limit", type=Duration(), help="For everything: 90, 90s, 5m, 2h.")
@click.option("--gap", type=Gap(), default=0.0, help="Stop at this gap: 1% or 0.01.  [default: 0]")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="1 is deterministic.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    default=0,
    show_default=True,
    help="Of the solver.",
)
@click.option("--memory-limit", type=Size(), default="4GiB", show_default=True, help="500MB, 4GB.")
@click.option("--out", type=OutputFile(), metavar="MODEL.json", help="Save the classifier.")
@click.option(
    "--trace",
    "trace_file",
    type=OutputFile(),
    metavar="TRACE.csv",
    help="Save objective and bound over time.",
)
@click.option(
    "--write-model",
    type=OutputFile(".lp", ".mps"),
    metavar="X.lp|X.mps",
    help="Save the mixed-integer program.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.pass_context
def solve(ctx: click.Context, /, **options: Any) -> None:
    """Learn a structure exactly; print objective, bound and gap.

    The time limit covers everything, from reading the data on. Ctrl-C ends the run and
    keeps the best structure, its bound and the trace.

    \b
    Examples:
      milpbn solve --dataset car --score sm
      milpbn solve --data my.csv --target outcome --time-limit 5m --out model.json
    """
    _check(ctx, options)
    from milpbn.cli.live import GapTable
    from milpbn.clock import Clock
    from milpbn.encoding import Encoder

    interrupts = ctx.find_object(Interrupts) or Interrupts()
    clock = Clock(options["time_limit"], started=PROCESS_START)
    with GapTable(clock, interrupts, quiet=options["quiet"]) as table:

        def listener(point: TracePoint) -> None:
            if point.source == "end":
                interrupts.close()  # there is a result: let nothing stop it from being saved
            table(point)

        score, constraints = _score(options), _constraints(options)
        start = _start(options["warm_start"])
        names = ("dataset", "file", "target", "categorical", "numeric", "drop", "missing", "rows")
        rows = load_table(**{name: options[name] for name in names})
        clock.close_phase("loading")
        encoder = Encoder.fit(rows)
        data = encoder.encode(rows)
        clock.close_phase("encoding")
        for note in data.notes:
            table.print(f"note: {note}")
        constraints.check_names([v.name for v in data.variables], encoder.dropped)
        result = _learn(options, score, constraints, start, data, clock, listener)
    _deliver(options, score, constraints, result, data, encoder)
    within = result.gap_rel is not None and result.gap_rel <= options["gap"]
    ctx.exit(0 if result.status == "optimal" or within else EXIT_STOPPED)


def _check(ctx: click.Context, options: dict[str, Any]) -> None:
    """Refuse options that contradict each other, before anything is read."""
    check_data_options(options)
    refuse_overwriting(
        {
            "--out": options["out"],
            "--trace": options["trace_file"],
            "--write-model": options["write_model"],
        },
        {"the data": options["file"], "the constraints": options["constraints_file"]},
    )
    emit_given = ctx.get_parameter_source("emit") is ParameterSource.COMMANDLINE
    if emit_given and options["engine"] != "monolithic":
        raise click.UsageError("--emit goes with --engine monolithic")
    if options["p"] is not None and options["gamma"] is not None:
        raise click.UsageError("say --p or --gamma, not both")
    from milpbn.scores import MarginScore, make_score
    from milpbn.scores.base import DecomposableScore

    score = make_score(options["score"])
    for name in ("p", "gamma", "ess"):
        if options[name] is not None and name not in score.settings():
            raise click.UsageError(f"--{name} does not go with --score {score.name}")
    if not isinstance(score, MarginScore | DecomposableScore):
        raise click.UsageError(f"--score {score.name} cannot be solved exactly; see --help")


def _score(options: dict[str, Any]) -> Score:
    from milpbn.scores import make_score

    return make_score(
        options["score"],
        p=0.9 if options["p"] is None else options["p"],
        gamma=options["gamma"],
        smoothing=options["smoothing"],
        ess=1.0 if options["ess"] is None else options["ess"],
    )


def _constraints(options: dict[str, Any]) -> Constraints:
    from milpbn.families import Constraints

    file = options["constraints_file"]
    given = Constraints.from_file(file) if file else Constraints()
    return given.merged(options["require"], options["forbid"])


def _start(given: str) -> Structure | str | None:
    """A structure from a file, the name of a heuristic, or None."""
    from milpbn.network.structure_file import read_structure
    from milpbn.search import LEARNERS

    if given == "none":
        return None
    return given if given in LEARNERS else read_structure(given)


def _learn(
    options: dict[str, Any],
    score: Score,
    constraints: Constraints,
    start: Structure | str | None,
    data: EncodedData,
    clock: Clock,
    listener: Listener,
) -> Result:
    from milpbn.engines.monolithic import SolveOptions
    from milpbn.learning import SearchSpace, run_method

    space = SearchSpace(options["max_parents"], options["class_parents"], constraints)
    solve_options = SolveOptions(
        **{k: options[k] for k in ("gap", "threads", "seed", "emit", "memory_limit")}
    )
    if options["write_model"]:
        _write_model(options, score, space, data, clock)
    return run_method(
        data,
        score,
        space,
        method=options["engine"],
        clock=clock,
        start=start,
        start_source=options["warm_start"],
        options=solve_options,
        listener=listener,
    )


def _write_model(
    options: dict[str, Any], score: Score, space: SearchSpace, data: EncodedData, clock: Clock
) -> None:
    from milpbn.clock import OutOfTime
    from milpbn.errors import MilpbnError
    from milpbn.formulation import build_model, write_model
    from milpbn.learning import build_objective

    limit = options["memory_limit"]
    objective = build_objective(data, score, space, clock=clock, memory_limit=limit)
    try:
        model, _ = build_model(objective, memory_limit=limit, checkpoint=clock.checkpoint)
    except OutOfTime:
        raise MilpbnError(
            f"the time limit of {clock.limit:g} s ended before {options['write_model']} could be "
            "written; allow more time or lower --max-parents"
        ) from None
    write_model(model, options["write_model"])
    clock.close_phase("writing")


def _deliver(
    options: dict[str, Any],
    score: Score,
    constraints: Constraints,
    result: Result,
    data: EncodedData,
    encoder: Encoder,
) -> None:
    from milpbn.cli.report import json_report, text_report, trace_csv
    from milpbn.families import parse_smoothing
    from milpbn.files import write_whole
    from milpbn.network.model_file import Model
    from milpbn.network.network import fit_network

    smoothing = parse_smoothing(options["smoothing"])
    network = fit_network(result.structure, data.variables, data.train(), smoothing)
    model = Model(
        network=network,
        encoder=encoder,
        result=result,
        settings=_settings(options, score, constraints),
        data={
            **data.source,
            "name": data.name,
            "rows": options["rows"],
            "n_rows": int(data.is_train.sum()),
            "n_incomplete_rows": data.n_dropped_rows,
            "missing": encoder.missing,
        },
    )
    if options["trace_file"]:
        write_whole(options["trace_file"], trace_csv(result))
    if options["out"]:
        model.save(options["out"])
    report = json_report if options["as_json"] else text_report
    click.echo(report(model, data))
    for name in ("out", "trace_file", "write_model"):
        if options[name] and not options["quiet"]:
            click.echo(f"wrote {options[name]}", err=True)


def _settings(options: dict[str, Any], score: Score, constraints: Constraints) -> dict[str, Any]:
    names = ("max_parents", "class_parents", "smoothing", "engine", "emit", "time_limit")
    return {
        "score": score.name,
        **score.settings(),
        **{name: options[name] for name in (*names, "gap", "threads", "seed", "memory_limit")},
        "constraints": constraints.to_dict(),
    }
