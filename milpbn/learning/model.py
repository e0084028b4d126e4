"""Model files: JSON with a format version; data only, never code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

import milpbn
from milpbn._types import FloatArray
from milpbn.certainty.alternative_records import Alternatives
from milpbn.certainty.arc_records import ArcMargins
from milpbn.certainty.stability_records import Stability
from milpbn.encoding.columns import Variable
from milpbn.encoding.data import EncodedData
from milpbn.encoding.encoder import Encoder
from milpbn.errors import ModelFileError
from milpbn.explanation import MOST_POINTS, Explanation, ScoreCard, explain_rows, make_card
from milpbn.explanation.resolutions import SeenResolutions
from milpbn.families.smoothing import parse_smoothing
from milpbn.files import naming_damage, read_marked_json, write_whole
from milpbn.learning.predictions import PredictedRows, not_for, predict_class
from milpbn.network.inference import log_posterior
from milpbn.network.multinet import Classifier, Multinet, class_variables
from milpbn.network.network import Network
from milpbn.result import ParameterReport, Result
from milpbn.schema import ModelContent, check_content
from milpbn.selection.candidates import Selection
from milpbn.structure import AnyStructure, ClassStructures, Structure, structure_from_dict

if TYPE_CHECKING:
    from milpbn.estimators import BNClassifier

Tables = tuple[FloatArray, ...] | None

FORMAT = "milpbn-model"
VERSION = 1

# What a model may have in addition; entries of the file have the same names.
_PARTS: dict[str, Any] = {
    "selection": Selection,
    "arcs": ArcMargins,
    "alternatives": Alternatives,
    "stability": Stability,
}


@dataclass(frozen=True)
class Model:
    """A learned classifier with everything needed to use, inspect and check it.

    Attributes
    ----------
    network
        Structure and parameters.
    encoder
        How raw columns become states.
    result
        What was proven while learning, including the trace.
    settings
        Every setting of the run.
    data
        Which rows were used: source with sha256, rows, policy for missing values.
    parameters
        How the parameters were learned.
    selection
        How the settings were selected, if they were.
    importance
        For each feature, the mean absolute contribution to the log-odds of the predicted class
        in the training rows (in a part of them, if there are very many); empty in files of older
        versions.
    arcs
        Arc margins, if they were computed.
    alternatives
        The best structures, if they were looked for.
    stability
        How often arcs are learned from resampled rows, if this was computed.
    """

    versions: ClassVar[Mapping[str, int]] = {FORMAT: VERSION}
    """The format mark of its files, and the version that can be read."""
    network: Classifier
    encoder: Encoder
    result: Result
    settings: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    parameters: ParameterReport = field(default_factory=lambda: ParameterReport("ml"))
    selection: Selection | None = None
    importance: dict[str, float] = field(default_factory=dict)
    arcs: ArcMargins | None = None
    alternatives: Alternatives | None = None
    stability: Stability | None = None

    def save(self, path: str | Path) -> None:
        """Write the model; an incomplete file is never left behind."""
        write_whole(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    def to_dict(self) -> dict[str, Any]:
        """The content of a model file; :meth:`from_dict` is the inverse."""
        structure = self.network.structure
        resolutions = structure.resolutions_to_dict()
        counts = _tables_to_dict(self.network, lambda own: own.counts)
        shares = _tables_to_dict(self.network, lambda own: own.shares)
        return {
            "format": FORMAT,
            "version": VERSION,
            "milpbn": milpbn.__version__,
            "data": self.data,
            "settings": self.settings,
            "encoder": self.encoder.to_dict(),
            "structure": structure.to_dict(),
            **({"resolutions": resolutions} if resolutions else {}),
            "log_probabilities": _tables_to_dict(self.network, lambda own: own.log_cpts),
            **({"log_shares": shares} if any(shares.values()) else {}),
            **({"counts": counts} if any(counts.values()) else {}),
            "parameters": self.parameters.to_dict(),
            "result": self.result.to_dict(),
            **({"importance": self.importance} if self.importance else {}),
            **{
                name: part.to_dict() for name in _PARTS if (part := getattr(self, name)) is not None
            },
        }

    def log_posterior(self, frame: pd.DataFrame) -> FloatArray:
        """``(M, |C|)``: log P(c | observed features) of raw rows; columns are found by name."""
        return log_posterior(self.network, self.encoder.transform(frame).codes)

    @property
    def has_newer_rows(self) -> bool:
        """Whether the tables have rows that the structure was not learned from."""
        return "updates" in self.data and self.result.n_rows < self.data.get("n_rows", 0)

    def rows_of_search(self, data: EncodedData) -> EncodedData:
        """Of all rows of the model, those that its structure was learned from."""
        return data.first(self.result.n_rows) if self.has_newer_rows else data

    @property
    def seen(self) -> SeenResolutions:
        """The resolutions that the families use; as text, the structure in the user's units."""
        return SeenResolutions(self.network.structure, self.encoder)

    @property
    def structure(self) -> AnyStructure:
        """The structure of the network."""
        return self.network.structure

    @property
    def single(self) -> Model | None:
        """The model itself, with its probability tables; None for models of several classes."""
        return self

    @property
    def n_class_variables(self) -> int:
        """The number of class variables, which come first in the structure."""
        return len(self.targets)

    @property
    def targets(self) -> list[str]:
        """The names of the class variables."""
        return [self.encoder.target.name]

    def facts(self) -> list[str]:
        """What a report says besides the result, in lines."""
        return [f"{'parameters':<12}{self.network.n_parameters} by {self.parameters}"]

    def sources(self) -> list[str]:
        """The raw columns that predictions need."""
        return self.encoder.sources()

    def predict(
        self, frame: pd.DataFrame, *, loss: str | None = None, costs: Any = None
    ) -> PredictedRows:
        """Predict raw rows, whose columns are found by name.

        Parameters
        ----------
        frame
            The rows; columns may be missing from them.
        loss
            With several class variables, what predictions minimise: ``"subset"``, ``"hamming"``
            or ``"balanced"``.
        costs
            With one class variable, the cost of each error: ``{true: {predicted: cost}}``.
        """
        if loss is not None:
            raise not_for("loss", "several class variables")
        return predict_class(self.network, self.encoder, frame, costs)

    def explain(self, frame: pd.DataFrame, *, of: Any = None, against: Any = None) -> Explanation:
        """Explain the predictions for raw rows; see :func:`milpbn.explanation.explain_rows`."""
        return explain_rows(self.network, self.encoder, frame, of=of, against=against)

    def card(self, *, of: str | None = None, points: int = MOST_POINTS) -> ScoreCard:
        """The model as a score card; see :func:`milpbn.explanation.make_card`."""
        smoothing = parse_smoothing(self.settings.get("smoothing", "laplace"))
        return make_card(self.network, self.encoder, smoothing, of=of, points=points)

    def to_estimator(self) -> BNClassifier:
        """The model as a fitted scikit-learn classifier."""
        from milpbn.estimators import BNClassifier

        return BNClassifier.from_model(self)

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read a model file; anything wrong with it raises :class:`ModelFileError`."""
        return cls.from_dict(read_marked_json(path, cls.versions), str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], path: str) -> Model:
        """Build the model from the content of a file; `path` is for messages."""
        with naming_damage(path, "milpbn model"):
            check_content(content, ModelContent)
            encoder = Encoder.from_dict(content["encoder"])
            structure = structure_from_dict(content["structure"], content.get("resolutions"))
            names = tuple(v.name for v in encoder.variables)
            if structure.variables != names:
                raise ModelFileError("structure and encoder have different variables")
            result = Result.from_dict(content["result"])
            # The tables may have finer bins than the search; verification compares those, too.
            if result.structure.to_dict() != structure.to_dict():
                raise ModelFileError("the result has a different structure")
            parts = {n: kind.from_dict(content[n]) for n, kind in _PARTS.items() if n in content}
            naming = {n: part.names for n, part in parts.items() if n != "selection"}
            _check_names(structure, {**naming, "importance": set(content.get("importance", {}))})
            _check_alternatives(structure, parts.get("alternatives"))
            return cls(
                network=_classifier(structure, encoder.variables, content),
                encoder=encoder,
                result=result,
                settings=dict(content["settings"]),
                data=dict(content["data"]),
                # Files from before other learners existed have maximum-likelihood parameters.
                parameters=ParameterReport.from_dict(content["parameters"])
                if "parameters" in content
                else ParameterReport("ml"),
                importance={
                    str(name): float(size) for name, size in content.get("importance", {}).items()
                },
                **parts,
            )


def _tables_to_dict(network: Classifier, tables: Callable[[Network], Tables]) -> dict[str, Any]:
    """Log-probabilities or counts by the names of the variables; for a multinet, by the class."""
    if isinstance(network, Multinet):
        own = zip(network.structure.classes, network.networks, strict=True)
        return {state: _tables_to_dict(n, tables) for state, n in own}
    pairs = zip(network.structure.variables, tables(network) or (), strict=False)
    return {name: table.tolist() for name, table in pairs}


def _check_names(structure: AnyStructure, names: Mapping[str, set[str]]) -> None:
    """Raise if a part of a file names a variable that the model does not have."""
    for part, own in names.items():
        if not isinstance(structure, Structure) and part != "importance":
            raise ModelFileError(f"{part}: a multinet has a structure per class, and no {part}")
        if unknown := own - set(structure.variables):
            raise ModelFileError(f"{part}: there is no variable {min(unknown)!r}")


def _check_alternatives(structure: AnyStructure, found: Alternatives | None) -> None:
    """Raise if structures of the set are not of the model's variables."""
    for k, one in enumerate(found.structures if found else (), 1):
        if one.structure.variables != structure.variables:
            raise ModelFileError(f"alternatives: structure {k} does not have the model's variables")


