"""The prior that compares neighbouring bins."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad

from milpbn.encoding.columns import Coarsening, ColumnCode, Variable
from milpbn.families.rows import MergedRows
from milpbn.families.smoothing import Laplace
from milpbn.network.multinet import fit_classifier
from milpbn.parameters.convert import layout_of
from milpbn.parameters.losses import ConditionalLoss
from milpbn.parameters.optimise import Problem
from milpbn.parameters.priors import PRIORS, Precision
from milpbn.parameters.tables import Rows
from milpbn.structure import Structure

VARIABLES = (
    Variable("class", ("no", "yes")),
    Variable("x", ("1", "2", "3", "4", "missing"), ordered=4),
    Variable("y", ("a", "b", "c")),
)
ARCS = [("class", "x"), ("class", "y"), ("x", "y")]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, [2, 5, 3], (60, 3)).astype(np.int32)
    structure = Structure.from_arcs(["class", "x", "y"], ARCS)
    layout = layout_of(fit_classifier(structure, VARIABLES, codes, Laplace()))
    rows = Rows.of(layout, MergedRows.from_codes(codes))
    return layout, rows


def test_only_neighbours_in_an_ordered_variable_are_compared(problem):
    layout, _ = problem
    form = Precision.of_smoothness(layout)
    # The table of x: 3 steps for 2 classes; that of y given x: 3 steps for 3 states and 2 classes.
    assert len(form.lower) == 3 * 2 + 3 * 3 * 2
    _, x, y = layout.split(np.arange(int(layout.base[-1])))
    pairs = set(zip(form.lower.tolist(), form.upper.tolist(), strict=True))
    assert (x[0, 1, 0], x[0, 2, 0]) in pairs
    assert (x[0, 3, 0], x[0, 4, 0]) not in pairs  # missing has no neighbour
    assert (y[1, 2, 1], y[2, 2, 1]) in pairs
    assert (y[1, 0, 1], y[1, 1, 1]) not in pairs  # y has no order


def test_a_part_that_does_not_depend_on_a_variable_has_no_neighbours_in_it(problem):
    plain, _ = problem
    layout = replace(plain, nested=True)
    form, before = Precision.of_smoothness(layout), Precision.of_smoothness(plain)
    # The only smaller part is that of y alone, which has no order.
    assert layout.size == plain.size + 3 * 2
    assert (form.lower.tolist(), form.upper.tolist()) == (
        before.lower.tolist(),
        before.upper.tolist(),
    )
    assert (form.ridge[plain.size :] == 1).all()


def test_an_effect_of_the_child_alone_costs_the_same_whatever_its_parents(problem):
    """Without parts, the same effect costs more, the more configurations the parents have."""
    plain, _ = problem
    layout = replace(plain, nested=True)
    *_, whole, alone = layout.parts
    by_part, by_table = np.zeros(layout.size), np.zeros(layout.size)
    alone.of(by_part)[..., 0, 0] = 1.0
    whole.of(by_table)[..., 0, 0] = 1.0
    assert layout.log_theta(by_part) == pytest.approx(layout.log_theta(by_table), abs=1e-12)
    form = Precision.of_smoothness(layout)
    assert form.form(by_part)[0] == 1.0
    assert form.form(by_table)[0] == pytest.approx(4 * 0.05 + 1)  # x has 4 bins and "missing"


def test_a_constant_shift_costs_only_the_level(problem):
    layout, _ = problem
    form = Precision.of_smoothness(layout)
    value, half = form.form(np.ones(len(form.ridge)))
    assert value == pytest.approx(form.ridge.sum())
    assert half == pytest.approx(form.ridge)
    alone = np.ones(len(form.ridge), dtype=bool)
    alone[form.lower] = alone[form.upper] = False
    alone[: layout.base[1]] = False  # the table of the class
    assert alone.any()
    assert ((form.ridge == 1) == alone).all()  # cells without neighbours: missing values


def test_the_gradient_is_the_derivative(problem):
    plain, rows = problem
    prior = PRIORS["smooth"]
    layout = prior.layout(plain)
    rows = replace(rows, layout=layout)
    anchor = prior.mean(rows, Laplace())
    own = Problem(rows, ConditionalLoss(), anchor, 0.7, prior.precision(layout))
    beta = anchor + np.random.default_rng(1).normal(size=len(anchor))
    error = check_grad(lambda b: own.value(b)[0], lambda b: own.value(b)[1], beta)
    assert error < 1e-4


def test_without_an_order_the_prior_is_a_ridge():
    plain = [Variable(v.name, v.states) for v in VARIABLES]
    structure = Structure.from_arcs(["class", "x", "y"], ARCS)
    codes = np.zeros((1, 3), dtype=np.int32)
    assert (
        Precision.of_smoothness(layout_of(fit_classifier(structure, plain, codes, Laplace())))
        is None
    )


def test_the_order_of_a_resolution():
    joined = Coarsening(("low", "high"), (0, 0, 1))
    apart = Coarsening(("ends", "middle"), (0, 1, 0))
    variable = Variable("x", ("1", "2", "3"), (joined, apart), ordered=3)
    assert [variable.ordered_in(r) for r in range(3)] == [3, 2, 0]


@pytest.mark.parametrize(
    ("column", "ordered"),
    [
        (ColumnCode("x", "numeric", cuts=(1.0, 2.0), missing_state=True), 3),
        (ColumnCode("x", "categorical", states=("a", "b", "c")), 0),
        (ColumnCode("x", "categorical", states=("1", "2", "3"), ordered=True), 3),
    ],
)
def test_numbers_have_an_order(column, ordered):
    assert column.variable.ordered == ordered
    assert ColumnCode.from_dict(column.to_dict()) == column
