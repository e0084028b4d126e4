"""Shared by the commands that read a model file, for one class variable or several."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.outputs import say
from milpbn.cli.params import Names
from milpbn.words import name_in_list

if TYPE_CHECKING:
    from milpbn.mdc.model_file import GBNCModel

trust_option = click.option(
    "--trust",
    type=Names(),
    default=(),
    metavar="TYPE,...",
    help="Types of base models, other than scikit-learn's, that may be loaded from the file.",
)


def describe_gbnc(model: GBNCModel) -> str:
    """Data, class variables, training and result of a model for several class variables."""
    classifier = model.classifier
    pairs = zip(classifier.target_names_, classifier.target_classes_, strict=True)
    encoder = classifier.encoder_
    return "\n".join(
        [
            f"{'data':<12}{model.data.get('name', '?')}, {model.data.get('n_rows', '?')} rows",
            f"{'classes':<12}{', '.join(f'{name_in_list(n)}: {len(c)}' for n, c in pairs)}",
            f"{'features':<12}{len(encoder.numeric)} numeric, {len(encoder.categories)} "
            f"categorical ({encoder.mixed})",
            *([f"{'base':<12}{classifier.base_}"] if classifier.training_.base_models else []),
            str(classifier.training_),
            str(classifier.result_),
        ]
    )


def old_spelling(command: click.Command) -> click.Command:
    """The old command `milpbn mdc NAME`, now `milpbn NAME`; it works the same, with a note."""
    callback: Callable[..., Any] = command.callback  # type: ignore[assignment]

    def noted(*args: Any, **options: Any) -> Any:
        name = command.name
        say(f"note: `milpbn mdc {name}` is now `milpbn {name}`")
        return callback(*args, **options)

    return click.Command(
        name=command.name,
        callback=noted,
        params=command.params,
        help=f"Old name of `milpbn {command.name}`.",
        hidden=True,
    )
