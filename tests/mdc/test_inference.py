"""Predictions against the enumeration of all joint states."""

from itertools import product

import numpy as np
import pytest
from mdc.brute_force import joint_distribution

from milpbn.errors import BudgetError
from milpbn.mdc import inference
from milpbn.network.factors import Factor


def random_network(seed, d, n_rows=7):
    """Scopes (parents, child), tables for each row, cards, of a random class network."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, size=d).tolist()
    order = rng.permutation(d).tolist()
    scopes, tables = [()] * d, [None] * d
    for k, j in enumerate(order):
        parents = sorted(p for p in order[:k] if rng.random() < 0.5)
        shape = [n_rows, *(cards[p] for p in parents), cards[j]]
        table = rng.dirichlet(np.full(cards[j], 0.5), size=int(np.prod(shape[:-1])))
        scopes[j], tables[j] = (*parents, j), table.reshape(shape)
    factors = [Factor(s, np.log(t)) for s, t in zip(scopes, tables, strict=True)]
    return factors, scopes, tables, cards


@pytest.mark.parametrize("seed", range(16))
def test_predictions_minimise_the_expected_loss(seed):
    factors, scopes, tables, cards = random_network(seed, d=2 + seed % 4)
    joint_states = inference.most_probable(factors, cards)
    marginals = inference.marginals(factors, cards)
    modes = np.column_stack([m.argmax(axis=1) for m in marginals])
    for row in range(7):
        p = joint_distribution([t[row] for t in tables], scopes, cards)
        assert sum(p.values()) == pytest.approx(1.0)

        def subset_loss(y, p=p):
            return sum(q for z, q in p.items() if z != y)

        def hamming_loss(y, p=p):
            return sum(q * sum(a != b for a, b in zip(y, z, strict=True)) for z, q in p.items())

        best_subset = min(map(subset_loss, p))
        best_hamming = min(map(hamming_loss, p))
        assert subset_loss(tuple(joint_states[row].tolist())) == pytest.approx(best_subset)
        assert hamming_loss(tuple(modes[row].tolist())) == pytest.approx(best_hamming)
        for j, m in enumerate(marginals):
            for state in range(cards[j]):
                mass = sum(q for y, q in p.items() if y[j] == state)
                assert np.exp(m[row, state]) == pytest.approx(mass)


def test_the_two_losses_can_want_different_predictions():
    # P(0, 0) = 0.4 is the largest, yet the mode of the first variable is 1.
    factors = [
        Factor((0,), np.log([[0.4, 0.6]])),
        Factor((0, 1), np.log([[[1.0 - 1e-9, 1e-9], [0.4, 0.6]]])),
    ]
    assert inference.most_probable(factors, [2, 2]).tolist() == [[0, 0]]
    modes = [int(m.argmax()) for m in inference.marginals(factors, [2, 2])]
    assert modes == [1, 0]


def test_joint_tables_agree_with_the_enumeration():
    factors, scopes, tables, cards = random_network(3, d=3)
    joint = np.exp(inference.joint_table(factors, cards))
    for row in range(7):
        p = joint_distribution([t[row] for t in tables], scopes, cards)
        for y in product(*map(range, cards)):
            assert joint[(row, *y)] == pytest.approx(p[y])
            codes = np.tile(y, (7, 1))
            assert np.exp(inference.log_probability(factors, codes))[row] == pytest.approx(p[y])


def test_sixteen_class_variables_need_no_joint_table():
    # A chain of 16 variables with 4 states: 4**16 joint states, tables of 16 cells.
    rng = np.random.default_rng(0)
    cards = [4] * 16
    factors = [Factor((0,), np.log(rng.dirichlet(np.ones(4), size=5)))]
    for j in range(1, 16):
        table = rng.dirichlet(np.ones(4), size=(5, 4))
        factors.append(Factor((j - 1, j), np.log(table)))
    scopes = [f.scope for f in factors]
    assert inference.largest_table(scopes, cards) == 16
    states = inference.most_probable(factors, cards)
    # No single change improves the most probable state.
    best = inference.log_probability(factors, states)
    for j in range(16):
        for state in range(4):
            other = states.copy()
            other[:, j] = state
            assert (inference.log_probability(factors, other) <= best + 1e-12).all()
    with pytest.raises(BudgetError, match="joint states do not fit"):
        inference.joint_table(factors, cards)


def test_batches_cover_all_rows_once():
    slices = list(inference.batches(10_000_000, [(0,), (0, 1)], [4, 4]))
    assert len(slices) > 1
    assert [s.start for s in slices[1:]] == [s.stop for s in slices[:-1]]
    assert slices[0].start == 0
    assert slices[-1].stop >= 10_000_000
