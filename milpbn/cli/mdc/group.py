"""``milpbn mdc``: several class variables, predicted jointly."""

from __future__ import annotations

import click

from milpbn.cli.grouping import Commands
from milpbn.cli.inspect import inspect
from milpbn.cli.mdc.evaluate import evaluate
from milpbn.cli.mdc.solve import solve
from milpbn.cli.models import old_spelling
from milpbn.cli.predict import predict


@click.group(cls=Commands, short_help="Learn and evaluate with several class variables.")
def mdc() -> None:
    """Multi-dimensional classification with an exactly learned network of class variables.

    Each class variable depends on all features, through one base model for every
    configuration of its parents among the class variables (generalised Bayesian network
    classifiers, GBNC). `milpbn inspect`, `predict`, `verify` and `export` read the models
    that `milpbn mdc solve` saves.
    """


for command in (solve, evaluate, old_spelling(predict), old_spelling(inspect)):
    mdc.add_command(command)
