"""XMLBIF 0.3: BIF as XML. It preserves every name, so prefer it for other tools.

The XML is read and written by the standard library; the elements are few.

References
----------
Cozman (1998), The interchange format for Bayesian networks.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np

from milpbn._types import FloatArray
from milpbn.encoding.columns import Variable
from milpbn.errors import ModelFileError
from milpbn.interchange.document import Document, probabilities
from milpbn.interchange.names import XML, escape, unescape
from milpbn.network.network import Network


def write_xmlbif(network: Network, name: str = "milpbn") -> str:
    """The network as XMLBIF."""
    root = ET.Element("BIF", VERSION="0.3")
    body = ET.SubElement(root, "NETWORK")
    _add(body, "NAME", name)
    for v in network.variables:
        variable = ET.SubElement(body, "VARIABLE", TYPE="nature")
        _add(variable, "NAME", v.name)
        for state in v.states:
            _add(variable, "OUTCOME", state)
    for i, parents in enumerate(network.structure.parents):
        definition = ET.SubElement(body, "DEFINITION")
        _add(definition, "FOR", network.variables[i].name)
        for p in parents:
            _add(definition, "GIVEN", network.variables[p].name)
        rows = probabilities(network, i).reshape(-1, network.variables[i].card)
        table = ET.SubElement(definition, "TABLE")
        table.text = "\n".join(" ".join(map(repr, row)) for row in rows.tolist())
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def parse_xmlbif(text: str) -> Document:
    """Parse the text of an XMLBIF file."""
    try:
        root = ET.fromstring(text.encode())
    except ET.ParseError as error:
        raise ModelFileError(f"not valid XML: {error}") from None
    body = root.find("NETWORK")
    if root.tag != "BIF" or body is None:
        raise ModelFileError(
            f"an XML file, but not XMLBIF: expected <NETWORK> in <BIF>, found <{root.tag}>"
        )
    variables = tuple(
        Variable(_text(v, "NAME"), tuple(_texts(v, "OUTCOME"))) for v in body.findall("VARIABLE")
    )
    cards = {v.name: v.card for v in variables}
    parents: dict[str, tuple[str, ...]] = {}
    tables: dict[str, FloatArray] = {}
    for definition in body.findall("DEFINITION"):
        child = _text(definition, "FOR")
        if child in parents:
            raise ModelFileError(f"a second definition for {child!r}")
        parents[child] = tuple(_texts(definition, "GIVEN"))
        table = definition.find("TABLE")
        if table is not None:
            shape = tuple(cards.get(n, 0) for n in (*parents[child], child))
            tables[child] = _numbers(table, child, shape)
    return Document(variables, parents, tables)


def _add(parent: ET.Element, tag: str, name: str) -> None:
    ET.SubElement(parent, tag).text = escape(name, XML)


def _text(element: ET.Element, tag: str) -> str:
    found = _texts(element, tag)
    if not found:
        raise ModelFileError(f"a <{element.tag}> has no <{tag}>")
    return found[0]


def _texts(element: ET.Element, tag: str) -> list[str]:
    return [unescape((e.text or "").strip()) for e in element.findall(tag)]


def _numbers(table: ET.Element, child: str, shape: tuple[int, ...]) -> FloatArray:
    # There may be comments between the numbers.
    words = "".join(table.itertext()).split()
    try:
        values = np.array([float(w) for w in words])
    except ValueError as error:
        raise ModelFileError(f"the table of {child!r}: {error}") from None
    if values.size != np.prod(shape):
        raise ModelFileError(
            f"the table of {child!r} has {values.size} numbers, not {int(np.prod(shape))}"
        )
    return values.reshape(shape)
