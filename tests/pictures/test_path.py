"""The plot of a penalty path, with and without held-out measures and proofs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from milpbn import learn_path, load_dataset
from milpbn.errors import OptionError
from milpbn.pictures import plot_path
from milpbn.pictures.path import _figure
from milpbn.selection.path import PenaltyPath


@pytest.fixture(scope="module")
def path() -> PenaltyPath:
    return learn_path(load_dataset("iris"), [50, 1, 0], folds=2, max_parents=1)


def with_open_gap(path: PenaltyPath) -> PenaltyPath:
    """The same path, but the last point is not proven."""
    *points, last = path.points
    result = replace(last.model.result, status="time_limit", bound=last.model.result.objective + 9)
    model = replace(last.model, result=result)
    return replace(path, points=(*points, replace(last, model=model)))


def test_a_picture_is_written(path: PenaltyPath, tmp_path: Path) -> None:
    plot_path(path, tmp_path / "path.svg", title="iris")
    assert (tmp_path / "path.svg").stat().st_size > 5000


def test_points_without_a_proof_are_hollow_and_have_a_bound(path: PenaltyPath) -> None:
    proven, legend = (_figure(p, None).axes[0].get_legend() for p in (path, with_open_gap(path)))
    assert [text.get_text() for text in proven.get_texts()] == ["optimal"]
    assert [text.get_text() for text in legend.get_texts()] == ["optimal", "not proven", "bound"]


def test_without_folds_the_other_panels_remain(path: PenaltyPath, tmp_path: Path) -> None:
    points = tuple(replace(point, held_out=None) for point in path.points)
    plot_path(PenaltyPath(points), tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 5000


def test_nothing_to_plot_is_an_error(path: PenaltyPath, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no points"):
        plot_path(PenaltyPath(()), tmp_path / "path.png")
    with pytest.raises(OptionError, match="unknown picture format"):
        plot_path(path, tmp_path / "path.txt")
