"""``milpbn solve``: learn a structure with a bound on how far it is from the best one."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from milpbn import PROCESS_START
from milpbn.cli.data import data_options, load_table
from milpbn.cli.params import ArcParam, Duration, Gap, Size

if TYPE_CHECKING:
    from milpbn.clock import Clock
    from milpbn.encoding import EncodedData, Encoder
    from milpbn.families import Constraints
    from milpbn.result import Result
    from milpbn.scores import Score

EXIT_STOPPED = 3


@click.command()
@data_options
@click.option("--score", default="sm", show_default=True, help="sm, sbm, mdl (= bic) or bdeu.")
@click.option("--p", type=float, help="Desired class probability of sm and sbm.  [default: 0.9]")
@click.option("--gamma", type=float, help="Desired log-margin instead of --p.")
@click.option("--ess", type=float, default=1.0, show_default=True, help="Sample size of bdeu.")
@click.option("--max-parents", type=int, default=2, show_default=True, help="Class included.")
@click.option(
    "--class-parents/--class-root",
    default=True,
    show_default=True,
    help="Whether features may be parents of the class.",
)
@click.option(
    "--smoothing", default="laplace", show_default=True, help="laplace[:COUNT] or epsilon[:VALUE]."
)
@click.option("--require", type=ArcParam(), multiple=True, help="An arc that must be there.")
@click.option("--forbid", type=ArcParam(), multiple=True, help="An arc that must not be there.")
@click.option("--constraints", "constraints_file", metavar="FILE", help="TOML or JSON file.")
@click.option(
    "--engine", type=click.Choice(["monolithic"]), default="monolithic", show_default=True
)
@click.option(
    "--emit",
    type=click.Choice(["pulp", "highspy"]),
    default="pulp",
    show_default=True,
    help="How the monolithic model reaches HiGHS.",
)
@click.option("--warm-start", metavar="FILE", help="A model or structure file to start from.")
@click.option("--time-limit", type=Duration(), help="For everything: 90, 90s, 5m, 2h.")
@click.option("--gap", type=Gap(), default=0.0, help="Stop at this gap: 1% or 0.01.  [default: 0]")
@click.option("--threads", type=int, default=1, show_default=True, help="1 is deterministic.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--memory-limit", type=Size(), default="4GiB", show_default=True, help="500MB, 4GB.")
@click.option("--out", metavar="MODEL.json", help="Save the classifier.")
@click.option(
    "--trace", "trace_file", metavar="TRACE.csv", help="Save objective and bound over time."
)
@click.option("--write-model", metavar="X.lp|X.mps", help="Save the mixed-integer program.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.pass_context
def solve(ctx: click.Context, /, **options: Any) -> None:
    """Learn a structure exactly; print objective, bound and gap.

    \b
    Examples:
      milpbn solve --dataset car --score sm
      milpbn solve --data my.csv --target outcome --time-limit 5m --out model.json
    """
    from milpbn.clock import Clock
    from milpbn.encoding import Encoder

    _check_outputs(options)
    clock = Clock(options["time_limit"], started=PROCESS_START)
    names = ("dataset", "file", "target", "categorical", "numeric", "drop", "missing", "rows")
    table = load_table(**{name: options[name] for name in names})
    clock.close_phase("loading")
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    clock.close_phase("encoding")
    if not options["quiet"]:
        for note in data.notes:
            click.echo(f"note: {note}", err=True)
    score = _score(options)
    result = _learn(options, score, _constraints(options), data, encoder, clock)
    _deliver(options, score, result, data, encoder)
    within = result.gap_rel is not None and result.gap_rel <= options["gap"]
    ctx.exit(0 if result.status == "optimal" or within else EXIT_STOPPED)


def _check_outputs(options: dict[str, Any]) -> None:
    from milpbn.files import check_writable

    for name in ("out", "trace_file", "write_model"):
        if options[name]:
            check_writable(options[name])


def _score(options: dict[str, Any]) -> Score:
    from milpbn.scores import make_score

    if options["p"] is not None and options["gamma"] is not None:
        raise click.UsageError("say --p or --gamma, not both")
    return make_score(
        options["score"],
        p=0.9 if options["p"] is None else options["p"],
        gamma=options["gamma"],
        smoothing=options["smoothing"],
        ess=options["ess"],
    )


def _constraints(options: dict[str, Any]) -> Constraints:
    from milpbn.families import Constraints

    file = options["constraints_file"]
    given = Constraints.from_file(file) if file else Constraints()
    return given.merged(options["require"], options["forbid"])


def _learn(
    options: dict[str, Any],
    score: Score,
    constraints: Constraints,
    data: EncodedData,
    encoder: Encoder,
    clock: Clock,
) -> Result:
    from milpbn.cli.live import GapTable
    from milpbn.engines.monolithic import SolveOptions
    from milpbn.learning import SearchSpace, build_objective, run_method
    from milpbn.network.structure_file import read_structure

    constraints.check_names([v.name for v in data.variables], encoder.dropped)
    space = SearchSpace(options["max_parents"], options["class_parents"], constraints)
    solve_options = SolveOptions(
        **{k: options[k] for k in ("gap", "threads", "seed", "emit", "memory_limit")}
    )
    start = read_structure(options["warm_start"]) if options["warm_start"] else None
    if options["write_model"]:
        from milpbn.formulation import build_model, write_model

        objective = build_objective(
            data, score, space, clock=clock, memory_limit=options["memory_limit"]
        )
        model, _ = build_model(objective, memory_limit=options["memory_limit"])
        write_model(model, options["write_model"])
        clock.close_phase("writing")
    table = nullcontext() if options["quiet"] else GapTable(options["time_limit"])
    with table as listener:
        return run_method(
            data,
            score,
            space,
            method=options["engine"],
            clock=clock,
            start=start,
            start_source=options["warm_start"] or "",
            options=solve_options,
            listener=listener,
        )


def _deliver(
    options: dict[str, Any], score: Score, result: Result, data: EncodedData, encoder: Encoder
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
        settings=_settings(options, score),
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


def _settings(options: dict[str, Any], score: Score) -> dict[str, Any]:
    names = ("max_parents", "class_parents", "smoothing", "engine", "emit", "time_limit")
    return {
        "score": score.name,
        **score.settings(),
        **{name: options[name] for name in (*names, "gap", "threads", "seed", "memory_limit")},
        "constraints": _constraints(options).to_dict(),
    }
