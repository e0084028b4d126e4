"""A network as shapes for SVG, from the layout that all pictures use."""

from __future__ import annotations

from dataclasses import dataclass

from milpbn.learning.arc_records import ArcMargins, show_loss
from milpbn.pictures.labels import labels
from milpbn.pictures.roles import Role, roles
from milpbn.pictures.sheet import curve_points, drawn_arcs, network_page
from milpbn.pictures.strength import ArcLook, Arcs, arc_looks, strength_notes
from milpbn.structure import AnyStructure, ClassStructures, Structure
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


def graphs(structure: AnyStructure, arcs: ArcMargins | None) -> list[Graph]:
    """The pictures of a structure: one, or one for each class of a multinet."""
    if isinstance(structure, ClassStructures):
        target = structure.variables[0]
        parts = zip(structure.classes, structure.structures, strict=True)
        return [_graph(own, assignment(target, state), None) for state, own in parts]
    return [_graph(structure, "", arcs)]


def _graph(structure: Structure, title: str, arcs: ArcMargins | None) -> Graph:
    page, found, names = network_page(structure), roles(structure), structure.variables
    drawn = {(names[p], names[c]): (p, c) for p, c in page.routes}
    margins = arcs.of(structure) if arcs else {}
    shown = {arc: margin for arc, margin in margins.items() if arc in drawn}
    looks = arc_looks(shown)
    nodes = []
    for v, label in enumerate(labels(names)):
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
            meaning=_meaning(arc, arcs, shown),
        )
        for arc, route in drawn.items()
    ]
    hidden = len(drawn_arcs(structure)) < len(structure.arcs)
    return Graph(
        title=title,
        alt=f"Network with {len(names)} variables. "
        + " ".join(f"{child} depends on {', '.join(p)}." for child, p in _families(structure)),
        width=_PIXELS * page.width + 2 * _MARGIN,
        height=_PIXELS * page.height + 2 * _MARGIN,
        nodes=tuple(nodes),
        edges=tuple(edges),
        captions=tuple((text, _at(x), _at(y)) for text, x, y in page.captions),
        legend=tuple(_legend(found, hidden)),
        notes=tuple(strength_notes(shown)),
    )


def _at(inches: float) -> float:
    return _PIXELS * inches + _MARGIN


def _families(structure: Structure) -> list[tuple[str, list[str]]]:
    return [(child, parents) for child, parents in structure.to_dict().items() if parents]


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


def _meaning(arc: tuple[str, str], arcs: ArcMargins | None, shown: Arcs) -> str:
    name = " → ".join(arc)
    if arcs is None or arc not in shown:
        return name
    return f"{name}: loss without the edge {show_loss(shown[arc].strength, arcs.tolerance)}"
