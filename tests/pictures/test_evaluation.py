"""The picture of an evaluation: its panels, and what it refuses."""

import pytest

from milpbn import evaluate
from milpbn.errors import OptionError
from milpbn.pictures import plot_evaluation
from milpbn.pictures.evaluation import _figure


@pytest.fixture(scope="module")
def parts():
    return [evaluate(name, ["nb", "tan-cmi"], folds=2) for name in ("iris", "monks-1")]


def test_curves_and_one_matrix_per_method_and_set(parts):
    panels = {axes.get_title(loc="left") or axes.get_title(): axes for axes in _figure(parts).axes}
    assert set(panels) == {"iris", "monks-1", "nb ml", "tan-cmi ml", ""}
    assert len(_figure(parts).axes) == 2 * (1 + 1 + 2)
    curve = parts[0].reliability("nb")
    line = panels["iris"].get_lines()[1]
    assert line.get_label() == f"nb ml, ECE {curve.calibration_error:.3f}"
    assert line.get_xdata() == pytest.approx(100 * curve.confidence)
    shown = [text.get_text() for text in panels["nb ml"].texts]
    assert shown == [str(n) for n in parts[1].confusion("nb").counts.ravel()]


def test_many_methods_take_several_lines(parts):
    figure = _figure([evaluate("monks-1", ["nb", "tan-cmi", "tan-ear", "hc", "hc:cr"])])
    rows = {round(axes.get_subplotspec().rowspan.start) for axes in figure.axes}
    assert rows == {0, 1}


def test_files_are_written_and_mistakes_named(parts, tmp_path):
    for suffix, mark in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        path = tmp_path / f"out{suffix}"
        plot_evaluation(parts[:1], path)
        assert path.read_bytes().startswith(mark)
    with pytest.raises(OptionError, match="unknown picture format"):
        plot_evaluation(parts, tmp_path / "out.doc")
    with pytest.raises(OptionError, match="no results"):
        plot_evaluation([], tmp_path / "out.png")
