"""``milpbn inspect``: show what a model file contains, and draw it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from milpbn.cli.drawing import draw_network_of, plot_gap_of
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import trust_option
from milpbn.cli.options import picture_options
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import Names, refuse_overwriting
from milpbn.cli.rows import measured_rows_option
from milpbn.widths import terminal_width

if TYPE_CHECKING:
    from milpbn.cli.importance import ModelImportance
    from milpbn.cli.tables import ModelTables
    from milpbn.learning.model import Model
    from milpbn.model_files import AnyModel


# How many candidates of a selection are listed.
_CANDIDATES = 10
# The value of --tables without names.
_ALL = ""
# The entries of a model file that --json shows besides the result.
_SHOWN = (
    *("data", "settings", "parameters", "training"),
    *("selection", "arcs", "alternatives", "stability"),
)


@command(short_help="Show what a model file contains.")
@click.argument("model_file", metavar="MODEL.json", required=False)
@picture_options("Draw the network (png, svg, pdf, dot); for a multinet, one file per class.")
@option(
    Group.CONTENT,
    "--tables",
    is_flag=False,
    flag_value=_ALL,
    metavar="[VARIABLE,...]",
    help="Print the class probabilities, cuts and probability tables instead of the report: of all "
    "variables, or of these.",
)
@option(
    Group.CONTENT,
    "--importance",
    is_flag=True,
    help="Print the importance of the features instead of the report.",
)
@measured_rows_option("Rows for --importance.")
@option(Group.OUTPUT, "--json", "as_json", is_flag=True, help="Print the result as JSON.")
@trust_option
def inspect(
    model_file: str | None,
    plot: str | None,
    draw: str | None,
    tables: str | None,
    importance: bool,
    file: str | None,
    as_json: bool,
    trust: tuple[str, ...],
) -> None:
    """Show the status, the bounds over time and the structure of a model.

    MODEL.json may be a model for one class variable or for several.

    \b
    Examples:
      milpbn inspect model.json
      milpbn inspect model.json --plot gap.png --draw network.svg
      milpbn inspect model.json --tables age,income
      milpbn inspect model.json --importance
    """
    if model_file is None and tables:
        model_file, tables = tables, _ALL  # --tables without names, followed by the file
    if model_file is None:
        raise click.UsageError("give a model file: milpbn inspect MODEL.json")
    if file is not None and not importance:
        raise click.UsageError("--test requires --importance")
    refuse_overwriting({"--plot": plot, "--draw": draw}, {"MODEL.json": model_file, "--test": file})
    from milpbn.model_files import load_model

    model = load_model(model_file, trust)
    chosen: dict[str, ModelTables | ModelImportance] = {}
    if tables is not None:
        why = "the base models of several class variables have no probability tables"
        chosen["tables"] = _chosen_tables(_only_single(model, "--tables", why), tables)
    if importance:
        why = "base models do not say what a feature contributes"
        chosen["importance"] = _importance(
            _only_single(model, "--importance", why), model_file, file
        )
    with Outputs() as outputs:
        if as_json:
            outputs.report(_json(model, chosen))
        else:
            width = terminal_width()
            parts = [part.text(width) for part in chosen.values()] or [_text(model, width)]
            outputs.report("\n\n".join(parts))
        outputs.write(plot, partial(plot_gap_of, model))
        outputs.write(draw, partial(draw_network_of, model))


def _only_single(model: AnyModel, flag: str, why: str) -> Model:
    if model.single is None:
        raise click.UsageError(f"{flag} is for models with one class variable: {why}")
    return model.single


def _chosen_tables(model: Model, given: str) -> ModelTables:
    """The value of --tables, checked against the model."""
    from milpbn.cli.tables import ModelTables
    from milpbn.errors import OptionError

    try:
        return ModelTables(model, Names().convert(given, None, None))
    except OptionError as error:
        raise click.UsageError(f"--tables: {error}") from None


def _importance(model: Model, model_file: str, file: str | None) -> ModelImportance:
    from milpbn.cli.importance import ModelImportance

    return ModelImportance(model, model_file, file)


def _json(model: AnyModel, chosen: Mapping[str, ModelTables | ModelImportance]) -> str:
    import json

    content = model.to_dict()
    shown = {name: content[name] for name in _SHOWN if name in content}
    parts = {name: part.to_dict() for name, part in chosen.items()}
    return json.dumps({**shown, **parts, "result": content["result"]}, indent=1, allow_nan=False)


def _text(model: AnyModel, width: int | None) -> str:
    from milpbn.cli.live import format_header, format_point

    single = model.single
    heading, ending = ([], [str(model.structure)]) if single is None else _of_one_class(single)
    lines = [
        f"{'data':<12}{model.data.get('name', '?')}, {model.data.get('n_rows', '?')} rows"
        f"{'' if single is None else _later(single)}",
        *heading,
        str(model.result),
        *model.facts(),
        "",
        format_header(width),
        *(format_point(point, width) for point in model.result.trace),
        "",
        *ending,
    ]
    return "\n".join(lines)


def _of_one_class(model: Model) -> tuple[list[str], list[str]]:
    """What a report on a model for one class variable has before the result and at the end."""
    from milpbn.cli.alternatives import alternative_lines
    from milpbn.cli.arcs import arc_lines
    from milpbn.cli.report import bins_lines, selection_lines, structure_lines
    from milpbn.cli.stability import stability_lines

    lines = structure_lines(model)
    if model.arcs is not None:
        lines += ["", *arc_lines(model.arcs)]
    if model.alternatives is not None:
        lines += ["", *alternative_lines(model.alternatives, model.encoder)]
    if model.stability is not None:
        lines += ["", *stability_lines(model)]
    return [*bins_lines(model), *selection_lines(model, _CANDIDATES)], lines


def _later(model: Model) -> str:
    """That rows were added after the search, if they were."""
    if not model.has_newer_rows:
        return ""
    return f"; the structure is that of the first {model.result.n_rows}"
