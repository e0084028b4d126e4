"""Options that the commands for several class variables share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import load_table, show_notes
from milpbn.cli.grouping import Group, option, option_group
from milpbn.cli.options import given_constraints, setting_option
from milpbn.cli.params import BASE, FOLDS
from milpbn.cli.registries import Registered, base_models, registry
from milpbn.cli.workers import jobs_options, n_jobs

if TYPE_CHECKING:
    from milpbn.datasets.table import Table
    from milpbn.mdc import GBNCSettings

model_options = option_group(
    (
        option(
            Group.SCORE,
            "--base",
            type=BASE,
            default="logistic",
            show_default=True,
            metavar="NAME[:SETTING=VALUE,...]",
            help_from=lambda: (
                f"Type of the base models: {base_models()}; settings follow a colon: "
                "logistic:C=0.1. Without C, it is chosen by validation."
            ),
        ),
        option(
            Group.SCORE,
            "--validation",
            type=FOLDS,
            default="5",
            show_default=True,
            metavar="FOLDS|none",
            help="Score each row of GBNC by base models trained without its fold; none penalises "
            "the likelihood of the training rows instead, which is faster.",
        ),
        option(
            Group.SPACE,
            "--max-parents",
            type=click.IntRange(min=0),
            help="Maximum number of class parents per class variable.  [default: no limit]",
        ),
        option(
            Group.SCORE,
            "--mixed",
            type=Registered(registry("milpbn.mdc.features", "MIXED")),
            default="partition",
            show_default=True,
            help="Whether categorical features partition the rows or become indicator columns.",
            rare=True,
        ),
        option(
            Group.SCORE,
            "--max-discrete-parents",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="Maximum number of categorical features that partition the rows of a class "
            "variable.",
            rare=True,
        ),
        jobs_options("Number of processes that train base models; -1 for all cores."),
        setting_option("seed", "Random seed for folds, validation and base models."),
    )
)
"""Options that describe the classifier."""


def load_several(options: Mapping[str, Any]) -> Table:
    """Load the table that the data options describe; it must have several class variables."""
    from milpbn.datasets import load_catalog
    from milpbn.errors import DataError

    table = load_table({**options, "rows": "all"})
    if table.targets.shape[1] < 2:
        bundled = [name for name, e in load_catalog().items() if len(e.targets) > 1]
        hint = f"choose one of {', '.join(bundled)}" if options["dataset"] else "give several"
        raise DataError(
            f"{table.name} has one class variable, {table.target.name!r}; {hint}, or use "
            "`milpbn solve`"
        )
    return table


@contextmanager
def notes_for_warnings(*, quiet: bool) -> Iterator[None]:
    """Print warnings of libraries as notes, or not at all."""
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore")
        warnings.showwarning = lambda message, *_, **__: show_notes([str(message)])
        yield


def given_gbnc_settings(options: Mapping[str, Any]) -> GBNCSettings:
    """The settings that the options describe."""
    from milpbn.cli.engine import start_structure
    from milpbn.mdc import GBNCSettings
    from milpbn.mdc.base_estimators import make_base

    same = ("validation", "max_parents", "mixed", "max_discrete_parents", "seed")
    of_solve = {"loss": "loss", "method": "engine", "time_limit": "time_limit", "emit": "emit"}
    start = options.get("start", "none")
    return GBNCSettings(
        make_base(options["base"]),
        constraints=given_constraints(options),
        n_jobs=n_jobs(options),
        start=start_structure(start),
        start_source=start,
        **{name: options[name] for name in same},
        **{field: options[name] for name, field in of_solve.items() if name in options},
    )
