"""Model files of every kind, recognised by their format mark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from milpbn.files import read_marked_json
from milpbn.learning.model import Model
from milpbn.mdc.model_file import GBNCModel

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
        loaded from the file; see :meth:`milpbn.mdc.model_file.GBNCModel.load`.

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
