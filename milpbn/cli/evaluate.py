"""``milpbn evaluate``: compare methods by the protocol of a data set."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from milpbn.cli.data import (
    check_data_options,
    hold_out_rows,
    load_table,
    notes_on_incomplete_rows,
    several_sets_options,
    show_notes,
)
from milpbn.cli.evaluation_output import check_outputs, deliver, evaluation_outputs
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.interrupts import EXIT_STOPPED, Interrupts
from milpbn.cli.options import (
    budget_options,
    check_score,
    given_constraints,
    score_options,
    setting_option,
    structure_options,
)
from milpbn.cli.params import Names
from milpbn.cli.registries import parameter_learners
from milpbn.cli.selecting import AUTO, given_plan, selection_options
from milpbn.cli.workers import jobs_options, n_jobs, worker_processes
from milpbn.settings import SETTINGS, ScoreNames, SmoothingNames, SpaceNames, declared

if TYPE_CHECKING:
    from milpbn.datasets.table import Table
    from milpbn.evaluation import FoldRecord


@command(short_help="Compare methods on test rows or folds.")
@several_sets_options
@option(
    Group.METHOD,
    "--method",
    "methods",
    type=Names(),
    default="branch-and-cut",
    show_default=True,
    metavar="NAME[:SCORE],...",
    help="Engines, heuristics of `milpbn learn` (a score after a colon replaces --score: hc:cr), "
    "auto for the default selection of settings, and classifiers of other libraries on the raw "
    "columns: sk:logistic, sk:svm, sk:random-forest, sk:gradient-boosting, sk:tree, interpret:ebm; "
    "settings follow a colon: sk:svm:inputs=states.",
)
@option(
    Group.PARAMETERS,
    "--parameters",
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
@budget_options
@setting_option("smoothing")
@selection_options
@option(
    Group.PROTOCOL,
    "--folds",
    type=click.IntRange(min=2),
    help="Number of cross-validation folds.  [default: the data set's own protocol, or 5]",
)
@setting_option("gap", "Stop engines at this gap: 1% or 0.01.", rare=True)
@setting_option(
    "time_limit", "Time limit for each fit: 90, 90s, 5m, 2h.", default="60s", shown="60s"
)
@setting_option("seed", "Random seed for folds and learners.")
@jobs_options("Number of folds to run in parallel; -1 for one per core.")
@evaluation_outputs
@click.pass_context
def evaluate(ctx: click.Context, /, **options: Any) -> None:
    """Compare methods by accuracy (with a 95 % interval), log-loss, calibration and size.

    The rows are split by the protocol of the data set: its own test rows, or 5-fold
    cross-validation. Cuts, states, structure, parameters and the choices of --select depend
    only on the training rows of each fold. Marks show where the first method is significantly
    better or worse, and which methods are no better than the majority class. Ctrl-C keeps the
    finished folds.

    \b
    Examples:
      milpbn evaluate --dataset satimage --method nb,tan-cmi,hc:cr --parameters ml,cl --class-root
      milpbn evaluate --dataset heart,vote,crx --method branch-and-cut,nb,sk:logistic --out r.jsonl
      milpbn evaluate --data train.csv --target outcome --test new.csv --details
      milpbn evaluate --dataset heart --method nb,branch-and-cut --select p=0.6,0.8,0.9 \\
          --select max-parents=1,2 --jobs 2 --out heart.jsonl
    """
    _check(options)
    plan = given_plan(options)
    tables, folds = _tables(options)
    run_evaluation(
        ctx,
        options,
        tables,
        options["methods"],
        parameters=options["parameters"],
        select=plan,
        folds=folds,
        n_jobs=n_jobs(options),
        predictions=options["predictions_file"] is not None,
        **_settings(options),
    )


def run_evaluation(
    ctx: click.Context,
    options: dict[str, Any],
    tables: Sequence[Table],
    methods: Sequence[str] | Mapping[str, Any],
    **arguments: Any,
) -> NoReturn:
    """Evaluate with a progress bar, print the tables and exit with the exit code.

    `arguments` are passed on to :func:`milpbn.evaluate`.
    """
    from milpbn.bar import Bar
    from milpbn.evaluation import evaluate_all

    if not options["quiet"]:
        for table in tables:
            fate = "are used only for tests,"
            show_notes([*table.notes, *notes_on_incomplete_rows(table, fate)])
    folds = Bar(sys.stderr, "folds; Ctrl-C keeps the finished ones", quiet=options["quiet"])
    with folds as bar, worker_processes(options, kill=True):

        def listener(record: FoldRecord, done: int, total: int) -> None:
            name = f"{record.data} " if len(tables) > 1 else ""
            bar.show(done, total, name + _fold_line(record, done, total))

        evaluations = evaluate_all(
            tables,
            methods,
            seed=options["seed"],
            result_file=options["out"],
            listener=listener,
            **arguments,
        )
        (ctx.find_object(Interrupts) or Interrupts()).close()  # no signal may stop the report
    deliver(evaluations, options)
    ctx.exit(0 if evaluations.complete else EXIT_STOPPED)


def _check(options: dict[str, Any]) -> None:
    check_data_options(options)
    # p and gamma may belong to a score that only some of the methods use.
    check_score(options, shared=False)
    if any(name == AUTO for name, _ in options["select"]):
        raise click.UsageError(f"evaluate has no --select {AUTO}; use --method {AUTO}")
    inputs = {
        "the data": "file",
        "the test rows": "test_file",
        "the constraints": "constraints_file",
    }
    check_outputs(options, {what: options[name] for what, name in inputs.items()})


def _tables(options: dict[str, Any]) -> tuple[list[Table], Any]:
    """The tables, and the folds: their number, or the number of each row's fold."""
    if options["dataset"]:
        sets = [load_table({**options, "dataset": one}) for one in options["dataset"]]
        return sets, options["folds"]
    column = options["fold_column"]
    if column is None:
        table = load_table(options)
        return [hold_out_rows(table, test_file=options["test_file"])], options["folds"]
    _check_column(options["file"], column)
    # As a category the column is neither cut into intervals nor dropped like an identifier.
    table = load_table({**options, "categorical": (*(options["categorical"] or ()), column)})
    return _without_folds(table, column)


