"""Tables that are sums of parts, against loops over their cells."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import log_softmax

from milpbn.families import Laplace, MergedRows
from milpbn.network.network import fit_network
from milpbn.parameters.convert import layout_of
from milpbn.parameters.losses import ConditionalLoss
from milpbn.parameters.optimise import Problem
from milpbn.parameters.priors import PRIORS
from milpbn.parameters.tables import Rows

SEEDS = range(6)


def nested(data, structure):
    network = fit_network(structure, data.variables, data.train(), Laplace())
    layout = replace(layout_of(network), nested=True)
    return layout, Rows.of(layout, MergedRows.from_codes(data.train()))


@pytest.mark.parametrize("seed", SEEDS)
def test_there_is_a_part_for_every_set_of_parents(random_problem, seed):
    data, structure, _ = random_problem(seed, max_parents=3)
    layout, _ = nested(data, structure)
    for t, table in enumerate(layout.tables):
        own = [part for part in layout.parts if part.table == t]
        assert len({part.shape for part in own}) == len(own) == 2**table.n_parents
        child = () if table.is_class else (table.shape[1],)
        assert all(part.shape[table.n_parents :] == (*child, table.width) for part in own)
    ends = [part.base + part.size for part in layout.parts]
    assert [0, *ends[:-1]] == [part.base for part in layout.parts]
    assert ends[-1] == layout.size


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_is_the_sum_of_its_parts(random_problem, seed):
    data, structure, rng = random_problem(seed, max_parents=3)
    layout, _ = nested(data, structure)
    vector = rng.normal(size=layout.size)
    found = layout.split(layout.log_theta(vector))
    for t, table in enumerate(layout.tables):
        whole = layout.parts[t].shape
        beta = np.zeros(whole)
        for cell in product(*map(range, whole)):
            for part in (p for p in layout.parts if p.table == t):
                at = tuple(min(i, n - 1) for i, n in zip(cell, part.shape, strict=True))
                beta[cell] += part.of(vector)[at]
        expected = log_softmax(beta.reshape(table.shape), axis=1)
        assert found[t] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("prior", ["smooth", "independence"])
def test_the_gradient_is_the_derivative(random_problem, seed, prior):
    data, structure, rng = random_problem(seed)
    own = PRIORS[prior]
    plain, _ = nested(data, structure)
    layout = own.layout(plain)
    rows = Rows.of(layout, MergedRows.from_codes(data.train()))
    anchor = own.mean(rows, Laplace())
    problem = Problem(rows, ConditionalLoss(), anchor, 0.7, own.precision(layout))
    beta = anchor + rng.normal(size=layout.size)
    error = check_grad(lambda b: problem.value(b)[0], lambda b: problem.value(b)[1], beta)
    assert error < 1e-4


def test_the_mean_and_the_start_are_those_without_parts(random_problem):
    data, structure, _ = random_problem(3)
    layout, rows = nested(data, structure)
    plain = replace(layout, nested=False)
    alone = Rows.of(plain, MergedRows.from_codes(data.train()))
    for mine, theirs in (
        (rows.independence(Laplace()), alone.independence(Laplace())),
        (rows.maximum_likelihood(Laplace()), alone.maximum_likelihood(Laplace())),
    ):
        assert mine[: plain.size] == pytest.approx(theirs, abs=1e-12)
        assert not mine[plain.size :].any()
