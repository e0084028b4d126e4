"""Class probabilities, with and without missing features, against plain summation."""

import numpy as np
import pytest

from milpbn.encoding import Variable
from milpbn.errors import DataError
from milpbn.families import Epsilon, Laplace
from milpbn.network import inference
from milpbn.network.forest import Forest
from milpbn.network.inference import accuracy, log_joint, log_posterior, predict
from milpbn.network.network import Network, fit_network
from milpbn.structure import Structure

# P(class) = (1/2, 1/2); P(a=0 | class) = (3/4, 1/2).
TINY = Network(
    Structure(("class", "a"), ((), (0,))),
    (Variable("class", ("no", "yes")), Variable("a", ("low", "high"))),
    (np.log([0.5, 0.5]), np.log([[0.75, 0.25], [0.5, 0.5]])),
)


def test_a_complete_row_by_hand():
    assert np.exp(log_joint(TINY, np.array([[0], [1]]))) == pytest.approx(
        np.array([[0.375, 0.25], [0.125, 0.25]])
    )
    assert np.exp(log_posterior(TINY, np.array([[0]]))) == pytest.approx(np.array([[0.6, 0.4]]))
    assert predict(TINY, np.array([[0], [1]])).tolist() == [0, 1]


def test_a_row_with_nothing_observed_has_the_prior():
    assert np.exp(log_joint(TINY, np.array([[-1]]))) == pytest.approx(np.array([[0.5, 0.5]]))


def test_the_first_of_equal_classes_is_predicted():
    assert predict(TINY, np.array([[-1]])).tolist() == [0]


def test_accuracy_counts_unknown_labels_as_errors():
    codes = np.array([[0, 0], [1, 1], [1, 0], [-1, 0]])
    assert accuracy(TINY, codes) == 0.5


