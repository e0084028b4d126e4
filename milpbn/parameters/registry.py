"""Parameter learners by name, with settings."""

from __future__ import annotations

from milpbn.parameters.base import Parameters
from milpbn.parameters.cl import ConditionalLikelihood
from milpbn.parameters.ml import MaximumLikelihood
from milpbn.parameters.mm import MaximumMargin
from milpbn.specs import read_specified

PARAMETERS: dict[str, type[Parameters]] = {
    p.name: p for p in (MaximumLikelihood, ConditionalLikelihood, MaximumMargin)
}


def make_parameters(text: str | Parameters) -> Parameters:
    """Read ``ml``, ``cl``, ``mm``, or one with settings: ``cl:penalty=0.1,method=cg``.

    Examples
    --------
    >>> make_parameters("cl").title
    'maximum conditional likelihood'
    >>> str(make_parameters("mm:lambda=0.5,folds=5"))
    'mm:lambda=0.5'
    """
    if isinstance(text, Parameters):
        return text
    return read_specified(str(text), "parameters", PARAMETERS)
