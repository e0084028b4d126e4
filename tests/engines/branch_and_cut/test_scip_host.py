"""SCIP as the host of the cut oracle: the same optima, time limits and interrupts."""

import sys

import numpy as np
import oracle
import pytest
from problems import encoded, named, random_case

from milpbn import Encoder, learn_structure, load_dataset
from milpbn.anytime import SolveOptions
from milpbn.errors import ConstraintError, OptionError
from milpbn.scores import applicable_settings, make_score

pytest.importorskip("pyscipopt")

SCIP = SolveOptions(host="scip")


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("score", ["sm", "sbm", "cll", "mdl"])
def test_scip_finds_and_proves_the_brute_force_optimum(score, seed):
    codes, cards, case, limits = random_case(seed, score)
    data = encoded(codes, cards)
    parents, values = oracle.scores_of_all(score, codes, cards, **case)
    allowed = [k for k, s in enumerate(parents) if oracle.satisfies(s, **limits)]

    def learn():
        return learn_structure(
            data,
            score=make_score(score, **applicable_settings(score, case)),
            start=None,
            max_parents=case["max_parents"],
            class_parents=case["class_parents"],
            constraints=named(limits, data),
            options=SCIP,
        )

    if not allowed:
        with pytest.raises(ConstraintError):
            learn()
        return
    result = learn()
    best = values[allowed].max()
    # SCIP ends at its own tolerances, which leave a little of a smooth score open.
    assert result.status == "optimal" or score == "cll"
    assert result.bound - result.objective <= 1e-5 * max(1, abs(best))
    assert result.solver.startswith("SCIP")
    assert result.objective == pytest.approx(best, rel=1e-5, abs=1e-5)
    assert result.bound >= best - 1e-6 * max(1, abs(best))


@pytest.fixture(scope="module")
def heart():
    table = load_dataset("heart")
    return Encoder.fit(table).encode(table)


def test_both_hosts_agree_on_real_data(heart):
    ours, theirs = (
        learn_structure(heart, p=0.7, class_parents=False, options=SolveOptions(host=host))
        for host in ("highs", "scip")
    )
    assert ours.status == theirs.status == "optimal"
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    bounds = [t.bound for t in theirs.trace if t.bound is not None]
    assert bounds == pytest.approx(sorted(bounds, reverse=True), rel=1e-9)


@pytest.fixture(scope="module")
def vehicle():
    table = load_dataset("vehicle")
    return Encoder.fit(table).encode(table)


def test_scip_ends_at_its_own_time_limit(vehicle, now):
    # Our clock stands still: SCIP gets a second, far less than the proof takes.
    result = learn_structure(vehicle, class_parents=False, time_limit=1, options=SCIP)
    assert result.status == "time_limit"
    assert result.objective < result.bound


def test_the_time_limit_keeps_structure_and_bound(vehicle, now):
    def time_passes(point):
        if point.source == "SCIP" and point.gap_rel < 0.1:
            now[0] += 600

    result = learn_structure(
        vehicle, class_parents=False, time_limit=600, options=SCIP, listener=time_passes
    )
    assert result.status == "time_limit"
    assert result.objective < result.bound < 1.1 * result.objective


def test_an_interrupt_keeps_structure_and_bound(vehicle):
    pressed = []

    def interrupt(point):
        if point.source == "SCIP" and not pressed:
            pressed.append(point)
            raise KeyboardInterrupt

    stopped = learn_structure(
        vehicle, class_parents=False, start=None, options=SCIP, listener=interrupt
    )
    assert pressed
    assert stopped.status == "interrupted"
    assert np.isfinite(stopped.bound)
    assert stopped.bound >= stopped.objective


def test_without_the_extra_the_message_says_what_to_install(heart, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(OptionError, match=r"milpbn\[scip\]"):
        learn_structure(heart, options=SCIP)
    with pytest.raises(OptionError, match="host"):
        SolveOptions(host="cplex")
