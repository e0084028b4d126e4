"""``milpbn mdc``: several class variables, predicted jointly."""

from __future__ import annotations

import click

from milpbn.cli.inspect import inspect
from milpbn.cli.mdc.evaluate import evaluate
from milpbn.cli.mdc.solve import solve
from milpbn.cli.models import old_spelling
from milpbn.cli.predict import predict


@click.group(short_help="Several class variables: learn and evaluate.")
def mdc() -> None:
    """Multi-dimensional classification: a network between class variables, learned exactly.

    Each class variable depends on all features, by one base model for every configuration of
    its parents among the class variables (generalised Bayesian network classifiers, GBNC).
    `milpbn inspect`, `predict`, `verify` and `export` take the models that `solve` saves.
    """


for command in (solve, evaluate, old_spelling(predict), old_spelling(inspect)):
    mdc.add_command(command)
