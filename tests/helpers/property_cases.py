"""Strategies of Hypothesis that several property-based tests share."""

import string

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from problems import encoded

from milpbn.datasets import table_from_frame
from milpbn.families import Laplace
from milpbn.learning.settings import SearchSpace
from milpbn.network.network import fit_network
from milpbn.structure import Structure

# A search (--hypothesis-profile=search) tries ten times as many examples.
_TIMES = settings().max_examples // 100

once = settings(max_examples=2 * _TIMES, suppress_health_check=list(HealthCheck))
few = settings(max_examples=4 * _TIMES, suppress_health_check=list(HealthCheck))
some = settings(max_examples=10 * _TIMES, suppress_health_check=list(HealthCheck))

names = st.text(st.sampled_from(string.ascii_letters + "äß体 ,.;:=|>-_'\"\\\n\x1b"), min_size=1)
"""Names as people have them, and as they should not."""


def of(*public):
    """Name the public functions and classes that a property is about."""

    def mark(test):
        test.public = public
        return test

    return mark


@st.composite
def data_sets(draw, features=3, rows=14, weighted=False):
    """Encoded rows: a class with two or three states, and up to so many features."""
    n = draw(st.integers(1, features))
    cards = [draw(st.integers(2, 3)) for _ in range(n + 1)]
    row = st.tuples(*(st.integers(0, card - 1) for card in cards))
    codes = np.array(draw(st.lists(row, min_size=6, max_size=rows)))
    codes[: cards[0], 0] = range(cards[0])  # every class occurs
    weights = None
    if weighted:
        weight = st.sampled_from([0.25, 1.0, 1.5, 3.0])
        weights = np.array(draw(st.lists(weight, min_size=len(codes), max_size=len(codes))))
    return encoded(codes, cards, weights)


@st.composite
def structures(draw, variables, most=2):
    """An acyclic structure over these names, the first one being the class."""
    order = draw(st.permutations(range(len(variables))))
    parents = [()] * len(variables)
    for place, child in enumerate(order):
        above = order[:place]
        chosen = draw(st.sets(st.sampled_from(above), max_size=most)) if above else ()
        parents[child] = tuple(sorted(chosen))
    return Structure(tuple(variables), tuple(parents))


any_structures = st.lists(names, min_size=1, max_size=5, unique=True).flatmap(structures)
"""Structures over any names."""


@st.composite
def networks(draw, **sizes):
    """Encoded rows and a network that was counted from them."""
    data = draw(data_sets(**sizes))
    structure = draw(structures([v.name for v in data.variables]))
    smoothing = Laplace(draw(st.sampled_from([0.5, 1.0, 2.0])))
    weights = data.train_weights()
    return data, fit_network(structure, data.variables, data.train(), smoothing, weights)


spaces = st.builds(SearchSpace, max_parents=st.integers(1, 2), class_parents=st.booleans())


@st.composite
def frames(draw, rows=24):
    """Raw columns, numeric and categorical, and labels that depend on them."""
    n = draw(st.integers(16, rows))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    labels = np.array(["no", "yes"])[rng.permutation(np.arange(n) % 2)]
    shift = 3.0 * (labels == "yes")
    frame = pd.DataFrame(
        {
            "size": np.round(rng.normal(size=n) + shift, 2),
            "color": np.where(rng.random(n) < 0.7, np.where(labels == "yes", "red", "blue"), "tan"),
            "shape": rng.choice(["round", "flat"], n),
        }
    )
    kept = draw(st.sets(st.sampled_from(list(frame)), min_size=1))
    return frame[[c for c in frame if c in kept]], pd.Series(labels, name="label")


@st.composite
def tables(draw, **sizes):
    """A table to learn from."""
    frame, labels = draw(frames(**sizes))
    return table_from_frame(frame, labels, "toy")
