"""The score of a structure, computed by the definition of the score."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

from milpbn._types import Codes, FloatArray
from milpbn.encoding.columns import Variable
from milpbn.errors import OptionError
from milpbn.scores.base import Score
from milpbn.scores.registry import score_names
from milpbn.structure import AnyStructure, ClassStructures


def rescore(
    score: Score,
    structure: AnyStructure,
    variables: Sequence[Variable],
    codes: Codes,
    weights: FloatArray | None = None,
) -> float:
    """The score of a structure on complete rows (class code first), from the raw codes.

    Without `weights`, every row counts as one.
    """
    if not score.has_definition():
        raise OptionError(f"the score {score.name} has no definition to score a structure with")
    if isinstance(structure, ClassStructures):
        check_per_class(score)
    # A score with `per_class` accepts both kinds of structures.
    either: Any = structure
    if weights is None:
        return score.definition(either, variables, codes)
    if "weights" not in signature(score.definition).parameters:
        raise OptionError(
            f"the rows have weights, but the definition of the score {score.name} takes none"
        )
    return score.definition(either, variables, codes, weights)


def check_per_class(score: Score | type[Score]) -> None:
    """Refuse a score that is not defined for multinets."""
    if not score.per_class:
        known = ", ".join(score_names(lambda s: s.per_class))
        raise OptionError(f"the score {score.name} is not defined for multinets; choose {known}")
