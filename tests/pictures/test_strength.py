"""Thickness and colour of arcs, from their margins."""

import math

from milpbn.certainty.arc_records import ArcMargin, ScoreLoss
from milpbn.pictures.dot import dot_text
from milpbn.pictures.strength import arc_looks, strength_notes
from milpbn.structure import Structure


def margin(parent, child, low):
    loss = ScoreLoss(low, low + 1, closed=False)
    return {(parent, child): ArcMargin(parent, child, True, loss, loss)}


def test_the_thicker_the_more_is_lost():
    arcs = margin("c", "a", 9.0) | margin("c", "b", 1.0) | margin("a", "b", 0.0)
    widths = {arc: look.width for arc, look in arc_looks(arcs).items()}
    assert widths["c", "a"] > widths["c", "b"] > widths["a", "b"]
    assert "up to 9" in strength_notes(arcs)[0]


def test_an_arc_that_may_be_missing_is_dashed():
    arcs = margin("c", "a", 9.0) | margin("c", "b", -1e-12)
    looks = arc_looks(arcs)
    assert [looks[arc].style for arc in arcs] == ["-", "--"]
    assert len(strength_notes(arcs)) == 2
    text = dot_text(Structure.from_arcs("cab", arcs), margins=arcs)
    assert text.count("style=dashed") == 1


def test_required_arcs_are_thick_and_nothing_is_said_without_figures():
    required = margin("c", "a", math.inf)
    assert arc_looks(required)["c", "a"].style == "-"
    assert strength_notes(required) == []
    both = arc_looks(required | margin("c", "b", 2.0))
    assert both["c", "a"].width == both["c", "b"].width
