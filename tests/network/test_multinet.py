"""Multinets: one network per class, scored, parametrised, saved and drawn like any other."""

import math
from itertools import product

import numpy as np
import pytest
from problems import encoded, random_codes

from milpbn import Constraints, Encoder, Model, learn_parameters, learn_structure, load_dataset
from milpbn.errors import DataError, ModelFileError, OptionError
from milpbn.families import Laplace, MergedRows
from milpbn.interchange import read_structure
from milpbn.network.inference import accuracy, log_joint, log_posterior
from milpbn.network.multinet import fit_multinet
from milpbn.network.network import fit_network
from milpbn.parameters.convert import layout_of, with_tables
from milpbn.parameters.losses import ConditionalLoss, MarginLoss
from milpbn.parameters.optimise import Problem
from milpbn.parameters.tables import Rows
from milpbn.pictures import draw_multinet
from milpbn.scores import make_score
from milpbn.scores.rescore import rescore
from milpbn.structure import ClassStructures, Structure

METHODS = ("multinet-cmi", "multinet-ear")


@pytest.fixture(scope="module")
def vehicle():
    table = load_dataset("vehicle")
    encoder = Encoder.fit(table)
    return encoder, encoder.encode(table)


@pytest.fixture(scope="module")
def two_trees():
    """Class 0: x1 and x2 agree, x3 and x4 agree; class 1: x1 and x3, x2 and x4."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 600)
    a, b, noise, other = rng.integers(0, 2, (4, 600))
    same, alike = (np.where(rng.random(600) < 0.9, x, y) for x, y in ((a, noise), (b, other)))
    first, second = np.where(label == 0, same, b), np.where(label == 0, b, same)
    return encoded(np.column_stack([label, a, first, second, alike]), [2, 2, 2, 2, 2])


def brute_force(multinet, features):
    """log P(c, observed) by summing over every completion, from the tables of the classes."""
    out = np.zeros((len(features), multinet.n_classes))
    for r, row in enumerate(features):
        for c, network in enumerate(multinet.networks):
            cards = [v.card for v in network.variables[1:]]
            choices = [range(k) if v < 0 else [v] for k, v in zip(cards, row, strict=True)]
            for complete in product(*choices):
                states = (0, *complete)
                terms = [
                    network.log_cpts[i][tuple(states[v] for v in (*parents, i))]
                    for i, parents in enumerate(network.structure.parents)
                ]
                out[r, c] += np.exp(sum(terms))
    return np.log(out)


@pytest.mark.parametrize("method", METHODS)
def test_every_class_gets_its_own_tree(two_trees, method):
    structure = learn_structure(two_trees, method=method, class_parents=False).structure
    first, second = (
        {frozenset(arc) for arc in s.arcs if "class" not in arc} for s in structure.structures
    )
    pairs = [{frozenset(p) for p in two} for two in (("12", "34"), ("13", "24"))]
    named = [{frozenset(f"x{k}" for k in p) for p in two} for two in pairs]
    assert named[0] <= first
    assert named[1] <= second
    assert first != second


def test_with_one_structure_for_all_classes_it_is_the_network(vehicle):
    _, data = vehicle
    structure = learn_structure(data, method="tan-cmi", class_parents=False).structure
    same = ClassStructures(data.variables[0].states, (structure,) * data.variables[0].card)
    network = fit_network(structure, data.variables, data.train(), Laplace())
    multinet = fit_multinet(same, data.variables, data.train(), Laplace())
    features = data.codes[:50, 1:].copy()
    features[25:][np.random.default_rng(0).random((25, features.shape[1])) < 0.3] = -1
    assert log_joint(multinet, features) == pytest.approx(log_joint(network, features))
    assert multinet.n_parameters == network.n_parameters
    for name in ("sm", "cr", "cll"):
        score = make_score(name)
        arguments = (data.variables, data.train())
        assert rescore(score, same, *arguments) == pytest.approx(
            rescore(score, structure, *arguments)
        )


def counted_by_hand(codes, cards, parents_by_class):
    """(own, others) per row: log P(c, z) with Laplace smoothing, by counting rows in loops."""
    rows = [[int(v) for v in row] for row in codes]
    out = []
    for row in rows:
        joints = []
        for c, parents in enumerate(parents_by_class):
            of_class = [r for r in rows if r[0] == c]
            log_p = math.log((len(of_class) + 1) / (len(rows) + cards[0]))
            for i in range(1, len(cards)):
                given = [p for p in parents[i] if p != 0]
                alike = [r for r in of_class if all(r[p] == row[p] for p in given)]
                equal = [r for r in alike if r[i] == row[i]]
                log_p += math.log((len(equal) + 1) / (len(alike) + cards[i]))
            joints.append(log_p)
        own = joints.pop(row[0])
        out.append((own, joints))
    return out


def scores_by_hand(rows, gamma):
    """The soft margin, the classification rate and the conditional log-likelihood."""
    margins = [own - max(others) for own, others in rows]
    return {
        "sm": sum(min(gamma, m) for m in margins),
        "cr": sum(m > 1e-9 for m in margins),
        "cll": sum(
            own - math.log(sum(math.exp(value) for value in (own, *others))) for own, others in rows
        ),
    }


def random_parents(rng, n):
    """A random order of the features, each with the class or not, and some features before it."""
    order = rng.permutation(np.arange(1, n)).tolist()
    parents = [()] * n
    for k, i in enumerate(order):
        features = [p for p in order[:k] if rng.random() < 0.4]
        parents[i] = tuple(sorted([*features, *([0] if rng.random() < 0.7 else [])]))
    return tuple(parents)


@pytest.mark.parametrize("seed", range(8))
def test_scores_of_multinets_are_those_counted_by_hand(seed):
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, 5, n_classes=2 + seed % 3)
    data = encoded(codes, cards)
    names = tuple(v.name for v in data.variables)
    parents = [random_parents(rng, len(cards)) for _ in range(cards[0])]
    structure = ClassStructures(
        data.variables[0].states, tuple(Structure(names, own) for own in parents)
    )
    expected = scores_by_hand(counted_by_hand(codes, cards, parents), math.log(4))
    for name, value in expected.items():
        score = make_score(name, **({"p": 0.8} if name == "sm" else {}))
        found = rescore(score, structure, data.variables, data.codes)
        assert found == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_learned_multinet_scores_what_is_counted_by_hand(two_trees, method):
    data = encoded(two_trees.codes[:200], [2] * 5)
    results = {
        name: learn_structure(data, method=method, score=name, class_parents=False)
        for name in ("sm", "cr", "cll")
    }
    parents = [own.parents for own in results["sm"].structure.structures]
    expected = scores_by_hand(counted_by_hand(data.codes, [2] * 5, parents), math.log(9))
    for name, result in results.items():
        assert result.structure == results["sm"].structure
        assert result.objective == pytest.approx(expected[name])


@pytest.mark.parametrize("seed", range(4))
def test_missing_features_are_summed_out(seed):
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, 5, 3)
    data = encoded(codes, cards)
    structure = learn_structure(data, method=METHODS[seed % 2], class_parents=False).structure
    multinet = fit_multinet(structure, data.variables, data.train(), Laplace())
    features = np.stack([rng.integers(-1, card, 15) for card in cards[1:]], axis=1)
    assert log_joint(multinet, features) == pytest.approx(brute_force(multinet, features))


@pytest.mark.parametrize("loss", [ConditionalLoss(), MarginLoss(0.5)], ids=repr)
def test_the_gradient_is_that_of_the_value(two_trees, loss):
    structure = learn_structure(two_trees, method="multinet-cmi", class_parents=False).structure
    multinet = fit_multinet(structure, two_trees.variables, two_trees.train(), Laplace())
    layout = layout_of(multinet)
    rows = Rows.of(layout, MergedRows.from_codes(two_trees.train()))
    start = rows.maximum_likelihood(Laplace())
    again = with_tables(multinet, layout, start)
    assert log_joint(again, two_trees.codes[:, 1:]) == pytest.approx(
        log_joint(multinet, two_trees.codes[:, 1:])
    )
    rng = np.random.default_rng(1)
    problem = Problem(rows, loss, start, 0.3)
    beta = start + rng.normal(size=len(start))
    _, gradient = problem.value(beta)
    for cell in range(len(beta)):
        step = np.zeros(len(beta))
        step[cell] = 1e-5
        slope = (problem.value(beta + step)[0] - problem.value(beta - step)[0]) / 2e-5
        assert gradient[cell] == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize("parameters", ["ml", "cl", "mm:lambda=0.5"])
def test_a_multinet_is_saved_and_read_with_its_parameters(vehicle, tmp_path, parameters):
    encoder, data = vehicle
    result = learn_structure(data, method="multinet-ear", score="cr", class_parents=False)
    network, report = learn_parameters(data, result.structure, parameters=parameters)
    if parameters != "ml":
        assert report.objective > report.start
    path = tmp_path / "multinet.json"
    Model(network, encoder, result, parameters=report).save(path)
    loaded = Model.load(path)
    assert loaded.result == result
    assert loaded.network.structure == result.structure
    features = data.codes[:30, 1:]
    assert (log_posterior(loaded.network, features) == log_posterior(network, features)).all()
    for name in result.structure.variables:
        counts = loaded.network.table(name, counts=True)
        assert counts.to_numpy().sum() == len(data.train())
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    with pytest.raises(ModelFileError, match="one structure per class"):
        read_structure(path)


def test_constraints_hold_in_every_class(vehicle):
    _, data = vehicle
    a, b, c = (v.name for v in data.variables[1:4])
    limits = Constraints(required=[(a, b)], forbidden=[(b, c), (c, b)])
    for method in METHODS:
        result = learn_structure(data, method=method, constraints=limits, class_parents=False)
        for structure in result.structure.structures:
            assert (a, b) in structure.arcs
            assert not {(b, c), (c, b)} & set(structure.arcs)


def test_a_class_without_rows_is_naive(two_trees):
    more = encoded(two_trees.codes, [3, 2, 2, 2, 2])
    structure = learn_structure(more, method="multinet-cmi", class_parents=False).structure
    assert all(parents == (0,) for parents in structure.structures[2].parents[1:])
    network, _ = learn_parameters(more, structure, parameters="cl")
    assert accuracy(network, more.codes) > 0.5


def test_scores_without_a_multinet_are_refused(two_trees):
    for score in ("sbm", "mdl", "bdeu"):
        with pytest.raises(OptionError, match="not defined for multinets"):
            learn_structure(two_trees, method="multinet-cmi", score=score)


def test_each_class_is_drawn_into_its_own_file(two_trees, tmp_path):
    structure = learn_structure(two_trees, method="multinet-cmi", class_parents=False).structure
    odd = ClassStructures(("a/b", "a b"), structure.structures)
    files = draw_multinet(odd, tmp_path / "net.dot")
    assert [f.name for f in files] == ["net-a_b.dot", "net-a_b-1.dot"]
    assert all("digraph" in f.read_text() for f in files)


def test_structures_that_do_not_fit_together_are_refused():
    one = Structure(("class", "a"), ((), (0,)))
    with pytest.raises(DataError, match="2 classes but 1"):
        ClassStructures(("x", "y"), (one,))
    with pytest.raises(DataError, match="the class as a root"):
        ClassStructures(("x",), (Structure(("class", "a"), ((1,), ())),))


def test_one_table_has_the_rows_of_every_class():
    names = ("class", "x1", "x2", "x3")
    one = Structure(names, ((), (0,), (0, 1), ()))
    two = Structure(names, ((), (0, 3), (0,), ()))
    cards = (2, 2, 3, 2)
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, card, 40) for card in cards], axis=1)
    data = encoded(codes, cards)
    structure = ClassStructures(data.variables[0].states, (one, two))
    multinet = fit_multinet(structure, data.variables, codes, Laplace())
    prior, x1, x3 = (multinet.table(name) for name in ("class", "x1", "x3"))
    assert prior.to_numpy()[0] == pytest.approx(np.exp(multinet.log_prior))
    assert x1.index.to_list() == [("s0", ""), ("s1", "s0"), ("s1", "s1")]
    assert x1.index.names == ["class", "x3"]
    assert (x3.index.name, x3.index.to_list()) == ("class", ["s0", "s1"])
    for name in names[1:]:
        rows = [np.exp(network.log_cpts[names.index(name)]) for network in multinet.networks]
        flat = np.concatenate([r.reshape(-1, r.shape[-1]) for r in rows])
        assert multinet.table(name).to_numpy() == pytest.approx(flat)
    assert repr(multinet).startswith("<Multinet: class 'class' with 2 states, 3 features, one ")
    with pytest.raises(OptionError, match="no variable 'x4'"):
        multinet.table("x4")
