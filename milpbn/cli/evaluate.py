"""``milpbn evaluate``: compare methods by the protocol of a data set."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from milpbn.cli.data import (
    DATA_OPTIONS,
    check_data_options,
    load_table,
    notes_on_incomplete_rows,
    show_notes,
    table_options,
)
from milpbn.cli.interrupts import EXIT_STOPPED, Interrupts
from milpbn.cli.options import (
    check_score,
    given_constraints,
    score_options,
    seed_option,
    smoothing_option,
    structure_options,
)
from milpbn.cli.params import Candidates, Duration, Gap, Jobs, Names, OutputFile, refuse_overwriting
from milpbn.cli.registries import RegistryOption, parameter_learners
from milpbn.cli.session import report_files
from milpbn.cli.workers import ending_workers

if TYPE_CHECKING:
    from milpbn.datasets.table import Table
    from milpbn.evaluation import Evaluation, FoldRecord


@click.command(short_help="Compare methods on test rows or folds.")
@table_options
@click.option(
    "--method",
    "methods",
    type=Names(),
    default="branch-and-cut",
    show_default=True,
    metavar="NAME[:SCORE],...",
    help="Engines, and heuristics of `milpbn learn`; a score after a colon replaces --score: "
    "nb,hc:cr.",
)
@click.option(
    "--parameters",
    cls=RegistryOption,
    type=Names(),
    default="ml",
    show_default=True,
    metavar="NAME,...",
    help_from=lambda: (
        f"Parameter learners: {parameter_learners()}; settings follow a colon: cl:penalty=0.1."
    ),
)
@score_options
@structure_options
@smoothing_option
@click.option(
    "--select",
    type=Candidates(),
    multiple=True,
    help="Values to choose from by validation on the training rows: p=0.6,0.9 or "
    "max-parents=1,2; may be repeated.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Number of cross-validation folds.  [default: the data set's own protocol, or 5]",
)
@click.option(
    "--gap", type=Gap(), default=0.0, help="Stop engines at this gap: 1% or 0.01.  [default: 0]"
)
@click.option(
    "--time-limit",
    type=Duration(),
    default="60s",
    show_default=True,
    help="Time limit for each fit: 90, 90s, 5m, 2h.",
)
@seed_option("Random seed for folds and learners.")
@click.option(
    "--jobs",
    type=Jobs(),
    default=1,
    show_default=True,
    help="Number of folds to run in parallel; -1 for one per core.",
)
@click.option(
    "--out",
    type=OutputFile(),
    metavar="RESULTS.jsonl",
    help="Keep finished folds in this file; the same command continues where it stopped.",
)
@click.option(
    "--predictions",
    "predictions_file",
    type=OutputFile(),
    metavar="FILE.csv",
    help="Save the predictions for all test rows.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.pass_context
def evaluate(ctx: click.Context, /, **options: Any) -> None:
    """Compare methods by accuracy (with a 95 % interval), CLL, Brier score and size.

    The rows are split by the protocol of the data set: its own test rows, or 5-fold
    cross-validation. Cuts, states, structure, parameters and the choices of --select depend
    only on the training rows of each fold. Ctrl-C keeps the finished folds.

    \b
    Examples:
      milpbn evaluate --dataset satimage --method nb,tan-cmi,hc:cr --parameters ml,cl --class-root
      milpbn evaluate --dataset heart --method nb,branch-and-cut --select p=0.6,0.8,0.9 \\
          --select max-parents=1,2 --jobs 2 --out heart.jsonl
    """
    _check(options)
    run_evaluation(
        ctx,
        options,
        _table(options),
        options["methods"],
        parameters=options["parameters"],
        select=dict(options["select"]),
        folds=options["folds"],
        n_jobs=options["jobs"],
        predictions=options["predictions_file"] is not None,
        **_settings(options),
    )


def run_evaluation(
    ctx: click.Context,
    options: dict[str, Any],
    table: Table,
    methods: Sequence[str] | Mapping[str, Any],
    **arguments: Any,
) -> NoReturn:
    """Evaluate with a progress bar, print the table and exit with the exit code.

    `arguments` are passed on to :func:`milpbn.evaluate`.
    """
    from milpbn.bar import Bar
    from milpbn.evaluation import evaluate as run

    if not options["quiet"]:
        show_notes([*table.notes, *notes_on_incomplete_rows(table)])
    folds = Bar(sys.stderr, "folds; Ctrl-C keeps the finished ones", quiet=options["quiet"])
    with folds as bar, ending_workers(options["jobs"], kill=True):

        def listener(record: FoldRecord, done: int, total: int) -> None:
            bar.show(done, total, _fold_line(record, done, total))

        evaluation = run(
            table,
            methods,
            seed=options["seed"],
            result_file=options["out"],
            listener=listener,
            **arguments,
        )
        (ctx.find_object(Interrupts) or Interrupts()).close()  # no signal may stop the report
    _deliver(evaluation, options)
    ctx.exit(0 if evaluation.complete else EXIT_STOPPED)


def _check(options: dict[str, Any]) -> None:
    check_data_options(options)
    # p and gamma may belong to a score that only some of the methods use.
    check_score(options, ("ess",))
    names = [name for name, _ in options["select"]]
    for name in ("p", "gamma"):
        if options[name] is not None and {"p", "gamma"} & set(names):
            raise click.UsageError(f"--{name} does not go with --select p=... or gamma=...")
    if len(set(names)) < len(names):
        raise click.UsageError("--select is given twice for the same hyper-parameter")
    refuse_overwriting(
        {"--out": options["out"], "--predictions": options["predictions_file"]},
        {"the data": options["file"], "the constraints": options["constraints_file"]},
    )


def _table(options: dict[str, Any]) -> Table:
    names = [name for name in DATA_OPTIONS if name != "rows"]
    return load_table(**{name: options[name] for name in names}, rows="train")


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of the classifiers, keyed by the parameters of BNClassifier."""
    from milpbn.scores import make_score

    constraints = given_constraints(options)
    score = options["score"]
    if options["ess"] is not None:
        score = make_score(score, ess=options["ess"])
    names = (
        *("max_parents", "class_parents", "augmented", "smoothing", "validation"),
        *("time_limit", "gap", "gamma"),
    )
    margin = {"p": 0.9, "penalty": 0.0}
    return {
        "structure_score": score,
        **{k: v if options[k] is None else options[k] for k, v in margin.items()},
        "constraints": constraints or None,
        **{name: options[name] for name in names},
    }


