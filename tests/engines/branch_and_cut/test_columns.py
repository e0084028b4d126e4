"""Families that join the working set of a relaxation when they are needed."""

import numpy as np
import pytest
from problems import encoded, random_codes

from milpbn.anytime import Progress, Run, SolveOptions
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut import relaxation as module
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.engine import BranchAndCut, solve_branch_and_cut
from milpbn.engines.branch_and_cut.relaxation import Relaxation
from milpbn.engines.branch_and_cut.rows import joining
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.families import Constraints
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score

SM = make_score("sm", p=0.9)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Working sets begin with one family per variable and grow by one."""
    monkeypatch.setattr(module, "_FEW_FAMILIES", 0)
    monkeypatch.setattr(module, "_FIRST_PER_VARIABLE", 1)
    monkeypatch.setattr(module, "_NEW_PER_VARIABLE", 1)


def problem(seed, n=6, score=SM, **space):
    codes, cards = random_codes(np.random.default_rng(seed), n, n_classes=2 + seed % 2)
    return build_objective(encoded(codes, cards), score, SearchSpace(**space))


def relaxations(objective, monkeypatch):
    """A relaxation with a working set, and one with all families, with the same cuts."""
    oracle, rng = CutOracle(objective), np.random.default_rng(0)
    space = objective.space
    cuts = []
    for _ in range(6):
        eta = rng.random(len(space)) ** 8
        eta /= np.add.reduceat(eta, space.offsets[:-1])[space.child]
        cuts += oracle.concave.cuts(eta)
    out = []
    for limit in (0, len(space)):
        monkeypatch.setattr(module, "_FEW_FAMILIES", limit)
        relaxation = Relaxation(oracle, Clock())
        relaxation.add(cuts)
        out.append(relaxation)
    return out


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_that_of_the_program_with_all_families(seed, monkeypatch):
    objective = problem(seed)
    few, all_families = relaxations(objective, monkeypatch)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        allowed = rng.random(len(objective.space)) < 0.7
        allowed[objective.space.offsets[:-1]] = True
        pair = tuple(sorted(rng.choice(np.arange(1, 6), 2, replace=False).tolist()))
        edges = frozenset([pair] if allowed[joining(objective.space, pair)].any() else [])
        points = []
        for relaxation in (few, all_families):
            relaxation.restrict(allowed, edges)
            points.append(relaxation.solve())
        assert (points[0] is None) == (points[1] is None)
        if points[0] is not None:
            assert points[0].bound == pytest.approx(points[1].bound, rel=1e-7, abs=1e-7)
            assert points[0].eta[~allowed].max(initial=0.0) == 0.0
    assert len(few._program.columns) < len(objective.space)


@pytest.mark.parametrize("seed", range(8))
def test_losses_are_right_for_families_outside_the_working_set(seed):
    objective = problem(seed, n=5)
    progress = Progress(objective, Clock(), None, objective.quick_bound())
    best, value = best_by_enumeration(objective)
    progress.incumbent(best, "given")
    search = BranchAndCut(objective, progress, SolveOptions())
    point = search.processor.relaxation.solve()
    forced = point.bound - point.loss
    # No structure, and so not the best one, scores more than its families allow.
    assert value <= forced[best].min() + 1e-9
    rng = np.random.default_rng(seed)
    for _ in range(20):
        families = objective.space.feasible_families()
        for i in rng.permutation(objective.space.n_variables):
            other = families.copy()
            other[i] = rng.choice(np.array(objective.space.of(int(i))))
            families = other if search.oracle.is_structure(other) else families
        assert objective.value(families) <= forced[families].min() + 1e-9


def test_an_infeasible_working_set_proves_nothing():
    # The best families alone break the budget, so that others must join before there is a point.
    free = problem(3, n=5)
    best, _ = best_by_enumeration(free)
    arcs = sum(len(free.space.parent_sets[f]) for f in best)
    objective = problem(3, n=5, constraints=Constraints(max_arcs=max(arcs // 2, 1)))
    relaxation = Relaxation(CutOracle(objective), Clock())
    relaxation.add(CutOracle(objective).concave.cuts(np.eye(len(objective.space))[best[0]]))
    assert relaxation.solve() is not None
    result = solve_branch_and_cut(objective, SM, Run())
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best_by_enumeration(objective)[1])


def test_an_empty_program_is_proven_empty():
    objective = problem(4)
    relaxation = Relaxation(CutOracle(objective), Clock())
    pair = (1, 2)
    allowed = np.ones(len(objective.space), dtype=bool)
    assert relaxation.solve() is not None
    allowed[joining(objective.space, pair)] = False
    relaxation.restrict(allowed, frozenset([pair]))
    assert relaxation.solve() is None
    relaxation.restrict(np.ones_like(allowed), frozenset([pair]))
    assert relaxation.solve() is not None


def test_idle_families_leave_the_working_set_and_can_come_back(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE_WITH_FAMILIES", 0)
    monkeypatch.setattr(module, "_MANY_IDLE", 0.0)
    objective = problem(5)
    few, all_families = relaxations(objective, monkeypatch)
    few._all_at_once = False
    rng, removed = np.random.default_rng(1), 0
    for _ in range(6):
        allowed = rng.random(len(objective.space)) < 0.6
        allowed[objective.space.offsets[:-1]] = True
        bounds = []
        for relaxation in (few, all_families):
            relaxation.restrict(allowed)
            bounds.append(relaxation.solve().bound)
        assert bounds[0] == pytest.approx(bounds[1], rel=1e-7, abs=1e-7)
        before = len(few._program.columns)
        few.purge(patience=10**6)
        removed += before - len(few._program.columns)
        assert few.solve().bound == pytest.approx(bounds[0], rel=1e-7, abs=1e-7)
    assert removed > 0


def test_a_pool_carries_the_working_set(monkeypatch):
    objective = problem(6)
    first, _ = relaxations(objective, monkeypatch)
    bound = first.solve().bound
    monkeypatch.setattr(module, "_FEW_FAMILIES", 0)
    second = Relaxation(CutOracle(objective), Clock())
    second.fill(first.pool())
    assert set(second._program.columns) == set(first._program.columns)
    assert second.solve().bound == pytest.approx(bound)


def fewer_families(objective, rng):
    allowed = rng.random(len(objective.space)) < 0.7
    allowed[objective.space.offsets[:-1]] = True
    return allowed


def try_out(relaxation, allowed, *pairs, iterations=5):
    relaxation.restrict(allowed, frozenset(pairs))
    return relaxation.solve(iterations)


@pytest.mark.parametrize("seed", range(6))
def test_every_trial_starts_where_the_first_one_did(seed, monkeypatch):
    objective = problem(seed)
    _, relaxation = relaxations(objective, monkeypatch)
    one, two, three = (fewer_families(objective, np.random.default_rng(k)) for k in range(3))
    relaxation.solve()
    try_out(relaxation, three, (1, 2))
    first = try_out(relaxation, one, iterations=0)
    try_out(relaxation, two, (1, 2))
    again = try_out(relaxation, one, iterations=0)
    assert again.eta == pytest.approx(first.eta)
    assert again.bound == pytest.approx(first.bound)


@pytest.mark.parametrize("seed", range(6))
def test_after_trials_with_new_rows_and_families_the_bound_is_the_same(seed, monkeypatch):
    objective = problem(seed)
    everything = np.ones(len(objective.space), dtype=bool)
    for relaxation in relaxations(objective, monkeypatch):
        bound = relaxation.solve().bound
        for k, pair in enumerate([(1, 2), (2, 3), (1, 4)]):
            try_out(relaxation, fewer_families(objective, np.random.default_rng(k)), pair)
        relaxation.restrict(everything)
        assert relaxation.solve().bound == pytest.approx(bound, rel=1e-7, abs=1e-7)
