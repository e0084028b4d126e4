"""Multinets: one network a class, scored, parametrised, saved and drawn like any other."""

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
    result = learn_structure(data, method="multinet-ear", structure_score="cr", class_parents=False)
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
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    with pytest.raises(ModelFileError, match="one structure for every class"):
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
            learn_structure(two_trees, method="multinet-cmi", structure_score=score)


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
    with pytest.raises(DataError, match="class root"):
        ClassStructures(("x",), (Structure(("class", "a"), ((1,), ())),))
