"""Data sets that are generated from a definition, with a seed and without a file.

Every function returns a :class:`~milpbn.datasets.table.Table` whose states are
declared, because the definition names all of them. The same arguments give the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import product

import numpy as np
import pandas as pd

from milpbn._types import FloatArray, IntArray
from milpbn.datasets.table import Table
from milpbn.errors import OptionError

TARGET = "class"


def corral() -> Table:
    """Corral: class = (A0 and A1) or (B0 and B1), 128 rows.

    Every point of {0, 1}^5 occurs four times. The attribute Correlated equals the class
    in three of the copies and its negation in one: it is the best single attribute, but
    useless in addition to the four attributes that define the class.

    References
    ----------
    John, Kohavi and Pfleger (1994). Irrelevant features and the subset selection problem.

    Examples
    --------
    >>> corral().features.shape
    (128, 6)
    """
    points = np.repeat(_grid([2] * 5), 4, axis=0)
    a0, a1, b0, b1, _ = points.T
    label = (a0 & a1) | (b0 & b1)
    last_copy = np.arange(len(points)) % 4 == 3
    correlated = np.where(last_copy, 1 - label, label)
    names = ("A0", "A1", "B0", "B1", "Irrelevant", "Correlated")
    bits = ("0", "1")
    return _discrete_table(
        "corral", np.column_stack([points, correlated]), label, dict.fromkeys(names, bits), bits
    )


def mofn(seed: int, n_train: int = 300) -> Table:
    """m-of-n 3-7-10: class = at least 3 of the 7 bits Bit-2 ... Bit-8 are set.

    Bit-0, Bit-1 and Bit-9 are irrelevant. The training rows are distinct points; the
    test rows are all 1024 points.

    References
    ----------
    Kohavi and John (1997). Wrappers for feature subset selection.

    Examples
    --------
    >>> mofn(seed=1).test().target.value_counts().to_dict()
    {'1': 792, '0': 232}
    """
    points = _grid([2] * 10)
    label = (points[:, 2:9].sum(axis=1) >= 3).astype(np.int64)
    drawn = _draw_points(seed, n_train, len(points))
    rows = np.concatenate([drawn, np.arange(len(points))])
    bits = ("0", "1")
    states = {f"Bit-{i}": bits for i in range(10)}
    return _discrete_table("mofn-3-7-10", points[rows], label[rows], states, bits, len(drawn))


def monks(problem: int, seed: int) -> Table:
    """The three MONK's problems over six attributes with 3, 3, 2, 3, 4 and 2 values.

    1. a1 = a2, or a5 = 1
    2. exactly two of the six attributes take their first value
    3. (a5 = 3 and a4 = 1) or (a5 ≠ 4 and a2 ≠ 3); 5 % of the training labels are wrong

    The training rows are 124, 169 and 122 distinct points; the test rows are all 432 points.

    References
    ----------
    Thrun et al. (1991). The MONK's problems: a performance comparison of different
    learning algorithms.

    Examples
    --------
    >>> [int((monks(p, seed=1).test().target == "1").sum()) for p in (1, 2, 3)]
    [216, 142, 228]
    """
    sizes = {1: 124, 2: 169, 3: 122}
    if problem not in sizes:
        raise OptionError(f"the MONK's problems are 1, 2 and 3, not {problem!r}")
    cards = (3, 3, 2, 3, 4, 2)
    points = _grid(cards) + 1
    a1, a2, _, a4, a5, _ = points.T
    rule = {
        1: (a1 == a2) | (a5 == 1),
        2: (points == 1).sum(axis=1) == 2,
        3: ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3)),
    }[problem].astype(np.int64)
    drawn = _draw_points(seed, sizes[problem], len(points))
    rows = np.concatenate([drawn, np.arange(len(points))])
    label = rule[rows]
    if problem == 3:  # the drawn points are in random order, so the first ones are random
        label[: round(0.05 * len(drawn))] ^= 1
    states = {f"a{j}": tuple(map(str, range(1, card + 1))) for j, card in enumerate(cards, 1)}
    return _discrete_table(
        f"monks-{problem}", points[rows] - 1, label, states, ("0", "1"), len(drawn)
    )


def waveform(seed: int, n_train: int = 300, n_test: int = 4700) -> Table:
    """Breiman's waveforms: noisy mixtures of two of three triangles at 21 points.

    h1(i) = max(6 − |i − 7|, 0), h2(i) = h1(i − 8), h3(i) = h1(i − 4), i = 1, ..., 21.
    Class 0 mixes h1 and h2, class 1 h1 and h3, class 2 h2 and h3: with u ~ U(0, 1) and
    independent e ~ N(0, 1), x(i) = u h(i) + (1 − u) h'(i) + e(i). The classes are
    equally likely.

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984). Classification and regression trees.

    Examples
    --------
    >>> waveform(seed=1).features.shape
    (5000, 21)
    """
    rng = np.random.default_rng(seed)
    i = np.arange(1, 22)
    h1, h2, h3 = (np.maximum(6 - np.abs(i - peak), 0) for peak in (7, 15, 11))
    first, second = np.array([h1, h1, h2]), np.array([h2, h3, h3])
    n = n_train + n_test
    label = rng.integers(3, size=n)
    u = rng.random((n, 1))
    x = u * first[label] + (1 - u) * second[label] + rng.standard_normal((n, 21))
    names = tuple(f"x{j}" for j in i)
    return Table(
        name="waveform-21",
        features=pd.DataFrame(x, columns=list(names)),
        targets=_labels(label, ("0", "1", "2")),
        numeric=names,
        states={TARGET: ("0", "1", "2")},
        is_train=np.arange(n) < n_train,
    )


def synthetic_3(seed: int, n_train: int = 1000, n_test: int = 1000) -> Table:
    """Three binary attributes that only a discriminative structure can use.

    The classes 1 and 2 are equally likely and X1 is uniform. X2 copies X1 with
    probability 0.5 and is uniform otherwise. X3 copies X2 with probability 0.5, is
    uniform with probability 0.2, and with probability 0.3 copies X1 in class 1 and
    negates it in class 2. The dependency X2 - X3 is stronger, but only X1 - X3 tells the
    classes apart.

    References
    ----------
    Pernkopf and Bilmes (2010). Efficient heuristics for discriminative structure
    learning of Bayesian network classifiers, section 3.

    Examples
    --------
    >>> list(synthetic_3(seed=1).features.columns)
    ['X1', 'X2', 'X3']
    """
    rng = np.random.default_rng(seed)
    n = n_train + n_test
    label, x1 = rng.integers(2, size=(2, n))
    x2 = np.where(rng.random(n) < 0.5, x1, rng.integers(2, size=n))
    which, noise = rng.random(n), rng.integers(2, size=n)
    x3 = np.where(which < 0.3, x1 ^ label, np.where(which < 0.8, x2, noise))
    bits = ("0", "1")
    points = np.column_stack([x1, x2, x3])
    states = dict.fromkeys(("X1", "X2", "X3"), bits)
    return _discrete_table("synthetic-3", points, label, states, ("1", "2"), n_train)


def synthetic_trees(
    seed: int, n_features: int = 10, n_first: int = 25000, n_other: int = 6250
) -> Table:
    """Five classes whose rows come from different random trees and overlap.

    Each class has a random tree over `n_features` attributes of ten states, with
    uniformly drawn and normalised probabilities. The training set and the test set each
    hold `n_first` rows of class 1. Of each other class they hold `n_other` rows from its
    own tree and `n_other` rows from the tree of class 1, which cannot be told from class 1.
    The default sizes are those of the publication, 75000 rows each.

    References
    ----------
    Pernkopf and Bilmes (2010). Efficient heuristics for discriminative structure
    learning of Bayesian network classifiers, section 6.4.

    Examples
    --------
    >>> table = synthetic_trees(seed=1, n_features=5, n_first=40, n_other=10)
    >>> table.train().target.value_counts().to_dict()
    {'1': 40, '2': 20, '3': 20, '4': 20, '5': 20}
    """
    return ClassTrees(seed, n_features, n_first, n_other).table()


class ClassTrees:
    """The distribution of :func:`synthetic_trees`.

    Parameters
    ----------
    seed
        Random seed.
    n_features
        The number of attributes.
    n_first, n_other
        The number of rows, as for :func:`synthetic_trees`.
    """

    n_classes, n_states = 5, 10

    def __init__(self, seed: int, n_features: int, n_first: int, n_other: int) -> None:
        if n_features < 1:
            raise OptionError(f"n_features must be at least 1, not {n_features}")
        self.rng = np.random.default_rng(seed)
        self.sizes = n_first, n_other
        self.trees = [
            _RandomTree(self.rng, n_features, self.n_states) for _ in range(self.n_classes)
        ]

    def table(self) -> Table:
        """Draw training and test rows."""
        halves = [self._draw() for _ in ("train", "test")]
        points, labels = (np.concatenate(parts) for parts in zip(*halves, strict=True))
        values = tuple(map(str, range(self.n_states)))
        states = {f"X{j}": values for j in range(1, points.shape[1] + 1)}
        classes = tuple(str(c) for c in range(1, self.n_classes + 1))
        return _discrete_table("synthetic-trees", points, labels, states, classes, len(labels) // 2)

    def likeliest(self, points: IntArray) -> IntArray:
        """The most probable class of every point, given the true probabilities."""
        logs = np.array([tree.log_probabilities(points) for tree in self.trees])
        # Another class is drawn from its own tree or, as often, from that of the first one.
        joint = np.logaddexp(logs, logs[0]) + np.log(self.sizes[1])
        joint[0] = logs[0] + np.log(self.sizes[0])
        best: IntArray = joint.argmax(axis=0)
        return best

    def _draw(self) -> tuple[IntArray, IntArray]:
        """Rows and labels of one half of the data, shuffled."""
        n_first, n_other = self.sizes
        first = self.trees[0]
        parts = [(first.draw(self.rng, n_first), 0)]
        for label, own in enumerate(self.trees[1:], 1):
            parts += [(tree.draw(self.rng, n_other), label) for tree in (own, first)]
        points = np.concatenate([rows for rows, _ in parts])
        labels = np.concatenate([np.full(len(rows), label) for rows, label in parts])
        order = self.rng.permutation(len(labels))
        return points[order], labels[order]


def wide(
    seed: int,
    n_train: int = 60000,
    n_features: int = 196,
    n_classes: int = 10,
    *,
    n_test: int = 0,
    n_states: int = 4,
    contrast: float = 0.5,
) -> Table:
    """Many rows or many features, as in images of digits: one tree whose tables differ by class.

    The attributes form a random tree, the same in every class. The table of an attribute is a
    mixture: a table of the class with the weight `contrast`, and one that all classes share.
    Probabilities are drawn uniformly and normalised, and the classes are equally likely. The
    default sizes are those of MNIST with images of 14 x 14 pixels.

    Parameters
    ----------
    seed
        Random seed.
    n_train, n_test
        The number of training and test rows.
    n_features, n_classes, n_states
        The number of attributes, of classes, and of states of an attribute.
    contrast
        How much the tables of the classes differ: 0 for not at all, 1 for independent tables.

    Examples
    --------
    >>> table = wide(seed=1, n_train=500, n_features=200, n_classes=3, n_test=100)
    >>> table.features.shape, len(table.test())
    ((600, 200), 100)
    """
    least = {"n_train": 1, "n_features": 1, "n_classes": 2, "n_states": 2, "n_test": 0}
    given = dict(zip(least, (n_train, n_features, n_classes, n_states, n_test), strict=True))
    for name, value in given.items():
        if value < least[name]:
            raise OptionError(f"{name} must be at least {least[name]}, not {value}")
    if not 0 <= contrast <= 1:
        raise OptionError(f"contrast must be between 0 and 1, not {contrast}")
    rng = np.random.default_rng(seed)
    common = _RandomTree(rng, n_features, n_states)
    labels = rng.integers(n_classes, size=n_train + n_test)
    points = np.empty((n_train + n_test, n_features), dtype=np.int64)
    for c in range(n_classes):
        tree = common.mixed(_RandomTree(rng, n_features, n_states), contrast)
        rows = labels == c
        points[rows] = tree.draw(rng, int(rows.sum()))
    values = tuple(map(str, range(n_states)))
    states = {f"X{j}": values for j in range(1, n_features + 1)}
    classes = tuple(map(str, range(n_classes)))
    return _discrete_table("wide", points, labels, states, classes, n_train)


class _RandomTree:
    """A distribution over attributes: one is the root, each other one has one parent."""

    def __init__(self, rng: np.random.Generator, n_features: int, card: int) -> None:
        self.order = rng.permutation(n_features)
        self.parents = [int(rng.integers(k)) if k else None for k in range(n_features)]
        weights = rng.random((n_features, card, card))
        self.cumulative = (weights / weights.sum(axis=2, keepdims=True)).cumsum(axis=2)

    def mixed(self, other: _RandomTree, share: float) -> _RandomTree:
        """This tree, with a share of the other one's probabilities."""
        tree = copy(self)
        tree.cumulative = (1 - share) * self.cumulative + share * other.cumulative
        return tree

    def draw(self, rng: np.random.Generator, n: int) -> IntArray:
        points = np.zeros((n, len(self.order)), dtype=np.int64)
        for k, parent in enumerate(self.parents):
            given = 0 if parent is None else points[:, self.order[parent]]
            # The last cumulative probability is 1 up to rounding, so it is not compared.
            steps = np.atleast_2d(self.cumulative[k][given])[:, :-1]
            points[:, self.order[k]] = (rng.random((n, 1)) >= steps).sum(axis=1)
        return points

    def log_probabilities(self, points: IntArray) -> FloatArray:
        """The logarithm of the probability of every point."""
        total = np.zeros(len(points))
        for k, parent in enumerate(self.parents):
            given = 0 if parent is None else points[:, self.order[parent]]
            table = np.log(np.diff(self.cumulative[k], axis=1, prepend=0.0))
            total += table[given, points[:, self.order[k]]]
        return total


