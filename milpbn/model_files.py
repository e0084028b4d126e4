"""Model files of every kind, recognised by their format mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from milpbn.datasets.table import Table
from milpbn.files import read_marked_json
from milpbn.learning.model import Model
from milpbn.mdc.model import GBNCModel
from milpbn.mdc.verification import verify_gbnc
from milpbn.verification.checks import Verification
from milpbn.verification.verify import verify_model

AnyModel = Model | GBNCModel
"""A classifier for one class variable or for several."""


def load_model(path: str | Path, trusted: Sequence[str] = ()) -> AnyModel:
    """Read a model file, for one class variable or several.

    Parameters
    ----------
    path
        The file.
    trusted
        Types of base estimators, other than those of scikit-learn and numpy, that may be
        loaded from the file; see :meth:`milpbn.mdc.GBNCModel.load`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from milpbn import BNClassifier, load_dataset
    >>> corral = load_dataset("corral")
    >>> model = BNClassifier(max_parents=1).fit(corral.features, corral.target)
    >>> with TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "corral.json"))
    ...     type(load_model(Path(folder, "corral.json"))).__name__
    'Model'
    """
    content = read_marked_json(path, {**Model.versions, **GBNCModel.versions})
    if content["format"] in GBNCModel.versions:
        return GBNCModel.from_dict(content, str(path), trusted)
    return Model.from_dict(content, str(path))


def verify(
    model: AnyModel,
    table: Table,
    *,
    content: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
) -> Verification:
    """Check a model of any kind against the table that it was learned from.

    See :func:`~milpbn.verification.verify.verify_model` and
    :func:`~milpbn.mdc.verification.verify_gbnc`, which needs no time limit.
    """
    if isinstance(model, GBNCModel):
        return verify_gbnc(model, table, content=content)
    return verify_model(model, table, content=content, time_limit=time_limit)
