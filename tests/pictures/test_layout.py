"""Layers, order and placement of one connected graph."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import pytest

from milpbn.pictures.layout import SIBLING_GAP, assign_layers, crossings, layered, spaced

CHAIN = [(0, 1), (1, 2), (0, 2)]
UNBOUNDED = 10**6


def boxes(n: int) -> dict[int, tuple[float, float]]:
    return {v: (1.0 + 0.1 * (v % 4), 0.3) for v in range(n)}


def random_arcs(n: int, seed: int) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    tree = [(rng.randrange(v), v) for v in range(1, n)]
    more = {tuple(sorted(rng.sample(range(n), 2))) for _ in range(n // 2)}
    return sorted({*tree, *more})  # type: ignore[arg-type]


def test_children_are_in_later_layers() -> None:
    for seed in range(20):
        arcs = random_arcs(15, seed)
        for limit in (UNBOUNDED, 4):
            layers = assign_layers(range(15), arcs, limit)
            assert all(layers[u] < layers[v] for u, v in arcs)


def test_a_root_stands_next_to_its_first_child() -> None:
    arcs = [(0, 1), (1, 2), (2, 3), (4, 3)]
    assert assign_layers(range(5), arcs, UNBOUNDED)[4] == 2


def test_a_crowded_layer_is_wrapped() -> None:
    layers = assign_layers(range(21), [(0, v) for v in range(1, 21)], 8)
    sizes = [list(layers.values()).count(level) for level in range(4)]
    assert sizes == [1, 8, 8, 4]


@pytest.mark.parametrize("sideways", [False, True])
def test_depth_grows_along_every_arc(sideways: bool) -> None:
    layout = layered(boxes(15), random_arcs(15, 3), sideways=sideways, limit=6)
    for u, v in layout.routes:
        a, b = layout.boxes[u], layout.boxes[v]
        assert a.right < b.left if sideways else a.bottom < b.top


@pytest.mark.parametrize("sideways", [False, True])
def test_arcs_begin_and_end_at_the_borders_of_their_boxes(sideways: bool) -> None:
    layout = layered(boxes(12), random_arcs(12, 5), sideways=sideways, limit=6)
    for (u, v), route in layout.routes.items():
        a, b = layout.boxes[u], layout.boxes[v]
        (x0, y0), (x1, y1) = route[0], route[-1]
        assert (x0, y0) == pytest.approx((a.right, a.y) if sideways else (a.x, a.bottom))
        if sideways:
            assert x1 == pytest.approx(b.left)
            assert b.top < y1 < b.bottom
        else:
            assert y1 == pytest.approx(b.top)
            assert b.left < x1 < b.right


def test_long_arcs_of_one_parent_share_their_lane() -> None:
    arcs = [(0, 1), (1, 2), (2, 3), (0, 3), (2, 4), (0, 4)]
    routes = layered(boxes(5), arcs, sideways=False, limit=UNBOUNDED).routes
    assert len(routes[0, 3]) == 6
    assert routes[0, 3][:-1] == routes[0, 4][:-1]


def test_a_tree_has_no_crossings_and_parents_stand_amidst_their_children() -> None:
    arcs = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]
    layout = layered(dict.fromkeys(range(7), (1.0, 0.3)), arcs, sideways=False, limit=UNBOUNDED)
    x = {v: box.x for v, box in layout.boxes.items()}
    assert x[3] < x[4] < x[5] < x[6]
    assert x[1] == pytest.approx((x[3] + x[4]) / 2)
    assert x[0] == pytest.approx((x[1] + x[2]) / 2)


def test_crossings_are_counted() -> None:
    a, b, c, d = (0, 0), (1, 0), (2, 1), (3, 1)
    down = {a: [d], b: [c], c: [], d: []}
    assert crossings([[a, b], [c, d]], down) == 1
    assert crossings([[a, b], [d, c]], down) == 0
    assert crossings([[a, b], [c, d]], {**down, b: [d]}) == 0


def test_avoidable_crossings_are_removed() -> None:
    # Nodes 1..3 have children 6, 5, 4: the order of either layer must turn round.
    arcs = [(0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4), (1, 5)]
    layout = layered(boxes(7), arcs, sideways=False, limit=UNBOUNDED)
    order = sorted((1, 2, 3), key=lambda v: layout.boxes[v].x)
    below = sorted((4, 5, 6), key=lambda v: layout.boxes[v].x)
    assert below == [{1: 6, 2: 5, 3: 4}[v] for v in order]


def test_layers_are_put_into_an_order_without_crossings() -> None:
    # A path that zigzags between two layers, with the roots 0, 2, 1 in this order.
    arcs = [(0, 3), (0, 4), (2, 4), (2, 5), (1, 5), (1, 6)]
    layout = layered(dict.fromkeys(range(7), (1.0, 0.3)), arcs, sideways=False, limit=UNBOUNDED)
    x = {v: box.x for v, box in layout.boxes.items()}
    roots = sorted((0, 1, 2), key=x.__getitem__)
    leaves = sorted((3, 4, 5, 6), key=x.__getitem__)
    assert (roots, leaves) in (([0, 2, 1], [3, 4, 5, 6]), ([1, 2, 0], [6, 5, 4, 3]))


@pytest.mark.parametrize("sideways", [False, True])
def test_arcs_into_a_box_arrive_side_by_side_without_crossing(sideways: bool) -> None:
    axis, pairs = 1 if sideways else 0, 0
    for seed in range(5):
        routes = layered(boxes(15), random_arcs(15, seed), sideways=sideways, limit=6).routes
        for (a, one), (b, other) in combinations(routes.items(), 2):
            if a[1] == b[1] and one[-2][axis] < other[-2][axis]:
                assert one[-1][axis] < other[-1][axis]
                pairs += 1
    assert pairs > 10


def test_spacing_keeps_order_and_distances() -> None:
    rng = random.Random(1)
    for _ in range(50):
        wish = [rng.uniform(0, 5) for _ in range(8)]
        gaps = [rng.uniform(0.1, 1) for _ in range(7)]
        placed = spaced(wish, gaps)
        steps = [b - a for a, b in pairwise(placed)]
        assert all(s >= g - 1e-9 for s, g in zip(steps, gaps, strict=True))
        # Least squares under translation: the mean stays where it was wished.
        assert sum(placed) == pytest.approx(sum(wish))


def test_spacing_leaves_positions_alone_that_are_far_enough_apart() -> None:
    assert spaced([0.0, 2.0, 5.0], [1.0, 1.0]) == pytest.approx([0.0, 2.0, 5.0])


def test_siblings_stand_closest() -> None:
    layout = layered(boxes(3), [(0, 1), (0, 2)], sideways=True, limit=UNBOUNDED)
    assert layout.boxes[2].top - layout.boxes[1].bottom == pytest.approx(SIBLING_GAP)
