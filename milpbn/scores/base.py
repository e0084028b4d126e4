"""Scores, and objectives: a score on given data as a function of the chosen families."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
import numpy.typing as npt

from milpbn._types import AnyFamilies, Codes, FloatArray
from milpbn.clock import Checkpoint, no_checkpoint
from milpbn.encoding.columns import Coarsening, Variable
from milpbn.families.candidates import FamilySpace
from milpbn.families.counts import counts_by_family
from milpbn.families.moves import Exchangeable, take_best
from milpbn.families.rows import MergedRows
from milpbn.scores.pruning import prune_dominated
from milpbn.structure import Structure

LINEAR, HINGE, RATE, CLL = "linear", "hinge", "rate", "cll"
"""What an objective is as a function of the margins of a row; linear ones need no margins."""


class SearchState(Exchangeable, Protocol):
    """A current structure, its score, and the scores after exchanging one family."""

    evaluations: int

    def take_best(self, variable: int, candidates: npt.ArrayLike, threshold: float) -> bool:
        """See :func:`milpbn.families.moves.take_best`."""
        ...

    def reset(self, families: AnyFamilies) -> None:
        """Move to another structure."""
        ...

    def sort_rows(self) -> None:
        """Prepare for many exchanges around the current structure."""
        ...


class LinearState:
    """The search state of a decomposable score: exchanges are differences of weights."""

    def __init__(self, weights: FloatArray, families: AnyFamilies) -> None:
        self._weights = weights
        self.evaluations = 0
        self.reset(families)

    def reset(self, families: AnyFamilies) -> None:
        """See :class:`SearchState`."""
        self.families = np.array(families, dtype=np.int64)
        self.value = float(self._weights[self.families].sum())

    def sort_rows(self) -> None:
        """See :class:`SearchState`; there are no rows."""

    def scores(
        self, variable: int, candidates: npt.ArrayLike, threshold: float = -np.inf
    ) -> FloatArray:
        """See :class:`SearchState`."""
        candidates = np.asarray(candidates, dtype=np.int64)
        self.evaluations += len(candidates)
        rest = self.value - self._weights[self.families[variable]]
        out: FloatArray = rest + self._weights[candidates]
        return out

    def exchange(self, variable: int, family: int) -> None:
        """See :class:`SearchState`."""
        self.families[variable] = family
        self.value = float(self._weights[self.families].sum())

    def take_best(self, variable: int, candidates: npt.ArrayLike, threshold: float) -> bool:
        """See :class:`SearchState`."""
        return take_best(self, variable, candidates, threshold)


class Objective(ABC):
    """A score on one data set: a function of the chosen families, to be maximised."""

    space: FamilySpace
    rows: MergedRows | None = None
    """The training rows; None if the objective does not keep them."""
    kind: ClassVar[str] = ""
    """One of the kinds above, for those who treat some of them in their own way: engines, which
    have a program or cuts for a kind, and kernels."""

    @property
    def costs(self) -> FloatArray:
        """``(F,)``: what each family adds to the score, whatever the other families are."""
        return np.zeros(len(self.space))

    @property
    def unit(self) -> float:
        """The unit of the temperature of simulated annealing."""
        return 1.0

    @property
    def worth_of_a_row(self) -> float:
        """About what a row earns that is classified with confidence instead of by chance."""
        return 0.0

    @property
    def scale(self) -> float:
        """Values closer to zero than this count as this large where a gap is relative to them."""
        return 1.0

    @abstractmethod
    def value(self, families: AnyFamilies) -> float:
        """The score of a structure, given as one family per variable."""

    @abstractmethod
    def state(self, families: AnyFamilies) -> SearchState:
        """The structure as a starting point of a search that exchanges families."""

    @abstractmethod
    def quick_bound(self) -> float:
        """An upper bound that costs nothing, so that a run has one from the start."""

    def fits(self) -> bool:
        """Whether the tables of all families fit into the memory limit, if it has tables."""
        return True

    def row_values(self, families: AnyFamilies) -> FloatArray:
        """``(U,)``: what each row earns, before its weight; empty if rows earn nothing."""
        return np.empty(0)

    def with_score(self, score: Score) -> Objective:
        """The objective of another score that has the same tables, see :meth:`Score.plain`."""
        return self

    def with_penalty(self, penalty: float) -> Objective:
        """The objective with another cost of a free parameter, for scores that have one."""
        raise TypeError(f"{type(self).__name__} has no penalty")

    def pruned(self, checkpoint: Checkpoint = no_checkpoint) -> Objective:
        """The objective over the families that an optimum may need (see also `Score.prune`)."""
        return self


@dataclass(frozen=True)
class LinearObjective(Objective):
    """Decomposable scores: ``sum_i w[i, S_i]``.

    `rows` are the training rows, for learners that compute mutual information.
    """

    kind = LINEAR
    space: FamilySpace
    weights: FloatArray
    rows: MergedRows | None = None

    @property
    def costs(self) -> FloatArray:
        """See :class:`Objective`: the weights."""
        return self.weights

    def pruned(self, checkpoint: Checkpoint = no_checkpoint) -> LinearObjective:
        """See :class:`Objective`."""
        return prune_dominated(self, checkpoint)

    def value(self, families: AnyFamilies) -> float:
        """See :class:`Objective`."""
        return float(self.weights[np.asarray(families)].sum())

    def state(self, families: AnyFamilies) -> LinearState:
        """See :class:`Objective`."""
        return LinearState(self.weights, families)

    def quick_bound(self) -> float:
        """Every variable takes its best parent set."""
        return float(np.maximum.reduceat(self.weights, self.space.offsets[:-1]).sum())


class ScoreReport(Protocol):
    """The score as a result reports it."""

    @property
    def name(self) -> str:
        """The name in results."""

    def settings(self) -> dict[str, Any]:
        """The settings, as reports and model files show them."""


class Score(ABC):
    """A score with its settings, independent of any data.

    A score is a frozen dataclass. Its fields are its settings: `make_score` accepts their
    names, and reports and model files show their values. The class attributes say what the
    score can be used for. Nobody asks for the type of a score or an objective.

    A score is implemented twice. `objective` is the fast implementation, for the learners.
    `definition` computes the score of one structure from the raw codes, with
    :func:`~milpbn.network.network.fit_network` and
    :func:`~milpbn.network.inference.log_joint` or by counting. It uses no table, no merged
    rows and no formula of the learners, and every result is checked against it.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names of the score."""
    exact: ClassVar[bool] = False
    """Whether the engines can solve it: its objective is a `LinearObjective` or a
    `ConcaveObjective`."""
    smooth: ClassVar[bool] = False
    """Whether its objective is not piecewise linear, so that of the engines only branch-and-cut
    can solve it."""
    decomposable: ClassVar[bool] = False
    """Whether it is a sum of one term per family (a `LinearObjective`)."""
    generative: ClassVar[bool] = False
    """Whether the candidate families are all parent sets (see `candidate_families`)."""
    resolutions: ClassVar[bool] = False
    """Whether its families may see variables in coarser states, see
    :class:`~milpbn.families.views.Views`."""
    by_rows: ClassVar[bool] = False
    """Whether it is a sum over rows, which can be scored with the parameters of other rows."""
    certified: ClassVar[bool] = False
    """Whether the checker of certificates knows it."""
    per_class: ClassVar[bool] = False
    """Whether it can score a multinet: it depends on the log-joints only, and its definition
    also accepts one structure per class."""
    p: float | None = None
    """The desired class probability, if it is a setting of the score."""
    validation: int | str | None = None
    """How rows are held out, see :class:`~milpbn.scores.RowScore`."""
    penalty: float | str = 0.0
    """The cost of a free parameter, see :class:`~milpbn.scores.ConcaveScore`."""

    @property
    def hinge(self) -> float:
        """The margin from which on a row earns no more."""
        return np.inf

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """The settings that `make_score` accepts for this score: the fields of the class."""
        return tuple(f.name for f in fields(cls) if f.init) if is_dataclass(cls) else ()

    def settings(self) -> dict[str, Any]:
        """The settings, as reports and model files show them.

        Numbers and strings are kept, other values become strings, None is omitted.
        ``make_score(score.name, **score.settings())`` gives every structure the same score.
        """
        values = {name: getattr(self, name) for name in self.parameter_names()}
        return {
            name: value if isinstance(value, int | float | str) else str(value)
            for name, value in values.items()
            if value is not None
        }

    def scale(self, total: float) -> float:
        """See :attr:`Objective.scale`, for rows with this sum of weights."""
        return 1.0

    def with_settings(self, **settings: Any) -> Self:
        """The score with other values of some settings."""
        return cast(Self, replace(cast(Any, self), **settings))

    def plain(self) -> Score:
        """The score with default settings, apart from those that its tables depend on."""
        return self

    def cost_per_parameter(self, n_rows: float) -> float:
        """The cost of a free parameter for this many rows, or for this sum of their weights."""
        return 0.0

    def prune(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> FamilySpace:
        """The families that an optimum may need, as far as this is known before scoring them."""
        return space

    @abstractmethod
    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> Objective:
        """The score as an objective over `space` for the training `rows`."""

    def definition(
        self,
        structure: Structure,
        variables: Sequence[Variable],
        codes: Codes,
        weights: FloatArray | None = None,
    ) -> float:
        """The score of a structure on complete rows of codes (the class first).

        See the class. A user-defined score may omit it; its results are then not checked. A
        score with `per_class` also accepts a :class:`~milpbn.structure.ClassStructures`.
        `weights` is passed only if the rows have weights.
        """
        raise NotImplementedError(f"the score {self.name} has no definition")

    @classmethod
    def has_definition(cls) -> bool:
        """Whether the class has a `definition`."""
        return cls.definition is not Score.definition


class DecomposableScore(Score):
    """A score that is a sum of one term per family, computed from the family's counts."""

    exact = True
    decomposable = True
    generative = True

    @abstractmethod
    def local(self, counts: FloatArray, total: float) -> float:
        """The term of one family; `counts` is ``(q, r)``, parents by child states."""

    def share(self, counts: FloatArray, coarse: Coarsening, total: float) -> float:
        """The term of the states of a variable inside the coarser ones that its family sees.

        Scores with `resolutions` have it. `counts` are those of the finest states.
        """
        raise NotImplementedError(f"the score {self.name} has no term for coarser states")

    def objective(
        self, space: FamilySpace, rows: MergedRows, checkpoint: Checkpoint = no_checkpoint
    ) -> LinearObjective:
        """See :class:`Score`."""
        weights = np.empty(len(space))
        for families, counts in counts_by_family(space, rows, checkpoint):
            for f, own in zip(families.tolist(), counts, strict=True):
                weights[f] = self.local(own, rows.total)
        if space.resolutions is not None:
            weights += self._shares(space, rows)[space.child_view]
        weights.setflags(write=False)
        return LinearObjective(space, weights, rows)

    def _shares(self, space: FamilySpace, rows: MergedRows) -> FloatArray:
        """``(V,)``: the term of the states inside those of each view."""
        out = []
        for codes, card, coarser in zip(rows.columns, space.cards, space.coarsenings, strict=True):
            counts = np.bincount(codes, rows.weights, minlength=card).astype(np.float64)
            out += [0.0, *(self.share(counts, coarse, rows.total) for coarse in coarser)]
        return np.array(out)
