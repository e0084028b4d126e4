"""Branch-and-cut: workers, time, interrupts, pools, and what it never may say."""

import numpy as np
import pytest
from problems import all_rows, encoded

from milpbn import learn_structure
from milpbn.anytime import Run, SolveOptions
from milpbn.anytime.progress import Progress
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.engine import BranchAndCut, root_bound, solve_branch_and_cut
from milpbn.engines.branch_and_cut.rows import Pool
from milpbn.engines.enumeration import best_by_enumeration, n_choices
from milpbn.errors import ProofWarning
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score


@pytest.fixture(scope="module")
def glass():
    return all_rows("glass")


@pytest.fixture(scope="module")
def objective(glass):
    return build_objective(glass, make_score("sm", p=0.9), SearchSpace(class_parents=False))


def test_the_bound_falls_to_the_known_optimum(glass):
    result = learn_structure(glass, class_parents=False, start=None)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(247.128271, abs=1e-5)
    assert result.nodes > 10
    bounds = [t.bound for t in result.trace if t.bound is not None]
    assert bounds == pytest.approx(sorted(bounds, reverse=True), rel=1e-12)


def test_any_number_of_threads_gives_the_same_run(glass, ticking, monkeypatch):
    # The clock ends some local searches: time that depends on the machine would tell.
    monkeypatch.setattr("milpbn.families.passes._SHORT", 0)
    score, space = make_score("sm", p=0.9), SearchSpace(class_parents=False)
    options = [SolveOptions(threads=threads) for threads in (1, 2)]
    runs = [
        solve_branch_and_cut(build_objective(glass, score, space, options=o), score, Run(options=o))
        for o in options
    ]
    assert runs[0].nodes == runs[1].nodes
    assert [(t.objective, t.bound) for t in runs[0].trace] == [
        (t.objective, t.bound) for t in runs[1].trace
    ]
    assert runs[0].nodes == runs[1].nodes
    assert [(t.objective, t.bound) for t in runs[0].trace] == [
        (t.objective, t.bound) for t in runs[1].trace
    ]


def test_an_interrupt_keeps_structure_and_bound(objective):
    pressed = []

    def interrupt(point):
        if point.nodes >= 10 and not pressed:
            pressed.append(point)
            raise KeyboardInterrupt

    result = solve_branch_and_cut(objective, make_score("sm", p=0.9), Run(listener=interrupt))
    assert result.status == "interrupted"
    assert result.objective <= 247.128272 <= result.bound + 1e-6


def test_the_time_limit_ends_the_run(glass, now):
    late = []

    def time_passes(point):
        if point.nodes >= 5 and not late:
            late.append(point)
            now[0] += 100

    result = learn_structure(glass, class_parents=False, time_limit=100, listener=time_passes)
    assert result.status == "time_limit"
    # The optimum is 247.128271.
    assert 240 < result.objective < 247.12828
    assert 247.12826 < result.bound < 255
    assert late[0].nodes <= result.nodes <= late[0].nodes + 1


def test_cuts_of_one_gamma_serve_another(glass):
    space = SearchSpace(class_parents=False)
    pool = Pool()
    values = {}
    for p in (0.9, 0.6, 0.99):
        score = make_score("sm", p=p)
        result = solve_branch_and_cut(build_objective(glass, score, space), score, pool=pool)
        assert result.status == "optimal"
        assert pool.cuts
        values[p] = result.objective
    known = {0.9: 247.128271, 0.6: 21.172981, 0.99: 395.714031}
    assert values == pytest.approx(known, abs=1e-5)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_program_of_the_families_that_are_left_proves_the_same_optimum(glass, share, monkeypatch):
    monkeypatch.setattr("milpbn.engines.branch_and_cut.engine._SHRINK", share)
    score = make_score("sm", p=0.9, penalty=0.5)
    objective = build_objective(glass, score, SearchSpace(3, class_parents=False))
    result = solve_branch_and_cut(objective, score)
    assert result.status == "optimal"
    assert result.nodes > 1
    assert result.objective == pytest.approx(173.379835, abs=1e-5)


def test_pooled_cuts_bound_every_structure_at_every_gamma(glass, monkeypatch):
    """The right-hand sides are above the true group values, for random structures.

    This includes structures with families that the first run has removed after its root.
    """
    monkeypatch.setattr("milpbn.engines.branch_and_cut.engine._SHRINK", 1.0)
    space = SearchSpace(class_parents=False)
    first = build_objective(glass, make_score("sm", p=0.9), space)
    pool = Pool()

    def stop(point):
        if point.nodes >= 30 and point.source != "end":
            raise KeyboardInterrupt

    solve_branch_and_cut(first, make_score("sm", p=0.9), Run(listener=stop), pool=pool)
    assert len(pool.cuts) > 50
    rng = np.random.default_rng(5)
    for p in (0.55, 0.9, 0.999):
        objective = build_objective(glass, make_score("sm", p=p), space)
        search = BranchAndCut(objective, Progress(objective, Clock(), None), SolveOptions())
        concave = search.oracle.concave
        for _ in range(50):
            # Cyclic choices too: the cuts know nothing of acyclicity.
            families = rng.integers(objective.space.offsets[:-1], objective.space.offsets[1:])
            eta = search.oracle.vertex(families)
            heights = concave.group_values(eta)
            coefficients, constants = concave.linear(pool.cuts)
            limits = coefficients @ eta + constants
            assert (limits >= heights[[cut.group for cut in pool.cuts]] - 1e-6).all()


def test_root_bound_and_enumeration_bracket_iris():
    data = all_rows("iris")
    objective = build_objective(data, make_score("sm", p=0.9), SearchSpace())
    families, best = best_by_enumeration(objective)
    assert n_choices(objective.space) > 1000
    assert best == pytest.approx(301.217215, abs=1e-5)
    assert root_bound(objective, objective.space.feasible_families()) >= best
    assert root_bound(objective, families) >= best - 1e-9


def test_without_room_for_all_tables_there_is_a_structure_and_a_note():
    rng = np.random.default_rng(0)
    cards = [2, 30, 30, 30]
    data = encoded(rng.integers(0, cards, (60, 4)), cards)
    with pytest.warns(ProofWarning, match="tables of .* candidate families do not fit into the"):
        result = learn_structure(data, memory_limit=150_000)
    assert (str(result.status), result.bound_is_trivial) == ("feasible", True)
    best = learn_structure(data)
    assert best.status == "optimal"
    assert result.objective <= best.objective * (1 + 1e-9) <= result.bound
