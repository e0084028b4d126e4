"""``milpbn mdc``: several class variables, predicted jointly."""

from __future__ import annotations

import click

from milpbn.cli.mdc.evaluate import evaluate
from milpbn.cli.mdc.inspect import inspect
from milpbn.cli.mdc.predict import predict
from milpbn.cli.mdc.solve import solve


@click.group(short_help="Several class variables: learn, evaluate, predict.")
def mdc() -> None:
    """Multi-dimensional classification: a network between class variables, learned exactly.

    Each class variable depends on all features, by one base model for every configuration of
    its parents among the class variables (generalised Bayesian network classifiers, GBNC).
    """


for command in (solve, evaluate, predict, inspect):
    mdc.add_command(command)
