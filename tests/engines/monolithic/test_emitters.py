"""PuLP and highspy are handed the same model, row by row."""

import highspy
import numpy as np
import pulp
import pytest

from milpbn.clock import OutOfTime
from milpbn.engines import AnytimeHiGHS
from milpbn.engines.monolithic import to_pulp
from milpbn.engines.monolithic.emit_highs import Arrays, check_highs
from milpbn.errors import SolverError


def quiet_highs():
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    return highs


def through_highspy(model):
    highs = quiet_highs()
    Arrays.of(model).pass_to(highs)
    return highs.getLp(), model.column_names(), model.row_names()


def through_pulp(model):
    problem, _ = to_pulp(model)
    solver = AnytimeHiGHS()
    solver.createAndConfigureSolver(problem)
    solver.buildSolverModel(problem)
    columns = [v.name for v in problem.variables()]
    highs = quiet_highs()
    problem.solverModel.pass_to(highs)
    return highs.getLp(), columns, [r.name for r in problem.constraints()]


def by_name(lp, columns, rows):
    """Columns and rows of a HiGHS model as dictionaries of names."""
    integer = [v == highspy.HighsVarType.kInteger for v in lp.integrality_]
    cols = {
        name: (cost, low, high, whole)
        for name, cost, low, high, whole in zip(
            columns, lp.col_cost_, lp.col_lower_, lp.col_upper_, integer, strict=True
        )
    }
    matrix = lp.a_matrix_
    start, index, value = (np.array(a) for a in (matrix.start_, matrix.index_, matrix.value_))
    entries = {}
    by_row = matrix.format_ == highspy.MatrixFormat.kRowwise
    for k in range(len(start) - 1):
        for at in range(start[k], start[k + 1]):
            r, c = (k, index[at]) if by_row else (index[at], k)
            entries[rows[r], columns[c]] = value[at]
    sides = dict(zip(rows, zip(lp.row_lower_, lp.row_upper_, strict=True), strict=True))
    return cols, entries, sides


@pytest.mark.parametrize("score", ["sm", "sbm", "mdl", "bdeu"])
@pytest.mark.parametrize("seed", range(3))
def test_both_emitters_give_the_same_model(problem, score, seed):
    _, model, _ = problem(score, seed=seed, max_parents=2 + seed % 2)
    one, other = through_pulp(model), through_highspy(model)
    assert by_name(*one) == by_name(*other)
    assert one[0].sense_ == other[0].sense_ == highspy.ObjSense.kMaximize
    assert one[0].offset_ == other[0].offset_ == 0.0


def test_both_emitters_agree_on_odd_names(problem):
    names = ["none", "a b", "a-b", "1st größe"]
    _, model, _ = problem("sm", names=names)
    assert by_name(*through_pulp(model)) == by_name(*through_highspy(model))


def test_the_model_is_what_its_blocks_say(problem):
    _, model, _ = problem("sm")
    cols, entries, sides = by_name(*through_highspy(model))
    assert len(cols) == model.n_columns
    assert len(sides) == model.n_rows
    rows, columns = iter(model.row_names()), model.column_names()
    count = 0
    for block in model.rows:
        for r in range(len(block)):
            name = next(rows)
            assert sides[name] == (block.lower[r], block.upper[r])
            for at in range(block.starts[r], block.starts[r + 1]):
                assert entries[name, columns[block.index[at]]] == block.value[at]
                count += 1
    assert count == model.n_nonzeros


def test_the_pulp_problem_is_a_real_one(problem):
    _, model, _ = problem("sm", seed=1)
    problem_, variables = to_pulp(model)
    assert isinstance(problem_, pulp.LpProblem)
    assert [v.name for v in variables] == model.column_names()
    assert problem_.sense == pulp.LpMaximize
    # PuLP sorts its columns by name: not the order of the model.
    assert [v.name for v in problem_.variables()] == sorted(model.column_names())
    assert sorted(model.column_names()) != model.column_names()


def test_columns_without_cost_or_rows_reach_pulp():
    from milpbn.engines.monolithic import build_model
    from milpbn.families import MergedRows, candidate_families
    from milpbn.scores import MDL

    space = candidate_families(["class"], [2], generative=True)
    rows = MergedRows.from_codes(np.array([[0], [1]]))
    model, _ = build_model(MDL().objective(space, rows))
    problem, _ = to_pulp(model)
    assert {v.name for v in problem.variables()} == {"eta.class.from.none", "order.class"}


def test_emitting_to_pulp_stops_at_a_checkpoint(problem):
    _, model, _ = problem("sm")

    def checkpoint():
        raise OutOfTime

    with pytest.raises(OutOfTime):
        to_pulp(model, checkpoint=checkpoint)


def test_an_error_code_of_highs_becomes_an_exception():
    highs = quiet_highs()
    with pytest.raises(SolverError, match="HiGHS could not set the option"):
        check_highs(highs.setOptionValue("no_such_option", 1), "set the option")
    check_highs(highspy.HighsStatus.kWarning, "be warned")
    check_highs(highspy.HighsStatus.kOk, "do it")


def test_a_model_that_highs_cannot_take_is_an_error(problem):
    from dataclasses import replace

    _, model, _ = problem("mdl")
    rows = model.rows[0]
    broken = replace(rows, index=np.full_like(rows.index, 10_000))
    with pytest.raises(SolverError, match="HiGHS could not take the model"):
        Arrays.of(replace(model, rows=(broken, *model.rows[1:]))).pass_to(quiet_highs())
