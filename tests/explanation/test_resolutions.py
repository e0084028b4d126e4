"""The resolutions that families use, in cards, explanations and words."""

import numpy as np
import pytest
from seen_models import NAMES, SEEN, random_seen, seen_model

from milpbn import load_dataset
from milpbn.encoding import ColumnCode, Encoder
from milpbn.explanation import explain_codes, make_card
from milpbn.explanation.resolutions import SeenResolutions, seen_by_family, seen_cuts
from milpbn.families import Laplace
from milpbn.network.inference import log_joint, log_posterior
from milpbn.network.multinet import fit_multinet
from milpbn.network.network import fit_network
from milpbn.structure import ClassStructures, Structure


@pytest.fixture(scope="module")
def model():
    return seen_model()


def test_the_structure_names_what_each_family_sees(model):
    seen = SeenResolutions(model.structure_, model.encoder_)
    assert str(seen).splitlines() == [
        "class <- petallength (4 bins)",
        "sepallength (2 bins) <- class, petallength (4 bins)",
        "sepalwidth (2 bins) <- class, petalwidth (4 bins)",
        "petallength",
        "petalwidth (3 bins) <- class",
    ]
    assert seen.legend == [
        "sepallength in 2 bins: <= 5.75, > 5.75",
        "sepalwidth in 2 bins: <= 3.05, > 3.05",
        "petallength in 4 bins: <= 1.55, 1.55 to 4.35, 4.35 to 5.15, > 5.15",
        "petalwidth in 3 bins: <= 0.8, 0.8 to 1.75, > 1.75",
        "petalwidth in 4 bins: <= 0.35, 0.35 to 1.35, 1.35 to 1.85, > 1.85",
    ]


def test_letters_tell_resolutions_of_one_size_apart():
    column = ColumnCode("x", "numeric", cuts=(1.0, 2.0, 3.0), coarsenings=((1.0,), (2.0,)))
    target = ColumnCode("class", "categorical", states=("n", "y"))
    encoder = Encoder(
        target, (column, ColumnCode("w", "categorical", states=("u", "v"))), {}, "drop"
    )
    structure = Structure(("class", "x", "w"), ((1,), (), (0, 1)), ((1, 0), (0,), (0, 2, 0)))
    seen = SeenResolutions(structure, encoder)
    assert str(seen).splitlines() == ["class <- x (2 bins A)", "x", "w <- class, x (2 bins B)"]
    assert seen.legend == ["x in 2 bins A: <= 1, > 1", "x in 2 bins B: <= 2, > 2"]


def test_without_a_choice_nothing_is_added():
    iris = load_dataset("iris")
    encoder = Encoder.fit(iris)
    structure = Structure(NAMES, SEEN.parents)
    seen = SeenResolutions(structure, encoder)
    assert (str(seen), seen.legend) == (str(structure), [])


def test_the_finest_states_are_a_resolution_like_the_others(model):
    structure = Structure(NAMES, SEEN.parents)
    assert "petalwidth (16 bins) <- class" in str(SeenResolutions(structure, model.encoder_))


def multinet(seed):
    """Trees of two classes that see the parents in different resolutions, and rows."""
    encoder, one = random_seen(seed, "heart", class_root=True)
    _, other = random_seen(seed + 100, "heart", class_root=True)
    # The child itself is seen in one resolution by all classes.
    seen = tuple((*other.seen(v)[:-1], one.seen(v)[-1]) for v in range(len(one.variables)))
    other = Structure(other.variables, other.parents, seen)
    codes = encoder.encode(load_dataset("heart")).train()
    structure = ClassStructures(encoder.target.states, (one, other))
    return encoder, fit_multinet(structure, encoder.variables, codes, Laplace()), codes


def network(seed):
    encoder, structure = random_seen(seed, "heart")
    codes = encoder.encode(load_dataset("heart")).train()
    return encoder, fit_network(structure, encoder.variables, codes, Laplace()), codes


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [network, multinet])
def test_points_of_coarse_states_are_the_log_odds(make, seed):
    encoder, own, codes = make(seed)
    card = make_card(own, encoder, Laplace(), points=10**6)
    expected = log_posterior(own, codes[:, 1:])
    assert card.log_proba(codes[:, 1:]) == pytest.approx(expected, abs=1e-4)
    for table in card.tables:
        shape = [
            encoder.variables[v].resolution(r).card
            for v, r in zip(table.scope, table.resolutions, strict=True)
        ]
        assert list(table.points.shape) == [*shape, 1]
    assert len(card.to_frame()) == sum(table.points.size for table in card.tables)


def test_cards_of_all_classes_and_of_one_have_coarse_states(model):
    codes = model.encode_rows(load_dataset("iris").features)
    for card in (model.card(points=10**6), model.card(of="Iris-virginica", points=10**6)):
        lines = card.to_frame()
        own = lines[lines["feature"] == "sepallength"]
        assert own["state"].unique().tolist() == ["<= 5.75", "> 5.75"]
        assert own["given"].unique()[1] == "petallength = 1.55 to 4.35"
        assert len(own) == 2 * 4
    exact = log_posterior(model.network_, codes[:, 1:])
    assert model.card(points=10**6).log_proba(codes[:, 1:]) == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [network, multinet])
def test_explanations_show_the_states_that_families_see(make, seed):
    encoder, own, codes = make(seed)
    rows = codes[:20, 1:].copy()
    rows[5, 3] = -1
    found = explain_codes(own, encoder, rows)
    assert found.contributions.sum(axis=1).to_numpy() == pytest.approx(found.log_odds.to_numpy())
    assert found.joint == pytest.approx(log_joint(own, rows))
    columns = (encoder.target, *encoder.columns)
    names = [c.name for c in columns]
    for child, column in enumerate(columns):
        seen = seen_by_family(own.structure, child)
        for row in (0, 5):
            told = {p: found.given(column.name, row)[p] for p in found.parents[column.name]}
            if child:
                told[column.name] = found.states[column.name].iloc[row]
            for name, state in told.items():
                v = names.index(name)
                code = rows[row, v - 1]
                coarse = columns[v].variable.resolution(seen[v]).of[code]
                assert state == (None if code < 0 else columns[v].readable(seen[v])[coarse])


def test_cuts_are_those_of_the_tables(model):
    cuts = seen_cuts(model.structure_, model.encoder_)
    assert cuts["petalwidth"] == (0.8, 1.75)
    assert cuts["sepallength"] == (5.75,)
    assert cuts["class"] == ()
    assert np.shape(model.network_.table("petalwidth")) == (3, 3)
