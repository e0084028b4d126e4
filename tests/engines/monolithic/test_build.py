"""The rows of the model are the paper's equations."""

import numpy as np
import oracle
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from milpbn.clock import OutOfTime
from milpbn.engines.monolithic import build_model
from milpbn.errors import BudgetError
from milpbn.families import Constraints, MergedRows, candidate_families
from milpbn.scores import make_score
from milpbn.scores.base import Objective


def matrix(model):
    """(A, lower, upper) over all row blocks."""
    parts = [
        csr_array((b.value, b.index, b.starts), shape=(len(b), model.n_columns)) for b in model.rows
    ]
    dense = np.vstack([part.toarray() for part in parts])
    return dense, *(np.concatenate([getattr(b, a) for b in model.rows]) for a in ("lower", "upper"))


def rows_of(model, kind):
    """The positions of the rows of one kind."""
    ends = np.cumsum([0, *map(len, model.rows)])
    (k,) = (k for k, block in enumerate(model.rows) if block.kind == kind)
    return slice(ends[k], ends[k + 1])


def columns(model, attribute):
    return np.concatenate([getattr(b, attribute) for b in model.columns])


def picks(space):
    """Every choice of one family per variable, acyclic or not."""
    n = space.n_variables
    for pick in np.ndindex(*(len(space.of(i)) for i in range(n))):
        yield np.array([space.of(i)[k] for i, k in enumerate(pick)])


def acyclic(space, families):
    return oracle.is_acyclic([space.parent_sets[f] for f in families])


@pytest.mark.parametrize("score", ["sm", "sbm", "mdl", "bdeu"])
def test_the_point_of_a_structure_satisfies_every_row_and_scores_its_value(problem, score):
    objective, model, layout = problem(score, n=3)
    A, lower, upper = matrix(model)
    cost = columns(model, "cost")
    seen = 0
    for families in picks(objective.space):
        if not acyclic(objective.space, families):
            continue
        seen += 1
        x = layout.point(families)
        activity = A @ x
        assert (activity >= lower - 1e-9).all()
        assert (activity <= upper + 1e-9).all()
        assert (x >= columns(model, "lower")).all()
        assert (x <= columns(model, "upper")).all()
        assert cost @ x == pytest.approx(objective.value(families), abs=1e-9)
        assert layout.families(x).tolist() == families.tolist()
    assert seen > 10


def test_a_larger_tau_than_the_margin_violates_a_margin_row(problem):
    objective, model, layout = problem("sm", n=3)
    A, _, upper = matrix(model)
    families = objective.space.feasible_families()
    margins = objective.margins(families)
    # Rows below the hinge: tau is held down by a margin row and not by its own bound.
    below = np.flatnonzero(margins < objective.gamma - 1e-6)
    assert below.size
    for u in below:
        x = layout.point(families)
        x[layout.tau][u] += 1e-6
        assert (A @ x - upper).max() > 1e-7


@pytest.mark.parametrize("score", ["sm", "mdl"])
def test_no_order_fits_a_cycle_and_one_fits_every_acyclic_choice(problem, score):
    objective, model, layout = problem(score, n=3, n_classes=2)
    space = objective.space
    A, lower, _ = matrix(model)
    part = rows_of(model, "order")
    cyclic = 0
    for families in picks(space):
        eta = np.zeros(len(space))
        eta[families] = 1.0
        # Order rows with eta fixed: an LP in the order variables alone.
        rest = lower[part] - A[part, layout.eta] @ eta
        answer = linprog(
            np.zeros(space.n_variables),
            A_ub=-A[part, layout.order],
            b_ub=-rest,
            bounds=[(0, space.n_variables)] * space.n_variables,
        )
        assert answer.status == (0 if acyclic(space, families) else 2)
        cyclic += not acyclic(space, families)
    assert cyclic > 0


def test_exactly_one_family_of_every_variable(problem):
    objective, model, layout = problem()
    A, lower, upper = matrix(model)
    part = rows_of(model, "one-parent-set")
    expected = objective.space.child == np.arange(4)[:, None]
    assert (A[part, layout.eta] == expected).all()
    assert (lower[part] == 1).all()
    assert (upper[part] == 1).all()
    assert not A[part, layout.tau].any()
    assert not A[part, layout.order].any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margin_rows_are_one_per_distinct_row_and_competitor(problem, n_classes):
    for score, competitors in (("sm", n_classes - 1), ("sbm", 1)):
        objective, model, layout = problem(score, n_classes=n_classes)
        n = len(objective.rows)
        part = rows_of(model, "margin")
        assert part == slice(0, n * competitors)
        A, lower, upper = matrix(model)
        assert np.isneginf(lower[part]).all()
        assert (upper[part] == 0).all()
        assert (A[part, layout.tau] == np.repeat(np.eye(n), competitors, axis=0)).all()
        for f in range(len(objective.space)):
            assert A[part, f] == pytest.approx(-objective.alpha(f).ravel())


