"""The any-time record: monotone, scored by the objective, never below the incumbent."""

import math

import numpy as np
import pytest

from milpbn.anytime.progress import TOLERANCE, Progress
from milpbn.anytime.start import complete_quietly, offer_simple_starts, simple_starts
from milpbn.clock import Clock
from milpbn.errors import SolverError
from milpbn.families import Constraints, candidate_families
from milpbn.result import Status
from milpbn.scores import MDL, LinearObjective


@pytest.fixture
def objective():
    space = candidate_families(["class", "a"], [2, 2], generative=True)
    # Families: class <- (), class <- a, a <- (), a <- class.
    return LinearObjective(space, np.array([1.0, 5.0, 2.0, 4.0]))


@pytest.fixture
def told():
    return []


@pytest.fixture
def progress(objective, told):
    return Progress(objective, Clock(), told.append)


def ended(progress):
    return progress.result(MDL(), Status.FEASIBLE, engine="test", bound=None)


EMPTY, NAIVE, REVERSE = np.array([0, 2]), np.array([0, 3]), np.array([1, 2])


def test_a_better_structure_replaces_a_worse_one_only(progress, told):
    assert progress.incumbent(NAIVE, "first")
    assert not progress.incumbent(EMPTY, "worse")
    assert not progress.incumbent(NAIVE, "equal")
    assert progress.incumbent(REVERSE, "better")
    assert (progress.value, progress.source) == (7.0, "better")
    assert [(t.objective, t.source) for t in told] == [(5.0, "first"), (7.0, "better")]


def test_bounds_only_go_down(progress, told):
    progress.improve_bound(100.0, 1, "one")
    progress.improve_bound(120.0, 2, "weaker")
    progress.improve_bound(90.0, 3, "two")
    assert [t.bound for t in told] == [100.0, 90.0]
    assert (progress.bound, progress.nodes) == (90.0, 3)


def test_a_step_too_small_to_tell_counts_but_is_not_told(progress, told):
    progress.improve_bound(100.0, 1, "one")
    progress.improve_bound(100.0 - 1e-8, 1, "tiny")
    assert progress.bound == 100.0 - 1e-8
    assert len(told) == 1
    progress.incumbent(NAIVE, "start")
    assert ended(progress).trace[-1].bound == 100.0 - 1e-8


def test_a_bound_below_the_incumbent_is_an_error(progress):
    progress.incumbent(REVERSE, "start")
    with pytest.raises(SolverError, match=r"the bound 6\.9 lies below a structure that scores 7"):
        progress.improve_bound(6.9, 0, "wrong")


def test_an_incumbent_above_the_bound_is_an_error(progress):
    progress.improve_bound(6.0, 0, "wrong")
    with pytest.raises(SolverError, match="lies below a structure"):
        progress.incumbent(REVERSE, "better")


def test_a_bound_below_by_less_than_the_tolerance_is_lifted(progress):
    progress.incumbent(REVERSE, "start")
    progress.improve_bound(7.0 - 7.0 * TOLERANCE / 2, 0, "rounded")
    assert progress.bound == 7.0


def test_a_bound_that_is_no_number_is_not_a_proof(progress):
    progress.incumbent(REVERSE, "start")
    with pytest.raises(SolverError, match="the bound nan"):
        progress.improve_bound(math.nan, 0, "broken")
    assert progress.bound == math.inf


def test_the_trace_ends_with_the_final_state(progress):
    progress.improve_bound(9.0, 4, "bound")
    progress.incumbent(NAIVE, "start")
    trace = ended(progress).trace
    end = trace[-1]
    assert (end.objective, end.bound, end.nodes, end.source) == (5.0, 9.0, 4, "end")
    assert [t.time for t in trace] == sorted(t.time for t in trace)


def test_nothing_known_is_none_in_the_trace(progress, told):
    progress.improve_bound(9.0, 0, "bound")
    progress.incumbent(NAIVE, "start")
    assert (told[0].objective, told[0].gap_rel) == (None, None)
    assert told[1].gap_rel == pytest.approx(4 / 5)


def test_simple_starts_are_naive_bayes_and_the_empty_structure(objective):
    starts = simple_starts(objective.space)
    assert {name: f.tolist() for name, f in starts.items()} == {
        "naive-bayes": NAIVE.tolist(),
        "empty": EMPTY.tolist(),
    }


def test_constraints_that_rule_them_out_leave_any_structure():
    constraints = Constraints(required=["a->class"])
    space = candidate_families(["class", "a"], [2, 2], constraints=constraints)
    (name, families), *rest = simple_starts(space).items()
    assert (name, rest) == ("any-feasible", [])
    assert space.structure(families).to_dict() == {"class": ["a"], "a": []}


def test_a_run_has_a_structure_and_a_bound_from_its_first_moment(objective, told):
    progress = Progress(objective, Clock(), told.append, objective.quick_bound())
    offer_simple_starts(progress)
    assert (progress.value, progress.bound, progress.source) == (5.0, 9.0, "naive-bayes")
    assert (told[0].objective, told[0].bound) == (5.0, 9.0)


def test_an_early_end_is_completed_without_a_word(progress, told):
    complete_quietly(progress)
    assert (progress.value, progress.source) == (5.0, "naive-bayes")
    assert not told


def test_completing_keeps_what_is_better(progress):
    progress.incumbent(REVERSE, "start")
    progress.improve_bound(8.0, 0, "bound")
    complete_quietly(progress)
    assert (progress.value, progress.bound, progress.source) == (7.0, 8.0, "start")
