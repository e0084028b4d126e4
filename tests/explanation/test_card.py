"""Score cards: rounded sums, counted by hand and compared with the network."""

import warnings

import numpy as np
import pandas as pd
import pytest
from problems import encoded
from sklearn.metrics import log_loss

from milpbn import BNClassifier, load_dataset
from milpbn.encoding import Encoder
from milpbn.encoding.columns import CATEGORICAL, ColumnCode
from milpbn.errors import OptionError
from milpbn.explanation import make_card
from milpbn.families import Laplace
from milpbn.network.inference import log_joint, log_posterior
from milpbn.network.multinet import fit_multinet
from milpbn.network.network import fit_network
from milpbn.structure import ClassStructures, Structure


def uniform_codes(seed, cards, rows):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, card, rows) for card in cards], axis=1)


def encoder_for(variables):
    target, *columns = (ColumnCode(v.name, CATEGORICAL, states=v.states) for v in variables)
    return Encoder(target, tuple(columns), {}, "drop")


def random_parents(rng, n, class_root):
    order = rng.permutation(n).tolist()
    if class_root:
        order = [0, *(v for v in order if v != 0)]
    parents = [()] * n
    for k, i in enumerate(order):
        parents[i] = tuple(rng.choice(order[:k], min(k, int(rng.integers(0, 3))), replace=False))
    return tuple(tuple(map(int, p)) for p in parents)


@pytest.fixture(params=range(8))
def problem(request):
    """A random network, or a multinet, with two or three classes, and its rows."""
    seed = request.param
    rng = np.random.default_rng(seed)
    cards = (2 + seed % 2, 2, 3, 2, 3)
    codes = uniform_codes(seed, cards, 60)
    variables = encoded(codes, cards).variables
    names = tuple(v.name for v in variables)
    if seed < 6:
        structure = Structure(names, random_parents(rng, 5, class_root=seed % 3 == 0))
        return fit_network(structure, variables, codes, Laplace()), codes
    own = tuple(Structure(names, random_parents(rng, 5, True)) for _ in variables[0].states)
    both = ClassStructures(variables[0].states, own)
    return fit_multinet(both, variables, codes, Laplace()), codes


@pytest.mark.parametrize("points", [3, 10, 500])
def test_totals_are_the_log_odds_up_to_rounding(problem, points):
    network, codes = problem
    card = make_card(network, encoder_for(network.variables), Laplace(), points=points)
    features = [table for table in card.tables if table.variable != "class"]
    assert max((table.points.max() for table in features), default=0) <= points
    assert min((table.points.min() for table in card.tables), default=0) == 0
    joint = log_joint(network, codes[:, 1:])
    exact = joint - joint[:, :1]
    shown = card.log_proba(codes[:, 1:])
    # Every table is rounded by at most half a point, for each of two classes; the intercept
    # makes up for at most as much.
    most = len(network.variables) / card.scale * (1 if len(card.columns) == 1 else 2)
    assert np.abs(shown - shown[:, :1] - exact).max() <= most + 1e-9


def test_the_lines_of_a_card_add_up_to_its_totals(problem):
    network, codes = problem
    card = make_card(network, encoder_for(network.variables), Laplace())
    lines = card.to_frame()
    points = lines.drop(columns=["feature", "state", "given"]).to_numpy()
    for row, total in zip(codes[:10], card.totals(codes[:10, 1:]), strict=True):
        states = {v.name: v.states[k] for v, k in zip(network.variables, row, strict=True)}
        facts = {f"{name} = {state}" for name, state in states.items()}
        fits = [
            (not line.state or states[line.feature] == line.state)
            and set(filter(None, line.given.split(", "))) <= facts
            for line in lines.itertuples()
        ]
        assert points[fits].sum(axis=0).tolist() == total.tolist()


def test_rounding_is_right_on_average():
    cards = (2, 3, 3, 3)
    codes = uniform_codes(8, cards, 300)
    variables = encoded(codes, cards).variables
    structure = Structure(tuple(v.name for v in variables), ((3,), (0,), (0, 1), ()))
    network = fit_network(structure, variables, codes, Laplace())
    card = make_card(network, encoder_for(variables), Laplace(), points=3)
    joint, shown = log_joint(network, codes[:, 1:]), card.log_proba(codes[:, 1:])
    exact = joint[:, 1] - joint[:, 0]
    assert (shown[:, 1] - shown[:, 0]).mean() == pytest.approx(exact.mean(), abs=1e-9)
    assert (shown[:, 1] - shown[:, 0] - exact).std() > 0.001


