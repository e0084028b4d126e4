"""The problem that a model solves, built again from its data: for questions about its structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from milpbn._types import Families
from milpbn.clock import Clock
from milpbn.datasets.table import Table
from milpbn.encoding import EncodedData
from milpbn.errors import DataError, OptionError, SolverError
from milpbn.learning.model import Model
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import Settings
from milpbn.scores import Objective, Score, make_score
from milpbn.scores.rescore import rescore
from milpbn.structure import Parents, Resolutions, Structure

# Relative difference between two ways to compute a score.
_ROUNDING = 1e-6
# How many structures are checked after a search.
_CHECKED = 100


@dataclass(frozen=True)
class ModelProblem:
    """A score on given rows over all candidate families, and a structure.

    No family is pruned: a family that a subset of its parents dominates is part of no better
    structure, but it can be part of the best structure with a given arc, or of the second best.

    Attributes
    ----------
    data, score
        The rows, as the search sees them, and the score.
    objective
        The score as a function of families.
    structure
        The structure of the model.
    """

    data: EncodedData
    score: Score
    objective: Objective
    structure: Structure

    @classmethod
    def build(
        cls, data: EncodedData, settings: Settings, structure: object, clock: Clock
    ) -> ModelProblem:
        """The problem of a run with these settings, and the structure that it found."""
        if not isinstance(structure, Structure):
            raise OptionError("a multinet has a structure per class; this needs a single structure")
        score = settings.score
        if not score.exact:
            raise OptionError(
                f"the score {score.name} has no bounds: engines cannot maximise it; learn the "
                "model with another score"
            )
        objective = build_objective(
            data, score, settings.space, clock=clock, options=settings.options, prune=False
        )
        return cls(data.searched(), score, objective, structure)

    @classmethod
    def of_model(cls, model: Model, table: Table, clock: Clock) -> ModelProblem:
        """The problem of a model; raises if the rows are not those that it was learned from."""
        if model.has_newer_rows:
            raise OptionError(
                "the structure was learned before the last update of the tables, and not from all "
                "rows; run `milpbn update --search` first"
            )
        settings = Settings.from_dict(model.settings)
        score = make_score(model.result.score, **model.result.score_parameters)
        data = model.encoder.encode(table).searched()
        structure = model.result.structure
        weights = data.train_weights()
        found = rescore(score, structure, data.variables, data.train(), weights)
        if not _equal(found, model.result.objective):
            raise DataError(
                f"{data.name}: the structure scores {found:.6f} on these rows, but "
                f"{model.result.objective:.6f} in the model; use the rows that it was learned from"
            )
        return cls.build(data, settings, structure, clock)

    @property
    def families(self) -> Families:
        """The structure as families."""
        return self.objective.space.families(self.structure)

    def changes(self, families: Families) -> tuple[Parents, Resolutions]:
        """How a structure differs from the model's: the families of variables that have others."""
        return self.structure.changes(self.objective.space.structure(families))

    def changed(
        self, parents: Mapping[str, Sequence[str]], resolutions: Mapping[str, Mapping[str, int]]
    ) -> Families:
        """The inverse of :meth:`changes`."""
        return self.objective.space.families(self.structure.changed(parents, resolutions))

    def check(self, found: Iterable[tuple[Families, float]]) -> None:
        """Score structures again by the definition of the score; a difference is an error.

        The first 100 different ones are checked: with many rows this takes time.
        """
        distinct = {families.tobytes(): (families, value) for families, value in found}
        weights = self.data.train_weights()
        for families, value in islice(distinct.values(), _CHECKED):
            own = self.objective.space.structure(families)
            again = rescore(self.score, own, self.data.variables, self.data.train(), weights)
            if not _equal(again, value):
                raise SolverError(
                    f"a structure scores {again!r} when computed from the data, but {value!r} in "
                    "the search; please report this with the data and the options"
                )


def _equal(found: float, value: float) -> bool:
    return abs(found - value) <= _ROUNDING * max(1.0, abs(found))
