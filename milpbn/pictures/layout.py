"""A layered layout for one connected directed acyclic graph.

The four steps of Sugiyama, Tagawa and Toda (1981), each in its simplest exact or
sweeping form: assign layers, order each layer, place its boxes, route the arcs.
Lengths are inches. The layout is pure geometry: it knows neither fonts nor files.

Two choices keep arcs off the labels. All boxes of a layer span the layer's whole
depth, so that an arc may bend only in the empty gap between two layers; and an arc
that must cross a layer reserves a lane there, as if it were a thin box. Arcs of one
parent share their lanes, which turns a fan of long arcs into one trunk with branches.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from itertools import pairwise
from statistics import fmean

Point = tuple[float, float]
Arc = tuple[int, int]
# (node, layer): the node itself in its own layer, a lane of its arcs in a later one.
Item = tuple[int, int]
Links = dict[Item, list[Item]]

SIBLING_GAP = 0.10  # between boxes of one layer with a common parent
FAMILY_GAP = 0.20  # between other boxes: the wider gap shows where a family ends
LANE = 0.06  # breadth of a lane
LAYER_GAP = 0.42  # minimum distance between two layers
STEEPEST = 1.3  # maximum distance between two layers, however far apart their boxes are
PORT_STEP = 0.10  # maximum distance between two arrow heads at one box
_SWEEPS = 12
_STRAIGHT = 8.0


@dataclass(frozen=True)
class Box:
    """A node's rectangle by its centre; y grows downwards."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        """Smallest x."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """Largest x."""
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        """Smallest y."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """Largest y."""
        return self.y + self.height / 2

    def moved(self, dx: float, dy: float) -> Box:
        """The same box at another position."""
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(frozen=True)
class GraphLayout:
    """Boxes and arc routes inside ``[0, width] x [0, height]``.

    A route lists points in pairs: from an even point to the next the arc bends through
    the gap between two layers, from an odd point to the next it is straight.
    """

    boxes: dict[int, Box]
    routes: dict[Arc, tuple[Point, ...]]
    layers: dict[int, int]
    width: float
    height: float
    sideways: bool


def layered(
    sizes: Mapping[int, tuple[float, float]],
    arcs: Sequence[Arc],
    *,
    sideways: bool,
    limit: int,
) -> GraphLayout:
    """Lay out a connected graph, parents before children.

    Parameters
    ----------
    sizes
        Width and height of each node's label box.
    arcs
        Pairs (parent, child) of nodes, without a cycle.
    sideways
        Layers from left to right instead of from top to bottom.
    limit
        Maximum number of boxes in a layer; further leaves move on to the next layer.
    """
    layers = assign_layers(sizes, arcs, limit)
    rows, down = _items(layers, arcs)
    up = _reversed(down)
    rows = _ordered(rows, up, down)
    breadth = {v: (h if sideways else w) for v, (w, h) in sizes.items()}
    along = _placed(rows, up, down, {i: _breadth(i, layers, breadth) for r in rows for i in r})
    depths = [0.0] * len(rows)
    for v, (w, h) in sizes.items():
        depths[layers[v]] = max(depths[layers[v]], w if sideways else h)
    starts = _layer_starts(rows, down, along, depths)
    return _turned(layers, arcs, along, breadth, starts, depths, sideways)


def assign_layers(nodes: Iterable[int], arcs: Sequence[Arc], limit: int) -> dict[int, int]:
    """Longest-path layers, roots next to their children, wide layers wrapped."""
    parents: dict[int, list[int]] = {v: [] for v in nodes}
    children: dict[int, list[int]] = {v: [] for v in parents}
    for u, v in arcs:
        parents[v].append(u)
        children[u].append(v)
    layers: dict[int, int] = {}
    for v in TopologicalSorter(parents).static_order():
        layers[v] = 1 + max((layers[u] for u in parents[v]), default=-1)
    for v in parents:
        if children[v] and not parents[v]:
            layers[v] = min(layers[c] for c in children[v]) - 1
    _wrap(layers, parents, children, limit)
    return layers


def _wrap(
    layers: dict[int, int],
    parents: Mapping[int, list[int]],
    children: Mapping[int, list[int]],
    limit: int,
) -> None:
    """Move leaves of crowded layers to the next layer, the largest families first.

    Only leaves move: everything below an inner node would have to move with it.
    """

    def crowd(leaf: int) -> tuple[int, int, int]:
        first = min(parents[leaf])
        return len(children[first]), first, leaf

    level = 0
    while level <= max(layers.values()):
        here = [v for v in layers if layers[v] == level]
        leaves = sorted((v for v in here if parents[v] and not children[v]), key=crowd)
        surplus = max(len(here) - limit, 0)
        for v in leaves[max(len(leaves) - surplus, 0) :]:
            layers[v] = level + 1
        level += 1


def _items(layers: Mapping[int, int], arcs: Sequence[Arc]) -> tuple[list[list[Item]], Links]:
    """Nodes and lanes by layer, in the order of a depth-first walk, and their links.

    The walk keeps a tree's branches side by side, so that a forest starts, and
    stays, without a crossing.
    """
    down: Links = {(v, layer): [] for v, layer in layers.items()}
    for u, v in arcs:
        item = (u, layers[u])
        for level in range(layers[u] + 1, layers[v] + 1):
            following = (v, level) if level == layers[v] else (u, level)
            if following not in down[item]:
                down[item].append(following)
            down.setdefault(following, [])
            item = following
    rows: list[list[Item]] = [[] for _ in range(max(layers.values()) + 1)]
    has_parent = {item for below in down.values() for item in below}
    stack = sorted((item for item in down if item not in has_parent), reverse=True)
    seen = set()
    while stack:
        item = stack.pop()
        if item not in seen:
            seen.add(item)
            rows[item[1]].append(item)
            stack += reversed(_lane_amidst(item, down[item]))
    return rows, down


def _lane_amidst(item: Item, below: Sequence[Item]) -> list[Item]:
    """Children, with the lane of their parent's longer arcs in the middle."""
    lanes = [other for other in below if other[0] == item[0]]
    boxes = [other for other in below if other[0] != item[0]]
    half = len(boxes) // 2
    return [*boxes[:half], *lanes, *boxes[half:]]


