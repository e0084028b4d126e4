"""A HiGHS linear program that holds some of the columns of a relaxation.

Its columns are T[g] per group, then eta[f] of a working set of families, in the order in which
they came. Its rows are one per variable, which has exactly one family, then the rows of
:class:`~milpbn.engines.branch_and_cut.relaxation.Relaxation` in their order. Rows and
columns that are added keep the basis.

HiGHS's tolerances are absolute, so it is given the objective in units of a power of two, which
loses no digit: T, the costs and the rows with a T are divided by it. Rows on the structure alone
stay as they are, and their duals are multiplied by it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.clock import Clock, OutOfTime
from milpbn.compiled import jit
from milpbn.engines.monolithic.emit_highs import (
    Arrays,
    check_highs,
    new_highs,
    run_here,
    set_options,
)

# Seconds that mean no limit, and as many iterations as HiGHS can count.
_FOREVER = 1e9
_ALL_ITERATIONS = 2**31 - 1

SOLVED = (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kIterationLimit)
INFEASIBLE = highspy.HighsModelStatus.kInfeasible

_BASIC = highspy.HighsBasisStatus.kBasic
_AT_LOWER = highspy.HighsBasisStatus.kLower

# HiGHS's numbers for the two simplex methods.
_DUAL, _PRIMAL = 1, 4
# Most solves take a few dozen iterations. Devex weights start from 1; steepest-edge weights would
# be recomputed after each change of the rows or the basis, and scale factors at each solve.
_DEVEX = 1
_UNSCALED = 0

# A row is slack above this, in its unit.
_SLACK = 1e-7

# The largest T and costs that HiGHS is given as they are, and those that it is given otherwise.
_SMALL, _LARGE, _USUAL = 1e-2, 1e6, 1e3


@dataclass(frozen=True)
class ProgramPoint:
    """A basic solution of the program: its value, T, the working set, and the rows' duals."""

    value: float
    heights: FloatArray
    eta: FloatArray
    duals: FloatArray


@dataclass(frozen=True)
class ProgramColumns:
    """Families of the working set.

    Attributes
    ----------
    families, variables, costs
        The families, their variables and their costs.
    upper
        1 if a family is allowed, else 0.
    """

    families: IntArray
    variables: IntArray
    costs: FloatArray
    upper: FloatArray

    def __len__(self) -> int:
        return len(self.families)


@dataclass(frozen=True)
class ProgramRows:
    """Rows ``(T[group] +) coefficients[number] . eta <= rhs``.

    Attributes
    ----------
    coefficients
        A row for each number, a column for each family.
    numbers, rhs, groups
        The rows' numbers, right-hand sides and groups; a group is negative if a row has no T.
    """

    coefficients: FloatArray
    numbers: IntArray
    rhs: FloatArray
    groups: IntArray


