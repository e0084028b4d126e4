"""The sheet that shows a network: where everything is, and how it is drawn.

In a classifier nearly every feature has the class as a parent. In a large network
those arcs would hide all others, so there the colour of a node stands for the arc,
and only the arcs between features (and into the class) are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING

from milpbn.explanation.resolutions import SeenResolutions
from milpbn.pictures.dot import CLASS_ARC, FEATURE_ARC
from milpbn.pictures.layout import Arc, Box, Point
from milpbn.pictures.packing import Group, Page, arrange
from milpbn.pictures.roles import Look, Role, roles
from milpbn.pictures.saving import font_families
from milpbn.pictures.seen import node_labels, resolution_notes
from milpbn.pictures.strength import ArcLook, Arcs, arc_looks, strength_notes
from milpbn.structure import Structure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 12  # up to this many variables every arc is drawn
_FONT_SIZE = 9.0
_LEGEND_SIZE = 8.5
_CLASS_SIZE = 11.0  # the class has a larger label and a second outline
_PADDING = (0.09, 0.06)  # inches between a label and its box
_OUTLINE = 0.04  # inches between the two outlines
_MARGIN = 0.3
_LEGEND_ROW = 0.26
_LEGEND_GAP = 0.25

LegendRow = list[tuple[float, Look, str]]


def network_page(
    structure: Structure, n_class_variables: int = 1, seen: SeenResolutions | None = None
) -> Page:
    """The geometry of the picture: where nodes and arcs are."""
    texts = node_labels(structure, seen)
    sizes = {v: _box_size(text, bold=v < n_class_variables) for v, text in enumerate(texts)}
    if n_class_variables > 1:
        return _class_network_page(structure, sizes)
    arcs = drawn_arcs(structure)
    touched = {v for arc in arcs for v in arc}
    loose = [v for v in sizes if v not in touched and v != 0]
    children = tuple(v for v in loose if structure.parents[v])
    without = tuple(v for v in loose if not structure.parents[v])
    captions = {
        "Only the class as parent": children,
        "Not used by the model": without,
    }
    page = arrange(
        sizes,
        arcs,
        header=[] if 0 in touched else [0],
        groups=[Group(caption, nodes) for caption, nodes in captions.items() if nodes],
    )
    hidden = sum(len(parents) for parents in structure.parents) - len(arcs)
    if hidden and 0 not in touched:
        box = page.boxes[0]
        note = f"parent of {hidden} blue feature{'s' if hidden > 1 else ''}"
        page.captions.append((note, box.right + 0.12, box.y))
    return page


def _class_network_page(structure: Structure, sizes: dict[int, tuple[float, float]]) -> Page:
    """Draw all arcs, and group the class variables that have none."""
    arcs = [(p, child) for child, parents in enumerate(structure.parents) for p in parents]
    touched = {v for arc in arcs for v in arc}
    loose = tuple(v for v in sizes if v not in touched)
    caption = "Independent of the other class variables, given the features"
    return arrange(sizes, arcs, header=[], groups=[Group(caption, loose)] if loose else [])


def drawn_arcs(structure: Structure) -> list[Arc]:
    """The arcs that are drawn as arrows: in a large network, not those from the class."""
    small = len(structure.variables) <= SMALL
    return [
        (parent, child)
        for child, parents in enumerate(structure.parents)
        for parent in parents
        if parent != 0 or small
    ]


def _box_size(label: str, *, bold: bool) -> tuple[float, float]:
    lines, size = label.split("\n"), _CLASS_SIZE if bold else _FONT_SIZE
    width = max(_text_width(line, size=size, bold=bold) for line in lines)
    height = len(lines) * size * 1.2 / 72
    outline = _OUTLINE if bold else 0.0
    return max(width, 0.3) + 2 * (_PADDING[0] + outline), height + 2 * (_PADDING[1] + outline)


def _text_width(text: str, *, size: float = _FONT_SIZE, bold: bool = False) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=font_families(), size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72


@dataclass(frozen=True)
class Sheet:
    """A page with its heading, legend and notes."""

    structure: Structure
    n_class_variables: int
    page: Page
    roles: list[Role]
    margins: Arcs
    heading: list[str]
    top: float
    legend: list[LegendRow]
    notes: list[str]
    labels: list[str]
    width: float
    height: float


def network_sheet(
    structure: Structure,
    title: str | None,
    n_class_variables: int,
    margins: Arcs | None,
    seen: SeenResolutions | None = None,
) -> Sheet:
    """The picture of a structure, before it is drawn."""
    page = network_page(structure, n_class_variables, seen)
    found = roles(structure, n_class_variables)
    heading = wrap(title, width=max(20, int(page.width / 0.1))) if title else []
    top = _MARGIN + 0.27 * len(heading) + (0.12 if heading else 0.0)
    legend = _legend_rows(_legend(found, structure), page.width)
    names = structure.variables
    drawn = {(names[p], names[c]) for p, c in page.routes}
    shown = {arc: margin for arc, margin in (margins or {}).items() if arc in drawn}
    letters = max(20, int(page.width / 0.075))
    told = [*strength_notes(shown), *resolution_notes(structure, seen)]
    notes = [line for note in told for line in wrap(note, width=letters)]
    bottom = _MARGIN + _LEGEND_GAP + _LEGEND_ROW * (len(legend) + len(notes))
    width = page.width + 2 * _MARGIN
    height = top + page.height + bottom
    return Sheet(
        structure=structure,
        n_class_variables=n_class_variables,
        page=page,
        roles=found,
        margins=shown,
        heading=heading,
        top=top,
        legend=legend,
        notes=notes,
        labels=node_labels(structure, seen),
        width=width,
        height=height,
    )


def draw_sheet(axes: Axes, sheet: Sheet) -> None:
    """Draw into axes whose units become inches."""
    page, names = sheet.page, sheet.structure.variables
    # One unit is one inch, the page's corner is the origin, y grows downwards.
    axes.set_xlim(-_MARGIN, sheet.width - _MARGIN)
    axes.set_ylim(sheet.height - sheet.top, -sheet.top)
    axes.set_axis_off()
    for k, line in enumerate(sheet.heading):
        y = _MARGIN - sheet.top + 0.1 + 0.27 * k
        axes.text(page.width / 2, y, line, size=12, ha="center", va="center", color="#1A1A1A")
    for text, x, y in page.captions:
        axes.text(x, y, text, size=_FONT_SIZE, ha="left", va="center", color="#555555")
    margins = arc_looks(sheet.margins)
    looks = {(names.index(p), names.index(c)): x for (p, c), x in margins.items()}
    _draw_arcs(axes, page, looks, highlight_class=sheet.n_class_variables == 1)
    for v, text in enumerate(sheet.labels):
        bold = v < sheet.n_class_variables
        _draw_box(axes, page.boxes[v], sheet.roles[v].value, text, bold=bold)
    first = page.height + _LEGEND_GAP + _LEGEND_ROW / 2
    _draw_legend(axes, sheet.legend, first)
    for k, line in enumerate(sheet.notes, len(sheet.legend)):
        y = first + _LEGEND_ROW * k
        axes.text(page.width / 2, y, line, size=_LEGEND_SIZE, ha="center", va="center")


def _draw_arcs(
    axes: Axes, page: Page, looks: Mapping[Arc, ArcLook], *, highlight_class: bool
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    for arc, route in page.routes.items():
        points, codes = curve_points(route, page.sideways)
        of_class = highlight_class and arc[0] == 0
        look = looks.get(arc, ArcLook())
        color = look.color or (CLASS_ARC if of_class else FEATURE_ARC)
        arrow = FancyArrowPatch(
            path=Curve(points, codes),
            arrowstyle="-|>,head_length=0.45,head_width=0.18",
            mutation_scale=11,
            linewidth=look.width,
            linestyle=look.style,
            edgecolor=color,
            facecolor=color,
            capstyle="butt",
            joinstyle="miter",
            zorder=1 if of_class else 2,
        )
        axes.add_patch(arrow)


def curve_points(route: Sequence[Point], sideways: bool) -> tuple[list[Point], list[int]]:
    """A route as cubic curves through the gaps and straight lines through the layers."""
    points, codes = [route[0]], [1]
    for k, ((x0, y0), (x1, y1)) in enumerate(pairwise(route)):
        if k % 2:
            points.append((x1, y1))
            codes.append(2)
            continue
        mx, my = (x0 + x1) / 2, (y0 + y1) / 2
        points += [(mx, y0), (mx, y1)] if sideways else [(x0, my), (x1, my)]
        points.append((x1, y1))
        codes += [4, 4, 4]
    return points, codes


def _draw_box(axes: Axes, box: Box, look: Look, text: str, *, bold: bool = False) -> None:
    _draw_outline(axes, box, look, "white" if bold else look.fill)
    if bold:
        inner = replace(box, width=box.width - 2 * _OUTLINE, height=box.height - 2 * _OUTLINE)
        _draw_outline(axes, inner, look, look.fill)
    axes.text(
        box.x,
        box.y,
        text,
        size=_CLASS_SIZE if bold else _FONT_SIZE,
        color=look.text,
        weight="bold" if bold else "normal",
        ha="center",
        va="center",
        linespacing=1.1,
        zorder=4,
    )


def _draw_outline(axes: Axes, box: Box, look: Look, fill: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (box.left, box.top),
            box.width,
            box.height,
            boxstyle="round,pad=0,rounding_size=0.05",
            facecolor=fill,
            edgecolor=look.edge,
            linewidth=0.9,
            linestyle="--" if look.dashed else "-",
            zorder=3,
        )
    )


def _legend(found: Sequence[Role], structure: Structure) -> list[tuple[Look, str]]:
    hidden = len(structure.variables) > SMALL
    entries = []
    for role in Role:
        if role is Role.OUTSIDE and not _only_missing(found, structure):
            continue  # the caption of the group says that they are not used
        if role in found:
            note = " (arc not drawn)" if role is Role.CHILD and hidden else ""
            entries.append((role.value, role.value.meaning + note))
    return entries


def _only_missing(found: Sequence[Role], structure: Structure) -> bool:
    """Whether there are variables with arcs that matter only if other features are missing."""
    arcs = zip(found, structure.parents, structure.children, strict=True)
    return any(role is Role.OUTSIDE and (above or below) for role, above, below in arcs)


def _legend_rows(entries: Sequence[tuple[Look, str]], width: float) -> list[LegendRow]:
    """Entries with their x, broken into rows that fit the page."""
    rows: list[LegendRow] = [[]]
    ends = [0.0]
    for look, text in entries:
        needed = 0.36 + _text_width(text, size=_LEGEND_SIZE)
        x = ends[-1] + 0.25 if rows[-1] else 0.0
        if x + needed > width:
            rows.append([])
            ends.append(0.0)
            x = 0.0
        rows[-1].append((x, look, text))
        ends[-1] = x + needed
    shift = (width - max(ends)) / 2
    return [[(x + shift, look, text) for x, look, text in row] for row in rows]


def _draw_legend(axes: Axes, rows: Sequence[LegendRow], top: float) -> None:
    for k, row in enumerate(rows):
        y = top + _LEGEND_ROW * k
        for x, look, text in row:
            _draw_box(axes, Box(x + 0.13, y, 0.26, 0.14), look, "")
            axes.text(x + 0.36, y, text, size=_LEGEND_SIZE, ha="left", va="center")
