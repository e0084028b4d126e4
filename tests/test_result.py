"""Results: gaps by definition, text for people, JSON and back."""

import json
import math
from dataclasses import replace

import pytest

from milpbn.result import Result, Status, TracePoint, WarmStart, format_gap, relative_gap
from milpbn.structure import Structure

STRUCTURE = Structure(("class", "a"), ((), (0,)))


def result(**changes):
    settings = {
        "status": Status.TIME_LIMIT,
        "structure": STRUCTURE,
        "objective": 50.0,
        "bound": 51.0,
        "score": "sm",
        "score_parameters": {"p": 0.9, "smoothing": "laplace:1"},
        "source": "HiGHS",
        "engine": "monolithic",
        "solver": "HiGHS 1.15.1",
        "nodes": 7,
        "seconds": {"building": 0.25, "solving": 1.5},
        "warm_start": WarmStart("file", 49.0, True, 1.0),
        "trace": (
            TracePoint(0.1, None, 60.0, 0, "quick bound"),
            TracePoint(0.2, 50.0, 51.0, 7, "HiGHS"),
        ),
    }
    return Result(**{**settings, **changes})


@pytest.mark.parametrize(
    ("objective", "bound", "absolute", "relative"),
    [
        (50.0, 51.0, 1.0, 0.02),
        (-50.0, -49.0, 1.0, 0.02),
        (-1.0, 3.0, 4.0, 4.0),
        (0.0, 0.0, 0.0, 0.0),
        (50.0, 50.0 - 1e-12, 0.0, 0.0),
    ],
)
def test_gaps_are_those_of_the_definition(objective, bound, absolute, relative):
    found = result(objective=objective, bound=bound)
    assert found.gap_abs == pytest.approx(absolute)
    assert found.gap_rel == pytest.approx(relative)
    assert TracePoint(0.0, objective, bound).gap_rel == pytest.approx(relative)


def test_the_gap_of_the_hinge_loss_counts_what_rows_lack_to_gamma():
    gamma = {"gamma": 2.0}
    found = result(objective=50.0, bound=51.0, n_rows=25, weight=30.0, score_parameters=gamma)
    assert found.gap_of_hinge_loss == pytest.approx(1.0 / (2.0 * 30 - 50.0))
    closed = replace(found, objective=60.0, bound=60.0)
    assert closed.gap_of_hinge_loss == 0.0
    assert replace(found, score_parameters={}).gap_of_hinge_loss is None
    assert replace(found, bound=None).gap_of_hinge_loss is None
    assert replace(found, weight=0.0).gap_of_hinge_loss is None


def test_what_is_open_stands_below_the_gap_unless_it_is_closed():
    found = result(objective=50.0, bound=51.0, weight=30.0, score_parameters={"gamma": 2.0})
    lines = str(replace(found, status=Status.TIME_LIMIT)).splitlines()
    gap = next(k for k, line in enumerate(lines) if line.startswith("gap"))
    assert lines[gap + 1] == "open        0.0333 per row, 10.00 % of the hinge loss"
    assert "\nopen" not in str(replace(found, status=Status.OPTIMAL))
    other = replace(found, status=Status.TIME_LIMIT, score_parameters={})
    assert "\nopen        0.0333 per row\n" in str(other)


def test_the_gap_to_an_objective_of_zero_is_absolute():
    found = result(objective=0.0, bound=0.5, trace=())
    assert (found.gap_abs, found.gap_rel) == (0.5, None)
    assert TracePoint(0.0, 0.0, 0.5).gap_rel is None
    assert relative_gap(0.0, 0.0) == 0.0
    assert lines(found)["gap"] == "0.500000 (tolerance 1e-06)"
    assert "inf" not in str(found)


def log_loss(objective, bound, status=Status.OPTIMAL, **settings):
    """What a result of the conditional log-likelihood says about 10 rows."""
    found = result(
        score="cll",
        score_parameters=settings,
        objective=objective,
        bound=bound,
        status=status,
        n_rows=7,
        weight=10.0,
    )
    return lines(found).get("proven")


def test_a_proven_log_loss_is_said_in_plain_words():
    assert log_loss(-4.13129, -4.13129, validation="loo") == (
        "no structure in the search space has a leave-one-out log-loss below 0.4131 per row"
    )
    assert "a training log-loss below 0.4131" in log_loss(-4.13129, -4.13129)
    assert "a 5-fold held-out log-loss below" in log_loss(-4.13129, -4.13129, validation=5)
    penalised = log_loss(-4.13129, -4.13129, validation="loo", penalty=0.5)
    assert "a penalised leave-one-out log-loss below" in penalised
    assert log_loss(-4.13129, None) is None
    assert "log-loss" not in str(result(n_rows=10, weight=10.0))


