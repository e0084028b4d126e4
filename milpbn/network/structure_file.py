"""Structures from files, to start from: a model, a JSON table, or the printed lines."""

from __future__ import annotations

import json
from pathlib import Path

from milpbn.errors import MilpbnError, ModelFileError
from milpbn.network.model_file import FORMAT, Model
from milpbn.structure import Structure


def read_structure(path: str | Path) -> Structure:
    """Read a structure.

    Parameters
    ----------
    path
        A milpbn model; a JSON object ``{"variable": ["parent", ...]}`` with every
        variable; or text with one line per variable, as milpbn prints them:
        ``variable <- parent, parent``, the bare name where there is no parent.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ModelFileError(f"{path} is not a structure file: it is not text") from None
    if text.lstrip().startswith("{"):
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ModelFileError(f"{path} is not valid JSON: {error}") from None
        if content.get("format") == FORMAT:
            structure = Model.load(path).network.structure
            if isinstance(structure, Structure):
                return structure
            raise ModelFileError(f"{path} is a multinet: it has one structure for every class")
        parents = content
    else:
        parents = _parse_lines(text)
    try:
        return Structure.from_dict(parents)
    except (MilpbnError, TypeError) as error:
        raise ModelFileError(f"{path} holds no structure: {error}") from None


def _parse_lines(text: str) -> dict[str, list[str]]:
    parents = {}
    for line in text.splitlines():
        if line.strip():
            child, _, names = line.partition("<-")
            parents[child.strip()] = [p.strip() for p in names.split(",") if p.strip()]
    return parents
