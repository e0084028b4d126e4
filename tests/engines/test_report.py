"""What an exact run says at its end: optimal at the tolerance, and what its start was worth."""

import numpy as np
import pytest

from milpbn.anytime import Run
from milpbn.anytime.progress import Progress
from milpbn.clock import Clock
from milpbn.engines import solve_monolithic
from milpbn.engines.branch_and_cut.engine import solve_branch_and_cut
from milpbn.engines.branch_and_cut.tree import Tree
from milpbn.engines.report import EngineRecord
from milpbn.families import candidate_families
from milpbn.result import Status
from milpbn.scores import MDL, LinearObjective


@pytest.fixture
def objective():
    space = candidate_families(["class", "a"], [2, 2], generative=True)
    # Families: class <- (), class <- a, a <- (), a <- class.
    return LinearObjective(space, np.array([1000.0, 1001.0, 2000.0, 2004.0]))


@pytest.mark.parametrize("scale", [1.0, 1e-6, -1.0])
@pytest.mark.parametrize("told", [Status.OPTIMAL, Status.TIME_LIMIT, Status.FEASIBLE])
@pytest.mark.parametrize(("share", "closed"), [(0.0, True), (0.9, True), (1.1, False), (50, False)])
def test_optimal_means_a_gap_of_a_millionth_at_most(objective, scale, told, share, closed):
    """A millionth of the objective, or of one where the objective is small."""
    record = EngineRecord(LinearObjective(objective.space, scale * objective.weights), Run())
    record.begin()
    progress = record.progress
    progress.bound = progress.value + share * 1e-6 * max(1.0, abs(progress.value))
    result = record.result("test", MDL(), told, start_accepted=None)
    open_status = Status.FEASIBLE if told is Status.OPTIMAL else told
    assert result.status is (Status.OPTIMAL if closed else open_status)
    assert result.tolerance == 1e-6


@pytest.mark.parametrize("solve", [solve_monolithic, solve_branch_and_cut])
def test_a_start_is_worth_what_the_result_is_above_it(objective, solve):
    empty = objective.space.structure([0, 2])
    result = solve(objective, MDL(), Run(start=empty, start_source="given"))
    assert (str(result.status), result.objective) == ("optimal", 3004.0)
    assert (result.warm_start.source, result.warm_start.objective) == ("given", 3000.0)
    assert result.warm_start.improvement == 4.0


def test_the_bound_covers_what_was_cut_away(objective):
    """A closed node may have been better than the incumbent, by less than the tolerance."""
    progress = Progress(objective, Clock(), None, 3100.0)
    progress.incumbent(np.array([0, 3]), "best")
    tree = Tree(progress, 0.0, len(objective.space))
    above = 3004.0 + 0.4 * 3004e-6
    tree.root.bound = above
    tree.close(tree.root, [])
    tree.report()
    assert progress.bound == above