def _grid(cards: Sequence[int]) -> IntArray:
    """All points of a product of sets {0, ..., card − 1}, one per row."""
    return np.array(list(product(*(range(card) for card in cards))), dtype=np.int64)


def _draw_points(seed: int, n_train: int, n_points: int) -> IntArray:
    """Distinct points in random order."""
    if not 1 <= n_train <= n_points:
        raise OptionError(f"n_train must be between 1 and {n_points}, not {n_train}")
    drawn: IntArray = np.random.default_rng(seed).permutation(n_points)[:n_train]
    return drawn


def _labels(codes: IntArray, classes: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame({TARGET: np.array(classes, dtype=object)[codes]}, dtype=object)


def _discrete_table(
    name: str,
    codes: IntArray,
    label: IntArray,
    states: Mapping[str, tuple[str, ...]],
    classes: tuple[str, ...],
    n_train: int | None = None,
) -> Table:
    """A table of categories from state codes; the first `n_train` rows (None: all) are training."""
    columns = {
        column: pd.Series(np.array(values, dtype=object)[codes[:, j]], dtype=object)
        for j, (column, values) in enumerate(states.items())
    }
    return Table(
        name=name,
        features=pd.DataFrame(columns),
        targets=_labels(label, classes),
        numeric=(),
        states={**states, TARGET: classes},
        is_train=None if n_train is None else np.arange(len(codes)) < n_train,
    )


GENERATORS: dict[str, Callable[..., Table]] = {
    function.__name__: function
    for function in (corral, mofn, monks, waveform, synthetic_3, synthetic_trees, wide)
}
