"""Options that the commands for several class variables share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.data import COLUMN_OPTIONS, FILE_OPTION, check_source
from milpbn.cli.options import given_constraints, option_group, seed_option
from milpbn.cli.params import Jobs, Names
from milpbn.cli.registries import Registered, registry

if TYPE_CHECKING:
    from milpbn.datasets.multi import MultiTable
    from milpbn.mdc import GBNCClassifier

data_options = option_group(
    (
        click.option("--dataset", help="A bundled data set: Adult, Jura, flare2_mdc3."),
        FILE_OPTION,
        click.option("--targets", type=Names(), default=(), help="The class columns: a,b,c."),
        *COLUMN_OPTIONS,
        click.option(
            "--missing",
            type=click.Choice(["drop", "state"]),
            help="Leave incomplete rows out, or keep them: a missing category is a state of its "
            "own, a missing number becomes the mean.  [default: drop]",
        ),
    )
)
"""Which rows to learn from."""

model_options = option_group(
    (
        click.option(
            "--base",
            type=Registered(registry("milpbn.mdc.base", "BASES")),
            default="logistic",
            show_default=True,
            help="The base models.",
        ),
        click.option(
            "--max-parents",
            type=click.IntRange(min=0),
            help="Class parents of a class variable.  [default: no limit]",
        ),
        click.option(
            "--mixed",
            type=Registered(registry("milpbn.mdc.features", "MIXED")),
            default="partition",
            show_default=True,
            help="Categorical features partition the rows further, or become indicators.",
        ),
        click.option(
            "--max-discrete-parents",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="Categorical features that may partition the rows of one class variable.",
        ),
        click.option(
            "--jobs",
            type=Jobs(),
            default=1,
            show_default=True,
            help="Processes that train base models; -1 for all cores.",
        ),
        seed_option("Of folds and base models."),
    )
)
"""What is learned."""


def check_data_options(options: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other, before anything is read."""
    of_files = ("targets", "categorical", "numeric", "drop", "missing")
    check_source(options, "--targets a,b,c", of_files)


def load_multi(options: Mapping[str, Any]) -> MultiTable:
    """The table that the data options describe."""
    from milpbn.datasets.multi import load_multi_dataset, read_multi_table

    if options["dataset"]:
        return load_multi_dataset(options["dataset"])
    return read_multi_table(
        options["file"],
        options["targets"],
        categorical=options["categorical"],
        numeric=options["numeric"],
        drop=options["drop"],
        missing=options["missing"] or "drop",
    )


def make_classifier(options: Mapping[str, Any]) -> GBNCClassifier:
    """The classifier that the model options describe, unfitted."""
    from milpbn.mdc import GBNCClassifier
    from milpbn.mdc.base import BASES

    return GBNCClassifier(
        BASES[options["base"]](),
        max_parents=options["max_parents"],
        mixed=options["mixed"],
        max_discrete_parents=options["max_discrete_parents"],
        constraints=given_constraints(options),
        n_jobs=options["jobs"],
        random_state=options["seed"],
    )
