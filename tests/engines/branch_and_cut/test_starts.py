"""Nodes begin at their parent's solution: rows and basis come back, and nothing else changes."""

import numpy as np
import pytest
from problems import encoded, random_codes

from milpbn.anytime import Run
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut import relaxation as module
from milpbn.engines.branch_and_cut.cuts.clusters import Cluster
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.engine import solve_branch_and_cut
from milpbn.engines.branch_and_cut.program import Program
from milpbn.engines.branch_and_cut.relaxation import Relaxation
from milpbn.engines.branch_and_cut.rows import Pair, RowStore
from milpbn.engines.branch_and_cut.starts import Start, Starts, node_key
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score

SM = make_score("sm", p=0.9)
PAIR = (1, 2)


def problem(seed, n=6):
    codes, cards = random_codes(np.random.default_rng(seed), n, n_classes=2 + seed % 2)
    return build_objective(encoded(codes, cards), SM, SearchSpace(class_parents=False))


@pytest.fixture(params=[0, 10**6], ids=["working set", "all families"])
def families(request, monkeypatch):
    """With a growing working set, and with all families in the program."""
    monkeypatch.setattr(module, "_FEW_FAMILIES", request.param)


def solved(objective, rounds=8):
    """A relaxation after some rounds of cuts, and the node that allows everything."""
    oracle = CutOracle(objective)
    relaxation = Relaxation(oracle, Clock())
    for _ in range(rounds):
        point = relaxation.solve()
        relaxation.add(oracle.concave.cuts(point.eta))
        relaxation.add(oracle.violated_rows(point.eta))
    return relaxation, np.ones(len(objective.space), dtype=bool)


def iterations(relaxation):
    """Solve; the iterations that HiGHS needed, and the point."""
    point = relaxation.solve()
    return relaxation._program._highs.getInfo().simplex_iteration_count, point


def go_far_away(relaxation, objective):
    """Process other nodes for so long that all slack rows leave the program."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        allowed = rng.random(len(objective.space)) < 0.5
        allowed[objective.space.feasible_families()] = True
        relaxation.restrict(allowed)
        relaxation.solve()
        relaxation.purge(0)


@pytest.mark.usefixtures("families")
@pytest.mark.parametrize("seed", range(6))
def test_a_node_begins_where_its_parent_ended(seed):
    objective = problem(seed)
    relaxation, allowed = solved(objective)
    before = relaxation.solve()
    relaxation.remember(relaxation.start(), [(allowed, frozenset())])
    go_far_away(relaxation, objective)
    relaxation.resume(allowed, frozenset())
    needed, point = iterations(relaxation)
    assert point.bound == pytest.approx(before.bound)
    assert needed == 0  # the basis is optimal


@pytest.mark.usefixtures("families")
@pytest.mark.parametrize("seed", range(6))
def test_a_pair_is_required_by_the_nodes_that_require_it_only(seed):
    """Both kinds of nodes share the row of the pair."""
    objective = problem(seed)
    relaxation, allowed = solved(objective)
    free, required = (allowed, frozenset()), (allowed, frozenset({PAIR}))
    relaxation.restrict(*required)
    bound = {"required": relaxation.solve().bound}
    relaxation.restrict(*free)
    bound["free"] = relaxation.solve().bound
    relaxation.restrict(*required)
    relaxation.solve()
    start = relaxation.start()
    assert Pair(PAIR) in relaxation.store.sources(start.rows)
    for _ in range(2):
        for name, node in (("free", free), ("required", required)):
            relaxation.remember(start, [node])
            relaxation.resume(*node)
            assert relaxation.solve().bound == pytest.approx(bound[name])


@pytest.mark.usefixtures("families")
@pytest.mark.parametrize("seed", range(6))
def test_a_child_has_the_bound_of_a_program_that_was_never_replaced(seed):
    objective = problem(seed)
    relaxation, allowed = solved(objective)
    other, _ = solved(objective)
    relaxation.solve()
    f = int(np.flatnonzero(relaxation.solve().eta > 1e-6)[-1])
    without = allowed.copy()
    without[f] = False
    child = (without, frozenset({PAIR}))
    relaxation.remember(relaxation.start(), [child])
    relaxation.resume(*child)
    other.restrict(*child)
    # Rows in use are at most those of the other program, so the bound may be higher, never lower.
    assert relaxation.solve().bound >= other.solve().bound - 1e-6


@pytest.mark.parametrize("limit", [0, 60_000, 10**9])
def test_starts_never_change_an_optimum(limit, monkeypatch):
    """Also if there is memory for none or for a few of them."""
    monkeypatch.setattr(module, "_FEW_FAMILIES", 0)
    kept = []

    class Limited(Starts):
        def __init__(self, _, store):
            super().__init__(limit, store)

        def add(self, *arguments):
            super().add(*arguments)
            kept.append(len(self))
            assert len(self) == 0 or self.bytes <= limit

    monkeypatch.setattr(module, "Starts", Limited)
    for seed in range(8):
        objective = problem(seed, n=5)
        result = solve_branch_and_cut(objective, SM, Run())
        best = best_by_enumeration(objective)[1]
        assert result.status == "optimal"
        assert result.objective == pytest.approx(best)
    assert kept
    assert (max(kept) == 0) == (limit == 0)


def test_a_solver_without_a_basis_gives_no_start(monkeypatch):
    objective = problem(1)
    relaxation, allowed = solved(objective)
    before = relaxation.solve().bound
    monkeypatch.setattr(Program, "basis", lambda program: None)
    relaxation.remember(relaxation.start(), [(allowed, frozenset())])
    relaxation.resume(allowed, frozenset())
    assert relaxation.solve().bound == pytest.approx(before)


def stored(n=3):
    """A store with a few rows that nobody uses, their numbers, and starts."""
    oracle = CutOracle(problem(0))
    store = RowStore(oracle)
    numbers = store.numbers([Cluster(frozenset({1, 2 + k})) for k in range(n)])
    return store, numbers, Starts(10**6, store)


def test_rows_are_kept_once_and_dropped_with_their_last_start():
    store, (a, b, c), starts = stored()
    keys = [node_key(np.arange(3) == k, frozenset()) for k in range(3)]
    starts.add(keys[:2], start_of(a, b))
    starts.add(keys[2:], start_of(b, c))
    assert starts.find(keys[0]) is not None
    starts.drop(keys[0])
    assert starts.find(keys[0]) is None
    assert (len(starts), len(store)) == (2, 3)
    starts.drop(keys[1])
    assert (len(starts), len(store)) == (1, 2)  # the row a is gone
    starts.add(keys[2:], start_of(c))
    assert (len(starts), len(store)) == (1, 1)
    assert starts.bytes == start_of(c).nbytes + 1 + store.coefficients[c].nbytes
    starts.drop(keys[2])
    assert (len(starts), len(store), starts.bytes) == (0, 0, 0)


def test_nodes_without_a_start_begin_at_the_root():
    _, (a, b, _), starts = stored()
    key = node_key(np.ones(3, dtype=bool), frozenset())
    assert starts.find(key) is None
    starts.set_root(start_of(a))
    starts.add([key], start_of(b))
    assert starts.find(key).rows.tolist() == [b]
    starts.drop(key)
    assert starts.find(key).rows.tolist() == starts.root_rows().tolist() == [a]


def start_of(*rows):
    empty = np.empty(0, dtype=np.int64)
    rows = np.array(rows, dtype=np.int64)
    return Start(None, rows, np.zeros(len(rows), dtype=np.int64), empty, empty)
