"""Parameters from rows, and the accuracies of the papers' naive Bayes."""

import numpy as np
import pytest

from milpbn import Encoder, load_dataset
from milpbn.encoding import Variable
from milpbn.errors import DataError, OptionError
from milpbn.families import Epsilon, Laplace
from milpbn.network.inference import accuracy
from milpbn.network.network import Network, fit_network
from milpbn.structure import Structure

VARIABLES = (
    Variable("class", ("no", "yes")),
    Variable("a", ("x", "y")),
    Variable("b", ("u", "v", "w")),
)
CODES = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 0]])


def test_parameters_by_hand():
    structure = Structure(("class", "a", "b"), ((), (0,), (0, 1)))
    network = fit_network(structure, VARIABLES, CODES, Laplace())
    prior, given_class, given_both = (np.exp(cpt) for cpt in network.log_cpts)
    assert prior == pytest.approx([4 / 6, 2 / 6])
    assert given_class == pytest.approx(np.array([[3 / 5, 2 / 5], [1 / 3, 2 / 3]]))
    assert given_both[0, 0] == pytest.approx([2 / 5, 2 / 5, 1 / 5])
    assert given_both[1, 0] == pytest.approx([1 / 3] * 3)
    assert network.n_parameters == 1 + 2 + 2 * 4
    assert network.n_classes == 2
    assert network.scope(2) == (0, 1, 2)


def test_every_configuration_sums_to_one(random_network):
    network, _ = random_network(5, n=6, max_parents=3)
    for cpt in network.log_cpts:
        assert np.exp(cpt).sum(axis=-1) == pytest.approx(np.ones(cpt.shape[:-1]))


def test_epsilon_parameters_are_frequencies():
    structure = Structure(("class", "a", "b"), ((), (0,), ()))
    network = fit_network(structure, VARIABLES, CODES, Epsilon(1e-5))
    expected = [[2 / 3, 1 / 3], [1e-5, 1]]
    assert np.exp(network.log_cpts[1]) == pytest.approx(np.array(expected))
    assert np.exp(network.log_cpts[2]) == pytest.approx([0.5, 0.5, 1e-5])


def test_a_table_of_the_wrong_shape_is_named():
    structure = Structure(("class", "a"), ((), (0,)))
    with pytest.raises(DataError, match=r"the table of 'a' has shape \(2, 3\), not \(2, 2\)"):
        Network(structure, VARIABLES[:2], (np.zeros(2), np.zeros((2, 3))))


def test_a_table_has_a_row_per_configuration_and_a_column_per_state():
    structure = Structure(("class", "a", "b"), ((), (0,), (0, 1)))
    network = fit_network(structure, VARIABLES, CODES, Laplace())
    prior, given_class, given_both = map(network.table, ("class", "a", "b"))
    assert (prior.shape, list(prior.columns)) == ((1, 2), ["no", "yes"])
    assert prior["yes"].to_list() == pytest.approx([2 / 6])
    assert (given_class.index.name, given_class.columns.name) == ("class", "a")
    assert given_class.loc["yes", "y"] == pytest.approx(2 / 3)
    assert given_both.index.names == ["class", "a"]
    assert given_both.loc[("no", "x")].to_list() == pytest.approx([2 / 5, 2 / 5, 1 / 5])
    with pytest.raises(OptionError, match=r"no variable 'c'; the variables are 'class', 'a', 'b'"):
        network.table("c")


def test_every_entry_of_a_table_is_where_its_labels_say(random_network):
    network, _ = random_network(3, n=6, max_parents=3)
    states = {v.name: v.states for v in network.variables}
    for i, own in enumerate(network.variables):
        parents = [network.variables[p].name for p in network.structure.parents[i]]
        for labels, row in network.table(own.name).iterrows():
            given = labels if len(parents) > 1 else (labels,) * len(parents)
            where = tuple(states[p].index(s) for p, s in zip(parents, given, strict=True))
            assert row.to_numpy() == pytest.approx(np.exp(network.log_cpts[i][where]))


def test_a_network_introduces_itself_in_one_line():
    structure = Structure(("class", "a", "b"), ((), (0,), (0, 1)))
    network = fit_network(structure, VARIABLES, CODES, Laplace())
    assert repr(network) == (
        "<Network: class 'class' with 2 states, 2 features, 3 arcs, 11 parameters>"
    )


@pytest.fixture(scope="module")
def satimage():
    table = load_dataset("satimage")
    return Encoder.fit(table).encode(table)


@pytest.mark.parametrize(("smoothing", "rate"), [(Laplace(), 81.40), (Epsilon(), 81.75)])
def test_naive_bayes_on_satimage_is_as_good_as_published(satimage, smoothing, rate):
    names = tuple(v.name for v in satimage.variables)
    naive = Structure(names, ((), *[(0,)] * (len(names) - 1)))
    network = fit_network(naive, satimage.variables, satimage.train(), smoothing)
    assert round(100 * accuracy(network, satimage.test()), 2) == rate
