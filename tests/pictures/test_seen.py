"""Pictures show the resolutions that families use."""

import pytest
from seen_models import NAMES, SEEN, seen_model

from milpbn.explanation.resolutions import SeenResolutions
from milpbn.pictures import draw_network, plot_network
from milpbn.pictures.dot import dot_quoted, dot_text
from milpbn.pictures.seen import node_labels, resolution_notes
from milpbn.structure import Structure

# petalwidth has two parents with several resolutions.
TWO = Structure(NAMES, ((), (0,), (0,), (), (0, 1, 2)), ((0,), (0, 2), (0, 4), (0,), (0, 2, 4, 1)))


@pytest.fixture(scope="module")
def model():
    return seen_model()


@pytest.fixture(scope="module")
def seen(model):
    return SeenResolutions(SEEN, model.encoder_)


def test_a_box_shows_what_its_own_family_sees(seen):
    assert node_labels(SEEN, seen) == [
        "class\ngiven 4 bins",
        "sepallength\n2 bins given 4 bins",
        "sepalwidth\n2 bins given 4 bins",
        "petallength",
        "petalwidth\n3 bins",
    ]
    assert node_labels(SEEN, None) == list(NAMES)


def test_notes_name_parents_if_there_are_several(seen, model):
    assert resolution_notes(SEEN, seen) == []
    assert resolution_notes(SEEN, None) == []
    assert resolution_notes(TWO, SeenResolutions(TWO, model.encoder_)) == [
        "petalwidth sees sepallength in 8 bins and sepalwidth in 2 bins"
    ]


def test_graphviz_labels_nodes_and_arcs(seen, model, tmp_path):
    text = dot_text(SEEN, seen=seen)
    assert r'label="petalwidth\n3 bins"' in text
    assert '"petalwidth" -> "sepalwidth" [label="4 bins", fontname' in text
    assert '"class" -> "petalwidth" [color=' in text
    assert dot_quoted("a", 'b"') == r'"a\nb\""'
    draw_network(SEEN, tmp_path / "net.dot", encoder=model.encoder_)
    assert (tmp_path / "net.dot").read_text() == text + "\n"


def test_figures_show_boxes_and_notes(model, tmp_path):
    assert "petalwidth\n3 bins" in [text.get_text() for text in plot_network(model).texts]
    shown = [text.get_text() for text in plot_network(seen_model(TWO)).texts]
    assert "petalwidth\n3 bins" in shown
    assert "petalwidth sees sepallength in 8 bins and" in " ".join(shown)
    draw_network(SEEN, tmp_path / "net.svg", encoder=model.encoder_)
    assert "3 bins" in (tmp_path / "net.svg").read_text()
