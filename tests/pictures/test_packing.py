"""Trees and loose nodes on a page."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from milpbn.pictures.packing import Group, arrange, components, pack


def test_components_are_the_connected_parts() -> None:
    assert components([0, 1, 2, 3, 4], [(3, 0), (2, 4)]) == [[0, 3], [1], [2, 4]]


def test_packed_rectangles_do_not_overlap_and_keep_to_the_width() -> None:
    rng = random.Random(2)
    sizes = [(rng.uniform(0.5, 4), rng.uniform(0.3, 3)) for _ in range(30)]
    corners = pack(sizes, 10.0)
    for (x, y), (w, _) in zip(corners, sizes, strict=True):
        assert x >= 0
        assert y >= 0
        assert x + w <= 10 + 1e-6
    rectangles = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(corners, sizes, strict=True)]
    for a, b in combinations(rectangles, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_the_first_rectangle_can_lead() -> None:
    sizes = [(1.0, 1.0), (1.0, 5.0)]
    assert pack(sizes, 5.0)[0] != (0.0, 0.0)
    assert pack(sizes, 5.0, first_leads=True)[0] == (0.0, 0.0)


def test_groups_follow_below_the_trees_with_their_captions() -> None:
    sizes = dict.fromkeys(range(8), (1.0, 0.3))
    page = arrange(sizes, [(1, 2)], header=[0], groups=[Group("a", (3, 4)), Group("b", (5, 6, 7))])
    tops = [page.boxes[v].top for v in (0, 1, 2, 3, 5)]
    assert page.boxes[0].bottom < min(page.boxes[1].top, page.boxes[2].top)
    assert max(page.boxes[v].bottom for v in (1, 2)) < page.boxes[3].top < page.boxes[5].top
    assert tops[0] == 0.0
    (first, _, y1), (second, _, y2) = page.captions
    assert (first, second) == ("a", "b")
    assert y1 < page.boxes[3].top < y2 < page.boxes[5].top
    assert page.height == pytest.approx(max(b.bottom for b in page.boxes.values()))
