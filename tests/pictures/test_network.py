"""Pictures of networks: nothing overlaps, nothing is cut, every file is whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import combinations, pairwise
from pathlib import Path

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from milpbn.errors import OptionError
from milpbn.pictures import draw_network
from milpbn.pictures.layout import Box, Point
from milpbn.pictures.network import _figure
from milpbn.pictures.sheet import SMALL, curve_points, drawn_arcs, network_page
from milpbn.structure import Structure

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".dot": b"digraph"}
Make = Callable[[str], Structure]


page_of = lru_cache(network_page)  # several tests look at the same pages


@lru_cache
def figure_of(structure: Structure) -> Figure:
    return _figure(structure, "A title that is long enough to need a second line, " * 2)


def along(route: tuple[Point, ...], sideways: bool) -> Iterator[Point]:
    """Points on the curve that is drawn for a route."""
    points, codes = curve_points(route, sideways)
    k = 0
    while k < len(points) - 1:
        if codes[k + 1] == 2:
            (x0, y0), (x1, y1) = points[k : k + 2]
            yield from ((x0 + (x1 - x0) * t / 20, y0 + (y1 - y0) * t / 20) for t in range(21))
            k += 1
            continue
        corners = points[k : k + 4]
        for step in range(41):
            t = step / 40
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            yield tuple(  # type: ignore[misc]
                sum(w * p[axis] for w, p in zip(weights, corners, strict=True)) for axis in (0, 1)
            )
        k += 3


def inside(point: Point, box: Box, slack: float = 1e-6) -> bool:
    x, y = point
    return box.left + slack < x < box.right - slack and box.top + slack < y < box.bottom - slack


def apart(a: Box, b: Box) -> bool:
    return a.right < b.left or b.right < a.left or a.bottom < b.top or b.bottom < a.top


def test_boxes_never_overlap_and_stay_on_the_page(structure: Structure) -> None:
    page = page_of(structure)
    assert sorted(page.boxes) == list(range(len(structure.variables)))
    assert all(apart(a, b) for a, b in combinations(page.boxes.values(), 2))
    for box in page.boxes.values():
        assert box.left >= -1e-9
        assert box.top >= -1e-9
        assert box.right <= page.width + 1e-9
        assert box.bottom <= page.height + 1e-9


def test_arcs_never_run_over_a_box(structure: Structure) -> None:
    page = page_of(structure)
    assert set(page.routes) == set(drawn_arcs(structure))
    for route in page.routes.values():
        points = list(along(route, page.sideways))
        assert points[0] == pytest.approx(route[0])
        assert points[-1] == pytest.approx(route[-1])
        for box in page.boxes.values():
            assert not any(inside(p, box) for p in points)


def test_children_stand_in_a_later_layer(structure: Structure) -> None:
    page = page_of(structure)
    for parent, child in page.routes:
        a, b = page.boxes[parent], page.boxes[child]
        assert a.right < b.left if page.sideways else a.bottom < b.top


def test_labels_fit_their_boxes(structure: Structure) -> None:
    figure = figure_of(structure)
    renderer = FigureCanvasAgg(figure).get_renderer()
    axes = figure.axes[0]
    labels = {text.get_position(): text for text in axes.texts}
    for box in page_of(structure).boxes.values():
        extent = labels[box.x, box.y].get_window_extent(renderer)
        (x0, y0), (x1, y1) = axes.transData.inverted().transform(extent.get_points())
        assert box.left < x0 < x1 < box.right
        assert box.top < y1 < y0 < box.bottom


def test_texts_fit_the_figure_and_do_not_overlap(structure: Structure) -> None:
    figure = figure_of(structure)
    renderer = FigureCanvasAgg(figure).get_renderer()
    width, height = figure.canvas.get_width_height()
    labels = []
    for text in figure.axes[0].texts:
        extent = text.get_window_extent(renderer)
        if text.get_text():
            labels.append(extent)
        assert extent.x0 >= 0
        assert extent.y0 >= 0
        assert extent.x1 <= width
        assert extent.y1 <= height
    assert not any(a.overlaps(b) for a, b in combinations(labels, 2))


def test_a_small_network_shows_all_arcs_and_a_large_one_leaves_the_class_out(make: Make) -> None:
    small, large = make(f"tan-{SMALL}"), make("tan-20")
    assert len(drawn_arcs(small)) == len(small.arcs)
    assert len(drawn_arcs(large)) == len([a for a in large.arcs if a[0] != "class"])
    (note, _, _) = network_page(large).captions[0]
    assert note == "parent of 19 blue features"


def test_arcs_into_the_class_are_always_drawn(make: Make) -> None:
    assert {(1, 0), (2, 0)} <= set(drawn_arcs(make("with_class_parents-58")))


def test_features_without_arcs_stand_apart_below(make: Make) -> None:
    structure = make("forest-37")
    page = page_of(structure)
    parents = {p for s in structure.parents for p in s}
    lone = [v for v, s in enumerate(structure.parents) if v and not s and v not in parents]
    others = [v for v in page.boxes if v not in lone]
    assert lone
    assert min(page.boxes[v].top for v in lone) > max(page.boxes[v].bottom for v in others)
    assert "Not used by the model" in [text for text, _, _ in page.captions]


def test_the_figure_grows_with_the_network(make: Make) -> None:
    def area(figure: Figure) -> float:
        width, height = figure.get_size_inches()
        return float(width * height)

    areas = [area(_figure(make(f"tan-{n}"), None)) for n in (4, 20, 58)]
    assert areas == sorted(areas)
    assert areas[-1] > 3 * areas[0]


@pytest.mark.parametrize("suffix", MAGIC)
def test_every_format_is_written_whole(tmp_path: Path, make: Make, suffix: str) -> None:
    path = tmp_path / f"network{suffix}"
    draw_network(make("with_class_parents-20"), path, title="Spambase")
    assert path.read_bytes().startswith(MAGIC[suffix])
    assert path.stat().st_size > 500
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_same_network_gives_the_same_file(tmp_path: Path, make: Make, suffix: str) -> None:
    first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    draw_network(make("dag-20"), first)
    with matplotlib.rc_context({"font.size": 30, "savefig.bbox": "tight", "text.color": "red"}):
        draw_network(make("dag-20"), second)
        assert matplotlib.rcParams["font.size"] == 30
    assert first.read_bytes() == second.read_bytes()


def test_names_with_dollars_and_markup_are_drawn_as_they_are(tmp_path: Path) -> None:
    names = ["class", "$x_{1$", "a & <b>", "c--d", "x\\frac{1}{2}", "50%", ""]
    structure = Structure.from_arcs(names, [("class", v) for v in names[1:]])
    for suffix in MAGIC:
        draw_network(structure, str(tmp_path / f"a{suffix}"), title="from $5 to $10")
        assert (tmp_path / f"a{suffix}").read_bytes().startswith(MAGIC[suffix])
    shown = {text.get_text() for text in _figure(structure, "from $5 to $10").axes[0].texts}
    assert set(names) <= shown


def test_an_unknown_suffix_is_refused_before_any_work(tmp_path: Path, make: Make) -> None:
    with pytest.raises(OptionError, match=r"'\.gif'.*\.png, \.svg, \.pdf, \.dot"):
        draw_network(make("tan-4"), tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist_is_a_clear_error(tmp_path: Path, make: Make) -> None:
    with pytest.raises(OptionError, match=r"cannot write .*nowhere.a\.svg: No such file"):
        draw_network(make("tan-4"), tmp_path / "nowhere" / "a.svg")


def test_a_structure_without_variables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no variables"):
        draw_network(Structure((), ()), tmp_path / "a.png")


def test_neither_import_nor_drawing_needs_pyplot(tmp_path: Path) -> None:
    code = (
        "import sys; import milpbn.pictures as p; from milpbn.structure import Structure;"
        "assert 'matplotlib' not in sys.modules;"
        f"p.draw_network(Structure(('c',), ((),)), {str(tmp_path / 'a.png')!r});"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_routes_alternate_between_gaps_and_layers(make: Make) -> None:
    page = network_page(make("dag-58"))
    for route in page.routes.values():
        assert len(route) % 2 == 0
        for k, ((x0, y0), (x1, y1)) in enumerate(pairwise(route)):
            if k % 2:
                assert (y0 == y1) if page.sideways else (x0 == x1)


def test_a_class_network_shows_every_arc_and_sets_loose_class_variables_apart() -> None:
    names = [f"y{j}" for j in range(SMALL + 3)] + ["color"]
    arcs = [("y0", f"y{j}") for j in range(1, SMALL + 2)] + [("color", "y0")]
    page = network_page(Structure.from_arcs(names, arcs), n_class_variables=SMALL + 3)
    assert len(page.routes) == len(arcs)
    assert [caption for caption, _, _ in page.captions] == [
        "Independent of the other class variables, given the features"
    ]


@pytest.mark.parametrize("name", ["tan-4", "tan-58", "with_class_parents-58", "forest-37"])
def test_the_class_stands_out(make: Make, name: str) -> None:
    structure = make(name)
    texts = figure_of(structure).axes[0].texts
    own = [text for text in texts if text.get_text() == structure.variables[0]]
    label = max(own, key=lambda text: float(text.get_fontsize()))  # not that of the legend
    others = [text for text in texts if text.get_text() in structure.variables[1:]]
    assert label.get_weight() == "bold"
    assert label.get_fontsize() > max(text.get_fontsize() for text in others)


def test_the_legend_does_not_call_unused_features_independent() -> None:
    names = [f"v{k}" for k in range(4)]

    def meanings(arcs: list[tuple[str, str]]) -> str:
        texts = _figure(Structure.from_arcs(names, arcs), None).axes[0].texts
        return " | ".join(text.get_text() for text in texts)

    alone = meanings([("v0", "v1"), ("v1", "v2")])
    assert "not used if all other features are known" in alone
    assert "Not used by the model" in alone
    unused = meanings([("v0", "v1"), ("v0", "v2")])
    assert "Not used by the model" in unused
    assert "if all other" not in unused
