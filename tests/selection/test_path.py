"""The path of a penalty: the optima of single runs, in order, with held-out measures."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
from problems import encoded, random_codes

from milpbn import learn_path, learn_structure, load_dataset
from milpbn.clock import Clock
from milpbn.errors import OptionError
from milpbn.learning.classifier import encode
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.result import Status
from milpbn.scores import make_score
from milpbn.search import run_learner
from milpbn.selection import penalties
from milpbn.selection.path import PathWatch
from milpbn.selection.penalties import next_breakpoint, penalty_grid

SPACE = {"max_parents": 1, "class_parents": False}
WIDER = {"class_parents": False, "p": 0.99}


@pytest.fixture(scope="module")
def iris():
    return load_dataset("iris")


@pytest.fixture(scope="module")
def automatic(iris):
    """A path with an automatic grid and three folds."""
    return learn_path(iris, n_penalties=6, folds=3, **WIDER)


def test_every_penalty_has_the_optimum_of_a_single_run(automatic, iris):
    data = encode(iris).data
    for point in automatic.points[::2]:
        alone = learn_structure(data, penalty=point.penalty, start=None, **WIDER)
        assert point.model.result.status == alone.status == "optimal"
        assert point.model.result.objective == pytest.approx(alone.objective, rel=1e-6)
        assert point.model.result.bound >= alone.objective - 1e-6


def test_the_grid_goes_from_the_empty_network_to_no_penalty(automatic):
    frame = automatic.to_frame()
    assert frame["penalty"].is_monotonic_decreasing
    assert frame["arcs"].iloc[0] == 0
    assert frame["arcs"].iloc[1] > 0
    assert frame["penalty"].iloc[-1] == 0
    assert frame["parameters"].is_monotonic_increasing
    assert 4 <= len(frame) <= 7
    for point in automatic.points:
        assert point.model.network.n_parameters == point.to_dict()["parameters"]


def test_margins_do_not_fall_as_the_penalty_falls(automatic):
    """f(x) = max SM(s) - x N(s) is convex in x: size and margin of its optima are monotone."""
    frame = automatic.to_frame()
    margins = frame["objective"] + frame["penalty"] * frame["parameters"]
    assert (margins.diff().dropna() >= -1e-6).all()
    assert (frame["objective"].diff().dropna() >= -1e-6).all()


def test_held_out_measures_have_standard_errors(automatic, iris):
    frame = automatic.to_frame()
    assert automatic.folds == 3
    assert automatic.complete
    n = len(iris)
    for share, error in zip(frame["accuracy"], frame["accuracy_error"], strict=True):
        assert error == pytest.approx(np.sqrt(share * (1 - share) / (n - 1)), abs=1e-12)
    assert frame["log_loss"].iloc[0] == pytest.approx(np.log(3), abs=1e-3)
    assert automatic.best.to_dict()["log_loss"] == frame["log_loss"].min()


def test_without_folds_there_are_no_held_out_measures(iris):
    path = learn_path(iris, ["bic", 0, 0.0], folds=None, **SPACE)
    frame = path.to_frame()
    assert frame["penalty"].tolist() == [0.5 * np.log(150), 0.0]
    assert frame["log_loss"].isna().all()
    assert (path.folds, path.best) == (0, None)


def test_test_rows_are_only_tested():
    path = learn_path(load_dataset("monks-1"), [1, 0.1], folds=None, **SPACE)
    assert all(0.5 <= point.test_accuracy <= 1 for point in path.points)


def envelope(sizes, values):
    """Breakpoints of max_s values[s] - x sizes[s] over x >= 0, from the largest down."""
    at, found = int(sizes.argmin()), []
    at = max(np.flatnonzero(sizes == sizes[at]), key=lambda k: values[k])
    while True:
        more = np.flatnonzero(sizes > sizes[at])
        if not len(more):
            return found
        ratios = (values[more] - values[at]) / (sizes[more] - sizes[at])
        if ratios.max() <= 1e-9:
            return found
        found.append(float(ratios.max()))
        ties = more[ratios >= ratios.max() * (1 - 1e-9)]
        at = max(ties, key=lambda k: sizes[k])


def test_local_search_finds_the_breakpoints_of_the_path_almost_always():
    missed = []
    for seed in range(16):
        codes, cards = random_codes(np.random.default_rng(seed), 4, 2)
        space = {"max_parents": 2, "class_parents": bool(seed % 2)}
        score = make_score("sm")
        objective = build_objective(encoded(codes, cards), score, SearchSpace(**space))
        structures, values = oracle.scores_of_all("sm", codes, cards, gamma=score.hinge, **space)
        sizes = np.array([oracle.n_parameters(parents, cards) for parents in structures])
        expected = [x for x in envelope(sizes, values) if x >= 1e-3]
        if breakpoints(objective) != pytest.approx(expected, rel=1e-4):
            missed.append(seed)
    assert len(missed) <= 2, missed


def breakpoints(objective):
    """All breakpoints above 0.001: exchanges are scored in single precision."""
    base, found = objective.space.feasible_families(), []
    while True:
        penalty, base = next_breakpoint(objective, base, Clock())
        if penalty < 1e-3:
            return found
        # One where three structures meet may be found twice.
        if not found or penalty < found[-1] * (1 - 1e-6):
            found.append(penalty)


def test_every_point_of_an_automatic_grid_has_another_network(automatic):
    # Between the smallest positive penalty and 0 the network need not change.
    assert automatic.to_frame()["parameters"][:-1].is_unique


def test_without_time_the_grid_is_evenly_spaced(iris):
    objective = build_objective(encode(iris).data, make_score("sm"), SearchSpace(**SPACE))
    grid = penalty_grid(objective, 5, Clock(0.0))
    assert grid == sorted(grid, reverse=True)
    assert (len(grid), grid[-1]) == (6, 0.0)


def test_ctrl_c_keeps_the_finished_points(iris):
    def stop(point, total):
        if point.penalty == 1:
            raise KeyboardInterrupt

    path = learn_path(iris, [10, 1, 0.1], watch=PathWatch(point=stop), **SPACE)
    assert [point.penalty for point in path.points] == [10, 1]
    assert not path.complete
    with pytest.raises(KeyboardInterrupt):
        learn_path(iris, [1, 0.1], watch=PathWatch(listener=_interrupt), **SPACE)


def _interrupt(penalty):
    raise KeyboardInterrupt


def test_ctrl_c_in_the_search_for_penalties_ends_it(iris, monkeypatch):
    def interrupted(*parts):
        return replace(run_learner(*parts), status=Status.INTERRUPTED)

    monkeypatch.setattr(penalties, "run_learner", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learn_path(iris, n_penalties=3, **SPACE)


def test_ctrl_c_in_the_folds_keeps_the_points(iris):
    def stop(done, total, what):
        raise KeyboardInterrupt

    path = learn_path(iris, [10, 1], watch=PathWatch(folds=stop), **SPACE)
    assert len(path.points) == 2
    assert not path.complete


def test_a_search_space_without_arcs_has_a_single_point(iris):
    path = learn_path(iris, folds=None, max_arcs=0)
    assert [point.penalty for point in path.points] == [0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": []}, "penalties must be a list"),
        ({"penalties": [-1]}, "the penalty must be a number from 0 on"),
        ({"n_penalties": 1}, "at least 2 penalties"),
        ({"folds": 1}, "at least 2 folds"),
        ({"score": "mdl"}, "needs a score with a penalty for parameters, not mdl"),
    ],
)
def test_bad_options_are_named(iris, options, message):
    with pytest.raises(OptionError, match=message):
        learn_path(iris, **options)


def test_several_p_have_a_path_each(iris):
    path = learn_path(iris, [1, 0], ps=[0.9, 0.6], folds=2, **SPACE)
    assert [(point.p, point.penalty) for point in path.points] == [
        (0.6, 1),
        (0.6, 0),
        (0.9, 1),
        (0.9, 0),
    ]
    for point in path.points:
        alone = learn_path(iris, [point.penalty], p=point.p, folds=None, **SPACE).points[0]
        assert point.model.result.objective == pytest.approx(alone.model.result.objective)
        assert point.held_out.values == {"p": point.p, "penalty": point.penalty}
        assert point.held_out.scores
    assert list(path.to_frame()["p"]) == [0.6, 0.6, 0.9, 0.9]