def _reversed(down: Links) -> Links:
    up: Links = {item: [] for item in down}
    for item, below in down.items():
        for other in below:
            up[other].append(item)
    return up


def _ordered(rows: list[list[Item]], up: Links, down: Links) -> list[list[Item]]:
    """Sweep with barycenters; keep the order with the fewest crossings."""
    best, fewest = rows, crossings(rows, down)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        rows = _barycenter_sweep(rows, up) if sweep % 2 == 0 else _swept_up(rows, down)
        rows = _transposed(rows, up, down)
        count = crossings(rows, down)
        if count < fewest:
            best, fewest = rows, count
    return best


def _swept_up(rows: list[list[Item]], down: Links) -> list[list[Item]]:
    return _barycenter_sweep(rows[::-1], down)[::-1]


def _barycenter_sweep(rows: list[list[Item]], towards: Links) -> list[list[Item]]:
    """Sort each row by the mean position of its neighbours in the row before."""
    swept = [rows[0]]
    for row in rows[1:]:
        place = {item: k for k, item in enumerate(swept[-1])}
        scale = len(swept[-1]) / len(row)
        keys = {
            item: fmean(place[o] for o in towards[item]) if towards[item] else k * scale
            for k, item in enumerate(row)
        }
        swept.append(sorted(row, key=keys.__getitem__))
    return swept


def _transposed(rows: list[list[Item]], up: Links, down: Links) -> list[list[Item]]:
    """Swap neighbours of a row as long as that removes crossings (one pass per row)."""
    rows = [list(row) for row in rows]
    place = {item: k for row in rows for k, item in enumerate(row)}
    for row in rows:
        for k in range(len(row) - 1):
            a, b = row[k], row[k + 1]
            gain = sum(
                (place[x] > place[y]) - (place[x] < place[y])
                for links in (up, down)
                for x in links[a]
                for y in links[b]
            )
            if gain > 0:
                row[k], row[k + 1] = b, a
                place[a], place[b] = k + 1, k
    return rows


