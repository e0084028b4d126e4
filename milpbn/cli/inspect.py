"""``milpbn inspect``: show what a model file contains, and draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from milpbn.cli.drawing import draw_network_of, plot_gap_of
from milpbn.cli.grouping import Group, command, option
from milpbn.cli.models import describe_gbnc, trust_option
from milpbn.cli.options import picture_options
from milpbn.cli.outputs import Outputs
from milpbn.cli.params import Names, refuse_overwriting
from milpbn.cli.rows import measured_rows_option
from milpbn.widths import terminal_width
from milpbn.words import name_in_list

if TYPE_CHECKING:
    from milpbn.cli.importance import ModelImportance
    from milpbn.cli.tables import ModelTables
    from milpbn.learning.model import Model
    from milpbn.mdc.model_file import GBNCModel


# How many candidates of a selection are listed.
_CANDIDATES = 10
# The value of --tables without names.
_ALL = ""


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
    from milpbn.learning.model import Model
    from milpbn.model_files import load_model

    model = load_model(model_file, trust)
    show = _Single(model) if isinstance(model, Model) else _Several(model)
    chosen: dict[str, ModelTables | ModelImportance] = {}
    if tables is not None:
        chosen["tables"] = _chosen_tables(model, tables)
    if importance:
        chosen["importance"] = _importance(model, model_file, file)
    with Outputs() as outputs:
        if as_json:
            outputs.report(_json(show, chosen))
        else:
            parts: list[Any] = list(chosen.values()) or [show]
            outputs.report("\n\n".join(part.text(terminal_width()) for part in parts))
        outputs.write(plot, show.plot)
        outputs.write(draw, show.draw)


def _chosen_tables(model: Model | GBNCModel, given: str) -> ModelTables:
    """The value of --tables, checked against the model."""
    from milpbn.cli.tables import ModelTables
    from milpbn.errors import OptionError
    from milpbn.learning.model import Model

    if not isinstance(model, Model):
        raise click.UsageError(
            "--tables is for models with one class variable: the base models of several class "
            "variables have no probability tables"
        )
    try:
        return ModelTables(model, Names().convert(given, None, None))
    except OptionError as error:
        raise click.UsageError(f"--tables: {error}") from None


def _importance(model: Model | GBNCModel, model_file: str, file: str | None) -> ModelImportance:
    from milpbn.cli.importance import ModelImportance
    from milpbn.learning.model import Model

    if not isinstance(model, Model):
        raise click.UsageError("--importance is for models with one class variable")
    return ModelImportance(model, model_file, file)


def _json(show: _Single | _Several, chosen: Mapping[str, ModelTables | ModelImportance]) -> str:
    import json

    model = show.model
    content = {
        "data": model.data,
        "settings": model.settings,
        **show.more(),
        **{name: part.to_dict() for name, part in chosen.items()},
        "result": show.result.to_dict(),
    }
    return json.dumps(content, indent=1, allow_nan=False)


class _Single:
    """A model for one class variable."""

    def __init__(self, model: Model) -> None:
        self.model, self.result = model, model.result
        self.name = model.data.get("name", "")

    def more(self) -> dict[str, Any]:
        parts = ("selection", "arcs", "alternatives", "stability")
        found = {name: getattr(self.model, name) for name in parts}
        return {
            "parameters": self.model.parameters.to_dict(),
            **{name: part.to_dict() for name, part in found.items() if part is not None},
        }

    def plot(self, path: str) -> None:
        """Plot the gap over time."""
        plot_gap_of(self.model, path)

    def draw(self, path: str) -> Sequence[object]:
        """Draw the network; return the files."""
        return draw_network_of(self.model, path)

    def text(self, width: int | None) -> str:
        from milpbn.cli.alternatives import alternative_lines
        from milpbn.cli.arcs import arc_lines
        from milpbn.cli.live import format_header, format_point
        from milpbn.cli.report import bins_lines, selection_lines, structure_lines
        from milpbn.cli.stability import stability_lines

        model = self.model
        lines = [
            f"{'data':<12}{self.name}, {model.data.get('n_rows', '?')} rows{_later(model)}",
            *bins_lines(model),
            *selection_lines(model, _CANDIDATES),
            str(self.result),
            f"{'parameters':<12}{model.network.n_parameters} by {model.parameters}",
            "",
            format_header(width),
            *(format_point(point, width) for point in self.result.trace),
            "",
            *structure_lines(model),
        ]
        if model.arcs is not None:
            lines += ["", *arc_lines(model.arcs)]
        if model.alternatives is not None:
            lines += ["", *alternative_lines(model.alternatives, model.encoder)]
        if model.stability is not None:
            lines += ["", *stability_lines(model)]
        return "\n".join(lines)


def _later(model: Model) -> str:
    """That rows were added after the search, if they were."""
    if not model.has_newer_rows:
        return ""
    return f"; the structure is that of the first {model.result.n_rows}"


class _Several:
    """A model for several class variables."""

    def __init__(self, model: GBNCModel) -> None:
        self.model, self.result = model, model.classifier.result_
        self.name = model.data.get("name", "")

    def more(self) -> dict[str, Any]:
        from dataclasses import asdict

        return {"training": asdict(self.model.classifier.training_)}

    def plot(self, path: str) -> None:
        """Plot the gap over time."""
        from milpbn.pictures import plot_gap

        plot_gap(self.result.trace, path, title=self.name, score_name="penalised CLL")

    def draw(self, path: str) -> list[str]:
        """Draw the class network; return the file."""
        from milpbn.pictures import draw_network

        classifier = self.model.classifier
        n = len(classifier.target_classes_)
        draw_network(classifier.structure_, path, title=self.name, n_class_variables=n)
        return [path]

    def text(self, width: int | None) -> str:
        classifier = self.model.classifier
        lines = [describe_gbnc(self.model), "", "base models"]
        for name, local in zip(classifier.target_names_, classifier.local_models_, strict=True):
            fitted = sum(m.estimator is not None for m in local.models.values())
            lines.append(
                f"{name_in_list(name):<12}{fitted} for {len(local.models)} configurations with rows"
            )
        return "\n".join([*lines, "", str(classifier.structure_)])
