"""GBNC model files: JSON with a format version; numbers and data, never pickled code.

Logistic regressions, the default, are stored as plain coefficients. Other base estimators are
stored by skops, which describes objects by type and state and loads only trusted types; its
bytes are part of the same JSON file, in base64.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import milpbn
from milpbn.datasets.table import Table
from milpbn.errors import ModelFileError
from milpbn.files import naming_damage, read_marked_json, write_whole
from milpbn.mdc.base_models import UntrustedError, pack_estimators, unpack_estimators
from milpbn.mdc.bases import Given, make_base
from milpbn.mdc.candidates import Nodes
from milpbn.mdc.features import FeatureEncoder
from milpbn.mdc.gbnc import LOSSES, GBNCClassifier
from milpbn.mdc.local_models import ConfigurationModel, LocalModel
from milpbn.mdc.schema import GBNCContent
from milpbn.mdc.training import Training
from milpbn.result import Result
from milpbn.schema import check_content, known_entries, labels_from
from milpbn.structure import Structure

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
        write_whole(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    def to_dict(self) -> dict[str, Any]:
        """The content of a model file; :meth:`from_dict` is the inverse."""
        model = self.classifier
        estimators: list[Any] = []
        local = [_local_to_dict(m, estimators) for m in model.local_models_]
        return {
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
            "named_features": hasattr(model, "feature_names_in_"),
            "features": model.encoder_.to_dict(),
            "training": asdict(model.training_),
            "result": model.result_.to_dict(),
            "base": None if isinstance(model.base_, Given | None) else str(model.base_),
            "local_models": local,
            "base_models": pack_estimators(estimators),
        }

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
                check_content(content, GBNCContent)
                model = _classifier(content, unpack_estimators(content["base_models"], trusted))
                return cls(model, dict(content["settings"]), dict(content["data"]))
            except UntrustedError as error:
                raise error.at(str(path)) from None


def describe_table(table: Table) -> dict[str, Any]:
    """Which rows were used, so that they can be found and read again."""
    return {
        **table.source,
        "name": table.name,
        "n_rows": len(table),
        "missing": table.missing,
        "readings": {name: r.to_dict() for name, r in table.readings.items()},
    }


def _classifier(content: Mapping[str, Any], estimators: Sequence[Any]) -> GBNCClassifier:
    # Files of version 0.2 have neither `validation` nor `base`.
    given = {"validation": None, **content["parameters"]}
    model = GBNCClassifier(**{name: given[name] for name in _PARAMETERS})
    if model.loss not in LOSSES:
        raise ModelFileError(f"parameters.loss: {model.loss!r} is not one of {', '.join(LOSSES)}")
    model.encoder_ = FeatureEncoder.from_dict(content["features"])
    targets = content["targets"]
    model.target_names_ = tuple(str(t["name"]) for t in targets)
    model.target_classes_ = [labels_from(t["classes"], t["dtype"]) for t in targets]
    model.restore_targets(flat=bool(content["flat"]))
    if content.get("named_features", True):  # absent in older files
        model.feature_names_in_ = np.array(model.encoder_.names, dtype=object)
    model.n_features_in_ = len(model.encoder_.names)
    base = content.get("base")
    model.base_ = None if base is None else make_base(str(base))
    model._columns_in = list(model.encoder_.names)
    model.training_ = Training(**known_entries(Training, content["training"]))
    nodes, result = model.nodes(), Result.from_dict(content["result"])
    if not isinstance(result.structure, Structure) or not targets:
        raise ModelFileError("result.structure: a class network is needed")
    if content["flat"] and len(targets) > 1:
        raise ModelFileError("flat: there are several class variables")
    width = model.encoder_.width
    pairs = zip(model.target_names_, content["local_models"], strict=True)
    for child, (name, local) in enumerate(pairs):
        with _naming(f"the base models of {name!r}"):
            _check_local(local, child, nodes, estimators, width)
    model.local_models_ = [_local_from_dict(m, estimators) for m in content["local_models"]]
    model.publish(result)
    shown = model.structure_.to_dict()
    for name, local_model in zip(model.target_names_, model.local_models_, strict=True):
        if {nodes.names[p] for p in local_model.parents} != set(shown[name]):
            raise ModelFileError(f"structure and base models of {name!r} disagree")
    return model


def _check_local(
    local: Mapping[str, Any], child: int, nodes: Nodes, estimators: Sequence[Any], width: int
) -> None:
    """Raise if base models do not fit the nodes or each other."""
    parents, cards = local["parents"], nodes.cards
    known = child == local["child"] and all(p < len(cards) and p != child for p in parents)
    if not known or parents != sorted(set(parents)):
        raise ModelFileError("child and parents are not nodes of the model")
    discrete = [cards[p] for p in parents if p >= nodes.d]
    if (local["cards"], local["n_class_parents"], local["n_states"]) != (
        [cards[p] for p in parents],
        len(parents) - len(discrete),
        cards[child],
    ):
        raise ModelFileError("the numbers of parents or states differ from those of the nodes")
    if [len(f) for f in local["frequencies"]] != discrete:
        raise ModelFileError("the frequencies do not match the states of the parents")
    numbers = [c["configuration"] for c in local["configurations"]]
    if len(set(numbers)) < len(numbers) or max(numbers, default=0) >= prod(local["cards"]):
        raise ModelFileError("a configuration does not exist, or is listed twice")
    for c in local["configurations"]:
        _check_configuration(c, cards[child], estimators, width)


def _check_configuration(
    given: Mapping[str, Any], n_states: int, estimators: Sequence[Any], width: int
) -> None:
    where, counts = f"configuration {given['configuration']}", given["counts"]
    if len(counts) != n_states:
        raise ModelFileError(f"{where} has {len(counts)} counts for {n_states} states")
    if given["base_model"] is None:
        return
    if given["base_model"] >= len(estimators):
        raise ModelFileError(f"{where} names a base model that does not exist")
    estimator = estimators[given["base_model"]]
    shown = [state for state, n in enumerate(counts) if n]
    if len(shown) < 2 or list(estimator.classes_) != shown:
        raise ModelFileError(f"{where}: the base model has other states than the counts")
    if getattr(estimator, "n_features_in_", width) != width:
        raise ModelFileError(
            f"{where}: the base model has {estimator.n_features_in_} features, not {width}"
        )


@contextmanager
def _naming(place: str) -> Iterator[None]:
    try:
        yield
    except ModelFileError as error:
        raise error.at(place) from None


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
