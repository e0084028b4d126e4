"""Verification of a model by the certificate of its run."""

from __future__ import annotations

from pathlib import Path

from milpbn.anytime import allowed_gap
from milpbn.check import Proven, check_certificate, read_lines
from milpbn.datasets.table import Table
from milpbn.errors import CertificateError
from milpbn.learning.certification import certified_problem
from milpbn.learning.checks import check_source
from milpbn.learning.classifier import encode
from milpbn.learning.model import Model
from milpbn.learning.run_claims import settings_errors, stated_score
from milpbn.learning.settings import Settings
from milpbn.scores.rescore import rescore


def check_model(model: Model, table: Table, certificate: str | Path) -> tuple[Proven, float]:
    """Check that a certificate proves the bound of a model.

    Parameters
    ----------
    model
        The model.
    table
        Its data, read again (with the same rows held out).
    certificate
        The file that the run wrote.

    Returns
    -------
    proven
        What the certificate proves about all structures of the model's search space.
    value
        The score of the model's structure, by the definition of the score.

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
    data = encoded.data.searched()
    problem = certified_problem(data, settings)
    rows = data.train(), data.train_weights()
    try:
        proven = check_certificate(read_lines(certificate), problem, *rows)
    except CertificateError as error:
        raise error.at(str(certificate)) from None
    value = rescore(score, model.result.structure, data.variables, *rows)
    told = model.result
    if abs(value - told.objective) > allowed_gap(told.objective):
        raise CertificateError(f"the structure scores {value:.6f}, not {told.objective:.6f}")
    if told.bound is not None and proven.bound > told.bound + allowed_gap(told.bound):
        raise CertificateError(
            f"the certificate proves the bound {proven.bound:.6f}, but the model claims "
            f"{told.bound:.6f}"
        )
    return proven, value
