"""What a certificate is about: the rows, the score and the search space of a run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import milpbn
from milpbn.anytime import TOLERANCE
from milpbn.encoding.data import EncodedData
from milpbn.engines.branch_and_cut.proof import ProofLog
from milpbn.engines.certificates.certificate import CertificateWriter
from milpbn.engines.certificates.certificate_file import CertificateFile, draft_of
from milpbn.errors import OptionError, OutputError, OutputWarning
from milpbn.families import Constraints
from milpbn.files import plain, writing_whole
from milpbn.learning.methods import require
from milpbn.learning.settings import Settings
from milpbn.messages import option
from milpbn.scores import SCORES, Objective, score_names


def check_certifiable(settings: Settings) -> None:
    """Refuse settings for which there are no certificates."""
    require("tree_host", option("certificate"), settings.method, settings.options.host)
    name, own = settings.score.name, SCORES.get(settings.score.name)
    if own is not type(settings.score) or not own.certified:
        known = ", ".join(score_names(lambda score: score.certified))
        raise OptionError(
            f"the checker of certificates does not know the score {name}; it knows {known}"
        )
    if settings.space.constraints is not None and settings.space.constraints.max_cost is not None:
        raise OptionError(
            "the checker of certificates does not know costs of features; leave out the "
            "certificate, or limit the number of features instead"
        )


def check_no_trends(data: EncodedData) -> None:
    """Refuse monotone effects, whose search space the checker cannot derive."""
    if any(v.monotone for v in data.variables):
        raise OptionError(
            "the checker of certificates does not know monotone effects; leave out the "
            "certificate, or the monotone effects"
        )


def certified_problem(data: EncodedData, settings: Settings) -> dict[str, Any]:
    """What the header of a certificate says about the data, the score and the search space."""
    space, score = settings.space, settings.score
    return plain(
        {
            "data": {"n_rows": len(data.train()), "sha256": data.source.get("sha256")},
            "variables": [[v.name, v.card, *(c.of for c in v.coarsenings)] for v in data.variables],
            "settings": {
                "score": score.name,
                **score.settings(),
                "max_parents": space.max_parents,
                "class_parents": space.class_parents,
                "augmented": space.augmented,
                "constraints": (space.constraints or Constraints()).to_dict(),
            },
            "tolerance": TOLERANCE,
            "scale": score.scale(data.train_weight()),
        }
    )


@contextmanager
def proof_log(
    path: str | Path | None, data: EncodedData, settings: Settings, objective: Objective
) -> Iterator[ProofLog]:
    """What an engine reports its proof to: a file, if there is a path."""
    if path is None:
        yield ProofLog()
        return
    header = {"milpbn": milpbn.__version__, **certified_problem(data, settings)}
    options, finished = settings.options, False
    # A run that is killed can go on only if its certificate is found again.
    draft = draft_of(path) if options.checkpoint or options.resume else None
    try:
        with (
            writing_whole(path, draft, goes_on=bool(options.resume)) as file,
            CertificateWriter(CertificateFile(file, path), header, objective.space) as log,
        ):
            yield log
            finished = True
    except OutputError as error:
        if not finished:
            raise
        # A full disk must not cost the result.
        warnings.warn(f"{error}; there is no certificate", OutputWarning, stacklevel=3)