class Program:
    """Maximise ``costs . eta + sum T`` over the working set.

    Parameters
    ----------
    n_variables
        Number of variables.
    heights
        Upper bounds of T; there are no lower bounds.
    clock
        Limits the time of a solve.
    largest_cost
        The largest of all costs, by amount.
    """

    def __init__(
        self,
        n_variables: int,
        heights: FloatArray,
        clock: Clock,
        largest_cost: float = 0.0,
    ) -> None:
        self.columns: IntArray = np.empty(0, dtype=np.int64)
        """The families of the working set."""
        self._n_variables = n_variables
        self._n_heights = len(heights)
        self._clock = clock
        # The basis from which trials start with its size, if the last solve was a trial.
        self._start: tuple[Any, int, int] | None = None
        self.unit = _unit(max(np.abs(heights).max(initial=0.0), largest_cost))
        """What HiGHS's objective is measured in."""
        self._row_units: FloatArray = np.empty(0)
        self._high = heights
        self._highs = new_highs(
            simplex_dual_edge_weight_strategy=_DEVEX, simplex_scale_strategy=_UNSCALED
        )
        self._options: defaultdict[str, float] = defaultdict(lambda: -1.0)
        nothing, none = np.empty(0), np.empty(0, dtype=np.int64)
        columns = ProgramColumns(none, none, nothing, nothing)
        self.replace(columns, ProgramRows(np.empty((0, 0)), none, nothing, none))

    def replace(self, columns: ProgramColumns, rows: ProgramRows, basis: Any = None) -> None:
        """Replace the working set and all rows; `basis` is one of such a program."""
        n, v, own = self._n_heights, self._n_variables, len(columns)
        self._row_units = units = self._units_of(rows.groups)
        starts, index, value = _sparse(rows, columns.families, units, n)
        by_variable = np.argsort(columns.variables, kind="stable")
        first = np.searchsorted(columns.variables[by_variable], np.arange(v))
        lower, ones = [np.full(k, -highspy.kHighsInf) for k in (n, len(units))], np.ones(v)
        arrays = Arrays(
            [
                np.concatenate([np.ones(n), columns.costs / self.unit]),
                np.concatenate([lower[0], np.zeros(own)]),
                np.concatenate([self._high / self.unit, columns.upper]),
                np.zeros(n + own),
            ],
            [np.concatenate([ones, lower[1]]), np.concatenate([ones, rows.rhs / units])],
            [
                np.concatenate([first, own + starts]),
                np.concatenate([n + by_variable, index]),
                np.concatenate([np.ones(own), value]),
            ],
        )
        arrays.pass_to(self._highs)
        self.columns = columns.families
        self._start = None
        if basis is not None:
            check_highs(self._highs.setBasis(basis), "return to a basis")

    def add_columns(self, columns: ProgramColumns, rows: ProgramRows) -> None:
        """Add families to the working set; `rows` are those of the program."""
        own = len(columns)
        coefficients = rows.coefficients[rows.numbers[:, None], columns.families]
        coefficients /= self._row_units[:, None]
        row, column = np.nonzero(coefficients.T)[::-1]
        index = np.concatenate([columns.variables, self._n_variables + row])
        value = np.concatenate([np.ones(own), coefficients[row, column]])
        order = np.argsort(np.concatenate([np.arange(own), column]), kind="stable")
        counts = 1 + np.bincount(column, minlength=own)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        status = self._highs.addCols(
            own,
            columns.costs / self.unit,
            np.zeros(own),
            columns.upper,
            len(index),
            starts.astype(np.int32),
            index[order].astype(np.int32),
            value[order],
        )
        check_highs(status, "add columns")
        self.columns = np.concatenate([self.columns, columns.families])

    def basic(self) -> tuple[BoolArray, BoolArray] | None:
        """Which families of the working set, and which rows, are in the basis; None if unknown."""
        highs = self._highs
        if not highs.getBasis().valid:
            return None
        status, basic = highs.getBasicVariables()
        if status != highspy.HighsStatus.kOk:
            return None
        columns = np.zeros(highs.getNumCol(), dtype=bool)
        rows = np.zeros(highs.getNumRow(), dtype=bool)
        columns[basic[basic >= 0]] = True
        rows[-1 - basic[basic < 0]] = True
        return columns[self._n_heights :], rows[self._n_variables :]

    def delete(self, rows: IntArray, columns: IntArray) -> None:
        """Remove rows and families, given by their places."""
        if len(rows):
            index = (self._n_variables + rows).astype(np.int32)
            check_highs(self._highs.deleteRows(len(index), index), "delete rows")
            self._row_units = np.delete(self._row_units, rows)
        if len(columns):
            index = (self._n_heights + columns).astype(np.int32)
            check_highs(self._highs.deleteCols(len(index), index), "delete columns")
            self.columns = np.delete(self.columns, columns)
        self._start = None

    def allow(self, which: IntArray, allowed: BoolArray) -> None:
        """Change whether families, given by their places in the working set, are allowed."""
        index = (self._n_heights + which).astype(np.int32)
        lower, upper = np.zeros(len(index)), allowed.astype(np.float64)
        check_highs(self._highs.changeColsBounds(len(index), index, lower, upper), "change bounds")

    def add_rows(self, rows: ProgramRows) -> None:
        """Add rows."""
        units = self._units_of(rows.groups)
        starts, index, value = _sparse(rows, self.columns, units, self._n_heights)
        lower = np.full(len(units), -highspy.kHighsInf)
        status = self._highs.addRows(
            len(units), lower, rows.rhs / units, len(index), starts[:-1], index, value
        )
        check_highs(status, "add rows")
        self._row_units = np.concatenate([self._row_units, units])

    def change_rhs(self, row: int, rhs: float) -> None:
        """Change the right-hand side of a row."""
        scaled = rhs / self._row_units[row]
        status = self._highs.changeRowBounds(self._n_variables + row, -highspy.kHighsInf, scaled)
        check_highs(status, "change a row")

    def solve(self, iteration_limit: int | None, primal: bool = False) -> Any:
        """Solve from the last basis; HiGHS's status, which is no proof.

        If the iterations are limited, this is a trial: the next solve, which may be a trial too,
        starts from the same basis again, unless rows or columns have been deleted.
        """
        self._return_to_start(is_trial=iteration_limit is not None)
        self._set(
            simplex_iteration_limit=_ALL_ITERATIONS if iteration_limit is None else iteration_limit,
            simplex_strategy=_PRIMAL if primal else _DUAL,
        )
        status = self._run()
        if status not in (*SOLVED, INFEASIBLE):
            # HiGHS occasionally fails from the last basis, and succeeds from the beginning.
            check_highs(self._highs.clearSolver(), "clear the solver")
            status = self._run()
        return status

    def _set(self, **options: float) -> None:
        """Set options of HiGHS that do not have these values yet."""
        changed = {name: value for name, value in options.items() if self._options[name] != value}
        if changed:
            set_options(self._highs, **changed)
            self._options |= changed

    def _return_to_start(self, is_trial: bool) -> None:
        """Undo the steps of the trials so far; the first one notes where they start."""
        highs = self._highs
        if self._start is not None:
            self._restore(*self._start)
        elif is_trial and (basis := highs.getBasis()).valid:
            self._start = basis, highs.getNumCol(), highs.getNumRow()
        if not is_trial:
            self._start = None

    def _restore(self, basis: Any, n_columns: int, n_rows: int) -> None:
        """Return to a basis from before the last columns and rows were added."""
        columns, rows = self._highs.getNumCol() - n_columns, self._highs.getNumRow() - n_rows
        if columns or rows:
            basis.col_status = list(basis.col_status) + [_AT_LOWER] * columns
            basis.row_status = list(basis.row_status) + [_BASIC] * rows
            self._start = basis, n_columns + columns, n_rows + rows
        check_highs(self._highs.setBasis(basis), "restore a basis")

    def basis(self) -> Any:
        """HiGHS's present basis; None if the last solve has left none."""
        now = self._highs.getBasis()
        return now if now.valid else None

    def _run(self) -> Any:
        # HiGHS counts the time of all solves together.
        left = self._clock.remaining
        self._set(time_limit=self._highs.getRunTime() + left if left < _FOREVER else _FOREVER)
        check_highs(run_here(self._highs), "solve the relaxation")
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTime
        return status

    def point(self) -> ProgramPoint:
        """The solution of the last solve."""
        solution, n = self._highs.getSolution(), self._n_heights
        columns = np.array(solution.col_value)
        return ProgramPoint(
            self._highs.getObjectiveValue() * self.unit,
            columns[:n] * self.unit,
            columns[n:],
            np.array(solution.row_dual)[self._n_variables :] * (self.unit / self._row_units),
        )

    def is_slack(self, rhs: FloatArray) -> BoolArray:
        """Which rows the last solution satisfies with a slack; `rhs` are their right-hand sides."""
        units = self._row_units
        activity = np.array(self._highs.getSolution().row_value)[self._n_variables :] * units
        out: BoolArray = rhs - activity > _SLACK * units
        return out

    def _units_of(self, groups: IntArray) -> FloatArray:
        """The units of rows with these groups; rows on the structure alone have none."""
        return np.where(groups >= 0, self.unit, 1.0)

    def dual_ray(self) -> FloatArray | None:
        """The multipliers of the rows by which HiGHS found the program infeasible, at most 1."""
        _, has_ray, ray = self._highs.getDualRay()
        if not has_ray:
            return None
        own = np.array(ray)[self._n_variables :]
        scaled: FloatArray = own / max(np.abs(own).max(initial=0.0), 1e-300)
        return scaled


