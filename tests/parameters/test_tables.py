"""The vector of cells against the network's own tables."""

import numpy as np
import pytest

from milpbn.families import Epsilon, Laplace, MergedRows
from milpbn.network.inference import log_posterior
from milpbn.network.network import fit_network
from milpbn.parameters.convert import layout_of, with_tables
from milpbn.parameters.tables import Rows

SEEDS = range(8)


def parts(data, structure, smoothing=None):
    network = fit_network(structure, data.variables, data.train(), smoothing or Laplace())
    layout = layout_of(network)
    return network, layout, Rows.of(layout, MergedRows.from_codes(data.train()))


@pytest.mark.parametrize("seed", SEEDS)
def test_maximum_likelihood_is_that_of_the_network(random_problem, seed):
    data, structure, _ = random_problem(seed)
    network, layout, rows = parts(data, structure)
    again = with_tables(network, layout, rows.maximum_likelihood(Laplace()))
    for table, other in zip(network.log_cpts, again.log_cpts, strict=True):
        assert other == pytest.approx(table, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_posteriors_are_those_of_inference(random_problem, seed):
    data, structure, rng = random_problem(seed)
    network, layout, rows = parts(data, structure)
    log_theta = layout.log_theta(rng.normal(size=int(layout.base[-1])))
    joint = rows.log_joint(log_theta)
    posterior = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    codes = MergedRows.from_codes(data.train()).codes
    expected = log_posterior(with_tables(network, layout, log_theta), codes[:, 1:])
    assert posterior == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_row_of_every_table_sums_to_one(random_problem, seed):
    data, structure, rng = random_problem(seed)
    network, layout, _ = parts(data, structure)
    fitted = with_tables(network, layout, layout.log_theta(50 * rng.normal(size=layout.base[-1])))
    for table in fitted.log_cpts:
        assert np.exp(table).sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]))


def test_tables_without_the_class_keep_maximum_likelihood(random_problem):
    data, structure, rng = random_problem(0)
    network, layout, _ = parts(data, structure)
    fitted = with_tables(network, layout, layout.log_theta(rng.normal(size=layout.base[-1])))
    for i, parents in enumerate(structure.parents):
        same = fitted.log_cpts[i] is network.log_cpts[i]
        assert same == (i != 0 and 0 not in parents)


def test_epsilon_begins_normalised_and_uniform_where_nothing_was_seen(random_problem):
    data, structure, _ = random_problem(2, n=4, m=8, class_root=True)
    network, layout, rows = parts(data, structure, Epsilon())
    start = with_tables(network, layout, rows.maximum_likelihood(Epsilon()))
    for raw, table in zip(network.log_cpts, start.log_cpts, strict=True):
        assert np.exp(table).sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]))
        assert np.exp(table) == pytest.approx(
            np.exp(raw) / np.exp(raw).sum(axis=-1, keepdims=True), abs=1e-12
        )


@pytest.mark.parametrize("seed", range(6))
def test_in_tables_of_independence_no_feature_says_anything_about_the_class(random_problem, seed):
    data, structure, _ = random_problem(seed)
    _, _, rows = parts(data, structure)
    found = rows.log_joint(rows.independence(Laplace()))
    labels = data.train()[:, 0]
    counts = np.bincount(labels, minlength=data.variables[0].card) + 1.0
    expected = np.log(counts / counts.sum())
    differences = found - found[:, :1]
    assert differences == pytest.approx(np.broadcast_to(expected - expected[0], found.shape))
