"""``milpbn export``: write a model for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from milpbn.cli.models import trust_option
from milpbn.cli.outputs import Outputs
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
    help="Output format.  [default: by the extension of --out]",
)
@click.option(
    "--out", type=OutputFile(), metavar="FILE", help="Write to this file instead of stdout."
)
@trust_option
def export(model_file: str, kind: str | None, out: str | None, trust: tuple[str, ...]) -> None:
    """Write the network of a model in a format that other tools read.

    bif, xmlbif, net and the two kinds of json contain states and probabilities; dot and
    modelstring (bnlearn) contain only the graph. A model with several class variables can
    only be written as dot or modelstring. Names are preserved exactly in xmlbif and json. In
    the other formats, a character that is not allowed becomes _xHHHH_; milpbn restores it
    when it reads the file.

    \b
    Examples:
      milpbn export model.json --format bif
      milpbn export model.json --out model.xmlbif
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file})
    if kind is None:
        kind = _ENDINGS.get(Path(out).suffix.lower()) if out else None
    if kind is None:
        raise click.UsageError(f"give --format, one of {', '.join(_FORMATS())}")
    from milpbn.interchange import export_network, export_structure
    from milpbn.learning.model import Model
    from milpbn.model_files import load_model

    model = load_model(model_file, trust)
    name = str(model.data.get("name") or "milpbn")
    if isinstance(model, Model):
        text = export_network(model.network, kind, name, encoder=model.encoder)
    else:
        # Base models have no probability tables, so only the graph can be written.
        text = export_structure(model.classifier.structure_, kind, name)
    with Outputs() as outputs:
        outputs.data(out, text)
