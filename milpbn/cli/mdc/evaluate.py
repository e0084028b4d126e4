"""``milpbn mdc evaluate``: cross-validate GBNC and the baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import check_data_options, several_targets_options
from milpbn.cli.evaluate import run_evaluation
from milpbn.cli.evaluation_output import check_outputs, short_outputs
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.mdc.options import load_several, model_options, notes_for_warnings
from milpbn.cli.options import constraint_options, given_constraints
from milpbn.cli.params import Names
from milpbn.cli.registries import Registered, registry
from milpbn.cli.workers import n_jobs

if TYPE_CHECKING:
    from milpbn.mdc.estimator import MultiDimensionalClassifier

_METHODS = ("gbnc", "br", "cc", "cp")
_OF_GBNC = ("validation", "max_parents", "mixed", "max_discrete_parents")


@command(short_help="Cross-validate GBNC and the baselines.")
@several_targets_options
@model_options
@constraint_options
@option(
    Group.METHOD,
    "--methods",
    type=Names(),
    default=",".join(_METHODS),
    show_default=True,
    help="Methods: gbnc, br (binary relevance), cc (classifier chains), cp (class powerset).",
)
@option(
    Group.PROTOCOL,
    "--folds",
    type=click.IntRange(min=2),
    help="Number of folds, drawn with --seed.  [default: the data set's own protocol, or 10]",
)
@option(
    Group.PROTOCOL,
    "--fold-file",
    metavar="FILE",
    help="Published folds instead: a file with a header, then the test fold of each row.",
)
@option(
    Group.METHOD,
    "--chains",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of classifier chains, or of orders that --order auto tries.",
)
@option(
    Group.METHOD,
    "--order",
    type=Registered(registry("milpbn.mdc.other_methods", "ORDERS")),
    default="random",
    show_default=True,
    help="Orders of classifier chains: random orders that vote, or one order chosen by validation.",
)
@short_outputs
@click.pass_context
def evaluate(ctx: click.Context, /, **options: Any) -> None:
    """Cross-validate, and print the mean and standard deviation of every measure.

    Exact match: all class variables are right; sub-exact: at most one is wrong; Hamming score:
    share of right class values; macro F1: mean over class variables. For GBNC, the first two use
    the predictions for the subset 0/1 loss, the others those for the Hamming loss. Marks show
    where GBNC is significantly better or worse. Ctrl-C prints the table of the finished folds;
    with --out they are kept, and the same command continues from there.

    \b
    Examples:
      milpbn mdc evaluate --dataset Jura
      milpbn mdc evaluate --dataset Adult --methods gbnc,br,cc,cp --jobs 2 --out adult.jsonl
    """
    _check(options)
    with notes_for_warnings(quiet=options["quiet"]):
        run_evaluation(
            ctx,
            options,
            [load_several(options)],
            _methods(options),
            folds=options["folds"],
            fold_file=options["fold_file"],
        )


def _check(options: dict[str, Any]) -> None:
    check_data_options(options)
    check_outputs(
        options,
        {
            "the data": options["file"],
            "the constraints": options["constraints_file"],
            "the folds": options["fold_file"],
        },
    )
    unknown = [m for m in options["methods"] if m not in _METHODS]
    if unknown or not options["methods"]:
        what = f"unknown method {unknown[0]!r}" if unknown else "no method"
        raise click.UsageError(f"--methods: {what}; known methods: {', '.join(_METHODS)}")
    if options["folds"] and options["fold_file"]:
        raise click.UsageError("give --folds or --fold-file, not both")


def _methods(options: dict[str, Any]) -> dict[str, MultiDimensionalClassifier]:
    from milpbn.mdc import BinaryRelevance, ClassifierChains, ClassPowerset, GBNCClassifier

    same = {
        "base_estimator": options["base"],
        "n_jobs": n_jobs(options),
        "random_state": options["seed"],
    }
    methods: dict[str, MultiDimensionalClassifier] = {
        "gbnc": GBNCClassifier(
            **same,
            constraints=given_constraints(options),
            **{name: options[name] for name in _OF_GBNC},
        ),
        "br": BinaryRelevance(**same),
        "cc": ClassifierChains(**same, order=options["order"], n_chains=options["chains"]),
        "cp": ClassPowerset(**same),
    }
    return {name: methods[name] for name in options["methods"]}
