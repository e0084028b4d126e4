"""GBNC model files: JSON with a format version; numbers and data, never pickled code.

Logistic regressions, the default, are stored as plain coefficients. Other base estimators are
stored by skops, which describes objects by type and state and loads only trusted types; its
bytes are part of the same JSON file, in base64.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression

import milpbn
from milpbn.errors import ModelFileError
from milpbn.files import naming_damage, read_marked_json, write_whole
from milpbn.mdc.bases import Given, make_base
from milpbn.mdc.features import FeatureEncoder
from milpbn.mdc.gbnc import GBNCClassifier
from milpbn.mdc.local_models import ConfigurationModel, LocalModel
from milpbn.mdc.training import Training
from milpbn.messages import Message, option
from milpbn.result import Result

FORMAT = "milpbn-gbnc"
VERSION = 1

_PARAMETERS = (
    *("validation", "max_parents", "mixed", "max_discrete_parents"),
    *("loss", "engine", "random_state"),
)


@dataclass(frozen=True)
class GBNCModel:
    """A learned GBNC with everything needed to use and inspect it.

    Attributes
    ----------
    classifier
        The fitted classifier.
    settings
        Every setting of the run.
    data
        Which rows were used.
    """

    versions: ClassVar[Mapping[str, int]] = {FORMAT: VERSION}
    """The format mark of its files, and the version that can be read."""
    classifier: GBNCClassifier
    settings: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)

    def save(self, path: str | Path) -> None:
        """Write the model; an incomplete file is never left behind."""
        model = self.classifier
        estimators: list[Any] = []
        local = [_local_to_dict(m, estimators) for m in model.local_models_]
        content = {
            "format": FORMAT,
            "version": VERSION,
            "milpbn": milpbn.__version__,
            "data": self.data,
            "settings": self.settings,
            "parameters": {name: getattr(model, name) for name in _PARAMETERS},
            "targets": [
                {"name": name, "classes": classes.tolist(), "dtype": classes.dtype.str}
                for name, classes in zip(model.target_names_, model.target_classes_, strict=True)
            ],
            "flat": model.classes_ is not model.target_classes_,
            "features": model.encoder_.to_dict(),
            "training": asdict(model.training_),
            "result": model.result_.to_dict(),
            "base": None if isinstance(model.base_, Given) else str(model.base_),
            "local_models": local,
            "base_models": _pack(estimators),
        }
        write_whole(path, json.dumps(content, indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: str | Path, trusted: Sequence[str] = ()) -> GBNCModel:
        """Read a model file; anything wrong with it raises :class:`ModelFileError`.

        Parameters
        ----------
        path
            The file.
        trusted
            Types of base estimators, by full name, that may be loaded in addition to those of
            scikit-learn and numpy that skops trusts.
        """
        return cls.from_dict(read_marked_json(path, cls.versions), str(path), trusted)

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], path: str, trusted: Sequence[str] = ()
    ) -> GBNCModel:
        """Build the model from the content of a file; `path` is for messages."""
        with naming_damage(path, "GBNC model"):
            try:
                model = _classifier(content, _unpack(content["base_models"], trusted))
                return cls(model, dict(content["settings"]), dict(content["data"]))
            except _UntrustedError as error:
                raise error.at(str(path)) from None


class _UntrustedError(ModelFileError):
    """The file contains objects of types that are not trusted."""


def _classifier(content: Mapping[str, Any], estimators: Sequence[Any]) -> GBNCClassifier:
    # Files of version 0.2 have neither `validation` nor `base`.
    given = {"validation": None, **content["parameters"]}
    model = GBNCClassifier(**{name: given[name] for name in _PARAMETERS})
    model.encoder_ = FeatureEncoder.from_dict(content["features"])
    targets = content["targets"]
    model.target_names_ = tuple(str(t["name"]) for t in targets)
    model.target_classes_ = [np.array(t["classes"], dtype=t["dtype"]) for t in targets]
    model.restore_targets(flat=bool(content["flat"]))
    model.feature_names_in_ = np.array(model.encoder_.names, dtype=object)
    model.n_features_in_ = len(model.encoder_.names)
    base = content.get("base")
    model.base_ = None if base is None else make_base(str(base))
    model._columns_in = list(model.encoder_.names)
    model.training_ = Training(**{k: int(v) for k, v in content["training"].items()})
    model.local_models_ = [_local_from_dict(m, estimators) for m in content["local_models"]]
    model.publish(Result.from_dict(content["result"]))
    nodes = {name: i for i, name in enumerate(model.nodes().names)}
    for name, local in zip(model.target_names_, model.local_models_, strict=True):
        parents = sorted(nodes[p] for p in model.structure_.to_dict()[name])
        cards = tuple(model.nodes().cards[p] for p in parents)
        if (nodes[name], tuple(parents), cards) != (local.child, local.parents, local.cards):
            raise ModelFileError(f"structure and base models of {name!r} disagree")
        if len(local.empty.counts) != model.nodes().cards[local.child]:
            raise ModelFileError(f"the base models of {name!r} have a different number of states")
    return model


def _local_to_dict(model: LocalModel, estimators: list[Any]) -> dict[str, Any]:
    configurations = []
    for number, part in sorted(model.models.items()):
        place = None
        if part.estimator is not None:
            place = len(estimators)
            estimators.append(part.estimator)
        configurations.append(
            {"configuration": number, "counts": part.counts.tolist(), "base_model": place}
        )
    return {
        "child": model.child,
        "parents": list(model.parents),
        "n_class_parents": model.n_class_parents,
        "cards": list(model.cards),
        "n_states": len(model.empty.counts),
        "frequencies": [f.tolist() for f in model.frequencies],
        "configurations": configurations,
    }


def _local_from_dict(data: Mapping[str, Any], estimators: Sequence[Any]) -> LocalModel:
    models = {
        int(c["configuration"]): ConfigurationModel(
            np.array(c["counts"], dtype=np.int64),
            None if c["base_model"] is None else estimators[c["base_model"]],
        )
        for c in data["configurations"]
    }
    return LocalModel(
        child=int(data["child"]),
        parents=tuple(map(int, data["parents"])),
        n_class_parents=int(data["n_class_parents"]),
        cards=tuple(map(int, data["cards"])),
        models=models,
        frequencies=tuple(np.array(f, dtype=np.float64) for f in data["frequencies"]),
        empty=ConfigurationModel(np.zeros(int(data["n_states"]), dtype=np.int64)),
    )


def _pack(estimators: Sequence[Any]) -> dict[str, Any]:
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


def _unpack(packed: Mapping[str, Any], trusted: Sequence[str]) -> list[Any]:
    if packed["format"] == "logistic-regression":
        return [_logistic(m) for m in packed["models"]]
    if packed["format"] != "skops":
        raise ModelFileError(f"base models in an unknown format {packed['format']!r}")
    import skops.io

    content = base64.b64decode(packed["content"], validate=True)
    unknown = sorted(set(skops.io.get_untrusted_types(data=content)) - set(trusted))
    if unknown:
        raise _UntrustedError(
            Message(
                f"the base models contain objects of types that are not trusted: "
                f"{', '.join(unknown)}. If you trust the source of the file, allow them with ",
                option("trusted", unknown, flag="trust"),
            )
        )
    return list(skops.io.loads(content, trusted=list(trusted)))


def _logistic(data: Mapping[str, Any]) -> LogisticRegression:
    model = LogisticRegression()
    model.classes_ = np.array(data["classes"], dtype=np.int64)
    model.coef_ = np.array(data["coefficients"], dtype=np.float64)
    model.intercept_ = np.array(data["intercepts"], dtype=np.float64)
    rows = 1 if len(model.classes_) == 2 else len(model.classes_)
    if model.coef_.shape[0] != rows or model.intercept_.shape != (rows,):
        raise ModelFileError("coefficients and classes of a base model do not match")
    model.n_features_in_ = model.coef_.shape[1]
    return model
