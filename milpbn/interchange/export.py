"""A network as text in any of the formats."""

from __future__ import annotations

from collections.abc import Callable

from milpbn.deployment import write_javascript, write_sql
from milpbn.encoding import Encoder
from milpbn.errors import OptionError
from milpbn.explanation.resolutions import SeenResolutions
from milpbn.interchange.bif import write_bif
from milpbn.interchange.json_formats import write_json, write_networkx
from milpbn.interchange.modelstring import write_modelstring
from milpbn.interchange.net import write_net
from milpbn.interchange.xmlbif import write_xmlbif
from milpbn.network.multinet import Classifier
from milpbn.network.network import Network
from milpbn.structure import Structure


def _dot(structure: Structure, name: str, seen: SeenResolutions | None = None) -> str:
    from milpbn.pictures.dot import dot_text

    return dot_text(structure, name, seen=seen) + "\n"


GRAPH_FORMATS: dict[str, Callable[[Structure, str], str]] = {
    "dot": _dot,
    "modelstring": lambda structure, name: write_modelstring(structure) + "\n",
}
"""Writers of formats that contain only the graph, by name."""

NETWORK_FORMATS: dict[str, Callable[[Network, str], str]] = {
    "bif": write_bif,
    "xmlbif": write_xmlbif,
    "net": write_net,
    "json": write_json,
    "networkx-json": write_networkx,
}
"""Writers of formats that contain states and probabilities, by name."""

CODE_FORMATS: dict[str, Callable[..., str]] = {
    "sql": write_sql,
    "javascript": write_javascript,
}
"""Writers of code that computes class probabilities from raw columns, by name."""

FORMATS = (*NETWORK_FORMATS, *GRAPH_FORMATS, *CODE_FORMATS)
"""The names of all formats that are text."""

FILE_FORMATS = (*FORMATS, "onnx")
"""The names of all formats; :func:`milpbn.deployment.make_onnx` makes an ONNX model."""


def export_structure(structure: Structure, format: str, name: str = "milpbn") -> str:
    """The graph as text for another tool, in one of :data:`GRAPH_FORMATS`.

    Examples
    --------
    >>> export_structure(Structure.from_arcs(["class", "a"], [("class", "a")]), "modelstring")
    '[class][a|class]\\n'
    """
    if format not in GRAPH_FORMATS:
        raise OptionError(
            f"the format {format!r} needs probability tables; without them choose "
            f"{' or '.join(GRAPH_FORMATS)}"
        )
    return GRAPH_FORMATS[format](structure, name)


def export_network(
    network: Classifier, format: str, name: str = "milpbn", *, encoder: Encoder | None = None
) -> str:
    """The network as text for another tool.

    Parameters
    ----------
    network
        For instance ``BNClassifier.network_`` or ``Model.network``.
    format
        One of :data:`FORMATS`.
    name
        Name of the network in the file.
    encoder
        How raw columns become states: code (``"sql"``, ``"javascript"``) then takes raw columns,
        and the format ``"dot"`` shows the resolutions that families use.

    Examples
    --------
    >>> from milpbn import BNClassifier, load_dataset
    >>> iris = load_dataset("iris")
    >>> model = BNClassifier(max_parents=1, method="nb").fit(iris.features, iris.target)
    >>> export_network(model.network_, "modelstring")
    '[class][sepallength|class][sepalwidth|class][petallength|class][petalwidth|class]\\n'
    """
    if format not in FORMATS:
        raise OptionError(f"unknown format {format!r}; known formats: {', '.join(FORMATS)}")
    if format in CODE_FORMATS:
        return CODE_FORMATS[format](network, encoder)
    if not isinstance(network, Network):
        raise OptionError(
            "a multinet has one network per class, but the formats of other tools contain only one"
        )
    if format == "dot" and encoder is not None:
        return _dot(network.structure, name, SeenResolutions(network.structure, encoder))
    if format in GRAPH_FORMATS:
        return export_structure(network.structure, format, name)
    return NETWORK_FORMATS[format](network, name)
