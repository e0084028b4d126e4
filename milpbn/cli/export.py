"""``milpbn export``: a model for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from milpbn.cli.params import OutputFile, refuse_overwriting
from milpbn.cli.registries import Registered, registry

_FORMATS = registry("milpbn.interchange", "FORMATS")

_ENDINGS = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",
    ".xml": "xmlbif",
    ".net": "net",
    ".dot": "dot",
    ".json": "json",
}


@click.command(short_help="Write a model for other tools.")
@click.argument("model_file", metavar="MODEL.json")
@click.option(
    "--format",
    "kind",
    type=Registered(_FORMATS),
    help="What to write.  [default: by the ending of --out]",
)
@click.option("--out", type=OutputFile(), metavar="FILE", help="Write there instead of to stdout.")
def export(model_file: str, kind: str | None, out: str | None) -> None:
    """Write the network of a model in a format of other tools.

    bif, xmlbif, net and the two kinds of json hold states and probabilities, dot and
    modelstring (bnlearn) the graph only. Names come through unchanged in xmlbif and json;
    where a format has no way to write a character, it becomes _xHHHH_, and milpbn reads it
    back.

    \b
    Examples:
      milpbn export model.json --format bif
      milpbn export model.json --out model.xmlbif
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file})
    if kind is None:
        kind = _ENDINGS.get(Path(out).suffix.lower()) if out else None
    if kind is None:
        raise click.UsageError(f"say --format, one of {', '.join(_FORMATS())}")
    from milpbn.files import write_whole
    from milpbn.interchange import export_network
    from milpbn.network.model_file import Model

    model = Model.load(model_file)
    text = export_network(model.network, kind, str(model.data.get("name") or "milpbn"))
    if out:
        write_whole(out, text)
    else:
        click.echo(text, nl=False)