def crossings(rows: Sequence[Sequence[Item]], down: Links) -> int:
    """How many pairs of links between neighbouring rows cross."""
    total = 0
    for row, below in pairwise(rows):
        place = {item: k for k, item in enumerate(below)}
        seen: list[int] = []
        for item in row:
            ends = sorted(place[o] for o in down[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _breadth(item: Item, layers: Mapping[int, int], breadth: Mapping[int, float]) -> float:
    node, level = item
    return breadth[node] if layers[node] == level else LANE


def _placed(
    rows: list[list[Item]], up: Links, down: Links, breadth: Mapping[Item, float]
) -> dict[Item, float]:
    """Coordinates along the layers: near the neighbours, in order, without overlap."""
    along: dict[Item, float] = {}
    spans = [_distances(row, up, breadth) for row in rows]
    for row, span in zip(rows, spans, strict=True):
        along |= dict(zip(row, spaced([0.0] * len(row), span), strict=True))
    both = {item: up[item] + down[item] for item in up}
    # The children come last: this centres parents and straightens chains.
    for links, order in [(up, 1), (down, -1), (both, 1), (both, -1), (down, -1)] * _SWEEPS:
        for row, span in list(zip(rows, spans, strict=True))[::order]:
            wish = [_wish(item, links[item], along) for item in row]
            along |= dict(zip(row, spaced(wish, span), strict=True))
    least = min(along[i] - breadth[i] / 2 for i in along)
    return {item: a - least for item, a in along.items()}


def _wish(item: Item, links: Sequence[Item], along: Mapping[Item, float]) -> float:
    """The mean of the neighbours; the other part of a lane counts most, to keep lanes straight."""
    if not links:
        return along[item]
    weights = [_STRAIGHT if other[0] == item[0] else 1.0 for other in links]
    return fmean([along[other] for other in links], weights)


def _distances(row: Sequence[Item], up: Links, breadth: Mapping[Item, float]) -> list[float]:
    """Minimum distances between neighbouring centres in a row."""
    return [
        (breadth[a] + breadth[b]) / 2 + (SIBLING_GAP if set(up[a]) & set(up[b]) else FAMILY_GAP)
        for a, b in pairwise(row)
    ]


def spaced(wish: Sequence[float], distances: Sequence[float]) -> list[float]:
    """The positions nearest to `wish` (least squares) that keep the distances.

    After subtracting the cumulative distances this is isotonic regression, which the
    pool-adjacent-violators algorithm solves exactly.

    Examples
    --------
    >>> spaced([0.0, 0.0, 9.0], [1.0, 1.0])
    [-0.5, 0.5, 9.0]
    """
    offsets = [0.0]
    for d in distances:
        offsets.append(offsets[-1] + d)
    pools: list[tuple[float, int]] = []
    for w, t in zip(wish, offsets, strict=True):
        mean, size = w - t, 1
        while pools and pools[-1][0] > mean:
            before, count = pools.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        pools.append((mean, size))
    levels = [mean for mean, size in pools for _ in range(size)]
    return [level + t for level, t in zip(levels, offsets, strict=True)]


def _layer_starts(
    rows: list[list[Item]], down: Links, along: Mapping[Item, float], depths: Sequence[float]
) -> list[float]:
    """Where each layer begins; the gap grows with the distance between connected boxes."""
    starts = [0.0]
    for row, depth in zip(rows[:-1], depths, strict=False):
        far = max((abs(along[a] - along[b]) for a in row for b in down[a]), default=0.0)
        starts.append(starts[-1] + depth + min(LAYER_GAP + 0.1 * far, STEEPEST))
    return starts


def _turned(
    layers: dict[int, int],
    arcs: Sequence[Arc],
    along: Mapping[Item, float],
    breadth: Mapping[int, float],
    starts: Sequence[float],
    depths: Sequence[float],
    sideways: bool,
) -> GraphLayout:
    """From (along, depth) to (x, y)."""

    def point(a: float, d: float) -> Point:
        return (d, a) if sideways else (a, d)

    boxes = {}
    for v, level in layers.items():
        x, y = point(along[v, level], starts[level] + depths[level] / 2)
        width, height = point(breadth[v], depths[level])
        boxes[v] = Box(x, y, width, height)
    ports = _ports(layers, arcs, along, breadth)
    routes = {}
    for u, v in arcs:
        route = [point(along[u, layers[u]], starts[layers[u]] + depths[layers[u]])]
        for level in range(layers[u] + 1, layers[v]):
            route.append(point(along[u, level], starts[level]))
            route.append(point(along[u, level], starts[level] + depths[level]))
        route.append(point(ports[u, v], starts[layers[v]]))
        routes[u, v] = tuple(route)
    ends = [p for route in routes.values() for p in route]
    width = max([b.right for b in boxes.values()] + [x for x, _ in ends])
    height = max([b.bottom for b in boxes.values()] + [y for _, y in ends])
    return GraphLayout(boxes, routes, layers, width, height, sideways)


def _ports(
    layers: Mapping[int, int],
    arcs: Sequence[Arc],
    along: Mapping[Item, float],
    breadth: Mapping[int, float],
) -> dict[Arc, float]:
    """Where arcs enter their child: side by side, in the order in which they arrive."""
    arriving: dict[int, list[int]] = {}
    for u, v in arcs:
        arriving.setdefault(v, []).append(u)
    ports = {}
    for v, sources in arriving.items():
        level = layers[v]
        sources.sort(key=lambda u: along[u, level - 1])
        step = min(PORT_STEP, 0.7 * breadth[v] / len(sources))
        for k, u in enumerate(sources):
            ports[u, v] = along[v, level] + step * (k - (len(sources) - 1) / 2)
    return ports
