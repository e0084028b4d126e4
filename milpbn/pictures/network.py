"""Pictures of a network: PNG, SVG and PDF through matplotlib, Graphviz text, or in notebooks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from milpbn.encoding import Encoder
from milpbn.errors import OptionError
from milpbn.explanation.resolutions import SeenResolutions
from milpbn.files import write_whole
from milpbn.learning.model import Model
from milpbn.pictures.dot import dot_text
from milpbn.pictures.learned import Learned, new_axes, result_of
from milpbn.pictures.saving import FIGURE_SUFFIXES, picture_path, save_figure
from milpbn.pictures.sheet import draw_sheet, network_sheet
from milpbn.pictures.strength import Arcs
from milpbn.structure import ClassStructures, Structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_network(
    structure: Structure,
    path: str | Path,
    *,
    title: str | None = None,
    n_class_variables: int = 1,
    margins: Arcs | None = None,
    encoder: Encoder | None = None,
) -> None:
    """Draw a network to a file.

    Parameters
    ----------
    structure
        The network; its first variable is the class.
    path
        Where to write; the suffix determines the format: ``.png``, ``.svg``, ``.pdf``, or
        ``.dot`` for Graphviz text.
    title
        A heading for the picture.
    n_class_variables
        Number of class variables, which come first. If there are several, the structure is
        a class network, and the other variables are features that partition rows.
    margins
        Arc margins by parent and child, shown by thickness and colour; see
        :meth:`milpbn.certainty.arc_records.ArcMargins.of`.
    encoder
        How raw columns become states, to show the resolutions that families use.

    Raises
    ------
    OptionError
        The suffix is unknown, or the file cannot be written.
    """
    path = picture_path(path, (*FIGURE_SUFFIXES, ".dot"))
    if not structure.variables:
        raise OptionError("the structure has no variables: there is nothing to draw")
    seen = SeenResolutions(structure, encoder) if encoder else None
    if path.suffix.lower() == ".dot":
        text = dot_text(structure, title, n_class_variables, margins, seen)
        write_whole(path, (text + "\n").encode())
        return
    save_figure(lambda: _figure(structure, title, n_class_variables, margins, seen), path)


def draw_multinet(
    structure: ClassStructures,
    path: str | Path,
    *,
    title: str | None = None,
    encoder: Encoder | None = None,
) -> list[Path]:
    """Draw the network of every class to a separate file.

    Parameters
    ----------
    structure
        The structures of the classes.
    path
        As in :func:`draw_network`; the class is added to the name, so that ``net.png``
        becomes ``net-yes.png`` and ``net-no.png``.
    title
        A heading for the pictures, before the class.
    encoder
        As in :func:`draw_network`.

    Returns
    -------
    list of Path
        The files that were written.
    """
    path = picture_path(path, (*FIGURE_SUFFIXES, ".dot"))
    written = []
    for c, (state, own) in enumerate(zip(structure.classes, structure.structures, strict=True)):
        name = re.sub(r"[^\w.+-]+", "_", state) or str(c)
        file = path.with_name(f"{path.stem}-{name}{path.suffix}")
        if file in written:
            file = path.with_name(f"{path.stem}-{name}-{c}{path.suffix}")
        label = f"{structure.variables[0]} = {state}"
        heading = f"{title}, {label}" if title else label
        draw_network(own, file, title=heading, encoder=encoder)
        written.append(file)
    return written


def plot_network(
    learned: Learned | Structure, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw a network with matplotlib, as notebooks show it.

    Parameters
    ----------
    learned
        A fitted classifier, a model, a result or a structure. Arc margins of a classifier or a
        model are shown by thickness and colour, and the resolutions that families use as labels.
    ax
        The axes to draw into; by default those of a new figure that fits the network. Texts
        and lines become smaller if the axes are smaller than the network.
    title
        A heading for the picture.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    OptionError
        There is one structure per class, so that there is not one network to draw.
    """
    structure = learned if isinstance(learned, Structure) else result_of(learned).structure
    if isinstance(structure, ClassStructures):
        raise OptionError("a multinet has one network per class; draw one of structure_.structures")
    model = getattr(learned, "model_", learned)
    single: Model | None = getattr(model, "single", None)
    arcs = single.arcs.of(structure) if single and single.arcs else None
    seen = single.seen if single else None
    sheet = network_sheet(structure, title, getattr(model, "n_class_variables", 1), arcs, seen)
    axes = ax if ax is not None else new_axes(sheet.width, sheet.height)
    draw_sheet(axes, sheet)
    axes.set_aspect("equal")
    box = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted())
    _shrink(axes, min(box.width / sheet.width, box.height / sheet.height, 1.0))
    return axes


def _shrink(axes: Axes, scale: float) -> None:
    """Make texts, lines and arrow heads smaller, as the boxes are."""
    from matplotlib.patches import FancyArrowPatch

    for text in axes.texts:
        text.set_fontsize(scale * float(text.get_fontsize()))
    for patch in axes.patches:
        patch.set_linewidth(scale * patch.get_linewidth())
        if isinstance(patch, FancyArrowPatch):
            patch.set_mutation_scale(scale * patch.get_mutation_scale())


def _figure(
    structure: Structure,
    title: str | None,
    n_class_variables: int = 1,
    margins: Arcs | None = None,
    seen: SeenResolutions | None = None,
) -> Figure:
    from matplotlib.figure import Figure

    sheet = network_sheet(structure, title, n_class_variables, margins, seen)
    figure = Figure(figsize=(sheet.width, sheet.height), facecolor="white")
    draw_sheet(figure.add_axes((0.0, 0.0, 1.0, 1.0)), sheet)
    return figure
