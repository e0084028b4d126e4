"""``milpbn export``: write a model for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import keep_data, trust_option
from milpbn.cli.outputs import Outputs, say
from milpbn.cli.params import Names, OutputFile, refuse_overwriting
from milpbn.cli.registries import Registered, registry

if TYPE_CHECKING:
    from milpbn.learning.model import Model

_FORMATS = registry("milpbn.interchange", "FILE_FORMATS")

_ENDINGS = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",
    ".xml": "xmlbif",
    ".net": "net",
    ".dot": "dot",
    ".json": "json",
    ".sql": "sql",
    ".js": "javascript",
    ".onnx": "onnx",
}

# Formats that take raw columns.
_CODE = ("sql", "javascript", "onnx")


@command(short_help="Write a model for other tools.")
@click.argument("model_file", metavar="MODEL.json")
@option(
    Group.CONTENT,
    "--format",
    "kind",
    type=Registered(_FORMATS),
    help="Output format.  [default: by the extension of --out]",
)
@option(
    Group.OUTPUT,
    "--out",
    type=OutputFile(),
    metavar="FILE",
    help="Write to this file instead of stdout.",
)
@option(
    Group.CONTENT,
    "--table",
    metavar="NAME",
    help="The table that the SQL reads; schema.table for another schema.  [default: data]",
)
@option(
    Group.CONTENT,
    "--keep",
    type=Names(),
    default=(),
    help="Columns of the table to copy to the result of the SQL: id,name.",
)
@trust_option
def export(
    model_file: str,
    kind: str | None,
    out: str | None,
    table: str | None,
    keep: tuple[str, ...],
    trust: tuple[str, ...],
) -> None:
    """Write the network of a model in a format that other tools read.

    sql, javascript and onnx are code that predicts rows without Python: one SELECT, one
    function, one ONNX model. Missing values, and values never seen in training, are summed out.
    bif, xmlbif, net and the two kinds of json contain states and probabilities; dot and
    modelstring (bnlearn) contain only the graph. A model with several class variables can
    only be written as dot or modelstring. Names are preserved exactly in xmlbif, json and code.
    In the other formats, a character that is not allowed becomes _xHHHH_; milpbn restores it
    when it reads the file.

    \b
    Examples:
      milpbn export model.json --format bif
      milpbn export model.json --out model.xmlbif
      milpbn export model.json --out model.sql --table customers --keep id
    """
    refuse_overwriting({"--out": out}, {"MODEL.json": model_file})
    if kind is None:
        kind = _ENDINGS.get(Path(out).suffix.lower()) if out else None
    if kind is None:
        raise click.UsageError(f"give --format, one of {', '.join(_FORMATS())}")
    if kind != "sql" and (table is not None or keep):
        raise click.UsageError(f"{'--keep' if keep else '--table'} needs the format sql")
    if kind == "onnx" and out is None:
        raise click.UsageError("an ONNX model is not text; give a file with --out")
    from milpbn.interchange import export_structure
    from milpbn.model_files import load_model
    from milpbn.structure import Structure

    model = load_model(model_file, trust)
    keep_data(model, {"--out": out})
    name = str(model.data.get("name") or "milpbn")
    written: str | bytes
    if (single := model.single) is not None:
        written = _written(single, kind, name, "data" if table is None else table, keep)
    else:
        # Base models have no probability tables, so only the graph can be written.
        assert isinstance(model.structure, Structure)
        written = export_structure(model.structure, kind, name)
    with Outputs() as outputs:
        outputs.data(out, written)


def _written(model: Model, kind: str, name: str, table: str, keep: tuple[str, ...]) -> str | bytes:
    from milpbn.deployment import make_onnx, write_sql
    from milpbn.interchange import export_network

    if kind in _CODE:
        for column in model.encoder.columns:
            if (reading := model.encoder.readings.get(column.name)) is not None:
                say(
                    f"note: the code takes the column {column.name!r} as milpbn reads it "
                    f"({reading.kind}{f', {reading.unit}' if reading.unit else ''}), not the raw "
                    f"column {reading.source!r}"
                )
    if kind == "onnx":
        content: bytes = make_onnx(model.network, model.encoder).SerializeToString()
        return content
    if kind == "sql":
        return write_sql(model.network, model.encoder, table=table, keep=keep)
    return export_network(model.network, kind, name, encoder=model.encoder)
