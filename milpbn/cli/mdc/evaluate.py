"""``milpbn mdc evaluate``: cross-validate GBNC and the baselines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import check_data_options, several_targets_options, show_notes
from milpbn.cli.interrupts import EXIT_STOPPED
from milpbn.cli.mdc.options import load_several, make_classifier, model_options
from milpbn.cli.options import constraint_options, given_constraints
from milpbn.cli.params import Names, OutputFile, refuse_overwriting
from milpbn.cli.workers import ending_workers

if TYPE_CHECKING:
    from milpbn.mdc.base import MultiDimensionalClassifier
    from milpbn.mdc.evaluation import FoldScore

_METHODS = ("gbnc", "br", "cc", "cp")
_FOLDS = 10  # of a user's file
_SETTINGS = ("base", "max_parents", "mixed", "max_discrete_parents", "seed", "folds", "chains")


@click.command(short_help="Cross-validate GBNC and the baselines.")
@several_targets_options
@model_options
@constraint_options
@click.option(
    "--methods",
    type=Names(),
    default=",".join(_METHODS),
    show_default=True,
    help="gbnc; br binary relevance; cc classifier chains; cp class powerset.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Folds, drawn with --seed.  [default: the catalog's, or 10]",
)
@click.option(
    "--fold-file",
    metavar="FILE",
    help="Published folds instead: a header, then the number of each row's test fold.",
)
@click.option(
    "--chains",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Random orders of the classifier chains.",
)
@click.option(
    "--out",
    type=OutputFile(),
    metavar="SCORES.json",
    help="Keep every score there; the same command goes on where it stopped.",
)
@click.option("--json", "as_json", is_flag=True, help="Print scores and summary as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.pass_context
def evaluate(ctx: click.Context, /, **options: Any) -> None:
    """Cross-validate, and print both scores with mean and standard deviation.

    GBNC is judged by its predictions for the subset 0/1 loss in the column of exact matches,
    and by those for the Hamming loss in the column of Hamming scores. Marks tell where it is
    significantly better or worse. Ctrl-C prints the table of the folds that are done; with
    --out they are kept, and the same command goes on from there.

    \b
    Examples:
      milpbn mdc evaluate --dataset Jura
      milpbn mdc evaluate --dataset Adult --methods gbnc,br,cc,cp --jobs 2 --out adult.json
    """
    _check(options)
    import numpy as np

    from milpbn.files import write_whole
    from milpbn.mdc import evaluation

    table = load_several(options)
    if options["fold_file"]:
        folds = evaluation.read_folds(options["fold_file"], len(table))
    else:
        options["folds"] = options["folds"] or table.folds or _FOLDS
        folds = evaluation.make_folds(len(table), options["folds"], options["seed"])
    settings = {
        **{name: options[name] for name in _SETTINGS},
        "data": table.source,
        "fold_file": options["fold_file"],
        "constraints": _constraints(options),
    }
    scores: list[FoldScore] = []
    if options["out"] and Path(options["out"]).exists():
        scores = evaluation.read_scores(options["out"], settings)
    if not options["quiet"]:
        show_notes(table.notes)
    n_runs = len(np.unique(folds)) * len(options["methods"])

    def listener(score: FoldScore) -> None:
        scores.append(score)
        if options["out"]:
            write_whole(options["out"], evaluation.to_json(settings, scores))
        if not options["quiet"]:
            click.echo(
                f"{len(scores)}/{n_runs} fold {score.fold} {score.method}: exact match "
                f"{score.exact_match:.3f}, Hamming {score.hamming:.3f}, {score.seconds:.1f} s",
                err=True,
            )

    interrupted = False
    try:
        with ending_workers(options["jobs"]):
            evaluation.evaluate(
                table, folds, _methods(options), done=tuple(scores), listener=listener
            )
    except KeyboardInterrupt:
        if not scores:
            raise
        interrupted = True
    if options["as_json"]:
        click.echo(evaluation.to_json(settings, scores), nl=False)
    else:
        click.echo(evaluation.text_table(scores))
    if options["out"] and not options["quiet"]:
        click.echo(f"wrote {options['out']}", err=True)
    ctx.exit(EXIT_STOPPED if interrupted else 0)


def _constraints(options: dict[str, Any]) -> dict[str, Any]:
    constraints = given_constraints(options)
    return constraints.to_dict() if constraints else {}


def _check(options: dict[str, Any]) -> None:
    check_data_options(options)
    refuse_overwriting(
        {"--out": options["out"]},
        {
            "the data": options["file"],
            "the constraints": options["constraints_file"],
            "the folds": options["fold_file"],
        },
    )
    unknown = [m for m in options["methods"] if m not in _METHODS]
    if unknown or not options["methods"]:
        what = f"unknown method {unknown[0]!r}" if unknown else "no method"
        raise click.UsageError(f"--methods: {what}; known: {', '.join(_METHODS)}")
    if options["folds"] and options["fold_file"]:
        raise click.UsageError("say --folds or --fold-file, not both")


def _methods(options: dict[str, Any]) -> dict[str, MultiDimensionalClassifier]:
    from milpbn.mdc.evaluation import METHODS

    out: dict[str, MultiDimensionalClassifier] = {}
    gbnc = make_classifier(options)
    for name in options["methods"]:
        if name == "gbnc":
            out[name] = gbnc
            continue
        out[name] = METHODS[name](
            gbnc.base_estimator, n_jobs=options["jobs"], random_state=options["seed"]
        )
        if name == "cc":
            out[name].set_params(n_chains=options["chains"])
    return out