def test_the_threshold_is_where_the_class_becomes_more_probable():
    codes = uniform_codes(3, (2, 3, 2, 3), 80)
    variables = encoded(codes, (2, 3, 2, 3)).variables
    structure = Structure(tuple(v.name for v in variables), ((), (0,), (0, 1), (0,)))
    network = fit_network(structure, variables, codes, Laplace())
    for of in variables[0].states:
        card = make_card(network, encoder_for(variables), Laplace(), of=of)
        totals, proba = card.totals(codes[:, 1:])[:, 0], card.log_proba(codes[:, 1:])
        assert ((totals >= card.threshold) == (proba[:, 1] >= proba[:, 0])).all()
        assert card.columns == (of,)
        listed = card.probabilities()
        assert list(listed) == sorted(listed)
        assert list(listed.values()) == sorted(listed.values())
        for total, p in listed.items():
            log_odds = card.intercept + total / card.scale
            assert p == pytest.approx(1 / (1 + np.exp(-log_odds)))


def test_one_class_against_the_rest_is_counted_with_two_classes():
    cards = (3, 3, 2, 2)
    codes = uniform_codes(5, cards, 90)
    variables = encoded(codes, cards).variables
    structure = Structure(tuple(v.name for v in variables), ((3,), (0,), (0, 1), ()))
    network = fit_network(structure, variables, codes, Laplace())
    card = make_card(
        network, encoder_for(variables), Laplace(), of=variables[0].states[1], points=9999
    )
    assert card.against == "the rest"
    two = codes.copy()
    two[:, 0] = codes[:, 0] == 1
    again = fit_network(structure, encoded(two, (2, *cards[1:])).variables, two, Laplace())
    expected = log_posterior(again, codes[:, 1:])
    np.testing.assert_allclose(card.log_proba(codes[:, 1:]), expected, atol=1e-3)


def test_losses_are_those_of_scikit_learn():
    heart = load_dataset("heart")
    model = BNClassifier(method="nb").fit(heart.features, heart.target)
    codes = model.encoder_.encode(heart).codes.copy()
    codes[:7, 2] = -1
    card = model.card(points=5)
    loss = card.loss(model.network_, codes)
    rows, truth = heart.features[7:], heart.target[7:] == "2"
    proba = model.predict_proba(rows)[:, 1]
    rounded = np.exp(card.log_proba(codes[7:, 1:]))[:, 1]
    assert (loss.rows, loss.left_out) == (263, 7)
    assert loss.log_loss == pytest.approx(log_loss(truth, proba))
    assert loss.card_log_loss == pytest.approx(log_loss(truth, rounded))
    assert loss.accuracy == pytest.approx(((proba > 0.5) == truth).mean())
    assert loss.card_accuracy == pytest.approx(((rounded > 0.5) == truth).mean())


def test_features_without_influence_are_not_on_the_card():
    iris = load_dataset("iris")
    model = BNClassifier(max_parents=1).fit(iris.features, iris.target)
    used = {child for parent, child in model.structure_.arcs if parent == "class"}
    assert set(model.card().to_frame()["feature"]) - {"class"} == used


def test_labels_of_any_type_are_understood():
    X = pd.DataFrame({"a": [1, 1, 0, 0, 1, 0] * 5, "b": list("uvwuvw") * 5})
    model = BNClassifier(method="nb").fit(X, [True, True, False, False, True, True] * 5)
    assert model.card(of=False).columns == ("False",)
    assert model.card().columns == ("True",)
    assert model.card().to_dict()["against"] == "False"


def test_cards_that_are_not_defined(problem):
    network, _ = problem
    encoder = encoder_for(network.variables)
    with pytest.raises(OptionError, match="of: there is no class 'x'"):
        make_card(network, encoder, Laplace(), of="x")
    with pytest.raises(OptionError, match="points must be at least 1"):
        make_card(network, encoder, Laplace(), points=0)
    if network.n_classes == 3 and isinstance(network.structure, ClassStructures):
        with pytest.raises(OptionError, match="a multinet has one structure per class"):
            make_card(network, encoder, Laplace(), of=network.variables[0].states[0])


def test_without_complete_rows_there_is_no_loss_and_no_warning():
    iris = load_dataset("iris")
    model = BNClassifier(method="nb").fit(iris.features, iris.target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss = model.card().loss(model.network_, np.full((3, 5), -1))
    assert (loss.rows, loss.left_out) == (0, 3)
    assert np.isnan([loss.accuracy, loss.card_accuracy, loss.log_loss, loss.card_log_loss]).all()
