"""Verification of a model by the certificate of its run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from milpbn.anytime import allowed_gap
from milpbn.check import MEMORY_LIMIT, Proven, check_certificate, read_lines
from milpbn.datasets.table import Table
from milpbn.encoding import Variable
from milpbn.errors import CertificateError
from milpbn.learning.certification import certified_problem
from milpbn.learning.classifier import encode
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings
from milpbn.result import Status
from milpbn.structure import AnyStructure, Structure
from milpbn.verification.checks import check_source
from milpbn.verification.run_claims import settings_errors, stated_score


def check_model(
    model: Model,
    table: Table,
    certificate: str | Path,
    memory_limit: int = MEMORY_LIMIT,
    time_limit: float | None = None,
) -> Proven:
    """Check that a certificate proves the bound of a model.

    Parameters
    ----------
    model
        The model.
    table
        Its data, read again (with the same rows held out).
    certificate
        The file that the run wrote.
    memory_limit, time_limit
        See :func:`~milpbn.check.check_certificate`.

    Returns
    -------
    Proven
        What the certificate proves about all structures of the model's search space, the score of
        the model's structure, and whether this is proven to be optimal.

    Raises
    ------
    CertificateError
        If the certificate is damaged, is about something else, or proves less than the model
        claims.
    """
    source = check_source(model.data, table)
    if source.holds is False:
        raise CertificateError(f"these are not the data of the model: {source.seen}")
    encoded, settings = encode(table), Settings.from_dict(model.settings)
    if encoded.encoder.to_dict() != model.encoder.to_dict():
        raise CertificateError("the data do not have the states and cuts of the model")
    score = stated_score(model.result)
    if errors := list(settings_errors(model.settings, settings, score)):
        raise CertificateError(f"the model contradicts itself: {'; '.join(errors[:3])}")
    data = model.rows_of_search(encoded.data).searched()
    problem = certified_problem(data, settings)
    rows = data.train(), data.train_weights()
    try:
        structure = named_families(model.result.structure, data.variables)
        proven = check_certificate(
            read_lines(certificate),
            problem,
            *rows,
            structure=structure,
            memory_limit=memory_limit,
            time_limit=time_limit,
        )
    except CertificateError as error:
        raise error.at(str(certificate)) from None
    told, value = model.result, proven.score
    assert value is not None
    if not abs(value - told.objective) <= allowed_gap(told.objective):
        raise CertificateError(f"the structure scores {value:.6f}, not {told.objective:.6f}")
    # The checker adds the rounding of its sums, which may exceed the gap for a scale of 1.
    slack = 0.0 if told.bound is None else allowed_gap(told.bound, problem["scale"])
    if told.bound is not None and not proven.bound <= told.bound + slack:
        raise CertificateError(
            f"the certificate proves the bound {proven.bound:.6f}, but the model claims "
            f"{told.bound:.6f}"
        )
    if told.status is Status.OPTIMAL and not proven.optimal:
        raise CertificateError(
            f"the model claims that its structure is optimal, but the bound {proven.bound:.6f} is "
            f"proven, and the structure scores {value:.6f}"
        )
    return proven


def named_families(structure: AnyStructure, variables: Sequence[Variable]) -> list[list[Any]]:
    """The family of each variable as a certificate writes it: views, the child's and the parents'.

    A variable without parents is seen in the first of its resolutions with the fewest states.
    """
    if not isinstance(structure, Structure):
        raise CertificateError("the model is a multinet, which has no certificate")
    names = tuple(v.name for v in variables)
    if structure.variables != names:
        raise CertificateError("the structure of the model has other variables than the data")
    sizes = [[v.card, *(max(c.of) + 1 for c in v.coarsenings)] for v in variables]
    first = [0, *accumulate(map(len, sizes))]
    out: list[list[Any]] = []
    for i, own in enumerate(sizes):
        *above, mine = (
            first[v] + r for v, r in zip(structure.scope(i), structure.seen(i), strict=True)
        )
        out.append([mine if above else first[i] + own.index(min(own)), above])
    return out
