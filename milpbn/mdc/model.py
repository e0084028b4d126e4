"""A learned GBNC: plain data, predictions, and its file.

The file is JSON with a format version; numbers and data, never pickled code. Logistic
regressions, the default, are stored as plain coefficients. Other base estimators are stored by
skops, which describes objects by type and state and loads only trusted types; its bytes are part
of the same file, in base64.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

import milpbn
from milpbn._types import Codes, FloatArray
from milpbn.datasets.readings import Reading
from milpbn.errors import DataError, ModelFileError
from milpbn.evaluation.metrics import exact_match_score, hamming_score
from milpbn.files import naming_damage, read_marked_json, write_whole
from milpbn.learning.predictions import Labelled, PredictedRows, not_for
from milpbn.mdc import inference
from milpbn.mdc.base_estimators import BASES, Base, make_base
from milpbn.mdc.candidates import Nodes
from milpbn.mdc.content import check_local, local_from_dict, local_to_dict, naming
from milpbn.mdc.features import FeatureEncoder, Features, encode_frame
from milpbn.mdc.local_models import Fits, LocalModel
from milpbn.mdc.packing import UntrustedError, pack_estimators, unpack_estimators
from milpbn.mdc.rows import class_codes, nodes_of
from milpbn.mdc.schema import GBNCContent
from milpbn.mdc.settings import GBNCSettings, check_choice
from milpbn.mdc.training import Training
from milpbn.network.factors import Factor
from milpbn.result import Result
from milpbn.schema import check_content, known_entries, labels_from
from milpbn.structure import Structure
from milpbn.words import name_in_list

if TYPE_CHECKING:
    from milpbn.mdc.classifier import GBNCClassifier

FORMAT = "milpbn-gbnc"
VERSION = 1

# Settings that the file has twice, for versions that read only the first of these entries.
_PARAMETERS = ("validation", "max_parents", "mixed", "max_discrete_parents", "loss", "engine")


@dataclass(frozen=True)
class GBNCModel:
    """A learned GBNC with everything needed to use, inspect and check it.

    Attributes
    ----------
    encoder
        How features become what base models see.
    classes
        The labels of each class variable, by its name.
    local_models
        The base models of each class variable.
    result
        What was proven while learning, including the trace.
    training
        How many base models were trained, and what was pruned.
    settings
        The settings of the run.
    base
        The kind of base model with the settings that were chosen; None if a file does not say.
    data
        Which rows were used, and how their columns are made from raw ones.
    fits
        How the training of base models went; empty for a model from a file.
    flat
        Whether predictions are flat, because the labels were.
    """

    versions: ClassVar[Mapping[str, int]] = {FORMAT: VERSION}
    """The format mark of its files, and the version that can be read."""
    encoder: FeatureEncoder
    classes: dict[str, npt.NDArray[Any]]
    local_models: tuple[LocalModel, ...]
    result: Result
    training: Training
    settings: GBNCSettings
    base: Base | None
    data: dict[str, Any] = field(default_factory=dict)
    fits: Fits = field(default_factory=Fits)
    flat: bool = False

    @property
    def nodes(self) -> Nodes:
        """The class variables, then the features that may partition their rows."""
        return nodes_of({n: c.tolist() for n, c in self.classes.items()}, self.encoder)

    @property
    def cards(self) -> tuple[int, ...]:
        """The numbers of states of the class variables."""
        return tuple(map(len, self.classes.values()))

    @property
    def structure(self) -> Structure:
        """The class network: class variables, and the features that partition rows."""
        assert isinstance(self.result.structure, Structure)
        return self.result.structure

    @property
    def readings(self) -> dict[str, Reading]:
        """How columns are made from raw ones."""
        told = self.data.get("readings", {})
        return {name: Reading.from_dict(reading) for name, reading in told.items()}

    def encode(self, frame: pd.DataFrame) -> Features:
        """Encode raw rows, or rows that have been read already; columns are found by name."""
        return encode_frame(frame, self.encoder, self.readings)

    def marginals(self, features: Features) -> list[FloatArray]:
        """P(y_j | x) of encoded rows, for each class variable."""
        parts = [inference.marginals(f, self.cards) for _, f in self._batches(features)]
        return [np.exp(np.concatenate(column)) for column in zip(*parts, strict=True)]

    def decide(self, features: Features, loss: str | None = None) -> Codes:
        """The predicted states of encoded rows, ``(rows, d)``; by default for the model's loss."""
        loss = loss or self.settings.loss
        check_choice("loss", loss, inference.LOSSES)
        if loss == inference.SUBSET:
            parts = [inference.most_probable(f, self.cards) for _, f in self._batches(features)]
            return np.concatenate(parts)
        utility = self.marginals(features)
        if loss == inference.BALANCED:
            # Macro recall counts a row of a state as 1 / its share of the rows.
            utility = [p / own.shares for p, own in zip(utility, self.local_models, strict=True)]
        return np.column_stack([u.argmax(axis=1) for u in utility])

    def joint_log_proba(self, features: Features, labels: pd.DataFrame | None = None) -> FloatArray:
        """``(rows,)``: log P(y | x) of these labels; without them, that of all joint states."""
        if labels is None:
            parts = [inference.joint_table(f, self.cards) for _, f in self._batches(features)]
            return np.concatenate(parts)
        codes = self.known_codes(labels)
        out = np.empty(len(features))
        for rows, factors in self._batches(features):
            out[rows] = inference.log_probability(factors, codes[rows])
        return out

    def known_codes(self, labels: pd.DataFrame) -> Codes:
        """The codes of labels, all of which must have been seen in training."""
        codes = class_codes(labels, {n: c.tolist() for n, c in self.classes.items()})
        for j, name in enumerate(self.classes):
            if (codes[:, j] < 0).any():
                unknown = labels[name].to_numpy(dtype=object)[codes[:, j] < 0][0]
                raise DataError(
                    f"the class variable {name!r} has the value {unknown!r}, which was never seen "
                    "in training"
                )
        return codes

    def _batches(self, features: Features) -> Iterator[tuple[slice, list[Factor]]]:
        return inference.network_factors(self.local_models, features, self.cards)

    @property
    def n_class_variables(self) -> int:
        """See :class:`~milpbn.Model`, as for `sources` and `predict`."""
        return len(self.classes)

    @property
    def single(self) -> None:
        """There are several class variables."""

    @property
    def targets(self) -> list[str]:
        """See :class:`~milpbn.Model`."""
        return list(self.classes)

    def sources(self) -> list[str]:
        """See :meth:`milpbn.Model.sources`."""
        readings = self.readings
        names = (readings[c].source if c in readings else c for c in self.encoder.names)
        return list(dict.fromkeys(names))

    def predict(
        self, frame: pd.DataFrame, *, loss: str | None = None, costs: Any = None
    ) -> PredictedRows:
        """See :meth:`milpbn.Model.predict`."""
        if costs is not None:
            raise not_for("costs", "one class variable")
        features = self.encode(frame)
        codes = self.decide(features, loss)
        columns, states = {}, {}
        for j, (name, classes) in enumerate(self.classes.items()):
            columns[name] = classes[codes[:, j]]
            states[name] = tuple(map(str, classes))
        chosen = pd.DataFrame(columns)
        shares = [
            pd.DataFrame(proba, columns=[f"P({name}={c})" for c in self.classes[name]])
            for name, proba in zip(self.classes, self.marginals(features), strict=True)
        ]
        return PredictedRows(
            pd.concat([chosen, *shares], axis=1),
            states,
            pd.DataFrame(codes, columns=list(self.classes)),
            {name: frame[name] for name in self.classes if name in frame},
            features.unseen,
            features.missing_counts,
            _agreement,
        )

    def save(self, path: str | Path) -> None:
        """Write the model; an incomplete file is never left behind."""
        write_whole(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    def facts(self) -> list[str]:
        """Class variables, features, base models and their training, as lines of a report."""
        pairs, encoder = self.classes.items(), self.encoder
        models = zip(self.classes, self.local_models, strict=True)
        return [
            f"{'classes':<12}{', '.join(f'{name_in_list(n)}: {len(c)}' for n, c in pairs)}",
            f"{'features':<12}{len(encoder.numeric)} numeric, {len(encoder.categories)} "
            f"categorical ({encoder.mixed})",
            *([f"{'base':<12}{self.base}"] if self.training.base_models and self.base else []),
            str(self.training),
            "base models for configurations with rows: "
            + ", ".join(f"{name_in_list(n)}: {m.fitted}" for n, m in models),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The content of a model file; :meth:`from_dict` is the inverse."""
        estimators: list[Any] = []
        local = [local_to_dict(m, estimators) for m in self.local_models]
        settings = self.settings.to_dict()
        known = self.base is not None and self.base.name in BASES
        return {
            "format": FORMAT,
            "version": VERSION,
            "milpbn": milpbn.__version__,
            "data": {k: v for k, v in self.data.items() if k != "named_features"},
            "settings": settings,
            "parameters": {
                **{name: settings[name] for name in _PARAMETERS},
                "random_state": self.settings.seed,
            },
            "targets": [
                {"name": name, "classes": classes.tolist(), "dtype": classes.dtype.str}
                for name, classes in self.classes.items()
            ],
            "flat": self.flat,
            "named_features": self.data.get("named_features", True),
            "features": self.encoder.to_dict(),
            "training": asdict(self.training),
            "result": self.result.to_dict(),
            "base": str(self.base) if known else None,
            "local_models": local,
            "base_models": pack_estimators(estimators),
        }

    def to_estimator(self) -> GBNCClassifier:
        """The model as a fitted scikit-learn classifier."""
        from milpbn.mdc.classifier import GBNCClassifier

        return GBNCClassifier.from_model(self)

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
                return _built(content, unpack_estimators(content["base_models"], trusted))
            except UntrustedError as error:
                raise error.at(str(path)) from None


def _agreement(found: Labelled) -> list[str]:
    """How well the labels of rows are predicted."""
    exact, hamming = (
        100 * f(found.truth, found.guesses) for f in (exact_match_score, hamming_score)
    )
    return [f"exact match {exact:.2f} %, Hamming score {hamming:.2f} %"]


def _built(content: Mapping[str, Any], estimators: Sequence[Any]) -> GBNCModel:
    """The model that a file describes; its parts must fit each other."""
    # Files of version 0.2 have neither `validation` nor `base`.
    given = dict(content["parameters"])
    settings = {"validation": None, **content["settings"], **given, "seed": given["random_state"]}
    base, targets = content.get("base"), content["targets"]
    model = GBNCModel(
        FeatureEncoder.from_dict(content["features"]),
        {str(t["name"]): labels_from(t["classes"], t["dtype"]) for t in targets},
        (),
        Result.from_dict(content["result"]),
        Training(**known_entries(Training, content["training"])),
        GBNCSettings.from_dict(settings),
        None if base is None else make_base(str(base)),
        # An entry that older files lack: their columns had names.
        {**content["data"], "named_features": content.get("named_features", True)},
        flat=bool(content["flat"]),
    )
    if len(model.classes) < len(targets):
        raise ModelFileError("targets: a class variable is listed twice")
    if not isinstance(model.result.structure, Structure) or not targets:
        raise ModelFileError("result.structure: a class network is needed")
    if model.flat and len(targets) > 1:
        raise ModelFileError("flat: there are several class variables")
    nodes = model.nodes
    for child, (name, local) in enumerate(zip(model.classes, content["local_models"], strict=True)):
        with naming(f"the base models of {name!r}"):
            check_local(local, child, nodes, estimators, model.encoder.width)
    local_models = tuple(local_from_dict(m, estimators) for m in content["local_models"])
    shown = model.structure.to_dict()
    for name, own in zip(model.classes, local_models, strict=True):
        if name not in shown or {nodes.names[p] for p in own.parents} != set(shown[name]):
            raise ModelFileError(f"structure and base models of {name!r} disagree")
    return replace(model, local_models=local_models)
