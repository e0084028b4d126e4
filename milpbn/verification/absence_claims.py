"""Claims that no structure of a kind scores more, which new searches try to refute.

A structure that is found refutes a claim, whatever found it. If a new search ends, it has proven
the claim again; if the time ends first, the claim is neither refuted nor proven.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain

from milpbn._types import Families
from milpbn.anytime import Run, SolveOptions, allowed_gap
from milpbn.certainty.alternative_records import Alternatives
from milpbn.certainty.arc_records import ArcMargins
from milpbn.certainty.conditions import arc_conditions
from milpbn.certainty.pool import PoolLimits, best_structures
from milpbn.certainty.questions import QuestionSolver
from milpbn.clock import Checkpoint, Clock, OutOfTime
from milpbn.engines.enumeration import structures_above, structures_near
from milpbn.scores import Objective
from milpbn.structure import Structure
from milpbn.verification.structure_claims import CHECKED
from milpbn.words import count


def absent_alternatives(
    found: Alternatives, objective: Objective, clock: Clock, seed: int, *, every: bool
) -> tuple[list[str], str]:
    """What is wrong with the claim that no structure is missing, and what was tried.

    All structures of the space are tried, without pruning; or those that differ from one of the set
    in one family, and then those that a new search finds.
    """
    space = objective.space
    listed = {tuple(space.families(s.structure).tolist()) for s in found.structures}
    least = -math.inf if found.rest is None else found.rest + allowed_gap(found.rest)
    if found.rest is None and not found.complete:
        return [], "nothing is said about others"
    proven = False

    def searched() -> Iterator[tuple[Families, float]]:
        nonlocal proven
        others, proven = _best_others(found, objective, least, clock, seed)
        yield from others

    if every:
        tried = structures_above(objective, least, clock.checkpoint)
    else:
        tried = chain(_near(found, objective, clock.checkpoint), searched())
    try:
        for families, value in tried:
            if value > least and tuple(families.tolist()) not in listed:
                wrong = f"a structure that is not listed scores {value:.6f}, more than the rest"
                return [wrong], ""
    except OutOfTime:
        return [], "completeness is not proven again"
    if every:
        return [], "every structure of the space was tried"
    again = "that none is missing was proven again" if proven else "none that is missing was found"
    return [], again


def _near(
    found: Alternatives, objective: Objective, checkpoint: Checkpoint
) -> Iterator[tuple[Families, float]]:
    for one in found.structures[:CHECKED]:
        own = objective.space.families(one.structure)
        yield from structures_near(objective, own, checkpoint)


def _best_others(
    found: Alternatives, objective: Objective, least: float, clock: Clock, seed: int
) -> tuple[list[tuple[Families, float]], bool]:
    """One structure more than there are in a set; whether no other scores more than `least`.

    The best of those that are missing is among them, because the others are in the set.
    """
    best = found.structures[0].score
    share = (best - least) / abs(best) if best else math.inf
    limits = PoolLimits(len(found.structures) + 1, share if 0 <= share < 1 else None)
    again = best_structures(objective, limits, Run(clock, SolveOptions(seed=seed)))
    if again.interrupted:
        raise KeyboardInterrupt
    proven = again.rest <= least or again.complete
    return list(zip(again.families, again.values, strict=True)), proven


def arc_bounds(
    margins: ArcMargins, structure: Structure, objective: Objective, clock: Clock, seed: int
) -> tuple[list[str], str]:
    """Where the bounds of arc margins are too low, and how many were proven again."""
    space = objective.space
    families = space.families(structure)
    conditions = arc_conditions(space, families)
    solver = QuestionSolver(objective, families, conditions, clock=clock, seed=seed)
    names = structure.variables
    told = {(a.parent, a.child, a.present): a for a in margins.answers}
    errors, proven = [], 0
    solver.run()
    for question in solver.questions:
        condition, again = question.condition, question.progress
        parent, child = names[condition.parent], names[condition.child]
        answer = told.get((parent, child, condition.present))
        if answer is None:
            errors.append(f"{parent} -> {child}: there is no answer")
            continue
        most = -math.inf if answer.bound is None else answer.bound
        known = again.families is not None
        slack = allowed_gap(again.value) if known else 0.0
        if known and again.value > most + slack:
            errors.append(f"{parent} -> {child}: a structure exceeds the bound")
        proven += again.bound <= most + slack
    return errors, f"{proven} of {count(len(solver.questions), 'bound')} proven again"
