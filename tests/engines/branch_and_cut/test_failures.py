"""Branch-and-cut when a solver errs, or somebody presses Ctrl-C."""

import os
import signal
import threading

import highspy
import numpy as np
import pytest
from problems import all_rows, encoded, random_codes

from milpbn.anytime import Run, SolveOptions
from milpbn.anytime.progress import Progress
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.engine import BranchAndCut, solve_branch_and_cut
from milpbn.engines.branch_and_cut.program import Program
from milpbn.engines.branch_and_cut.rows import joining
from milpbn.engines.branch_and_cut.tree import Node
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score

SM = make_score("sm", p=0.9)


@pytest.fixture
def small():
    codes, cards = random_codes(np.random.default_rng(11), 5, n_classes=3)
    return build_objective(encoded(codes, cards), SM, SearchSpace())


@pytest.mark.parametrize("status", ["kUnknown", "kInfeasible", "kUnbounded"])
@pytest.mark.parametrize("every", [2, 3, 7])
def test_a_wrong_word_of_the_solver_costs_time_but_no_proof(small, monkeypatch, status, every):
    """A program that has solutions is called infeasible, or not solved at all."""
    run, calls = Program._run, []

    def erring(self):
        calls.append(1)
        true = run(self)
        return getattr(highspy.HighsModelStatus, status) if len(calls) % every == 0 else true

    monkeypatch.setattr(Program, "_run", erring)
    result = solve_branch_and_cut(small, SM)
    assert len(calls) >= every
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best_by_enumeration(small)[1])


def test_only_a_proof_makes_a_program_empty(small):
    search = BranchAndCut(
        small, Progress(small, Clock(), None, small.quick_bound()), SolveOptions()
    )
    relaxation = search.processor.relaxation
    assert relaxation.solve() is not None
    assert relaxation._farkas().bound >= -1e-9
    # The pair must be joined, and nothing that joins it is allowed.
    pair = (1, 2)
    allowed = np.ones(len(small.space), dtype=bool)
    allowed[joining(small.space, pair)] = False
    relaxation.restrict(allowed, frozenset([pair]))
    assert relaxation.solve() is None
    assert relaxation._farkas().bound < -1e-3
    nothing = allowed.copy()
    nothing[small.space.of(1).start : small.space.of(1).stop] = False
    relaxation.restrict(nothing)
    assert relaxation.solve() is None


def test_a_last_choice_is_a_structure_or_nothing(small):
    progress = Progress(small, Clock(), None, small.quick_bound())
    search = BranchAndCut(small, progress, SolveOptions())
    space = small.space
    families = space.feasible_families()
    node = Node(progress.bound, 0, search.oracle.vertex(families).astype(bool))
    search.processor.settle_last(node, families)
    assert node.bound == progress.value == small.value(families)
    cyclic = families.copy()
    cyclic[1], cyclic[2] = space.find(1, (0, 2)), space.find(2, (0, 1))
    node = Node(progress.bound, 0, search.oracle.vertex(cyclic).astype(bool))
    search.processor.settle_last(node, cyclic)
    assert node.bound == -np.inf


def test_ctrl_c_at_any_moment_keeps_structure_and_bound():
    """Real signals: they arrive between any two steps."""
    vehicle = build_objective(all_rows("vehicle"), SM, SearchSpace(class_parents=False))
    for delay in (0.05, 0.15, 0.3, 0.4, 0.55, 0.7, 0.9):
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))

        def start_timer(point, timer=timer):
            if timer.ident is None:  # from the first event on the run keeps what it has
                timer.start()

        result = solve_branch_and_cut(
            vehicle,
            SM,
            Run(clock=Clock(600), listener=start_timer),
        )
        timer.join()
        assert result.status == "interrupted"
        # The best structure known scores 1100.86.
        assert result.objective <= 1100.9 <= result.bound
