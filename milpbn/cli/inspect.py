"""``milpbn inspect``: what a model file says about itself, and its pictures."""

from __future__ import annotations

import click


@click.command()
@click.argument("model_file", metavar="MODEL.json")
@click.option("--plot", metavar="OUT.png", help="Objective and bound over time (png, svg, pdf).")
@click.option("--draw", metavar="OUT.png", help="The network (png, svg, pdf, dot).")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def inspect(model_file: str, plot: str | None, draw: str | None, as_json: bool) -> None:
    """Show the status, the bounds over time and the structure of a model.

    \b
    Examples:
      milpbn inspect model.json
      milpbn inspect model.json --plot gap.png --draw network.svg
    """
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
        from milpbn.pictures import draw_network

        draw_network(result.structure, draw, title=name)
    if as_json:
        click.echo(json.dumps({"data": model.data, **result.to_dict()}, indent=1))
        return
    click.echo(f"{'data':<12}{name}, {model.data.get('n_rows', '?')} rows")
    click.echo(result)
    click.echo(f"{'parameters':<12}{model.network.n_parameters}")
    click.echo("\n" + HEADER)
    for point in result.trace:
        click.echo(format_point(point))
    click.echo(f"\n{result.structure}")
