"""The penalties at which the optimal network changes, found by local search.

For a structure s with margin SM(s) and N(s) parameters, the score SM(s) - x N(s) is a line in the
penalty x, and the optimum is the upper envelope of these lines: convex and piecewise linear. From
the penalty b on down to the next breakpoint b' the same structure s is optimal, where

    b' = max over larger structures t of (SM(t) - SM(s)) / (N(t) - N(s)).

The maximum is found by Dinkelbach's method: a search with the best ratio so far as the penalty
finds either a structure with a better ratio, or nothing better than s. Local search does not
prove this. The path solves every penalty of the grid exactly; the grid only decides where to look.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from milpbn._types import Families
from milpbn.anytime import Run, SolveOptions
from milpbn.clock import Clock
from milpbn.families.feasibility import Feasibility
from milpbn.result import Status
from milpbn.scores import Objective, SoftMargin
from milpbn.search import run_learner
from milpbn.search.local_search import LocalSearch
from milpbn.structure import Structure

# Unsuccessful kicks after which a search ends.
_PATIENCE = 5
# The smallest penalty above 0, as a share of what a row is worth: a row pays for fifty parameters.
_SMALLEST = 1 / 50


def penalty_grid(objective: Objective, most: int, clock: Clock, seed: int = 0) -> list[float]:
    """A penalty inside every piece of the path, from the smallest network to 0.

    Parameters
    ----------
    objective
        A soft margin or a conditional log-likelihood.
    most
        Maximum number of penalties above 0; if there are more pieces, some are left out.
    clock
        When its time is over, evenly spaced values replace the pieces that are missing.
    seed
        Random seed for local search.

    Returns
    -------
    list of float
        Decreasing. At the first one the smallest network is optimal, as far as local search can
        tell; the last one is 0.
    """
    least = _SMALLEST * objective.worth_of_a_row
    base, found = objective.space.feasible_families(), list[float]()
    while clock.remaining > 0:
        penalty, base = next_breakpoint(objective, base, clock, seed)
        if penalty < least:
            break
        found.append(min([penalty, *found]))
    else:
        found += np.geomspace(found[-1] if found else 1.0, least, most)[1:].tolist()
    if not found:
        return [0.0]
    ends = [*found, least]
    inside = [math.sqrt(a * b) for a, b in pairwise(ends)]
    values = sorted({_rounded(x) for x in (found[0], *inside)}, reverse=True)
    kept = np.unique(np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int))
    return [*(values[k] for k in kept), 0.0]


def next_breakpoint(
    objective: Objective, base: Families, clock: Clock, seed: int = 0
) -> tuple[float, Families]:
    """The largest penalty at which a larger structure is as good as `base`, and the structure.

    The penalty is 0 if no larger structure has larger margins.
    """
    space, size = objective.space, objective.space.free_parameters
    plain = objective.with_penalty(0.0)
    value, base_size = plain.value(base), float(size[base].sum())
    penalty, best = _best_exchange(plain, base)
    while clock.remaining > 0:
        run = Run(clock, SolveOptions(seed=seed), space.structure(best))
        now = objective.with_penalty(penalty)
        result = run_learner(LocalSearch(_PATIENCE), now, SoftMargin(), run)
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt  # there is no network yet that could be kept
        assert isinstance(result.structure, Structure)
        families = space.families(result.structure)
        more = float(size[families].sum()) - base_size
        ratio = (plain.value(families) - value) / more if more > 0 else 0.0
        if ratio <= penalty * (1 + 1e-9):
            break
        penalty, best = ratio, families
    return penalty, best


def _best_exchange(plain: Objective, base: Families) -> tuple[float, Families]:
    """The largest gain per parameter of exchanging one family, and the structure after it."""
    space, size = plain.space, plain.space.free_parameters
    state, graph = plain.state(base), Feasibility(plain.space)
    penalty, best = 0.0, base
    for v in range(space.n_variables):
        own = graph.candidates(base, v)
        own = own[size[own] > size[base[v]]]
        ratios = (state.scores(v, own) - state.value) / (size[own] - size[base[v]])
        if len(own) and ratios.max() > penalty:
            penalty, best = float(ratios.max()), base.copy()
            best[v] = own[int(ratios.argmax())]
    return penalty, best


def _rounded(value: float) -> float:
    """The value, rounded up to three digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.3g}")
