"""Models whose families see their columns in several resolutions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from milpbn import BNClassifier, load_dataset
from milpbn.encoding import Encoder
from milpbn.structure import Structure

NAMES = ("class", "sepallength", "sepalwidth", "petallength", "petalwidth")

# After the finest one, every column has resolutions with 3 (by MDLP), 8, 4 and 2 bins.
SEEN = Structure(
    NAMES,
    ((3,), (0, 3), (0, 4), (), (0,)),
    ((3, 0), (0, 3, 4), (0, 3, 4), (4,), (0, 1)),
)


def seen_model(structure: Structure = SEEN) -> BNClassifier:
    """A given structure with resolutions, fitted to iris."""
    iris = load_dataset("iris")
    return BNClassifier(method=structure, bins="auto").fit(iris.features, iris.target)


def random_seen(seed: int, name: str, *, class_root: bool = False) -> tuple[Encoder, Structure]:
    """The encoder of a data set with several resolutions, and a random structure that uses them."""
    rng = np.random.default_rng(seed)
    encoder = Encoder.fit(replace(load_dataset(name), bins="auto"))
    variables = encoder.variables
    order = rng.permutation(len(variables)).tolist()
    if class_root:
        order = [0, *(v for v in order if v != 0)]
    parents: list[tuple[int, ...]] = [()] * len(variables)
    for k, v in enumerate(order):
        chosen = rng.choice(order[:k], min(k, int(rng.integers(0, 3))), replace=False)
        parents[v] = tuple(sorted(chosen.tolist()))
    seen = tuple(
        tuple(int(rng.integers(0, variables[v].n_resolutions)) for v in (*above, child))
        for child, above in enumerate(parents)
    )
    return encoder, Structure(tuple(v.name for v in variables), tuple(parents), seen)
