"""The arrangement of a whole network on a page: its trees, its loose nodes, its captions.

Each connected part gets its own layered layout, so that a tree stays together. Direction,
wrapping and page width are then chosen for the reader: the page that fits a screen at the
largest scale wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from milpbn.pictures.layout import Arc, Box, GraphLayout, Point, assign_layers, layered

ASPECT = 1.5  # width to height of the screen or page that a picture should fill
PART_GAP = 0.35
CELL_GAP = 0.12
CAPTION = 0.26  # height that a caption needs above its nodes
LEAST_WIDTH = 5.4  # so that title, legend and notes fit into any picture
LIMITS = (29, 24, 20, 17, 15, 12, 10)  # maximum numbers of boxes in a layer to try
_WRAPPED_COST = 1.2  # a wrapped layer is harder to read, so it must allow a larger scale


@dataclass
class Page:
    """Boxes, routes and captions in inches; y grows downwards."""

    width: float = 0.0
    height: float = 0.0
    boxes: dict[int, Box] = field(default_factory=dict)
    routes: dict[Arc, tuple[Point, ...]] = field(default_factory=dict)
    captions: list[tuple[str, float, float]] = field(default_factory=list)
    sideways: bool = False

    @property
    def smallness(self) -> float:
        """The inverse of the scale at which the page fits a screen."""
        return max(self.width / ASPECT, self.height)


@dataclass(frozen=True)
class Group:
    """Nodes without a drawn arc that belong under one caption."""

    caption: str
    nodes: tuple[int, ...]


def arrange(
    sizes: Mapping[int, tuple[float, float]],
    arcs: Sequence[Arc],
    *,
    header: Sequence[int],
    groups: Sequence[Group],
) -> Page:
    """Place every node of `sizes`.

    Parameters
    ----------
    sizes
        Width and height of each node's label.
    arcs
        The arcs to draw.
    header
        Nodes without a drawn arc at the top of the page.
    groups
        Other nodes without a drawn arc, placed in a grid below the rest.
    """
    loose = {*header, *(v for g in groups for v in g.nodes)}
    parts = components([v for v in sizes if v not in loose], arcs)
    best: Page | None = None
    lowest = float("inf")
    for cost, layouts in _layouts(parts, sizes, arcs):
        for width in _widths(layouts, sizes, groups):
            page = _composed(layouts, width, sizes, header, groups)
            if cost * page.smallness < lowest - 1e-9:
                best, lowest = page, cost * page.smallness
    assert best is not None  # _layouts and _widths yield at least once
    return best


def components(nodes: Sequence[int], arcs: Sequence[Arc]) -> list[list[int]]:
    """Connected parts, in the order of their first nodes."""
    near: dict[int, list[int]] = {v: [] for v in nodes}
    for u, v in arcs:
        near[u].append(v)
        near[v].append(u)
    parts = []
    seen: set[int] = set()
    for root in nodes:
        part, stack = [], [root]
        while stack:
            v = stack.pop()
            if v not in seen:
                seen.add(v)
                part.append(v)
                stack += near[v]
        if part:
            parts.append(sorted(part))
    return parts


def _layouts(
    parts: list[list[int]], sizes: Mapping[int, tuple[float, float]], arcs: Sequence[Arc]
) -> Iterator[tuple[float, list[GraphLayout]]]:
    """Every direction and wrapping worth trying, with a cost factor."""
    graphs = []
    widest = 0
    for part in parts:
        inside = set(part)
        own = [arc for arc in arcs if arc[0] in inside]
        graphs.append(({v: sizes[v] for v in part}, own))
        layers = assign_layers(part, own, limit=len(part))
        widest = max(widest, *Counter(layers.values()).values())
    for sideways in (False, True):
        for limit in (widest, *(n for n in LIMITS if n < widest)):
            cost = 1.0 if limit == widest else _WRAPPED_COST
            yield cost, [layered(*graph, sideways=sideways, limit=limit) for graph in graphs]


def _widths(
    layouts: Sequence[GraphLayout],
    sizes: Mapping[int, tuple[float, float]],
    groups: Sequence[Group],
) -> list[float]:
    """Page widths to try, from the widest part to everything in one row."""
    cells = [max(sizes[v][0] for v in g.nodes) for g in groups]
    least = max([LEAST_WIDTH, *(p.width for p in layouts), *cells])
    most = max(least, sum(p.width + PART_GAP for p in layouts))
    for g, cell in zip(groups, cells, strict=True):
        most = max(most, min(len(g.nodes) ** 0.5, 8) * (cell + CELL_GAP))
    steps = 12
    return [least + (most - least) * k / steps for k in range(steps + 1)]


def _composed(
    layouts: Sequence[GraphLayout],
    width: float,
    sizes: Mapping[int, tuple[float, float]],
    header: Sequence[int],
    groups: Sequence[Group],
) -> Page:
    page = Page(sideways=any(p.sideways for p in layouts))
    # Without a header the class is in the first part, which should be at the top of the page.
    corners = pack([(p.width, p.height) for p in layouts], width, first_leads=not header)
    extent = max((x + p.width for p, (x, _) in zip(layouts, corners, strict=True)), default=0.0)
    page.width = max(extent, LEAST_WIDTH) if not groups else max(extent, width)
    for v in header:
        w, h = sizes[v]
        page.boxes[v] = Box(page.width / 2, page.height + h / 2, w, h)
        page.height += h
        if layouts:
            page.height += PART_GAP
    # A part nearly as wide as the page is left-aligned with the captions, a narrower one centred.
    shift = 0.0 if groups and extent > 0.7 * page.width else (page.width - extent) / 2
    for part, (x, y) in zip(layouts, corners, strict=True):
        _paste(page, part, x + shift, page.height + y)
    page.height = max((b.bottom for b in page.boxes.values()), default=0.0)
    for group in groups:
        _grid(page, group, sizes)
    return page


def pack(
    sizes: Sequence[tuple[float, float]], width: float, *, first_leads: bool = False
) -> list[Point]:
    """Upper left corners of rectangles on a strip: tallest first, each as far up as it fits.

    With `first_leads` the first rectangle gets the upper left corner.
    """
    corners: list[Point] = [(0.0, 0.0)] * len(sizes)
    placed: list[tuple[float, float, float]] = []  # left, right, bottom, each with its gap
    order = sorted(range(len(sizes)), key=lambda k: (k > 0 or not first_leads, -sizes[k][1], k))
    for k in order:
        w, h = sizes[k]
        starts = [0.0, *(right for _, right, _ in placed if right + w <= width + 1e-9)]
        spots = [
            (max((b for left, right, b in placed if left < x + w and x < right), default=0.0), x)
            for x in starts
        ]
        y, x = min(spots)
        corners[k] = (x, y)
        placed.append((x, x + w + PART_GAP, y + h + PART_GAP))
    return corners


def _paste(page: Page, part: GraphLayout, dx: float, dy: float) -> None:
    page.boxes |= {v: box.moved(dx, dy) for v, box in part.boxes.items()}
    page.routes |= {
        arc: tuple((x + dx, y + dy) for x, y in route) for arc, route in part.routes.items()
    }


def _grid(page: Page, group: Group, sizes: Mapping[int, tuple[float, float]]) -> None:
    """Equal cells, row by row, under the group's caption."""
    top = page.height + (PART_GAP if page.boxes else 0.0)
    page.captions.append((group.caption, 0.0, top + CAPTION / 2))
    top += CAPTION
    cell = max(sizes[v][0] for v in group.nodes)
    columns = max(1, int((page.width + CELL_GAP + 1e-9) // (cell + CELL_GAP)))
    for start in range(0, len(group.nodes), columns):
        row = group.nodes[start : start + columns]
        height = max(sizes[v][1] for v in row)
        for k, v in enumerate(row):
            page.boxes[v] = Box(k * (cell + CELL_GAP) + cell / 2, top + height / 2, cell, height)
        page.height = top + height
        top = page.height + CELL_GAP
