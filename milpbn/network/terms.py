"""The class probabilities of a row as sums of one term per family.

For a complete row z,

    log P(c, z) = sum over the variables i of log theta_i[z_i | parents, c]

so the terms are look-ups. If features x are missing, let q_c be their distribution given the
observed features and the class, q_c(x) = P(x | z, c). For any distribution,

    log P(c, z) = sum over i of E[log theta_i] + H(q_c),   E the expectation under q_c,

because q_c(x) = prod_i theta_i / P(c, z). The term of an observed variable (and of the class) is
the expectation of its logarithm. What remains, the terms of the missing features and the entropy
H, is one more term: minus the Kullback-Leibler divergence of q_c from what the tables of the
missing features say, 0 if the observed features say nothing about the missing ones. The terms
are exact, do not depend on an order of the features, and are those of the completed row as soon
as the observed features determine the missing ones.

The expectations need the joint distribution of each family. In forests they come from one pass up
and one pass down (:mod:`milpbn.network.forest`), otherwise from a bucket tree (Dechter, 1999):
variables are eliminated one at a time, and then each bucket is normalised, from the last to the
first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from milpbn._types import Codes, FloatArray
from milpbn.families.candidates import CLASS
from milpbn.network.factors import Factor, cheapest, expectation, marginal, multiply, sum_out
from milpbn.network.inference import (
    barren_variables,
    by_pattern,
    by_row,
    class_terms,
    log_joint,
    restricted,
)
from milpbn.network.multinet import Classifier, Multinet
from milpbn.network.network import Network


def family_terms(network: Classifier, features: Codes) -> FloatArray:
    """``(M, n + 1, |C|)``: what each variable adds to log P(c, observed features).

    Axis 1 has the class, the features in the order of ``network.variables``, and what the
    missing features add. The term of a missing feature itself is 0, and the last term is 0 in
    complete rows. The sum over axis 1 is ``log_joint(network, features)``.

    Parameters
    ----------
    network
        The classifier: a network or a multinet.
    features
        ``(M, n - 1)`` codes; negative codes are missing.

    Examples
    --------
    >>> from milpbn import BNClassifier, load_dataset
    >>> car = load_dataset("car")
    >>> model = BNClassifier(method="tan-cmi").fit(car.features, car.target)
    >>> codes = model.encoder_.transform(car.features[:3]).codes
    >>> codes[0, 3] = -1
    >>> terms = family_terms(model.network_, codes)
    >>> terms.shape
    (3, 8, 4)
    >>> bool(np.allclose(terms.sum(axis=1), log_joint(model.network_, codes), rtol=0, atol=1e-12))
    True
    """
    if isinstance(network, Multinet):
        own = [family_terms(part, features) for part in network.networks]
        return np.concatenate(own, axis=2)
    joint = log_joint(network, features)  # checks the shape of the codes, too
    features = np.asarray(features)
    n = len(network.variables)
    out = np.zeros((len(features), n + 1, network.n_classes))
    forest, done = by_row(network, features)
    if forest is not None:
        out[done, :n] = forest.expected_terms(features[done])
        out[done, CLASS] = class_terms(network, features[done])
    for rows, codes, missing in by_pattern(features, ~done):
        out[rows, :n] = _terms_of_pattern(network, codes, missing)
    incomplete = (features < 0).any(axis=1)
    out[incomplete, n] = joint[incomplete] - out[incomplete].sum(axis=1)
    return out


def _terms_of_pattern(network: Network, codes: Codes, missing: frozenset[int]) -> FloatArray:
    n = len(network.variables)
    terms = np.zeros((len(codes), n, network.n_classes))
    barren = barren_variables(network, missing)
    missing = missing - barren
    hidden: dict[int, Factor] = {}
    for i in set(range(n)) - barren:
        factor = restricted(network, i, codes, missing)
        if missing.isdisjoint(factor.scope):
            terms[:, i] = factor.values.reshape(len(codes), -1)
        else:
            hidden[i] = factor
    cards = [v.card for v in network.variables]
    beliefs = _beliefs(list(hidden.values()), missing, cards)
    for (i, factor), belief in zip(hidden.items(), beliefs, strict=True):
        if i not in missing:
            terms[:, i] = expectation(belief, factor, CLASS)
    return terms


def _beliefs(
    factors: Sequence[Factor], missing: frozenset[int], cards: Sequence[int]
) -> list[Factor]:
    """For each factor, a distribution of its missing variables (and others) for each class."""
    every_class = Factor((CLASS,), np.zeros((1, cards[CLASS])))
    active, left = list(factors), set(missing)
    buckets: list[tuple[list[Factor], Factor]] = []
    while left:
        variable, _ = cheapest([f.scope for f in active], left, cards)
        left.remove(variable)
        own = [f for f in active if variable in f.scope]
        message = sum_out([*own, every_class], variable)
        buckets.append((own, message))
        active = [*(f for f in active if variable not in f.scope), message]
    found: dict[int, Factor] = {}
    for own, message in reversed(buckets):
        # P(variable | the other variables of the bucket) = product / message
        parts = [*own, every_class, Factor(message.scope, -message.values)]
        # Impossible states: -inf - (-inf) is not a number, and means 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            if (above := found.get(id(message))) is not None:
                outer = marginal(above, message.scope)
                parts.append(Factor(outer.scope, np.log(outer.values)))
            product = multiply(parts)
            belief = Factor(product.scope, np.nan_to_num(np.exp(product.values), nan=0.0))
        found |= {id(factor): belief for factor in own}
    return [found[id(factor)] for factor in factors]
