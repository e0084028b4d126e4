"""The best structures against brute force over all structures, on random data."""

import numpy as np
import oracle
import pytest
from problems import small_problem

from milpbn.anytime import Run
from milpbn.certainty.pool import PoolLimits, best_structures
from milpbn.clock import Clock

SEEDS = [k if k < 20 else pytest.param(k, marks=pytest.mark.slow) for k in range(100)]


def check(objective, parents, values, limits, result):
    """Scores are right, no structure comes twice, and none above the rest's bound is missing."""
    truth = {tuple(map(tuple, s)): v for s, v in zip(parents, values, strict=True)}
    found = [objective.space.structure(f).parents for f in result.families]
    assert len(set(found)) == len(found)
    for structure, value in zip(found, result.values, strict=True):
        assert truth[structure] == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert list(result.values) == sorted(result.values, reverse=True)
    slack = 2e-6 * max(1, abs(values.max()))
    missing = [v for s, v in truth.items() if s not in set(found)]
    assert max(missing, default=-np.inf) <= result.rest + slack
    assert len(found) <= limits.most
    floor = limits.floor(values.max())
    if limits.within is not None and max(missing, default=-np.inf) >= floor + slack:
        assert result.more
    if not result.complete:
        return
    wanted = np.sort(values[values >= floor])[::-1][: limits.most]
    assert result.values == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    if len(found) < limits.most:
        assert not result.more
        assert all(v < floor for v in missing)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("score", oracle.SCORES)
def test_the_set_is_complete(score, seed):
    objective, parents, values = small_problem(seed, score)
    best = values.max()
    some = float(np.sort(values)[-min(len(values), 1 + seed % 40)])
    # Halfway to the next score, so that rounding does not decide.
    below = values[values < some - 1e-5 * max(1, abs(some))]
    middle = (some + below.max()) / 2 if len(below) else some - 1.0
    within = min((best - middle) / max(abs(best), 1e-9), 0.999)
    limits = [
        PoolLimits(1 + seed % 7),
        PoolLimits(10_000, within=within),
        PoolLimits(3, within=within),
    ][seed % 3]
    result = best_structures(objective, limits)
    assert result.complete
    check(objective, parents, values, limits, result)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("score", ["sm", "cll", "mdl"])
def test_all_structures_of_a_space_can_be_listed(score, seed):
    objective, _, values = small_problem(seed, score)
    result = best_structures(objective, PoolLimits(10**6))
    assert result.complete
    assert result.rest == -np.inf
    assert len(result.values) == len(values)


@pytest.mark.parametrize("limit", [0.02, 0.2, 0.6])
@pytest.mark.parametrize("seed", range(1, 12, 2))
@pytest.mark.parametrize("score", ["sm", "cll", "mdl"])
def test_what_is_missing_is_bounded_wherever_the_time_ends(score, seed, limit, ticking):
    objective, parents, values = small_problem(seed, score)
    for limits in (PoolLimits(5), PoolLimits(1000, within=0.05)):
        result = best_structures(objective, limits, Run(clock=Clock(limit)))
        check(objective, parents, values, limits, result)
