"""Tied tables: a family sees its variables in coarser states, and shares divide these."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from problems import encoded, random_codes, random_maps

from milpbn.encoding.columns import Coarsening, Variable
from milpbn.errors import DataError
from milpbn.families import Epsilon, Laplace, MergedRows
from milpbn.network.inference import log_joint, log_posterior
from milpbn.network.multinet import fit_multinet
from milpbn.network.network import Network, fit_network
from milpbn.network.terms import family_terms
from milpbn.parameters import make_parameters
from milpbn.parameters.convert import layout_of
from milpbn.parameters.losses import ConditionalLoss, MarginLoss
from milpbn.parameters.optimise import Problem
from milpbn.parameters.tables import Rows
from milpbn.structure import ClassStructures, Structure

# "medium" and "high" are one state for its own family: 3/4 and 1/4 of their rows.
SIZE = Variable("size", ("low", "medium", "high"), (Coarsening(("low", "rest"), (0, 1, 1)),))
TINY = (Variable("class", ("no", "yes")), SIZE)


def tied(seed, n=5, max_parents=2, smoothing=None):
    """A network with random structure, resolutions and rows."""
    rng = np.random.default_rng([seed, 7])
    codes, cards = random_codes(rng, n, 2 + seed % 2)
    maps = random_maps(rng, cards)
    data = encoded(codes, cards, rng.choice([0.5, 1.0, 2.0], len(codes)), maps)
    order = rng.permutation(n).tolist()
    parents = [()] * n
    for k, i in enumerate(order):
        size = min(k, int(rng.integers(0, max_parents + 1)))
        parents[i] = tuple(sorted(rng.choice(order[:k], size, replace=False).tolist()))
    seen = tuple(
        tuple(int(rng.integers(0, 1 + len(maps[v]))) for v in (*s, i))
        for i, s in enumerate(parents)
    )
    structure = Structure(tuple(v.name for v in data.variables), tuple(parents), seen)
    return data, structure, fit(data, structure, smoothing or Laplace()), rng


def fit(data, structure, smoothing):
    return fit_network(structure, data.variables, data.train(), smoothing, data.train_weights())


def every_row(network):
    return np.array(list(product(*(range(v.card) for v in network.variables[1:]))))


def test_a_table_is_counted_in_coarse_states_and_divided_by_shares():
    structure = Structure(("class", "size"), ((), (0,)), ((0,), (0, 1)))
    codes = np.array([[0, 0], [0, 1], [0, 1], [1, 1], [1, 2]])
    network = fit_network(structure, TINY, codes, Laplace(1e-12))
    assert network.table("size").columns.tolist() == ["low", "rest"]
    assert network.table("size").to_numpy() == pytest.approx(np.array([[1 / 3, 2 / 3], [0, 1]]))
    assert network.table("size", counts=True).to_numpy().tolist() == [[1, 2], [0, 2]]
    assert np.exp(network.shares[1]) == pytest.approx([1, 3 / 4, 1 / 4])
    assert network.n_parameters == 1 + 2
    # P(no, medium) = 3/5 * 2/3 * 3/4
    assert np.exp(log_joint(network, np.array([[1]])))[0, 0] == pytest.approx(0.3)
    # The share cancels: P(no | medium) = P(no | high).
    posterior = log_posterior(network, np.array([[1], [2]]))
    assert posterior[0] == pytest.approx(posterior[1])


@pytest.mark.parametrize("smoothing", [Laplace(), Laplace(0.1)])
@pytest.mark.parametrize("seed", range(8))
def test_tied_networks_sum_to_one_over_the_finest_states(seed, smoothing):
    _, _, network, _ = tied(seed, smoothing=smoothing)
    assert np.exp(log_joint(network, every_row(network))).sum() == pytest.approx(1.0)
    assert np.exp(log_joint(network.finest, every_row(network))).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("smoothing", [Laplace(), Epsilon()])
@pytest.mark.parametrize("max_parents", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_missing_features_are_summed_over_the_finest_states(
    sum_over_completions, seed, max_parents, smoothing
):
    _, _, network, rng = tied(seed, max_parents=max_parents, smoothing=smoothing)
    features = np.stack([rng.integers(0, v.card, 12) for v in network.variables[1:]], axis=1)
    features[1:][rng.random((11, 4)) < 0.45] = -1
    features[-1] = -1
    expected = sum_over_completions(network.finest, features)
    assert log_joint(network, features) == pytest.approx(expected, abs=1e-12)
    terms = family_terms(network, features)
    assert terms.sum(axis=1) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_shares_change_no_posterior_of_a_complete_row(seed):
    _, _, network, _ = tied(seed)
    if not network.shares:
        pytest.skip("everything is in its finest states")
    even = []
    for i, own in enumerate(network.shares):
        of = np.array(network.axes(i)[-1].of)
        even.append(-np.log(np.bincount(of))[of] + 0 * own)
    changed = replace(network, shares=tuple(even))
    rows = every_row(network)
    assert log_posterior(changed, rows) == pytest.approx(log_posterior(network, rows), abs=1e-12)


def test_a_multinet_has_the_shares_of_all_classes():
    plain = Structure(("class", "size"), ((), (0,)), ((0,), (0, 1)))
    codes = np.array([[0, 0], [0, 1], [0, 1], [1, 1], [1, 2]])
    both = ClassStructures(("no", "yes"), (plain, plain))
    multinet = fit_multinet(both, TINY, codes, Laplace())
    network = fit_network(plain, TINY, codes, Laplace())
    rows = np.array([[0], [1], [2], [-1]])
    assert log_joint(multinet, rows) == pytest.approx(log_joint(network, rows))


def test_the_classes_of_a_multinet_see_a_child_alike():
    one, two = (Structure(("c", "a"), ((), (0,)), ((0,), (0, r))) for r in (1, 2))
    with pytest.raises(DataError, match="in one resolution"):
        ClassStructures(("no", "yes"), (one, two))


def test_wrong_resolutions_and_shares_are_errors():
    structure = Structure(("class", "size"), ((), (0,)), ((0,), (0, 2)))
    with pytest.raises(DataError, match="'size' has no resolution 2"):
        fit_network(structure, TINY, np.array([[0, 0], [1, 1]]), Laplace())
    structure = Structure(("class", "size"), ((), (0,)), ((0,), (0, 1)))
    network = fit_network(structure, TINY, np.array([[0, 0], [1, 1]]), Laplace())
    with pytest.raises(DataError, match="needs a share"):
        Network(structure, TINY, network.log_cpts)
    with pytest.raises(DataError, match="resolution for each parent"):
        Structure(("class", "size"), ((), (0,)), ((0,), (1,)))


def test_resolutions_follow_their_parents_when_these_are_sorted():
    given = Structure(("c", "a", "b"), ((), (), (1, 0)), ((0,), (0,), (2, 0, 1)))
    assert given == Structure(("c", "a", "b"), ((), (), (0, 1)), ((0,), (0,), (0, 2, 1)))
    assert given.reordered(("c", "b", "a")).resolutions_to_dict() == {"b": {"a": 2, "b": 1}}


@pytest.mark.parametrize("loss", [ConditionalLoss(), MarginLoss(0.5)], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_of_tied_tables_is_that_of_the_value(seed, loss):
    data, _, network, rng = tied(seed)
    rows = Rows.of(layout_of(network), MergedRows.from_codes(data.train()))
    problem = Problem(rows, loss, rows.maximum_likelihood(Laplace()), 0.3)
    beta = problem.anchor + rng.normal(size=len(problem.anchor))
    _, gradient = problem.value(beta)
    for cell in rng.permutation(len(beta))[:20]:
        step = np.zeros(len(beta))
        step[cell] = 1e-5
        slope = (problem.value(beta + step)[0] - problem.value(beta - step)[0]) / 2e-5
        assert gradient[cell] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("parameters", ["cl:penalty=0.5", "mm:lambda=0.5"])
@pytest.mark.parametrize("seed", range(3))
def test_learned_parameters_keep_the_shape_and_the_distribution(seed, parameters):
    data, structure, counted, _ = tied(seed)
    learned, report = make_parameters(parameters).fit(
        structure, data.variables, data.train(), Laplace(), weights=data.train_weights()
    )
    assert [t.shape for t in learned.log_cpts] == [t.shape for t in counted.log_cpts]
    assert report.objective >= report.start
    assert np.exp(log_joint(learned, every_row(learned))).sum() == pytest.approx(1.0)
