"""Between the tables of a network and the vector that an optimiser moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from milpbn.families.candidates import CLASS
from milpbn.network.network import Network
from milpbn.parameters.tables import FloatArray, Layout, Table


def layout_of(network: Network) -> Layout:
    """The tables that decide between classes: the class's own, and those below the class."""
    cards = tuple(v.card for v in network.variables)
    tables = []
    for i, parents in enumerate(network.structure.parents):
        features = [p for p in parents if p != CLASS]
        if i == CLASS:
            tables.append(Table.of_class(features, cards))
        elif CLASS in parents:
            tables.append(Table.of_feature(i, features, cards))
    return Layout(tuple(tables), cards)


def with_tables(network: Network, layout: Layout, log_theta: FloatArray) -> Network:
    """The network with other tables where the layout has one."""
    cpts = list(network.log_cpts)
    for table, values in zip(layout.tables, layout.split(log_theta), strict=True):
        if table.key and CLASS in network.structure.parents[child := table.key[-1]]:
            # (q, r, |C|) -> the class first, as the smallest parent, then the features.
            shape = [layout.cards[v] for v in table.key]
            cpts[child] = np.moveaxis(values.reshape(*shape, -1), -1, 0).copy()
        else:
            cpts[CLASS] = values.reshape(network.log_cpts[CLASS].shape).copy()
    return replace(network, log_cpts=tuple(cpts))
