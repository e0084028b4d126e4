"""Networks with names that formats find hard."""

import numpy as np

from milpbn.encoding import Variable
from milpbn.network.network import Network
from milpbn.structure import Structure

HOSTILE = [
    "petal length",
    'say "hi"',
    "it's",
    "a, b; c",
    "Größe № 5 😀",
    "x<y & z>",
    "[a|b:c]",
    "two\nlines\r\n and\ttabs",
    " outer  blanks ",
    "table",
    "Variable",
    "network",
    "net",
    "_x0041_",
    "_x_",
    "_x0041",
    "",
    "12",
    "1.5",
    "-3",
    "(-inf, 2.45]",
    "100% {x} \\ /* no comment */ // neither",
    "\x00\x7f",
    "default",
    "A_x0020",
]


def make_network(names, states, parents, seed=0):
    """A network with random tables whose rows hold very small numbers too."""
    rng = np.random.default_rng(seed)
    variables = tuple(Variable(n, tuple(s)) for n, s in zip(names, states, strict=True))
    structure = Structure(tuple(names), tuple(parents))
    logs = []
    for i, own in enumerate(structure.parents):
        shape = tuple(variables[v].card for v in (*own, i))
        logs.append(np.log(rng.dirichlet([0.2] * shape[-1], size=shape[:-1]) + 1e-12))
    logs = [t - np.log(np.exp(t).sum(axis=-1, keepdims=True)) for t in logs]
    return Network(structure, variables, tuple(logs))
