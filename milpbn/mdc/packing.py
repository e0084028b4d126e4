"""The base models of a GBNC in a model file: plain numbers, or the bytes of skops.

skops describes objects by type and state and loads only types that are trusted. Its bytes are a
zip file, so its size is checked before anything is unpacked.
"""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from milpbn.errors import ModelFileError
from milpbn.files import MAX_TEXT
from milpbn.messages import Message, option

# Unpacked bytes, and how many times as much as packed: numbers do not compress better than this.
_MOST_UNPACKED = 4 * MAX_TEXT
_MOST_RATIO = 200


class UntrustedError(ModelFileError):
    """The file contains objects of types that are not trusted."""


def pack_estimators(estimators: Sequence[Any]) -> dict[str, Any]:
    """Base models as data for a JSON file."""
    if all(type(e) is LogisticRegression for e in estimators):
        return {
            "format": "logistic-regression",
            "models": [
                {
                    "classes": e.classes_.tolist(),
                    "coefficients": e.coef_.tolist(),
                    "intercepts": e.intercept_.tolist(),
                }
                for e in estimators
            ],
        }
    import skops.io

    content = skops.io.dumps(list(estimators))
    return {"format": "skops", "content": base64.b64encode(content).decode("ascii")}


def unpack_estimators(packed: Mapping[str, Any], trusted: Sequence[str]) -> list[Any]:
    """The inverse of :func:`pack_estimators`; `trusted` are additional types that may be loaded."""
    if packed["format"] == "logistic-regression":
        return [_logistic(m) for m in packed["models"]]
    if packed["format"] != "skops":
        raise ModelFileError(f"base models in an unknown format {packed['format']!r}")
    content = base64.b64decode(packed["content"], validate=True)
    _check_size(content)
    try:
        return _load(content, trusted)
    except UntrustedError:
        raise
    except Exception as error:  # what skops and the classes themselves raise is not documented
        raise ModelFileError(f"base_models: skops cannot read them: {error!r}") from error


def _load(content: bytes, trusted: Sequence[str]) -> list[Any]:
    import skops.io

    unknown = sorted(set(skops.io.get_untrusted_types(data=content)) - set(trusted))
    if unknown:
        raise UntrustedError(
            Message(
                f"the base models contain objects of types that are not trusted: "
                f"{', '.join(unknown)}. If you trust the source of the file, allow them with ",
                option("trusted", unknown, flag="trust"),
            )
        )
    estimators = list(skops.io.loads(content, trusted=list(trusted)))
    for e in estimators:
        if not (hasattr(e, "predict_proba") and hasattr(e, "classes_")):
            raise ModelFileError(f"a {type(e).__name__} is not a fitted classifier")
    return estimators


def _check_size(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(item.file_size for item in archive.infolist())
    if unpacked > min(_MOST_UNPACKED, max(_MOST_RATIO * len(content), 2**20)):
        raise ModelFileError(
            f"base_models: {len(content)} bytes would unpack to {unpacked}; such a file is not "
            "written by milpbn"
        )


def _logistic(data: Mapping[str, Any]) -> LogisticRegression:
    model = LogisticRegression()
    model.classes_ = np.array(data["classes"], dtype=np.int64)
    model.coef_ = np.array(data["coefficients"], dtype=np.float64)
    model.intercept_ = np.array(data["intercepts"], dtype=np.float64)
    rows = 1 if len(model.classes_) == 2 else len(model.classes_)
    if model.coef_.ndim != 2 or len(model.coef_) != rows or model.intercept_.shape != (rows,):
        raise ModelFileError("coefficients and classes of a base model do not match")
    model.n_features_in_ = model.coef_.shape[1]
    return model