def _sparse(
    rows: ProgramRows, columns: IntArray, units: FloatArray, n_heights: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], FloatArray]:
    """Rows in their units, with T before the columns: starts, column indices and values."""
    most = len(units) * (len(columns) + 1)
    starts = np.zeros(len(units) + 1, dtype=np.int32)
    index, value = np.empty(most, dtype=np.int32), np.empty(most)
    _fill_sparse(
        rows.coefficients, rows.numbers, columns, rows.groups, units, n_heights,
        starts, index, value,
    )  # fmt: skip
    return starts, index[: starts[-1]], value[: starts[-1]]


@jit()
def _fill_sparse(  # type: ignore[no-untyped-def]
    coefficients, numbers, columns, groups, units, n_heights, starts, index, value
):
    at = 0
    for r in range(len(numbers)):
        if groups[r] >= 0:
            index[at], value[at] = groups[r], 1.0
            at += 1
        for k in range(len(columns)):
            coefficient = coefficients[numbers[r], columns[k]]
            if coefficient != 0.0:
                index[at], value[at] = n_heights + k, coefficient / units[r]
                at += 1
        starts[r + 1] = at


def _unit(largest: float) -> float:
    """A power of two in which numbers up to `largest` are of a usual size; 1 if they are already.

    Examples
    --------
    >>> _unit(1e5), _unit(2.0**40 * 1000) / 2**40
    (1.0, 1.0)
    """
    if largest == 0.0 or _SMALL <= largest <= _LARGE:
        return 1.0
    return float(2.0 ** round(math.log2(largest / _USUAL)))
