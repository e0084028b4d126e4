"""A network as text in any of the formats."""

from __future__ import annotations

from collections.abc import Callable

from milpbn.errors import OptionError
from milpbn.interchange.bif import write_bif
from milpbn.interchange.json_formats import write_json, write_networkx
from milpbn.interchange.modelstring import write_modelstring
from milpbn.interchange.net import write_net
from milpbn.interchange.xmlbif import write_xmlbif
from milpbn.network.multinet import Classifier
from milpbn.network.network import Network


def _dot(network: Network, name: str) -> str:
    from milpbn.pictures.dot import dot_text

    return dot_text(network.structure, name) + "\n"


FORMATS: dict[str, Callable[[Network, str], str]] = {
    "bif": write_bif,
    "xmlbif": write_xmlbif,
    "net": write_net,
    "dot": _dot,
    "json": write_json,
    "networkx-json": write_networkx,
    "modelstring": lambda network, name: write_modelstring(network.structure) + "\n",
}
"""Writers by the name of their format; ``dot`` and ``modelstring`` hold the graph only."""


def export_network(network: Classifier, format: str, name: str = "milpbn") -> str:
    """The network as text for another tool.

    Parameters
    ----------
    network
        For instance ``BNClassifier.network_`` or ``Model.network``.
    format
        One of :data:`FORMATS`.
    name
        What the file calls the network.

    Examples
    --------
    >>> from milpbn import BNClassifier, load_dataset
    >>> iris = load_dataset("iris")
    >>> model = BNClassifier(max_parents=1, engine="nb").fit(iris.features, iris.target)
    >>> export_network(model.network_, "modelstring")
    '[class][sepallength|class][sepalwidth|class][petallength|class][petalwidth|class]\\n'
    """
    if format not in FORMATS:
        raise OptionError(f"unknown format {format!r}; known formats: {', '.join(FORMATS)}")
    if not isinstance(network, Network):
        raise OptionError(
            "a multinet is one network for every class; the formats of other tools hold one"
        )
    return FORMATS[format](network, name)
