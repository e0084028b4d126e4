"""``milpbn mdc inspect``: what a GBNC model says about itself, and its pictures."""

from __future__ import annotations

import click

from milpbn.cli.options import picture_options
from milpbn.cli.params import Names, refuse_overwriting

trust_option = click.option(
    "--trust",
    type=Names(),
    default=(),
    metavar="TYPE,...",
    help="Types of base models, beyond scikit-learn's, that may be built from the file.",
)


@click.command(short_help="Show what a GBNC model file holds.")
@click.argument("model_file", metavar="MODEL.json")
@picture_options("The class network (png, svg, pdf, dot).")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@trust_option
def inspect(
    model_file: str,
    plot: str | None,
    draw: str | None,
    as_json: bool,
    trust: tuple[str, ...],
) -> None:
    """Show the training, the status and the class network of a model.

    \b
    Examples:
      milpbn mdc inspect adult.json
      milpbn mdc inspect adult.json --draw classes.png
    """
    refuse_overwriting({"--plot": plot, "--draw": draw}, {"MODEL.json": model_file})
    import json
    from dataclasses import asdict

    from milpbn.cli.mdc.solve import describe
    from milpbn.mdc.model_file import GBNCModel

    model = GBNCModel.load(model_file, trust)
    classifier = model.classifier
    name = model.data.get("name", "")
    if plot:
        from milpbn.pictures import plot_gap

        plot_gap(classifier.result_.trace, plot, title=name, score_name="penalised CLL")
    if draw:
        from milpbn.pictures import draw_network

        draw_network(
            classifier.structure_,
            draw,
            title=name,
            n_class_variables=len(classifier.target_classes_),
        )
    if as_json:
        content = {
            "data": model.data,
            "settings": model.settings,
            "training": asdict(classifier.training_),
            "result": classifier.result_.to_dict(),
        }
        click.echo(json.dumps(content, indent=1, allow_nan=False))
        return
    click.echo(describe(model))
    click.echo("\nbase models")
    for name, local in zip(classifier.target_names_, classifier.local_models_, strict=True):
        fitted = sum(m.estimator is not None for m in local.models.values())
        rows = f"{fitted} for {len(local.models)} configurations with rows"
        click.echo(f"{name:<12}{rows}")
    click.echo(f"\n{classifier.structure_}")
