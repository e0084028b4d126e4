"""The network as plain JSON, and as networkx's node-link JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from milpbn.encoding.columns import Variable
from milpbn.errors import ModelFileError
from milpbn.interchange.document import Document, probabilities
from milpbn.network.network import Network

FORMAT = "milpbn-network"
VERSION = 1


def write_json(network: Network, name: str = "milpbn") -> str:
    """Names, states, parents and probabilities, without the run that a model file describes.

    If the family of a variable sees some of its variables in coarser states, ``seen`` lists these.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "variables": [{"name": v.name, **_node(network, i)} for i, v in _numbered(network)],
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def parse_json(content: dict[str, Any]) -> Document:
    """Parse what :func:`write_json` wrote."""
    if content.get("version") != VERSION:
        raise ModelFileError(
            f"version {content.get('version')!r} of the network format; this milpbn reads version "
            f"{VERSION}"
        )
    try:
        variables = [
            (Variable(_str(v["name"]), tuple(map(_str, v["states"]))), v)
            for v in content["variables"]
        ]
        return Document(
            tuple(v for v, _ in variables),
            {v.name: tuple(map(_str, given["parents"])) for v, given in variables},
            {v.name: np.array(g["probabilities"], dtype=np.float64) for v, g in variables},
        )
    except KeyError as error:
        raise ModelFileError(f"{error.args[0]!r} is missing") from None
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        raise ModelFileError(str(error)) from None


def write_networkx(network: Network, name: str = "milpbn") -> str:
    """Node-link JSON; ``networkx.node_link_graph(json.load(file))`` reads it.

    Nodes carry ``states``, ``parents`` (the order of the table's axes) and ``probabilities``.
    """
    import networkx as nx

    graph = network.structure.to_networkx()
    graph.graph.update(name=name, target=network.variables[0].name)
    for i, v in _numbered(network):
        graph.nodes[v.name].update(_node(network, i))
    return json.dumps(nx.node_link_data(graph, edges="edges"), indent=1, allow_nan=False) + "\n"


def _numbered(network: Network) -> list[tuple[int, Variable]]:
    return list(enumerate(network.variables))


def _node(network: Network, i: int) -> dict[str, Any]:
    family = zip(network.scope(i), network.structure.seen(i), network.axes(i), strict=True)
    coarser = {network.variables[v].name: list(axis.states) for v, r, axis in family if r}
    return {
        "states": list(network.variables[i].states),
        "parents": [network.variables[p].name for p in network.structure.parents[i]],
        "probabilities": probabilities(network, i).tolist(),
        **({"seen": coarser} if coarser else {}),
    }


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelFileError(f"{value!r} should be a name")
    return value
