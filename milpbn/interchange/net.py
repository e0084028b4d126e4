"""NET, the language of Hugin; it can be written, but not read.

Implemented here for the reasons given in :mod:`milpbn.interchange.bif`: names that Hugin,
pyAgrum and pgmpy can all read, and all digits.
"""

from __future__ import annotations

from milpbn._types import FloatArray
from milpbn.interchange.document import probabilities
from milpbn.interchange.names import IDENTIFIER, QUOTED, escape, state_word
from milpbn.network.network import Network

_KEYWORDS = frozenset(
    [
        "class",
        "continuous",
        "data",
        "decision",
        "default",
        "discrete",
        "false",
        "function",
        "label",
        "model_nodes",
        "name",
        "net",
        "node",
        "node_size",
        "normal",
        "position",
        "potential",
        "software",
        "states",
        "subtype",
        "true",
        "utility",
    ]
)


def write_net(network: Network, name: str = "milpbn") -> str:
    """The network in Hugin's NET language."""
    names = [escape(v.name, IDENTIFIER, _KEYWORDS) for v in network.variables]
    lines = ["net", "{", f'  name = "{escape(name, IDENTIFIER)}";', "}"]
    for own, variable in zip(names, network.variables, strict=True):
        states = " ".join(f'"{state_word(s, QUOTED)}"' for s in variable.states)
        lines += [f"node {own}", "{", f"  states = ( {states} );", "}"]
    for i, parents in enumerate(network.structure.parents):
        given = f" | {' '.join(names[p] for p in parents)}" if parents else ""
        data = _nested(probabilities(network, i))
        lines += [f"potential ( {names[i]}{given} )", "{", f"  data = {data};", "}"]
    return "\n".join(lines) + "\n"


def _nested(table: FloatArray) -> str:
    if table.ndim == 1:
        return f"( {' '.join(map(repr, table.tolist()))} )"
    return f"({''.join(_nested(part) for part in table)})"
