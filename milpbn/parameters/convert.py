"""Conversion between the tables of a network and the vector of an optimiser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from milpbn._types import FloatArray
from milpbn.families.candidates import CLASS
from milpbn.families.views import Views
from milpbn.network.multinet import Classifier, Multinet
from milpbn.parameters.tables import ClassTable, TableLayout
from milpbn.structure import Structure


def layout_of(network: Classifier) -> TableLayout:
    """The tables that discriminate between classes: those of the class and of its children.

    For a multinet, these are the table of the class and all tables of all classes.
    """
    views = Views.of(network.variables)
    ordered = tuple(v.ordered_in(r) for v in network.variables for r in range(v.n_resolutions))
    if isinstance(network, Multinet):
        return TableLayout(tuple(_multinet_tables(network, views)), views, ordered)
    tables, cards = [], views.cards.tolist()
    for i, parents in enumerate(network.structure.parents):
        *features, own = _seen(network.structure, i, views)
        if i == CLASS:
            tables.append(ClassTable.of_class(features, cards))
        elif CLASS in parents:
            tables.append(ClassTable.of_feature(own, features, cards))
    return TableLayout(tuple(tables), views, ordered)


def _seen(structure: Structure, variable: int, views: Views) -> list[int]:
    """The views of the parents of a variable, without the class, and of itself."""
    pairs = zip(structure.scope(variable), structure.seen(variable), strict=True)
    found = [int(views.first[v]) + r for v, r in pairs]
    return [*(view for view in found[:-1] if view != CLASS), found[-1]]


def _multinet_tables(multinet: Multinet, views: Views) -> Iterator[ClassTable]:
    cards = views.cards.tolist()
    yield ClassTable.of_class((), cards)
    for c, structure in enumerate(multinet.structure.structures):
        for i in range(CLASS + 1, len(structure.variables)):
            *features, own = _seen(structure, i, views)
            yield ClassTable.of_feature(own, features, cards, only=c)


def with_tables(network: Classifier, layout: TableLayout, log_theta: FloatArray) -> Classifier:
    """The classifier with the tables of the layout replaced."""
    if isinstance(network, Multinet):
        return _multinet_with_tables(network, layout, log_theta)
    cpts = list(network.log_cpts)
    for table, values in zip(layout.tables, layout.split(log_theta), strict=True):
        child = int(layout.views.variable[table.key[-1]]) if table.key else CLASS
        if CLASS in network.structure.parents[child]:
            # (q, r, |C|) -> the class first, since it is the smallest parent, then the features.
            shape = [int(layout.views.cards[v]) for v in table.key]
            cpts[child] = np.moveaxis(values.reshape(*shape, -1), -1, 0).copy()
        else:
            cpts[CLASS] = values.reshape(network.log_cpts[CLASS].shape).copy()
    return replace(network, log_cpts=tuple(cpts))


def _multinet_with_tables(
    multinet: Multinet, layout: TableLayout, log_theta: FloatArray
) -> Multinet:
    prior, *tables = layout.split(log_theta)
    left = iter(tables)
    networks = []
    for log_prior, network in zip(prior.ravel(), multinet.networks, strict=True):
        own = [next(left).reshape(cpt.shape).copy() for cpt in network.log_cpts[1:]]
        networks.append(replace(network, log_cpts=(np.array([log_prior]), *own)))
    return replace(multinet, networks=tuple(networks))