def _deliver(evaluation: Evaluation, options: dict[str, Any]) -> None:
    import json

    from milpbn.files import write_whole

    if options.get("predictions_file"):
        text = evaluation.predictions().to_csv(index=False, lineterminator="\n")
        write_whole(options["predictions_file"], text)
    if options["as_json"]:
        content = {
            "data": evaluation.table.name,
            "protocol": evaluation.protocol,
            "complete": evaluation.complete,
            "methods": [vars(s) for s in evaluation.summaries()],
            "folds": [_as_dict(record) for record in evaluation.records],
        }
        click.echo(json.dumps(content, indent=1))
    else:
        click.echo(evaluation)
    report_files(options, ("out", "predictions_file"))


def _as_dict(record: FoldRecord) -> dict[str, Any]:
    """One fold of a method as plain data, without the predictions of single rows."""
    names = ("method", "parameters", "fold", "selected", "status", "gap", "seconds")
    measures = {"accuracy": record.measures.accuracy, "hamming": record.measures.hamming}
    return {**{name: getattr(record, name) for name in names}, **measures}


def _fold_line(record: FoldRecord, done: int, total: int) -> str:
    label = f"{record.method} {record.parameters}".strip()
    share = 100 * record.measures.accuracy
    return f"{done}/{total}  {label}, fold {record.fold}: {share:.2f} %, {record.seconds:.1f} s"