def _check_column(file: str, column: str) -> None:
    from milpbn.datasets.assemble import unknown_columns
    from milpbn.datasets.readers import read_raw
    from milpbn.errors import DataError

    raw = read_raw(file)
    names = [str(name) for name in raw.frame.columns]
    if column not in names:
        raise DataError(f"{raw.name}: --fold-column: {unknown_columns([column], names)}")


def _without_folds(table: Table, column: str) -> tuple[list[Table], Any]:
    """The table without its column of fold numbers, and these numbers."""
    from dataclasses import replace

    from milpbn.errors import DataError
    from milpbn.evaluation.protocol import fold_numbers

    where = f"{table.name}, column {column!r}"
    if column not in table.features:
        raise DataError(f"{where}: all rows are in one fold; at least two are needed")
    numbers = table.features[column]
    if numbers.isna().any():
        raise DataError(f"{where}: the fold of row {int(numbers.isna().argmax()) + 1} is missing")
    without = replace(table, features=table.features.drop(columns=column))
    return [without], fold_numbers(numbers.tolist(), where)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """The settings of the classifiers."""
    from milpbn.scores import make_score

    names = [*declared(ScoreNames, SpaceNames, SmoothingNames), "time_limit", "gap"]
    given = {name: options[name] for name in names if options.get(name) is not None}
    # Methods with another score do not have what only this one has.
    own = {k: given.pop(k) for k in tuple(given) if not SETTINGS[k].of_estimator}
    score = make_score(options["score"], **own) if own else options["score"]
    return {**given, "score": score, "constraints": given_constraints(options) or None}


def _fold_line(record: FoldRecord, done: int, total: int) -> str:
    label = f"{record.method} {record.parameters}".strip()
    share = 100 * record.measures.accuracy
    return f"{done}/{total}  {label}, fold {record.fold}: {share:.2f} %, {record.seconds:.1f} s"
