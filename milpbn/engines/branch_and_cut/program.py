"""A HiGHS linear program that holds some of the columns of a relaxation.

Its columns are T[g] per group, then eta[f] of a working set of families, in the order in which
they came. Its rows are one per variable, which has exactly one family, then the rows of
:class:`~milpbn.engines.branch_and_cut.rows.RelaxationRows` in their order. Rows and
columns that are added keep the basis.

HiGHS's tolerances are absolute, so it is given the objective in units of a power of two, which
loses no digit: T, the costs and the rows with a T are divided by it. Rows on the structure alone
stay as they are, and their duals are multiplied by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import highspy
import numpy as np

from milpbn._types import BoolArray, FloatArray, IntArray
from milpbn.clock import Clock, OutOfTime
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

# HiGHS's statuses by number. It returns an object for each, of which these are kept instead.
_STATUSES = {int(s): s for s in highspy.HighsBasisStatus.__members__.values()}
_BASIC = _STATUSES[int(highspy.HighsBasisStatus.kBasic)]
_AT_LOWER = _STATUSES[int(highspy.HighsBasisStatus.kLower)]

# HiGHS's numbers for the two simplex methods.
_DUAL, _PRIMAL = 1, 4
# Most solves take a few dozen iterations. Devex weights start from 1; steepest-edge weights would
# be recomputed after each change of the rows or the basis, and scale factors at each solve.
_DEVEX = 1
_UNSCALED = 0

# The largest T and costs that HiGHS is given as they are, and those that it is given otherwise.
_SMALL, _LARGE, _USUAL = 1e-2, 1e6, 1e3


@dataclass(frozen=True)
class ProgramPoint:
    """A basic solution of the program: values of T and of the working set, and of the rows.

    `row_units` has the unit of each row, to which the tolerances for its activity refer.
    """

    value: float
    heights: FloatArray
    eta: FloatArray
    duals: FloatArray
    activity: FloatArray
    row_units: FloatArray


@dataclass(frozen=True)
class ProgramColumns:
    """Families of the working set.

    Attributes
    ----------
    families, variables, costs
        The families, their variables and their costs.
    upper
        1 if a family is allowed, else 0.
    coefficients
        Their coefficients in the rows of the program, without those of the variables: a row for
        each row, a column for each family.
    """

    families: IntArray
    variables: IntArray
    costs: FloatArray
    upper: FloatArray
    coefficients: FloatArray

    def __len__(self) -> int:
        return len(self.families)


@dataclass(frozen=True)
class Basis:
    """HiGHS's statuses of columns and rows.

    Attributes
    ----------
    heights, variables
        The statuses of T, and of the rows of the variables.
    columns
        Those of the families, by family, without those nonbasic at 0.
    tight, statuses
        The other rows that are nonbasic, and their statuses.
    """

    heights: list[Any]
    variables: list[Any]
    columns: dict[int, Any]
    tight: IntArray
    statuses: list[Any]

    def __len__(self) -> int:
        return len(self.heights) + len(self.variables) + len(self.columns) + len(self.tight)


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
        nothing, none = np.empty(0), np.empty(0, dtype=np.int64)
        columns = ProgramColumns(none, none, nothing, nothing, np.empty((0, 0)))
        self.replace(columns, nothing, none)

    def replace(self, columns: ProgramColumns, rhs: FloatArray, groups: IntArray) -> None:
        """Replace the working set and all rows; `groups` has -1 for rows without a group."""
        n, v, own = self._n_heights, self._n_variables, len(columns)
        r, f = np.nonzero(columns.coefficients)
        with_height = np.flatnonzero(groups >= 0)
        self._row_units = units = self._units_of(groups)
        row = np.concatenate([columns.variables, v + with_height, v + r])
        column = np.concatenate([n + np.arange(own), groups[with_height], n + f])
        coefficients = columns.coefficients[r, f] / units[r]
        value = np.concatenate([np.ones(own + len(with_height)), coefficients])
        order = np.argsort(row, kind="stable")
        starts = np.searchsorted(row[order], np.arange(v + len(rhs) + 1))
        lower, ones = [np.full(k, -highspy.kHighsInf) for k in (n, len(rhs))], np.ones(v)
        arrays = Arrays(
            [
                np.concatenate([np.ones(n), columns.costs / self.unit]),
                np.concatenate([lower[0], np.zeros(own)]),
                np.concatenate([self._high / self.unit, columns.upper]),
                np.zeros(n + own),
            ],
            [np.concatenate([ones, lower[1]]), np.concatenate([ones, rhs / units])],
            [starts, column[order], value[order]],
        )
        arrays.pass_to(self._highs)
        self.columns = columns.families
        self._start = None

    def add_columns(self, columns: ProgramColumns) -> None:
        """Add families to the working set."""
        own, coefficients = len(columns), columns.coefficients / self._row_units[:, None]
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

    def delete_columns(self, which: BoolArray) -> IntArray:
        """Remove families from the working set, except those in the basis; returns which."""
        statuses = self._highs.getBasis().col_status[self._n_heights :]
        basic = [status == _BASIC for status in statuses]
        places = np.flatnonzero(which & ~np.array(basic, dtype=bool))
        index = (self._n_heights + places).astype(np.int32)
        check_highs(self._highs.deleteCols(len(index), index), "delete columns")
        self._start = None
        deleted, self.columns = self.columns[places], np.delete(self.columns, places)
        return deleted

    def allow(self, which: IntArray, allowed: BoolArray) -> None:
        """Change whether families, given by their places in the working set, are allowed."""
        index = (self._n_heights + which).astype(np.int32)
        lower, upper = np.zeros(len(index)), allowed.astype(np.float64)
        check_highs(self._highs.changeColsBounds(len(index), index, lower, upper), "change bounds")

    def add_rows(self, coefficients: FloatArray, rhs: FloatArray, groups: IntArray) -> None:
        """Add rows ``coefficients . eta (+ T[group]) <= rhs``, given for the working set.

        The group of a row without T is -1.
        """
        heights = (groups[:, None] == np.arange(self._n_heights)).astype(np.float64)
        units = self._units_of(groups)
        matrix = np.hstack([heights, coefficients / units[:, None]])
        row, column = np.nonzero(matrix)
        starts = np.searchsorted(row, np.arange(len(rhs)))
        status = self._highs.addRows(
            len(rhs),
            np.full(len(rhs), -highspy.kHighsInf),
            rhs / units,
            len(row),
            starts.astype(np.int32),
            column.astype(np.int32),
            matrix[row, column],
        )
        check_highs(status, "add rows")
        self._row_units = np.concatenate([self._row_units, units])

    def change_rhs(self, row: int, rhs: float) -> None:
        """Change the right-hand side of a row."""
        scaled = rhs / self._row_units[row]
        status = self._highs.changeRowBounds(self._n_variables + row, -highspy.kHighsInf, scaled)
        check_highs(status, "change a row")

    def delete_rows(self, rows: IntArray) -> None:
        """Remove rows."""
        index = (rows + self._n_variables).astype(np.int32)
        check_highs(self._highs.deleteRows(len(index), index), "delete rows")
        self._row_units = np.delete(self._row_units, rows)
        self._start = None

    def solve(self, iteration_limit: int | None, primal: bool = False) -> Any:
        """Solve from the last basis; HiGHS's status, which is no proof.

        If the iterations are limited, this is a trial: the next solve, which may be a trial too,
        starts from the same basis again, unless rows or columns have been deleted.
        """
        self._return_to_start(is_trial=iteration_limit is not None)
        limit = _ALL_ITERATIONS if iteration_limit is None else iteration_limit
        set_options(
            self._highs,
            simplex_iteration_limit=limit,
            simplex_strategy=_PRIMAL if primal else _DUAL,
        )
        status = self._run()
        if status not in (*SOLVED, INFEASIBLE):
            # HiGHS occasionally fails from the last basis, and succeeds from the beginning.
            check_highs(self._highs.clearSolver(), "clear the solver")
            status = self._run()
        return status

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

    def basis(self) -> Basis | None:
        """The present basis; None if the last solve has left none."""
        now, n = self._highs.getBasis(), self._n_heights
        if not now.valid:
            return None
        columns = [_STATUSES[int(status)] for status in now.col_status]
        rows = [_STATUSES[int(status)] for status in now.row_status]
        families = zip(self.columns.tolist(), columns[n:], strict=True)
        others = rows[self._n_variables :]
        tight = [r for r, status in enumerate(others) if status is not _BASIC]
        return Basis(
            columns[:n],
            rows[: self._n_variables],
            {family: status for family, status in families if status is not _AT_LOWER},
            np.array(tight, dtype=np.int64),
            [others[r] for r in tight],
        )

    def return_to(self, basis: Basis, tight: Sequence[int]) -> None:
        """Go on from a basis; `tight` has the present places of its tight rows."""
        now = highspy.HighsBasis()
        at_lower = repeat(_AT_LOWER)
        now.col_status = [*basis.heights, *map(basis.columns.get, self.columns.tolist(), at_lower)]
        rows = basis.variables + [_BASIC] * (self._highs.getNumRow() - self._n_variables)
        for r, status in zip(tight, basis.statuses, strict=True):
            rows[self._n_variables + r] = status
        now.row_status, now.valid = rows, True
        check_highs(self._highs.setBasis(now), "return to a basis")
        self._start = None

    def _run(self) -> Any:
        # HiGHS counts the time of all solves together.
        end = self._highs.getRunTime() + min(self._clock.remaining, _FOREVER)
        set_options(self._highs, time_limit=end)
        check_highs(run_here(self._highs), "solve the relaxation")
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTime
        return status

    def point(self) -> ProgramPoint:
        """The solution of the last solve."""
        solution = self._highs.getSolution()
        heights, eta = np.split(np.array(solution.col_value), [self._n_heights])
        rows, units = slice(self._n_variables, None), self._row_units
        return ProgramPoint(
            self._highs.getObjectiveValue() * self.unit,
            heights * self.unit,
            eta,
            np.array(solution.row_dual)[rows] * (self.unit / units),
            np.array(solution.row_value)[rows] * units,
            units,
        )

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
