"""``milpbn evaluate``: methods compared on the protocol of a data set."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from milpbn.cli.data import check_data_options, load_table, show_notes, table_options
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
    help="Engines and the heuristics of `milpbn learn`, each with a score of its own if one is "
    "given: nb,hc:cr.",
)
@click.option(
    "--parameters",
    cls=RegistryOption,
    type=Names(),
    default="ml",
    show_default=True,
    metavar="NAME,...",
    help_from=lambda: (
        f"How the parameters are learned: {parameter_learners()}; a setting as in cl:penalty=0.1."
    ),
)
@score_options
@structure_options
@smoothing_option
@click.option(
    "--select",
    type=Candidates(),
    multiple=True,
    help="Choose by validation on the training rows: p=0.6,0.9, max-parents=1,2.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Cross-validate with so many folds.  [default: the set's own protocol, or 5]",
)
@click.option("--gap", type=Gap(), default=0.0, help="Engines stop at this gap.  [default: 0]")
@click.option(
    "--time-limit",
    type=Duration(),
    default="60s",
    show_default=True,
    help="For each single fit: 90, 90s, 5m, 2h.",
)
@seed_option("Random seed for folds and learners.")
@click.option(
    "--jobs",
    type=Jobs(),
    default=1,
    show_default=True,
    help="Folds at the same time; -1 for as many as there are cores.",
)
@click.option(
    "--out",
    type=OutputFile(),
    metavar="RESULTS.jsonl",
    help="Keep finished folds there; the same command goes on where it stopped.",
)
@click.option(
    "--predictions",
    "predictions_file",
    type=OutputFile(),
    metavar="FILE.csv",
    help="Write the predictions for all test rows.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.pass_context
def evaluate(ctx: click.Context, /, **options: Any) -> None:
    """Compare methods by accuracy (with 95 % interval), CLL, Brier score and size.

    The rows are split as the data set demands: its test rows, or 5-fold cross-validation.
    Cuts, states, structure, parameters and what --select chooses are learned from the
    training rows of each fold alone. Ctrl-C keeps the finished folds.

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
    """Evaluate with a progress bar, deliver the table and leave with the exit code.

    `arguments` are further ones of :func:`milpbn.evaluate`.
    """
    from milpbn.bar import Bar
    from milpbn.evaluation import evaluate as run

    if not options["quiet"]:
        show_notes(table.notes)
    folds = Bar(sys.stderr, "folds; Ctrl-C keeps finished ones", quiet=options["quiet"])
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
        (ctx.find_object(Interrupts) or Interrupts()).close()  # nothing may spoil the report
    _deliver(evaluation, options)
    ctx.exit(0 if evaluation.complete else EXIT_STOPPED)


def _check(options: dict[str, Any]) -> None:
    check_data_options(options)
    # p and gamma may be meant for a score that only one of the methods has.
    check_score(options, ("ess",))
    names = [name for name, _ in options["select"]]
    for name in ("p", "gamma"):
        if options[name] is not None and {"p", "gamma"} & set(names):
            raise click.UsageError(f"--{name} is fixed and selected at the same time")
    if len(set(names)) < len(names):
        raise click.UsageError("--select names a hyper-parameter twice")
    refuse_overwriting(
        {"--out": options["out"], "--predictions": options["predictions_file"]},
        {"the data": options["file"], "the constraints": options["constraints_file"]},
    )


def _table(options: dict[str, Any]) -> Table:
    names = ("dataset", "file", "target", "categorical", "numeric", "drop", "missing")
    return load_table(**{name: options[name] for name in names}, rows="train")


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of the classifiers, by the names of BNClassifier's parameters."""
    from milpbn.scores import make_score

    constraints = given_constraints(options)
    score = options["score"]
    if options["ess"] is not None:
        score = make_score(score, ess=options["ess"])
    names = ("max_parents", "class_parents", "augmented", "smoothing", "time_limit", "gap", "gamma")
    return {
        "structure_score": score,
        "p": 0.9 if options["p"] is None else options["p"],
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
    """One fold of a method, without what the predictions of single rows say."""
    names = ("method", "parameters", "fold", "selected", "status", "gap", "seconds")
    measures = {"accuracy": record.measures.accuracy, "hamming": record.measures.hamming}
    return {**{name: getattr(record, name) for name in names}, **measures}


def _fold_line(record: FoldRecord, done: int, total: int) -> str:
    label = f"{record.method} {record.parameters}".strip()
    share = 100 * record.measures.accuracy
    return f"{done}/{total}  {label}, fold {record.fold}: {share:.2f} %, {record.seconds:.1f} s"
