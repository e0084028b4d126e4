"""The time budget of a whole run."""

import math

import pytest

from milpbn.clock import Clock, OutOfTime, no_checkpoint


def test_time_runs_from_the_start_that_was_given(now):
    clock = Clock(limit=10.0, started=98.0)
    assert (clock.elapsed, clock.remaining) == (2.0, 8.0)
    now[0] = 120.0
    assert (clock.elapsed, clock.remaining) == (22.0, 0.0)


def test_without_a_limit_there_is_always_time(now):
    clock = Clock()
    now[0] = 1e9
    assert clock.remaining == math.inf
    clock.checkpoint()


def test_a_checkpoint_raises_once_the_limit_is_reached(now):
    clock = Clock(limit=1.0)
    now[0] = 100.99
    clock.checkpoint()
    now[0] = 101.0
    with pytest.raises(OutOfTime):
        clock.checkpoint()


def test_phases_add_up_to_the_run(now):
    clock = Clock()
    for seconds, name in ((1.0, "scoring"), (2.0, "solving"), (4.0, "scoring")):
        now[0] += seconds
        clock.close_phase(name)
    assert clock.phases == {"scoring": 5.0, "solving": 2.0}
    assert sum(clock.phases.values()) == clock.elapsed


def test_the_first_phase_begins_at_the_start(now):
    clock = Clock(started=90.0)
    clock.close_phase("reading")
    assert clock.phases == {"reading": 10.0}


def test_the_empty_checkpoint_never_stops_anything():
    assert no_checkpoint() is None


def test_an_earlier_limit_shares_the_start_and_the_phases(now):
    clock = Clock(limit=10.0)
    now[0] += 1.0
    part = clock.until(3.0, phase="warm start")
    assert (part.elapsed, part.remaining) == (1.0, 2.0)
    now[0] += 1.0
    part.close_phase("searching")
    now[0] += 4.0
    with pytest.raises(OutOfTime):
        part.checkpoint()
    clock.checkpoint()
    clock.close_phase("solving")
    assert clock.phases == {"warm start": 2.0, "solving": 4.0}


def test_a_part_never_has_more_time_than_the_whole(now):
    assert Clock(limit=10.0).until(20.0).limit == 10.0