def test_margin_rows_do_not_depend_on_the_chunks(problem, monkeypatch):
    _, whole, _ = problem("sm", seed=5)
    monkeypatch.setattr("milpbn.engines.monolithic.build._CHUNK_ENTRIES", 50)
    _, parts, _ = problem("sm", seed=5)
    for one, other in zip(matrix(whole), matrix(parts), strict=True):
        assert (one == other).all()


def test_a_pair_of_variables_has_an_order_row_only_where_an_arc_is_possible(problem):
    objective, model, _ = problem("sm", class_parents=False)
    names = model.row_names()[rows_of(model, "order")]
    possible = {
        (p, int(objective.space.child[f]))
        for f, parents in enumerate(objective.space.parent_sets)
        for p in parents
    }
    assert len(names) == len(possible) == len(set(names))
    assert "acyclic.x1.before.class" not in names
    assert "acyclic.class.before.x1" in names


def test_decomposable_scores_need_no_tau(problem):
    objective, model, layout = problem("mdl")
    assert [b.kind for b in model.columns] == ["eta", "order"]
    assert layout.tau == slice(len(objective.space), len(objective.space))
    assert columns(model, "cost")[layout.eta].tolist() == objective.weights.tolist()


@pytest.mark.parametrize("score", ["sm", "sbm", "mdl", "bdeu"])
def test_every_column_has_finite_bounds(problem, score):
    _, model, _ = problem(score)
    lower, upper = columns(model, "lower"), columns(model, "upper")
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()
    assert (lower < upper).all()


@pytest.mark.parametrize("score", ["sm", "sbm", "mdl", "bdeu"])
def test_the_layouts_bound_holds_for_every_structure(problem, score):
    objective, _, layout = problem(score, n=3)
    values = [objective.value(f) for f in picks(objective.space)]
    assert layout.bound >= max(values) - 1e-9
    assert layout.bound <= objective.quick_bound() + 1e-9


def test_only_eta_is_integer(problem):
    _, model, _ = problem()
    assert {b.kind: b.integer for b in model.columns} == {
        "eta": True,
        "tau": False,
        "order": False,
    }


def test_budgets_are_rows_that_hold_for_exactly_the_structures_within_them(problem):
    budgets = Constraints(max_arcs=4, max_features=2, max_parameters=20)
    objective, model, layout = problem("mdl", n=4, n_classes=2, constraints=budgets)
    space = objective.space
    A, _, upper = matrix(model)
    rows = [i for kind in ("budget", "use") for i in range(model.n_rows)[rows_of(model, kind)]]
    holds = []
    for families in picks(space):
        if acyclic(space, families):
            holds.append(bool((A[rows] @ layout.point(families) <= upper[rows] + 1e-9).all()))
            assert holds[-1] == space.fits(families)
    assert {True, False} == set(holds)


def test_sizes_add_up(problem):
    _, model, layout = problem()
    A, *_ = matrix(model)
    assert A.shape == (model.n_rows, model.n_columns)
    assert model.n_nonzeros == np.count_nonzero(A)
    assert len(model.column_names()) == len(set(model.column_names())) == model.n_columns
    assert len(model.row_names()) == len(set(model.row_names())) == model.n_rows
    names = model.column_names()[layout.order]
    assert all(name.startswith("order") for name in names)


def test_a_model_too_large_for_the_budget_is_refused_with_its_size(problem):
    objective, _, _ = problem()
    entries = len(objective.rows) * 2 * (int(objective.relevant.sum()) + 1)
    with pytest.raises(BudgetError, match=rf"{entries:,} margin coefficients .*Use the score sbm"):
        build_model(objective, memory_limit=1000)


def test_the_way_through_pulp_counts_for_more_memory(problem):
    objective, model, _ = problem()
    limit = 100 * model.n_nonzeros
    build_model(objective, memory_limit=limit, emit="highspy")
    with pytest.raises(BudgetError, match="emit with highspy instead of pulp"):
        build_model(objective, memory_limit=limit, emit="pulp")


def test_more_entries_than_the_solver_can_index_are_refused_before_any_work(problem, monkeypatch):
    objective, _, _ = problem()
    monkeypatch.setattr("milpbn.engines.monolithic.build.n_margin_entries", lambda _: 2**31)
    calls = []
    with pytest.raises(BudgetError, match="2,147,483,648 margin coefficients"):
        build_model(objective, memory_limit=10**15, checkpoint=lambda: calls.append(1))
    assert not calls


def test_building_stops_at_a_checkpoint(problem):
    objective, _, _ = problem()

    def checkpoint():
        raise OutOfTime

    with pytest.raises(OutOfTime):
        build_model(objective, checkpoint=checkpoint)


def test_an_unknown_objective_has_no_model():
    class Strange(Objective):
        space = candidate_families(["class", "a"], [2, 2])
        value = state = quick_bound = lambda self, *_: 0.0

    with pytest.raises(TypeError, match="no MILP is known for Strange"):
        build_model(Strange())


def test_one_variable_alone_makes_a_model():
    space = candidate_families(["class"], [2])
    rows = MergedRows.from_codes(np.array([[0], [1], [1]]))
    model, layout = build_model(make_score("sm").objective(space, rows))
    assert len(model.rows[-1]) == 0
    assert layout.families(layout.point(np.array([0]))).tolist() == [0]
