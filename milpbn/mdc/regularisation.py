"""The choice of the settings of base models on held-out rows.

The regularisation of logistic regression can be chosen: C is the value with the highest
log-likelihood of the held-out rows of :class:`~milpbn.selection.validation.ValidationSplit`. All
base models share C. It is the variance of a Gaussian prior on the coefficients, so it does not
depend on the number of rows.

The search begins with the default and goes to stronger or weaker regularisation as long as the
likelihood rises: first for class variables without parents, which is fast, then, from there, for
the best class network in which no class variable has more than one parent. Features that say
nothing about a class variable on their own may say a lot within the configurations of a parent. A
search that is stopped keeps the best value so far, so it is never worse than the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from milpbn._types import Codes
from milpbn.clock import Clock, OutOfTime
from milpbn.families.candidates import ParentSet
from milpbn.mdc.base_estimators import Base
from milpbn.mdc.local_models import Fits, held_out_log_likelihood
from milpbn.mdc.rows import TrainingRows
from milpbn.selection.validation import ValidationSplit

FamilyScores = Sequence[dict[ParentSet, float]]


class ChosenBase(NamedTuple):
    """The base model that was chosen, and whether there was time to finish the search."""

    base: Base
    finished: bool = True


def choose_base(
    base: Base,
    rows: TrainingRows,
    parent_sets: Sequence[Sequence[ParentSet]],
    best: Callable[[FamilyScores], float] | None = None,
    *,
    seed: int,
    n_jobs: int | None = None,
    clock: Clock | None = None,
) -> ChosenBase:
    """The candidate that predicts held-out rows best; of equals, the stronger regularisation.

    Parameters
    ----------
    base
        The base model; returned as it is if it leaves nothing to choose.
    rows
        The training rows.
    parent_sets
        For each class variable the parent sets with which candidates are tried; the first ones
        are tried alone, too.
    best
        The best score of a class network, given the scores of all these families; by default,
        every class variable chooses for itself.
    seed
        Random seed for the division of the rows.
    n_jobs
        Number of processes.
    clock
        The time limit.
    """
    candidates = base.candidates()
    if len(candidates) == 1 or rows.matrix.shape[1] == 0:
        return ChosenBase(base.default())
    first, chosen = [sets[:1] for sets in parent_sets], list(candidates).index(base.default())
    clock = clock or Clock()
    with Parallel(n_jobs=n_jobs, return_as="generator") as parallel:
        scores = _Scores(candidates, rows, seed, parallel, clock)
        try:
            for sets, total in ((first, None), (parent_sets, best)):
                value = partial(scores.value, sets, total or _best_apart)
                for better in _climb(value, chosen, len(candidates)):
                    chosen = better
        except OutOfTime:
            return ChosenBase(candidates[chosen], finished=False)
    return ChosenBase(candidates[chosen])


def _best_apart(scores: FamilyScores) -> float:
    """The best score if every class variable may choose for itself."""
    return sum(max(own.values()) for own in scores)


def _climb(value: Callable[[int], float], start: int, n: int) -> Iterator[int]:
    """Positions from 0 to n - 1, each at least as good as the one before; the last is a peak."""
    first = highest = value(start)
    yield start
    for step in (-1, 1):
        place = start + step
        while 0 <= place < n and (found := value(place)) >= highest:
            # Of equals, the stronger regularisation is taken; it comes first.
            if found == highest and step > 0:
                break
            highest = found
            yield place
            place += step
        if highest > first:
            return


class _Scores:
    """Held-out log-likelihoods of families, each computed once."""

    def __init__(
        self,
        candidates: Sequence[Base],
        rows: TrainingRows,
        seed: int,
        parallel: Parallel,
        clock: Clock,
    ) -> None:
        self.candidates, self.rows, self.seed = candidates, rows, seed
        self.parallel, self.clock = parallel, clock
        self.known: dict[tuple[int, int, ParentSet], float] = {}

    def value(
        self,
        parent_sets: Sequence[Sequence[ParentSet]],
        total: Callable[[FamilyScores], float],
        k: int,
    ) -> float:
        """The score of a candidate with these families."""
        wanted = [(k, child, s) for child, sets in enumerate(parent_sets) for s in sets]
        new = [key for key in wanted if key not in self.known]
        results = self.parallel(
            delayed(_held_out)(self.candidates[k], self.rows, child, s, self.seed)
            for _, child, s in new
        )
        try:
            for key, likelihood in zip(new, results, strict=True):
                self.known[key] = likelihood
                self.clock.checkpoint()
        finally:
            results.close()
        scores = (
            {s: self.known[k, child, s] for s in sets} for child, sets in enumerate(parent_sets)
        )
        return total(list(scores))


def _held_out(base: Base, rows: TrainingRows, child: int, parents: ParentSet, seed: int) -> float:
    folds = validation_folds(rows.codes[:, child], seed)
    estimator = base.estimator(rows.matrix.shape[1], rows.nodes.cards[child], seed)
    return held_out_log_likelihood(rows, child, parents, estimator, folds, Fits())


def validation_folds(labels: Codes, seed: int) -> Codes:
    """The fold of each row for the choice of settings; -1 for rows that are never held out."""
    folds = np.full(len(labels), -1)
    for number, (_, held_out) in enumerate(ValidationSplit(seed).split(labels, labels)):
        folds[held_out] = number
    return folds
