"""``milpbn inspect``: what a model file says about itself, and its pictures."""

from __future__ import annotations

import click

from milpbn.cli.options import picture_options
from milpbn.cli.params import refuse_overwriting


@click.command(short_help="Show what a model file holds.")
@click.argument("model_file", metavar="MODEL.json")
@picture_options("The network (png, svg, pdf, dot); of a multinet, a file for every class.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def inspect(model_file: str, plot: str | None, draw: str | None, as_json: bool) -> None:
    """Show the status, the bounds over time and the structure of a model.

    \b
    Examples:
      milpbn inspect model.json
      milpbn inspect model.json --plot gap.png --draw network.svg
    """
    refuse_overwriting({"--plot": plot, "--draw": draw})
    import json

    from milpbn.cli.live import HEADER, format_point
    from milpbn.network.model_file import Model

    model = Model.load(model_file)
    result = model.result
    name = model.data.get("name", "")
    if plot:
        from milpbn.pictures import plot_gap

        plot_gap(result.trace, plot, title=name, score_name=result.score.upper())
    if draw:
        from milpbn.pictures import draw_multinet, draw_network
        from milpbn.structure import Structure

        if isinstance(result.structure, Structure):
            draw_network(result.structure, draw, title=name)
        else:
            for path in draw_multinet(result.structure, draw, title=name):
                click.echo(f"wrote {path}", err=True)
    if as_json:
        content = {
            "data": model.data,
            "settings": model.settings,
            "parameters": model.parameters.to_dict(),
            "result": result.to_dict(),
        }
        click.echo(json.dumps(content, indent=1, allow_nan=False))
        return
    click.echo(f"{'data':<12}{name}, {model.data.get('n_rows', '?')} rows")
    click.echo(result)
    click.echo(f"{'parameters':<12}{model.network.n_parameters} by {model.parameters}")
    click.echo("\n" + HEADER)
    for point in result.trace:
        click.echo(format_point(point))
    click.echo(f"\n{result.structure}")
