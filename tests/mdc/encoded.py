"""Encoded training rows for tests."""

import numpy as np

from milpbn.mdc.candidates import Nodes
from milpbn.mdc.rows import TrainingRows


def training_rows(X, codes, cards, d=None, weights=None):
    """Rows of nodes y0, y1, ... of which the first `d` are class variables."""
    d = len(cards) if d is None else d
    names = [f"y{j}" for j in range(d)] + [f"f{k}" for k in range(len(cards) - d)]
    nodes = Nodes(tuple(names), tuple(cards), d)
    return TrainingRows(np.asarray(X, dtype=float), np.asarray(codes), nodes, weights)
