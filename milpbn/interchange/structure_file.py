"""Networks and structures from files in several formats, recognised by how they begin."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from milpbn.errors import MilpbnError, ModelFileError
from milpbn.interchange.bif import is_bif, parse_bif
from milpbn.interchange.document import Document, read_text
from milpbn.interchange.json_formats import FORMAT as NETWORK_FORMAT
from milpbn.interchange.json_formats import parse_json
from milpbn.interchange.modelstring import is_modelstring, parse_modelstring
from milpbn.interchange.xmlbif import parse_xmlbif
from milpbn.learning.model import FORMAT as MODEL_FORMAT
from milpbn.learning.model import Model
from milpbn.network.network import Network
from milpbn.structure import Structure

_NET_COMMENT = re.compile(r"%[^\n]*")
_NET = re.compile(r"\s*net\s*\{")


def read_structure(path: str | Path) -> Structure:
    """Read a structure.

    Parameters
    ----------
    path
        A milpbn model; a network as BIF, XMLBIF or JSON; a model string
        ``[class][a|class]``; a JSON object ``{"variable": ["parent", ...]}`` with every
        variable; or text with one line per variable, as milpbn prints them:
        ``variable <- parent, parent``, or the name alone if there are no parents.
    """
    text = read_text(path)
    try:
        document = _document(text)
        if document is not None:
            return document.structure()
        if is_modelstring(text):
            return parse_modelstring(text)
        if text.lstrip().startswith("{"):
            content = _json(text)
            if content.get("format") == MODEL_FORMAT:
                return _of_model(path).structure
            return Structure.from_dict(content)
        return Structure.from_dict(_parse_lines(text))
    except (MilpbnError, TypeError) as error:
        if str(error).startswith(str(path)):
            raise
        raise ModelFileError(f"cannot read a structure from {path}: {error}") from None


def read_network(path: str | Path, target: str | None = None) -> Network:
    '''Read a network with its probabilities.

    Parameters
    ----------
    path
        A milpbn model, or a network as BIF, XMLBIF or JSON.
    target
        The class; by default the first variable of the file, which is where milpbn writes it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = """network rain {
    ... }
    ... variable rain {
    ...   type discrete [ 2 ] { no, yes };
    ... }
    ... probability ( rain ) {
    ...   table 0.75, 0.25;
    ... }
    ... """
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "rain.bif")
    ...     _ = file.write_text(text)
    ...     network = read_network(file)
    >>> network.variables
    (Variable(name='rain', states=('no', 'yes')),)
    '''
    text = read_text(path)
    try:
        document = _document(text)
        if document is not None:
            return document.network(target)
        if text.lstrip().startswith("{") and _json(text).get("format") == MODEL_FORMAT:
            network = _of_model(path)
            if target in (None, network.variables[0].name):
                return network
            raise ModelFileError(
                f"the class of the model is {network.variables[0].name!r}, not {target!r}"
            )
    except MilpbnError as error:
        if str(error).startswith(str(path)):
            raise
        raise ModelFileError(f"cannot read a network from {path}: {error}") from None
    raise ModelFileError(
        f"cannot read a network from {path}: it is not BIF, XMLBIF or milpbn's JSON"
    )


def _of_model(path: str | Path) -> Network:
    network = Model.load(path).network
    if isinstance(network, Network):
        return network
    raise ModelFileError(f"{path} is a multinet: it has one structure per class")


def _document(text: str) -> Document | None:
    """Parse the text of a network file; None if the text is something else."""
    if text.lstrip().startswith("<"):
        return parse_xmlbif(text)
    if is_bif(text):
        return parse_bif(text)
    if _NET.match(_NET_COMMENT.sub("", text)):
        raise ModelFileError("NET files can be written, but not read; use BIF or XMLBIF")
    if text.lstrip().startswith("{") and f'"{NETWORK_FORMAT}"' in text:
        content = _json(text)
        return parse_json(content) if content.get("format") == NETWORK_FORMAT else None
    return None


def _json(text: str) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"not valid JSON: {error}") from None
    return content


def _parse_lines(text: str) -> dict[str, list[str]]:
    parents = {}
    for line in text.splitlines():
        if line.strip():
            child, _, names = line.partition("<-")
            parents[child.strip()] = [p.strip() for p in names.split(",") if p.strip()]
    return parents
