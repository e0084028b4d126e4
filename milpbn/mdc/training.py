"""Local scores of the candidate families: base models trained level by level, with pruning.

Lemma 1: a parent set with a subset that scores at least as well is not needed, because
    leaving out parents cannot create a cycle. It is dropped after scoring.
Lemma 2: if a subset of Pi scores at least the ceiling of Pi, an upper bound on the scores of Pi
    and of all its supersets, neither Pi nor any superset is needed, and none of their base
    models is ever trained.
Both compare candidates only, so they hold under constraints as well. Scores and ceilings are
those of :mod:`milpbn.mdc.local_scores`.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import current_process
from threading import current_thread, main_thread
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from milpbn._types import Codes
from milpbn.clock import Clock, OutOfTime
from milpbn.engines.branch_and_cut.engine import solve_branch_and_cut
from milpbn.errors import ConstraintError
from milpbn.families.candidates import FamilySpace, ParentSet
from milpbn.families.parent_sets import ParentSets
from milpbn.mdc.candidates import Nodes, ParentChoice
from milpbn.mdc.local_models import Fits, LocalModel, TrainedFamily, train_family
from milpbn.mdc.local_scores import LocalScore
from milpbn.mdc.rows import TrainingRows
from milpbn.result import Status
from milpbn.scores import LinearObjective
from milpbn.scores.local import LocalScores
from milpbn.structure import Structure

Family = tuple[int, ParentSet]


@dataclass(frozen=True)
class Training:
    """The progress of training. Sets are candidate parent sets, models their configurations.

    Attributes
    ----------
    candidate_sets, candidate_models
        What would have to be trained without pruning.
    scored_sets, scored_models
        What has been trained; configurations with no rows or one class cost nothing.
    base_models
        Number of fitted base models.
    unconverged
        Number of base models that reported that they did not converge.
    pruned_by_lemma_1
        Sets that were scored but are not needed.
    pruned_by_lemma_2, models_pruned_by_lemma_2
        Sets that did not have to be scored, and their configurations.
    """

    candidate_sets: int = 0
    candidate_models: int = 0
    scored_sets: int = 0
    scored_models: int = 0
    base_models: int = 0
    unconverged: int = 0
    pruned_by_lemma_1: int = 0
    pruned_by_lemma_2: int = 0
    models_pruned_by_lemma_2: int = 0

    @property
    def sets_left(self) -> int:
        """Candidates that are neither scored nor pruned."""
        return self.candidate_sets - self.scored_sets - self.pruned_by_lemma_2

    @property
    def models_left(self) -> int:
        """Configurations that are neither trained nor pruned."""
        return self.candidate_models - self.scored_models - self.models_pruned_by_lemma_2

    def __str__(self) -> str:
        lines = [
            (
                "candidates",
                f"{self.candidate_sets:,} parent sets, {self.candidate_models:,} models",
            ),
            ("scored", f"{self.scored_sets:,} parent sets, {self.scored_models:,} models"),
            ("trained", f"{self.base_models:,} base models; other configurations need none"),
            ("lemma 1", f"{self.pruned_by_lemma_1:,} parent sets dropped after scoring"),
            (
                "lemma 2",
                f"{self.pruned_by_lemma_2:,} parent sets, "
                f"{self.models_pruned_by_lemma_2:,} models never trained",
            ),
        ]
        if self.sets_left:
            lines.append(("left", f"{self.sets_left:,} parent sets, {self.models_left:,} models"))
        return "\n".join(f"{k:<12}{v}" for k, v in lines)


TrainingListener = Callable[[Training], None]


@dataclass
class TrainedFamilies:
    """Scored families that a class network may choose from, with their base models.

    Attributes
    ----------
    objective
        The scores of the families that remain.
    models
        The base models of every remaining family, in the objective's order.
    training
        The counts of training.
    status
        OPTIMAL if every candidate was scored or pruned, otherwise why training ended.
    open_bound
        An upper bound that also covers the candidates left out; None if there are none.
    """

    objective: LinearObjective
    models: list[LocalModel]
    training: Training
    status: Status = Status.OPTIMAL
    open_bound: float | None = None
    best: list[dict[ParentSet, tuple[float, ParentSet]]] = field(default_factory=list, repr=False)

    def nearest(self, structure: Structure) -> Structure:
        """`structure` with every parent set replaced by its best scored subset."""
        space = self.objective.space
        index = {name: i for i, name in enumerate(space.names)}
        wanted = structure.to_dict()
        if unknown := sorted(set(wanted) - set(index)):
            raise ConstraintError(
                f"the structure to start from has a node {unknown[0]!r}; the nodes are "
                f"{', '.join(space.names)}"
            )
        chosen: list[ParentSet] = [()] * space.n_variables
        for i, best in enumerate(self.best):
            parents = {index[p] for p in wanted.get(space.names[i], ())}
            fits = [value for s, value in best.items() if parents.issuperset(s)]
            if not fits:
                raise ConstraintError(
                    f"the structure to start from gives {space.names[i]!r} parents that the "
                    "constraints do not allow"
                )
            chosen[i] = max(fits)[1]
        return Structure(space.names, tuple(chosen))


def class_network_objective(
    nodes: Nodes, scores: Sequence[Mapping[ParentSet, float]]
) -> LinearObjective:
    """The score of class networks, from the scores of the families of each class variable."""
    families = [(j, s, value) for j, own in enumerate(scores) for s, value in own.items()]
    families += [(p, (), 0.0) for p in range(nodes.d, len(nodes))]
    counts = np.bincount([j for j, _, _ in families], minlength=len(nodes))
    space = FamilySpace(
        nodes.names,
        nodes.cards,
        ParentSets.of([s for _, s, _ in families]),
        np.concatenate([[0], np.cumsum(counts)]),
    )
    return LinearObjective(space, np.array([value for _, _, value in families]))


def best_class_network(nodes: Nodes, scores: Sequence[Mapping[ParentSet, float]]) -> float:
    """The highest score of a class network, from the scores of the families."""
    objective = class_network_objective(nodes, scores)
    return solve_branch_and_cut(objective, LocalScores(objective, "base models")).objective


class Trainer:
    """Trains families level by level; the scores of an interrupted run can be used.

    Parameters
    ----------
    rows
        The training rows.
    choices
        The parents that each class variable may have.
    bases
        The base estimator of each class variable.
    local_score
        What families score.
    n_jobs
        Number of processes.
    clock, listener
        The time limit, and a callback for the progress.
    """

    def __init__(
        self,
        rows: TrainingRows,
        choices: Sequence[ParentChoice],
        bases: Sequence[Any],
        local_score: LocalScore,
        *,
        n_jobs: int | None = None,
        clock: Clock | None = None,
        listener: TrainingListener | None = None,
    ) -> None:
        self.rows, self.nodes, self.choices = rows, rows.nodes, choices
        self.bases, self.local_score, self.n_jobs = bases, local_score, n_jobs
        self.clock = clock or Clock()
        self.listener = listener
        self.scores: list[dict[ParentSet, float]] = [{} for _ in choices]
        # For every scored set, the best score among it and its subsets, and the set that has it.
        self.best: list[dict[ParentSet, tuple[float, ParentSet]]] = [{} for _ in choices]
        self.models: dict[Family, LocalModel] = {}
        self.waiting: set[Family] = set()
        self.fits = Fits()
        self.sizes = [choice.sizes(rows.nodes.cards) for choice in choices]
        self.training = Training(
            candidate_sets=sum(sets for sizes in self.sizes for sets, _ in sizes),
            candidate_models=sum(cells for sizes in self.sizes for _, cells in sizes),
        )

    def configurations(self, parents: ParentSet) -> int:
        """q(Pi), the number of configurations of the parents."""
        return math.prod(self.nodes.cards[p] for p in parents)

    def run(self) -> TrainedFamilies:
        """Score every candidate that no lemma excludes."""
        level = 0
        self.waiting = {(j, choice.forced) for j, choice in enumerate(self.choices)}
        status = Status.OPTIMAL
        try:
            with Parallel(n_jobs=self.n_jobs, return_as="generator_unordered") as parallel:
                while self.waiting:
                    self._prune_before(level)
                    families = sorted(self.waiting)
                    self._train(families, parallel)
                    level += 1
                    self.waiting = set(self._next_level(families))
            self._count_unreached(level)
        except OutOfTime:
            status = Status.TIME_LIMIT
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        if status is not Status.OPTIMAL and not all(self.scores):
            if status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            raise OutOfTime
        return self._result(status)

    def _best_below(self, child: int, parents: ParentSet) -> tuple[float, ParentSet]:
        below = [self.best[child][s] for s in self.choices[child].reductions(parents)]
        return max(below, default=(-math.inf, ()))

    def _prune_before(self, level: int) -> None:
        """Apply Lemma 2 to the candidates of this level that are still reachable."""
        for child, parents in list(self.waiting):
            if self._best_below(child, parents)[0] >= self.local_score.ceiling(child, parents):
                self.waiting.discard((child, parents))
        for child, sizes in enumerate(self.sizes):
            if level < len(sizes):
                kept = [s for j, s in self.waiting if j == child]
                models = sum(map(self.configurations, kept))
                self._count_pruned(sizes[level][0] - len(kept), sizes[level][1] - models)
        self._tell()

    def _count_unreached(self, level: int) -> None:
        """Count the candidates of the levels that were not reached."""
        for sizes in self.sizes:
            for sets, models in sizes[level:]:
                self._count_pruned(sets, models)
        self._tell()

    def _count_pruned(self, sets: int, models: int) -> None:
        t = self.training
        self.training = replace(
            t,
            pruned_by_lemma_2=t.pruned_by_lemma_2 + sets,
            models_pruned_by_lemma_2=t.models_pruned_by_lemma_2 + models,
        )

    def _train(self, families: Iterable[Family], parallel: Parallel) -> None:
        folds = self.local_score.folds
        tasks = (delayed(_task)(self.rows, j, s, self.bases[j], folds) for j, s in families)
        results = parallel(tasks)
        try:
            for family, trained in results:
                self._record(family, trained)
                self.clock.checkpoint()
        finally:
            results.close()

    def _record(self, family: Family, trained: TrainedFamily) -> None:
        """Record a score; Lemma 1 decides whether its base models are kept."""
        child, parents = family
        score = trained.log_likelihood + self.local_score.penalty(child, parents)
        below = self._best_below(child, parents)
        dominated = below[0] >= score
        self.scores[child][parents] = score
        self.best[child][parents] = below if dominated else (score, parents)
        self.waiting.discard(family)
        self.fits.add(trained.fits)
        if not dominated:
            self.models[family] = trained.model
        t = self.training
        self.training = replace(
            t,
            scored_sets=t.scored_sets + 1,
            scored_models=t.scored_models + self.configurations(parents),
            base_models=self.fits.n,
            unconverged=self.fits.unconverged,
            pruned_by_lemma_1=t.pruned_by_lemma_1 + dominated,
        )
        self._tell()

    def _next_level(self, families: Iterable[Family]) -> Iterable[Family]:
        """Sets with one more parent, all of whose subsets were scored."""
        for child, parents in families:
            choice, scored = self.choices[child], self.scores[child]
            for larger in choice.extensions(parents):
                if all(s in scored for s in choice.reductions(larger)):
                    yield child, larger

    def _tell(self) -> None:
        if self.listener is not None:
            self.listener(self.training)

    def _result(self, status: Status) -> TrainedFamilies:
        families = sorted(self.models)
        scores: list[dict[ParentSet, float]] = [{} for _ in self.choices]
        for j, s in families:
            scores[j][s] = self.scores[j][s]
        return TrainedFamilies(
            class_network_objective(self.nodes, scores),
            [self.models[f] for f in families],
            self.training,
            status,
            None if status is Status.OPTIMAL else self._open_bound(),
            self.best,
        )

    def _open_bound(self) -> float:
        """The sum of the best scores, or of what unscored sets might reach if that is higher.

        Ceilings also hold for supersets, so only the smallest unscored sets matter.
        """
        total = 0.0
        for child, scored in enumerate(self.scores):
            open_sets = [s for j, s in self.waiting if j == child]
            larger = (t for s in scored for t in self.choices[child].extensions(s))
            open_sets += [s for s in larger if s not in scored]
            ceilings = (self.local_score.ceiling(child, s) for s in open_sets)
            total += max([*scored.values(), *ceilings])
        return total


def _task(
    rows: TrainingRows, child: int, parents: ParentSet, base: Any, folds: Codes | None
) -> tuple[Family, TrainedFamily]:
    if current_process().name != "MainProcess" and current_thread() is main_thread():
        # Ctrl-C reaches every process of a terminal; only the main process must react.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return (child, parents), train_family(rows, child, parents, base, folds)
