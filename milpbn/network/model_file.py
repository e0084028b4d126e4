"""Model files: JSON with a format version; data only, never code."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import milpbn
from milpbn._types import FloatArray
from milpbn.encoding.columns import Variable
from milpbn.encoding.encoder import Encoder
from milpbn.errors import MilpbnError, ModelFileError
from milpbn.files import write_whole
from milpbn.messages import Message, Spelling
from milpbn.network.multinet import Classifier, Multinet, class_network
from milpbn.network.network import Network
from milpbn.result import ParameterReport, Result
from milpbn.structure import AnyStructure, ClassStructures, structure_from_dict

FORMAT = "milpbn-model"
VERSION = 1

# What reads the files of each mark.
_READERS = {
    FORMAT: Spelling(
        "milpbn.network.model_file.Model.load", "`milpbn inspect` and `milpbn predict`"
    ),
    "milpbn-gbnc": Spelling(
        "milpbn.mdc.model_file.GBNCModel.load", "`milpbn mdc inspect` and `milpbn mdc predict`"
    ),
}

# What reading a file with wrong or missing entries may raise.
_DAMAGE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, MilpbnError)


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
        What was proved while learning, trace included.
    settings
        Every setting of the run.
    data
        Which rows were used: source with sha256, rows, policy for missing values.
    parameters
        How the parameters were learned.
    """

    network: Classifier
    encoder: Encoder
    result: Result
    settings: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    parameters: ParameterReport = field(default_factory=lambda: ParameterReport("ml"))

    def save(self, path: str | Path) -> None:
        """Write the model; the file appears whole or not at all."""
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
        }
        write_whole(path, json.dumps(content, indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Model:
        """Read a model file; anything wrong with it raises :class:`ModelFileError`."""
        content = read_marked_json(Path(path), "milpbn model", FORMAT, VERSION)
        try:
            encoder = Encoder.from_dict(content["encoder"])
            structure = structure_from_dict(content["structure"])
            names = tuple(v.name for v in encoder.variables)
            if structure.variables != names:
                raise ModelFileError("structure and encoder have different variables")
            result = Result.from_dict(content["result"])
            if result.structure != structure:
                raise ModelFileError("the result is about another structure")
            return cls(
                network=_classifier(structure, encoder.variables, content["log_probabilities"]),
                encoder=encoder,
                result=result,
                settings=dict(content["settings"]),
                data=dict(content["data"]),
                # Files from before there was a choice have maximum-likelihood parameters.
                parameters=ParameterReport.from_dict(content["parameters"])
                if "parameters" in content
                else ParameterReport("ml"),
            )
        except _DAMAGE as error:
            reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else error
            raise ModelFileError(f"{path} is a damaged milpbn model: {reason}") from None


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


def read_marked_json(path: Path, what: str, mark: str, version: int) -> dict[str, Any]:
    """A JSON object that carries a format mark and version; `what` names the kind in messages."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ModelFileError(f"{path} is not a {what}: it is not a text file") from None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{path} is not a {what}, or is truncated: not valid JSON ({error})"
        ) from None
    found = content.get("format") if isinstance(content, dict) else None
    if found != mark:
        reader = _READERS.get(found) if isinstance(found, str) else None
        hint = () if reader is None else (f"; it is marked {found!r}, use ", reader)
        raise ModelFileError(Message(f"{path} is not a {what} (no {mark!r} mark)", *hint))
    if content.get("version") != version:
        raise ModelFileError(
            f"{path} has {what} format {content.get('version')!r}; this milpbn "
            f"({milpbn.__version__}) reads version {version}"
        )
    return dict(content)
