"""The best structures of a problem, or all within a tolerance of the optimum."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from milpbn.anytime import Run, allowed_gap
from milpbn.certainty.alternative_records import Alternative, Alternatives, equivalence_key
from milpbn.certainty.pool import PoolLimits, best_structures
from milpbn.certainty.problem import ModelProblem
from milpbn.clock import Clock
from milpbn.encoding.data import EncodedData
from milpbn.errors import OptionError
from milpbn.learning.classifier import fit_parameters
from milpbn.learning.settings import Settings, settings_for_codes
from milpbn.learning.structure import run_method
from milpbn.network.inference import accuracy
from milpbn.result import Listener, Result
from milpbn.settings import SettingNames

MOST_WITHIN = 1000
"""The maximum number of structures within a tolerance, if no other is given."""


def learn_alternatives(
    data: EncodedData,
    *,
    best: int | None = None,
    within: float | None = None,
    listener: Listener | None = None,
    **settings: Unpack[SettingNames],
) -> Alternatives:
    """Learn the best structures, or all structures within a tolerance of the best score.

    Parameters
    ----------
    data
        Encoded rows. If there are test rows, every structure is tested on them.
    best
        Maximum number of structures.
    within
        Tolerance as a fraction of the best score: 0.005 for 0.5 %. At least one of the two must be
        given; with `within` alone there are at most 1000 structures.
    listener
        Called with every any-time event of the search for the optimum.
    settings
        As for :func:`milpbn.learn_structure`, with branch-and-cut.

    Returns
    -------
    Alternatives
        The structures, and a bound on all others. Structures that differ only in the directions of
        arcs are told apart, because smoothed probabilities depend on directions; equivalent ones
        have the same group number.

    Examples
    --------
    >>> from milpbn import Encoder, load_dataset
    >>> table = load_dataset("iris")
    >>> data = Encoder.fit(table).encode(table)
    >>> found = learn_alternatives(data, within=0.01, max_parents=1)
    >>> print(found)
    2 structures within 1 %, proven to be all
    >>> found.to_frame()[["score", "loss", "group", "added", "removed"]].round(4)
          score  loss  group  added  removed
    0  298.8924   0.0      1      0        0
    1  298.8924   0.0      1      1        1
    """
    limits = pool_limits(best, within)
    made = settings_for_codes(**settings).for_variables(data.variables)
    clock = Clock(made.time_limit)
    optimum = run_method(data, made, clock=clock, listener=listener)
    return alternatives_of(data, made, optimum, limits, clock)


def pool_limits(best: int | None, within: float | None) -> PoolLimits:
    """The limits of a set of structures; at least one of the two must be given."""
    if best is None and within is None:
        raise OptionError("give a number of structures (best) or a tolerance (within)")
    return PoolLimits(MOST_WITHIN if best is None else best, within)


def alternatives_of(
    data: EncodedData,
    settings: Settings,
    result: Result,
    limits: PoolLimits,
    clock: Clock,
) -> Alternatives:
    """The best structures of a problem, once an engine has found the best one, or a good one."""
    problem = ModelProblem.build(data, settings, result.structure, clock)
    bound = np.inf if result.bound is None else result.bound
    run = Run(clock, settings.options, problem.structure, "optimum", bound)
    found = best_structures(problem.objective, limits, run)
    problem.check(zip(found.families, found.values, strict=True))
    clock.close_phase("alternatives")
    # Among structures with the same score, the one that the engine found comes first.
    order = sorted(
        range(len(found.values)),
        key=lambda k: (
            found.values[k] < found.values[0] - allowed_gap(found.values[0]),
            not np.array_equal(found.families[k], problem.families),
        ),
    )
    groups: dict[object, int] = {}
    out = []
    for families, value in ((found.families[k], found.values[k]) for k in order):
        own = problem.objective.space.structure(families)
        group = groups.setdefault(equivalence_key(own), len(groups) + 1)
        tested = None
        if len(data.test()):
            tested = accuracy(fit_parameters(data, own, settings, clock)[0], data.test())
        out.append(Alternative(value, own, group, tested))
    return Alternatives(
        most=limits.most,
        within=limits.within,
        structures=tuple(out),
        rest=found.rest if np.isfinite(found.rest) else None,
        complete=found.complete,
        more=found.more,
        nodes=found.nodes,
    )
