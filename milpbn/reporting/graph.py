"""A network as shapes for SVG, from the layout that all pictures use."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from milpbn.certainty.arc_records import ArcMargin, ArcMargins, show_loss
from milpbn.explanation.resolutions import SeenResolutions
from milpbn.learning.model import Model
from milpbn.pictures.roles import Role, roles
from milpbn.pictures.seen import node_labels, resolution_notes
from milpbn.pictures.sheet import curve_points, drawn_arcs, network_page
from milpbn.pictures.strength import ArcLook, arc_looks, strength_notes
from milpbn.structure import ClassStructures, Structure
from milpbn.words import assignment

_PIXELS = 96.0  # per inch
_MARGIN = 12.0
_LINE = 14.0  # pixels between the lines of a label


@dataclass(frozen=True)
class DrawnNode:
    """A box with its label; x and y are its centre."""

    variable: int
    name: str
    lines: tuple[tuple[float, str], ...]
    role: Role
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class DrawnArc:
    """An arrow: the path of its line, and how it looks."""

    path: str
    look: ArcLook
    of_class: bool
    meaning: str


@dataclass(frozen=True)
class Graph:
    """The picture of one structure.

    Attributes
    ----------
    title
        The class, if there is one structure per class.
    alt
        The structure in words, for people who do not see the picture.
    """

    title: str
    alt: str
    width: float
    height: float
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnArc, ...]
    captions: tuple[tuple[str, float, float], ...]
    legend: tuple[tuple[Role, str], ...]
    notes: tuple[str, ...]


def graphs(model: Model) -> list[Graph]:
    """The pictures of the structure of a model: one, or one for each class of a multinet."""
    structure, seen = model.network.structure, model.seen
    if isinstance(structure, ClassStructures):
        target = structure.variables[0]
        parts = zip(structure.classes, structure.structures, strict=True)
        return [_graph(own, assignment(target, state), None, seen) for state, own in parts]
    return [_graph(structure, "", model.arcs, seen)]


def _graph(
    structure: Structure, title: str, arcs: ArcMargins | None, seen: SeenResolutions
) -> Graph:
    with warnings.catch_warnings():
        # The browser has its own fonts; here they only give the sizes of the boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        page = network_page(structure, seen=seen)
    found, names = roles(structure), structure.variables
    drawn = {(names[p], names[c]): (p, c) for p, c in page.routes}
    margins = arcs.of(structure) if arcs else {}
    shown = {arc: margin for arc, margin in margins.items() if arc in drawn}
    looks = arc_looks(shown)
    nodes = []
    for v, label in enumerate(node_labels(structure, seen)):
        box, lines = page.boxes[v], label.split("\n")
        first = _at(box.y) - _LINE * (len(lines) - 1) / 2
        texts = tuple((first + _LINE * k, line) for k, line in enumerate(lines))
        size = (_PIXELS * box.width, _PIXELS * box.height)
        nodes.append(DrawnNode(v, names[v], texts, found[v], _at(box.x), _at(box.y), *size))
    edges = [
        DrawnArc(
            path=_path(page.routes[route], page.sideways),
            look=looks.get(arc, ArcLook()),
            of_class=route[0] == 0,
            meaning=_meaning(" → ".join(seen.arc(structure, *route)), arcs, shown.get(arc)),
        )
        for arc, route in drawn.items()
    ]
    families = [(own, parents) for own, parents in structure.named_families(seen.label) if parents]
    hidden = len(drawn_arcs(structure)) < len(structure.arcs)
    return Graph(
        title=title,
        alt=f"Network with {len(names)} variables. "
        + " ".join(f"{child} depends on {', '.join(p)}." for child, p in families),
        width=_PIXELS * page.width + 2 * _MARGIN,
        height=_PIXELS * page.height + 2 * _MARGIN,
        nodes=tuple(nodes),
        edges=tuple(edges),
        captions=tuple((text, _at(x), _at(y)) for text, x, y in page.captions),
        legend=tuple(_legend(found, hidden)),
        notes=(*strength_notes(shown), *resolution_notes(structure, seen)),
    )


def _at(inches: float) -> float:
    return _PIXELS * inches + _MARGIN


def _path(route: tuple[tuple[float, float], ...], sideways: bool) -> str:
    points, codes = curve_points(route, sideways)
    out = []
    for (x, y), code, before in zip(points, codes, [0, *codes], strict=False):
        # A letter holds until the next one.
        letter = "" if code == before else {1: "M", 2: "L", 4: "C"}[code]
        out.append(f"{letter}{_at(x):.1f} {_at(y):.1f}")
    return " ".join(out)


def _legend(found: list[Role], hidden: bool) -> list[tuple[Role, str]]:
    note = " (arc not drawn)" if hidden else ""
    return [
        (role, role.value.meaning + (note if role is Role.CHILD else ""))
        for role in Role
        if role in found
    ]


def _meaning(name: str, arcs: ArcMargins | None, margin: ArcMargin | None) -> str:
    if arcs is None or margin is None:
        return name
    return f"{name}: loss without the edge {show_loss(margin.strength, arcs.tolerance)}"
