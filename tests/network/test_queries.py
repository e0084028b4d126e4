"""Queries against sums over all states and against pyAgrum, and samples against queries."""

from itertools import product

import numpy as np
import pyagrum
import pytest
from scipy.stats import chi2

from milpbn.encoding import Coarsening, Variable
from milpbn.errors import DataError, OptionError
from milpbn.families import Epsilon, Laplace
from milpbn.interchange import export_network
from milpbn.network.inference import log_posterior
from milpbn.network.network import Network, fit_network
from milpbn.structure import Structure


def joint_table(network):
    """P(x) of every combination of states, by the definition."""
    cards = [v.card for v in network.variables]
    out = np.ones(cards)
    for states in product(*map(range, cards)):
        for i, parents in enumerate(network.structure.parents):
            out[states] *= np.exp(network.log_cpts[i][tuple(states[v] for v in (*parents, i))])
    return out


def some_question(network, rng):
    """Names to ask for, and states that are given."""
    order = rng.permutation(len(network.variables)).tolist()
    n_asked = int(rng.integers(1, 4))
    n_given = int(rng.integers(0, 3))
    asked = [network.variables[v].name for v in order[:n_asked]]
    given = {
        network.variables[v].name: str(rng.choice(network.variables[v].states))
        for v in order[n_asked : n_asked + n_given]
    }
    return asked, given


@pytest.mark.parametrize("smoothing", [Laplace(), Epsilon(1e-3)])
@pytest.mark.parametrize("seed", range(25))
def test_a_query_is_a_sum_over_everything_else(random_network, seed, smoothing):
    network, rng = random_network(seed, n=6, max_parents=3, smoothing=smoothing)
    table, names = joint_table(network), [v.name for v in network.variables]
    for _ in range(5):
        asked, given = some_question(network, rng)
        where = [slice(None)] * len(names)
        for name, state in given.items():
            i = names.index(name)
            where[i] = slice(
                network.variables[i].states.index(state),
                network.variables[i].states.index(state) + 1,
            )
        rest = tuple(i for i, name in enumerate(names) if name not in asked)
        wanted = table[tuple(where)].sum(axis=rest, keepdims=True)
        wanted = wanted.transpose([*(names.index(a) for a in asked), *rest]).ravel()
        answer = network.query(asked, given)
        assert answer.to_numpy() == pytest.approx(wanted / wanted.sum())
        assert list(answer.index.names) == asked


def test_a_query_for_the_class_is_the_posterior(random_network):
    network, rng = random_network(11, n=6, smoothing=Epsilon(1e-4))
    row = {v.name: str(rng.choice(v.states)) for v in network.variables[1:4]}
    codes = [[v.states.index(row[v.name]) if v.name in row else -1 for v in network.variables[1:]]]
    wanted = np.exp(log_posterior(network, np.array(codes)))[0]
    assert network.query("class", row).to_numpy() == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(10))
def test_pyagrum_gives_the_same_answers(random_network, tmp_path, seed):
    network, rng = random_network(seed, n=7, max_parents=3)
    path = tmp_path / "net.bifxml"
    path.write_text(export_network(network, "xmlbif"), encoding="utf-8")
    other = pyagrum.loadBN(str(path))
    for _ in range(3):
        asked, given = some_question(network, rng)
        theirs = pyagrum.LazyPropagation(other)
        theirs.addJointTarget(set(asked))
        theirs.setEvidence(given)
        answer, joint = network.query(asked, given), theirs.jointPosterior(set(asked))
        for states, mine in answer.items():
            labels = (states,) if isinstance(states, str) else states
            where = dict(zip(asked, labels, strict=True))
            assert mine == pytest.approx(joint[where], abs=1e-6)


def test_samples_have_the_probabilities_of_the_network(random_network):
    network, _ = random_network(4, n=4, max_parents=2)
    names = [v.name for v in network.variables]
    rows = network.sample(20_000, seed=3)
    assert list(rows.columns) == names
    expected = network.query(names) * len(rows)
    seen = rows.value_counts().reindex(expected.index, fill_value=0)
    statistic = float(((seen - expected) ** 2 / expected).sum())
    assert statistic < chi2.ppf(0.999, len(expected) - 1)
    assert rows.equals(network.sample(20_000, seed=3))
    assert not rows.equals(network.sample(20_000, seed=4))
    assert network.sample(0).shape == (0, 4)


def test_samples_and_queries_have_the_finest_states():
    x = Variable("x", ("a", "b", "c"), (Coarsening(("ab", "c"), (0, 0, 1)),))
    structure = Structure(("t", "x"), ((), (0,)), ((0,), (0, 1)))
    codes = np.random.default_rng(3).integers(0, [2, 3], (40, 2))
    network = fit_network(structure, (Variable("t", ("no", "yes")), x), codes, Laplace())
    assert network.query("x", {"t": "yes"}).index.tolist() == ["a", "b", "c"]
    assert network.query("x", {"t": "yes"}).to_numpy() == pytest.approx(
        np.exp(network.finest.log_cpts[1][1])
    )
    assert set(network.sample(200)["x"]) == {"a", "b", "c"}


def test_rows_of_zeros_are_never_drawn():
    pair = Variable("c", ("no", "yes")), Variable("a", ("u", "v", "w"))
    with np.errstate(divide="ignore"):
        logs = np.log([1.0, 0.0]), np.log([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    network = Network(Structure(("c", "a"), ((), (0,))), pair, logs)
    assert network.sample(500).drop_duplicates().to_numpy().tolist() == [["no", "v"]]
    with pytest.raises(DataError, match="the given states are impossible"):
        network.query("c", {"a": "w"})


def test_what_cannot_be_asked_is_refused(random_network):
    network, _ = random_network(2, n=4)
    with pytest.raises(OptionError, match=r"no variable 'z'; the variables are 'class', 'x1'"):
        network.query("z")
    with pytest.raises(OptionError, match=r"'class' has no state 'maybe'; the states are 's0'"):
        network.query("x1", {"class": "maybe"})
    with pytest.raises(OptionError, match="a query needs the name of a variable"):
        network.query([])
    with pytest.raises(OptionError, match="asks for 'x1', which is named twice"):
        network.query(["x1", "x1"])
    with pytest.raises(OptionError, match="asks for 'x1', which is given, too"):
        network.query(["x1"], {"x1": "s0"})
    with pytest.raises(OptionError, match="must not be negative, and it is -1"):
        network.sample(-1)


def test_large_questions_are_refused():
    names = tuple(f"x{i}" for i in range(25))
    variables = tuple(Variable(name, ("a", "b")) for name in names)
    network = Network(Structure(names, ((),) * 25), variables, (np.log([0.5, 0.5]),) * 25)
    with pytest.raises(OptionError, match="needs a table with 33,554,432 cells"):
        network.query(names)
    assert network.query("x3").to_list() == pytest.approx([0.5, 0.5])
