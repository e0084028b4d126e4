"""Model files: JSON with a format version; data only, never code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

import milpbn
from milpbn._types import FloatArray
from milpbn.encoding.columns import Variable
from milpbn.encoding.encoder import Encoder
from milpbn.errors import ModelFileError
from milpbn.files import naming_damage, read_marked_json, write_whole
from milpbn.learning.candidates import Selection
from milpbn.network.inference import log_posterior
from milpbn.network.multinet import Classifier, Multinet, class_network
from milpbn.network.network import Network
from milpbn.result import ParameterReport, Result
from milpbn.schema import ModelContent, check_content
from milpbn.structure import AnyStructure, ClassStructures, structure_from_dict

if TYPE_CHECKING:
    from milpbn.estimators import BNClassifier

FORMAT = "milpbn-model"
VERSION = 1


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

    def save(self, path: str | Path) -> None:
        """Write the model; an incomplete file is never left behind."""
        structure = self.network.structure
        content = {
            "format": FORMAT,
            "version": VERSION,
            "milpbn": milpbn.__version__,
            "data": self.data,
            "settings": self.settings,
            "encoder": self.encoder.to_dict(),
            "structure": structure.to_dict(),
            "log_probabilities": _tables_to_dict(self.network),
            "parameters": self.parameters.to_dict(),
            "result": self.result.to_dict(),
            **({"selection": self.selection.to_dict()} if self.selection else {}),
        }
        write_whole(path, json.dumps(content, indent=1, allow_nan=False) + "\n")

    def log_posterior(self, frame: pd.DataFrame) -> FloatArray:
        """``(M, |C|)``: log P(c | observed features) of raw rows; columns are found by name."""
        return log_posterior(self.network, self.encoder.transform(frame).codes)

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
            structure = structure_from_dict(content["structure"])
            names = tuple(v.name for v in encoder.variables)
            if structure.variables != names:
                raise ModelFileError("structure and encoder have different variables")
            result = Result.from_dict(content["result"])
            if result.structure != structure:
                raise ModelFileError("the result has a different structure")
            return cls(
                network=_classifier(structure, encoder.variables, content["log_probabilities"]),
                encoder=encoder,
                result=result,
                settings=dict(content["settings"]),
                data=dict(content["data"]),
                # Files from before other learners existed have maximum-likelihood parameters.
                parameters=ParameterReport.from_dict(content["parameters"])
                if "parameters" in content
                else ParameterReport("ml"),
                selection=Selection.from_dict(content["selection"])
                if "selection" in content
                else None,
            )


def _tables_to_dict(network: Classifier) -> dict[str, Any]:
    if isinstance(network, Multinet):
        own = zip(network.structure.classes, network.networks, strict=True)
        return {state: _tables_to_dict(n) for state, n in own}
    pairs = zip(network.structure.variables, network.log_cpts, strict=True)
    return {name: cpt.tolist() for name, cpt in pairs}


def _classifier(
    structure: AnyStructure, variables: tuple[Variable, ...], tables: dict[str, Any]
) -> Classifier:
    if isinstance(structure, ClassStructures):
        networks = []
        for c, state in enumerate(structure.classes):
            prior, *own = _tables_from_dict(structure.variables, tables[state])
            networks.append(class_network(structure, variables, c, float(prior[0]), own))
        return Multinet(structure, variables, tuple(networks))
    return Network(structure, variables, _tables_from_dict(structure.variables, tables))


def _tables_from_dict(names: tuple[str, ...], tables: dict[str, Any]) -> tuple[FloatArray, ...]:
    cpts = tuple(np.array(tables[name], dtype=np.float64) for name in names)
    if not all(np.isfinite(cpt).all() and (cpt <= 1e-9).all() for cpt in cpts):
        raise ModelFileError("a log-probability is positive or not a number")
    return cpts
