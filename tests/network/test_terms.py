"""The terms of families, with and without missing features, against plain summation."""

from itertools import product

import numpy as np
import pytest

from milpbn.encoding import Variable
from milpbn.families import Epsilon, Laplace
from milpbn.network import inference
from milpbn.network.inference import log_joint
from milpbn.network.multinet import fit_multinet
from milpbn.network.network import Network
from milpbn.network.terms import family_terms
from milpbn.structure import ClassStructures, Structure


def terms_over_completions(network, features):
    """The terms by their definition: weights q_c for every completion of a row."""
    n, cards = len(network.variables), [v.card for v in network.variables]
    out = np.zeros((len(features), n + 1, cards[0]))
    for r, row in enumerate(features):
        choices = [range(cards[j + 1]) if v < 0 else [v] for j, v in enumerate(row)]
        for c in range(cards[0]):
            logs = np.array(
                [
                    [
                        network.log_cpts[i][tuple((c, *complete)[v] for v in (*parents, i))]
                        for i, parents in enumerate(network.structure.parents)
                    ]
                    for complete in product(*choices)
                ]
            )
            joint = np.exp(logs.sum(axis=1))
            q = joint / joint.sum()
            mean = q @ logs
            missing = np.array([False, *(row < 0)])
            out[r, :n, c] = np.where(missing, 0.0, mean)
            out[r, n, c] = mean[missing].sum() - (q * np.log(q)).sum()
    return out


def some_rows(network, rng, rows, share):
    features = np.stack([rng.integers(0, v.card, rows) for v in network.variables[1:]], axis=1)
    features[1:][rng.random((rows - 1, features.shape[1])) < share] = -1
    features[-1] = -1
    return features


@pytest.mark.parametrize("smoothing", [Laplace(), Epsilon(0.1)], ids=str)
@pytest.mark.parametrize("max_parents", [1, 2, 4])
@pytest.mark.parametrize("class_root", [False, True])
def test_terms_are_expectations_over_the_missing_features(
    random_network, class_root, max_parents, smoothing
):
    for seed in range(12):
        network, rng = random_network(
            seed, n=6, max_parents=max_parents, class_root=class_root, smoothing=smoothing
        )
        features = some_rows(network, rng, 10, 0.45)
        terms = family_terms(network, features)
        assert terms == pytest.approx(terms_over_completions(network, features), abs=1e-10)
        assert terms.sum(axis=1) == pytest.approx(log_joint(network, features), abs=1e-9)


def test_a_complete_row_is_looked_up(random_network):
    network, rng = random_network(4, n=7, max_parents=3)
    features = some_rows(network, rng, 2, 0.0)[:1]
    terms = family_terms(network, features)
    states = (1, *features[0])
    for i, parents in enumerate(network.structure.parents):
        assert terms[0, i, 1] == network.log_cpts[i][tuple(states[v] for v in (*parents, i))]
    assert (terms[:, -1] == 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_forests_and_buckets_agree(random_network, monkeypatch, seed):
    network, rng = random_network(seed, n=8, max_parents=1, class_root=True)
    features = some_rows(network, rng, 30, 0.5)
    by_forest = family_terms(network, features)
    none = np.zeros(len(features), dtype=bool)
    monkeypatch.setattr("milpbn.network.terms.by_row", lambda *_: (None, none))
    monkeypatch.setattr(inference, "_ROWS_AT_ONCE", 3)
    assert family_terms(network, features) == pytest.approx(by_forest, abs=1e-10)


def test_every_class_of_a_multinet_has_the_terms_of_its_network(random_network):
    networks = [random_network(seed, n=5, class_root=True)[0] for seed in (1, 2)]
    names = networks[0].structure.variables
    variables = (Variable("class", ("no", "yes")), *(Variable(v, ("0", "1")) for v in names[1:]))
    own = tuple(
        Structure(names, tuple(tuple(p for p in s if p != 0) for s in n.structure.parents))
        for n in networks
    )
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (40, 5))
    multinet = fit_multinet(ClassStructures(("no", "yes"), own), variables, codes, Laplace())
    features = some_rows(multinet, rng, 10, 0.4)
    terms = family_terms(multinet, features)
    for c, network in enumerate(multinet.networks):
        expected = terms_over_completions(network, features)
        assert terms[:, :, [c]] == pytest.approx(expected, abs=1e-10)


def test_a_missing_feature_that_is_certain_adds_its_own_term():
    """b is a copy of a: if a is missing, it is known from b."""
    names = ("class", "a", "b")
    variables = tuple(Variable(name, ("0", "1")) for name in names)
    with np.errstate(divide="ignore"):
        copy = np.log(np.eye(2))
    a = np.log([[0.9, 0.1], [0.2, 0.8]])
    prior = np.log([0.5, 0.5])
    network = Network(Structure(names, ((), (0,), (1,))), variables, (prior, a, copy))
    known, unknown = family_terms(network, np.array([[0, 0], [-1, 0]]))
    assert unknown[3] == pytest.approx(known[1])
    assert unknown[[0, 2]] == pytest.approx(known[[0, 2]])


def test_no_rows(random_network):
    network, _ = random_network(0, n=4)
    shape = family_terms(network, np.zeros((0, 3), dtype=int)).shape
    assert shape == (0, 5, network.n_classes)