@pytest.mark.parametrize("max_parents", [1, 2, 4])
@pytest.mark.parametrize("class_root", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_missing_features_are_summed_out(
    random_network, sum_over_completions, seed, class_root, max_parents
):
    network, rng = random_network(seed, n=6, max_parents=max_parents, class_root=class_root)
    features = np.stack([rng.integers(0, v.card, 12) for v in network.variables[1:]], axis=1)
    # Every row with its own pattern: complete, one missing, several, all missing.
    features[1:][rng.random((11, 5)) < 0.45] = -1
    features[-1] = -1
    features[-2, 2] = -2
    expected = sum_over_completions(network, features)
    assert log_joint(network, features) == pytest.approx(expected, abs=1e-12)


@pytest.fixture
def random_forest():
    """Features below the class with at most one feature parent each; sometimes above it."""

    def make(seed, above_class=False):
        rng = np.random.default_rng(seed)
        cards = rng.integers(2, 4, 7)
        variables = tuple(
            Variable("class" if i == 0 else f"x{i}", tuple(f"s{k}" for k in range(card)))
            for i, card in enumerate(cards)
        )
        order = rng.permutation(np.arange(1, 7)).tolist()
        parents = [()] * 7
        for k, i in enumerate(order):
            features = rng.choice(order[:k], min(k, int(rng.integers(0, 2))), replace=False)
            with_class = [] if rng.random() < 0.3 else [0]
            parents[i] = (*with_class, *features.tolist())
        if above_class:
            parents[0], parents[order[0]] = (order[0],), ()
        structure = Structure(tuple(v.name for v in variables), tuple(parents))
        codes = np.stack([rng.integers(0, card, 40) for card in cards], axis=1)
        return fit_network(structure, variables, codes, Epsilon(0.1)), rng

    return make


@pytest.mark.parametrize("above_class", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_forests_are_summed_out_row_by_row(random_forest, sum_over_completions, seed, above_class):
    network, rng = random_forest(seed, above_class)
    features = np.stack([rng.integers(0, v.card, 25) for v in network.variables[1:]], axis=1)
    features[1:][rng.random((24, 6)) < 0.5] = -1
    assert Forest.of(network) is not None
    expected = sum_over_completions(network, features)
    assert log_joint(network, features) == pytest.approx(expected, abs=1e-12)


def test_opposing_factors_do_not_underflow():
    """Two observed features want opposite states of two hidden parents, each by e^-600."""
    names = ("class", "a", "b", "x", "y")
    structure = Structure(names, ((), (), (1,), (0, 1, 2), (0, 1, 2)))
    variables = tuple(Variable(n, ("0", "1")) for n in names)
    half = np.log(0.5)
    certain = np.array([0.0, -600.0])
    x = np.broadcast_to(certain[None, :, None, None], (2, 2, 2, 2)).copy()
    y = np.broadcast_to(certain[::-1][None, :, None, None], (2, 2, 2, 2)).copy()
    y[1] += np.log(0.25)
    cpts = (np.full(2, half), np.full(2, half), np.full((2, 2), half), x, y)
    network = Network(structure, variables, cpts)
    joint = log_joint(network, np.array([[-1, -1, 0, 0]]))
    assert joint[0] == pytest.approx([half - 600, half - 600 + np.log(0.25)])


def test_epsilon_parameters_that_do_not_sum_to_one_are_summed_as_they_are(
    random_network, sum_over_completions
):
    network, _ = random_network(3, n=5, smoothing=Epsilon(0.1))
    features = np.full((1, 4), -1)
    expected = sum_over_completions(network, features)
    assert log_joint(network, features) == pytest.approx(expected, abs=1e-12)
    assert expected != pytest.approx(np.log([[0.5, 0.5]]), abs=1e-3)


def test_the_rows_of_one_pattern_do_not_depend_on_the_batch(random_network, monkeypatch):
    network, rng = random_network(1, n=5, max_parents=3)
    features = np.stack([rng.integers(-1, v.card, 40) for v in network.variables[1:]], axis=1)
    whole = log_joint(network, features)
    monkeypatch.setattr(inference, "_ROWS_AT_ONCE", 3)
    assert (log_joint(network, features) == whole).all()
    one_by_one = np.concatenate([log_joint(network, row[None]) for row in features])
    assert one_by_one == pytest.approx(whole, abs=1e-13)


def test_posteriors_sum_to_one(random_network):
    network, rng = random_network(2, n=5)
    features = np.stack([rng.integers(-1, v.card, 30) for v in network.variables[1:]], axis=1)
    assert np.exp(log_posterior(network, features)).sum(axis=1) == pytest.approx(np.ones(30))


def hub(children, p=0.5):
    """class -> hub -> many children, which have the class as second parent."""
    variables = tuple(
        Variable(name, ("0", "1")) for name in ("class", "hub", *(f"x{k}" for k in range(children)))
    )
    structure = Structure(tuple(v.name for v in variables), ((), (0,), *[(0, 1)] * children))
    own = np.log([[[p, 1 - p], [p, 1 - p]], [[1 - p, p], [p, 1 - p]]])
    cpts = (np.log([0.3, 0.7]), np.log([[0.5, 0.5], [0.2, 0.8]]), *[own] * children)
    return Network(structure, variables, cpts)


@pytest.mark.parametrize("children", [5, 70, 100])
def test_a_missing_hub_with_missing_children_leaves_the_prior(children):
    joint = log_joint(hub(children), np.full((1, children + 1), -1))
    assert np.exp(joint) == pytest.approx(np.array([[0.3, 0.7]]))


def test_a_missing_hub_with_many_observed_children_does_not_underflow():
    network = hub(400, p=1e-5)
    features = np.zeros((1, 401), dtype=int)
    features[0, 0] = -1
    joint = log_joint(network, features)
    # Class 0: children are unlikely whatever the hub; class 1: likely if the hub is 0.
    expected = [np.log(0.3) + 400 * np.log(1e-5), np.log(0.7 * 0.2) + 400 * np.log1p(-1e-5)]
    assert joint == pytest.approx(np.array([expected]))


def test_no_rows_and_no_features_are_fine():
    assert log_joint(TINY, np.zeros((0, 1), dtype=int)).shape == (0, 2)
    alone = fit_network(
        Structure(("class",), ((),)), TINY.variables[:1], np.array([[0], [1], [1]]), Laplace()
    )
    assert np.exp(log_joint(alone, np.zeros((2, 0), dtype=int))) == pytest.approx(
        np.array([[0.4, 0.6]] * 2)
    )


@pytest.mark.parametrize("shape", [(2, 2), (1,), (1, 1, 1)])
def test_the_wrong_number_of_features_is_named(shape):
    with pytest.raises(DataError, match=r"expected 1 feature codes per row, got an array \("):
        log_joint(TINY, np.zeros(shape, dtype=int))


def test_impossible_states_are_summed_out(sum_over_completions):
    """A network from elsewhere: b is the exclusive or of the class and a."""
    yes_no = ("no", "yes")
    variables = tuple(Variable(name, yes_no) for name in ("class", "a", "b"))
    structure = Structure(("class", "a", "b"), ((), (), (0, 1)))
    xor = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    with np.errstate(divide="ignore"):
        tables = tuple(np.log(t) for t in (np.array([0.5, 0.5]), np.array([1.0, 0.0]), xor))
    network = Network(structure, variables, tables)
    rows = np.array([[-1, 1], [-1, -1], [0, -1], [0, 0], [-1, 0]])
    with np.errstate(divide="ignore"):
        wanted = sum_over_completions(network, rows)
    assert (np.exp(log_joint(network, rows)) == np.exp(wanted)).all()
    assert np.isnan(log_posterior(network, np.array([[1, 0]]))).all()


@pytest.mark.parametrize("max_parents", [1, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_random_impossible_states_are_summed_out(
    random_network, sum_over_completions, seed, max_parents
):
    network, rng = random_network(seed, n=6, max_parents=max_parents, class_root=True)
    tables = []
    for table in network.log_cpts:
        theta = np.exp(table) * (rng.random(table.shape) < 0.6)
        theta[..., 0] += theta.sum(axis=-1) == 0
        with np.errstate(divide="ignore"):
            tables.append(np.log(theta / theta.sum(axis=-1, keepdims=True)))
    network = Network(network.structure, network.variables, tuple(tables))
    features = np.stack([rng.integers(0, v.card, 40) for v in network.variables[1:]], axis=1)
    features[rng.random(features.shape) < 0.45] = -1
    with np.errstate(divide="ignore"):
        expected = np.exp(sum_over_completions(network, features))
    assert (expected == 0).any()
    assert np.exp(log_joint(network, features)) == pytest.approx(expected, abs=1e-12)


def test_a_forest_sums_states_that_are_far_apart():
    """The likelier state of a below the class is the one that its children all but exclude."""
    names = ("class", "a", *(f"x{k}" for k in range(4)))
    variables = tuple(Variable(name, ("no", "yes")) for name in names)
    structure = Structure(names, ((), (), *(((1,),) * 4)))
    child = np.array([[0.0, -300.0], [-300.0, 0.0]])
    tables = (np.log([0.5, 0.5]), np.array([0.0, -1000.0]), *([child] * 4))
    row = np.array([[-1, 1, 1, 1, 1]])
    joint = log_joint(Network(structure, variables, tables), row)
    assert joint == pytest.approx(np.full((1, 2), np.log(0.5) - 1000.0))