def _classifier(
    structure: AnyStructure, variables: tuple[Variable, ...], content: Mapping[str, Any]
) -> Classifier:
    tables = [content.get(name) for name in ("log_probabilities", "counts", "log_shares")]
    if isinstance(structure, ClassStructures):
        parts = zip(structure.classes, structure.structures, strict=True)
        networks = tuple(
            _network(own, class_variables(variables, c), *(t and t[state] for t in tables))
            for c, (state, own) in enumerate(parts)
        )
        return Multinet(structure, variables, networks)
    return _network(structure, variables, *tables)


def _network(
    structure: Structure,
    variables: tuple[Variable, ...],
    *tables: Mapping[str, Any] | None,
) -> Network:
    """The network with its log-probabilities, counts and shares."""
    cpts, amounts, shares = (
        tuple(np.array(told[name], dtype=np.float64) for name in structure.variables)
        if told
        else None
        for told in tables
    )
    logs = (*(cpts or ()), *(shares or ()))
    if cpts is None or not all(np.isfinite(t).all() and (t <= 1e-9).all() for t in logs):
        raise ModelFileError("a log-probability is positive or not a number")
    if not all(np.isfinite(t).all() and (t >= 0).all() for t in amounts or ()):
        raise ModelFileError("a count is negative or not a number")
    return Network(structure, variables, cpts, amounts, shares or ())