def test_what_is_found_and_what_is_proven_about_a_log_loss_are_rounded_to_true_statements():
    assert log_loss(-4.73121, -4.65499, Status.TIME_LIMIT, validation="loo") == (
        "no structure in the search space has a leave-one-out log-loss below 0.4654 per row; "
        "found 0.4732"
    )
    assert "log-loss below 0.000001234 per row" in log_loss(-1.23456e-5, -1.23456e-5)
    assert "log-loss below 0.0000 per row" in log_loss(-1e-5, 0.0)
    assert "log-loss below 0.0000 per row; found 0.1" in log_loss(-1.0, 3.0, Status.TIME_LIMIT)


def test_a_log_loss_is_that_of_a_row():
    found = result(score="cll", objective=-5.0, bound=-4.0, n_rows=7, weight=10.0)
    assert (found.log_loss, found.log_loss_bound) == (0.5, 0.4)
    assert replace(found, bound=None).log_loss_bound is None
    assert replace(found, score="sm").log_loss is None
    assert (found.to_dict()["log_loss"], found.to_dict()["log_loss_bound"]) == (0.5, 0.4)


def test_without_a_bound_there_is_no_gap():
    found = result(bound=None)
    assert (found.gap_abs, found.gap_rel) == (None, None)
    assert format_gap(found) == "-"
    assert relative_gap(None, 1.0) is None
    assert relative_gap(1.0, math.inf) is None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bound": None, "warm_start": None, "trace": (), "status": Status.FEASIBLE},
        {"objective": 0.0, "bound": 0.5},
        {"objective": 0.1 + 0.2, "bound": 1e300 / 7},
        {"warm_start": WarmStart("naive-bayes", -1.5)},
    ],
)
def test_a_result_comes_back_from_json_as_it_was(changes):
    before = result(**changes)
    text = json.dumps(before.to_dict(), allow_nan=False)
    after = Result.from_dict(json.loads(text))
    assert after == before
    assert isinstance(after.status, Status)
    assert isinstance(after.trace, tuple)


def test_plain_data_says_the_gap():
    data = result().to_dict()
    assert (data["gap_abs"], data["gap_rel"]) == (1.0, 0.02)
    assert result(objective=0.0).to_dict()["gap_rel"] is None
    assert data["structure"] == {"class": [], "a": ["class"]}
    assert data["status"] == "time_limit"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("status", "perfect", "'perfect' is not a valid Status"),
        ("objective", "much", "to float: 'much'"),
        ("bound", "more", "to float: 'more'"),
        ("tolerance", "tight", "to float: 'tight'"),
        ("structure", {"class": ["a"], "a": ["class"]}, "directed cycle"),
        ("seconds", {"solving": "long"}, "to float: 'long'"),
    ],
)
def test_data_that_say_nonsense_are_refused(key, value, message):
    with pytest.raises(ValueError, match=message):
        Result.from_dict({**result().to_dict(), key: value})


def lines(found):
    return dict(line.split(maxsplit=1) for line in str(found).splitlines())


def test_the_text_names_everything_a_reader_needs():
    text = str(result())
    shown = lines(result())
    assert shown["status"] == "time_limit"
    assert shown["score"] == "sm (p=0.9, smoothing=laplace:1)"
    assert shown["objective"] == "50.000000"
    assert shown["bound"] == "51.000000"
    assert shown["gap"] == "2.0000 % (1.000000; tolerance 1e-06)"
    assert shown["engine"] == "monolithic (HiGHS 1.15.1)"
    assert shown["nodes"] == "7"
    assert shown["seconds"] == "1.75 (building 0.25, solving 1.50)"
    assert "found by    HiGHS" in text
    assert "warm start  file, 49.000000, accepted, improved by 1.000000" in text


def test_the_text_leaves_out_what_does_not_apply():
    shown = lines(result(bound=None, nodes=0, warm_start=None, solver="", evaluations=12))
    assert not {"bound", "gap", "nodes", "warm"} & set(shown)
    assert shown["engine"] == "monolithic"
    assert shown["evaluations"] == "12"
    assert lines(result(score="mdl", score_parameters={}))["score"] == "mdl"


@pytest.mark.parametrize(
    ("accepted", "word"), [(True, "accepted"), (False, "rejected"), (None, "not tried")]
)
def test_what_became_of_a_start_is_said(accepted, word):
    found = result(warm_start=WarmStart("file", 49.0, accepted))
    assert f"file, 49.000000, {word}\n" in str(found)


def test_a_status_is_its_word():
    assert Status.OPTIMAL == "optimal"
    assert str(Status.TIME_LIMIT) == "time_limit"
