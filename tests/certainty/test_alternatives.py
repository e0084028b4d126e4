"""Sets of good structures: order, groups, frequencies, model files."""

from dataclasses import replace

import numpy as np
import pytest

from milpbn import Model, learn_classifier, load_dataset, make_settings
from milpbn.certainty.alternative_records import Alternative, Alternatives, equivalence_key
from milpbn.certainty.alternatives import learn_alternatives, pool_limits
from milpbn.encoding import Encoder
from milpbn.errors import OptionError
from milpbn.structure import Structure
from milpbn.verification.verify import verify_model


@pytest.fixture(scope="module")
def iris():
    table = load_dataset("iris")
    table = replace(table, is_train=np.arange(len(table)) % 5 > 0)
    return table, Encoder.fit(table).encode(table)


def chain(*arcs):
    return Structure.from_arcs(["c", "a", "b"], arcs)


FOUND = Alternatives(
    most=3,
    within=0.1,
    structures=(
        Alternative(10.0, chain(("c", "a"), ("c", "b")), 1, 0.9),
        Alternative(9.5, chain(("c", "a"), ("b", "c")), 1, 0.7),
        Alternative(9.0, chain(("a", "c"), ("b", "c")), 2, 0.8),
    ),
    rest=8.9,
    complete=True,
)


def test_differences_frequencies_and_accuracies():
    assert FOUND.differences(1) == ([("b", "c")], [("c", "b")])
    shares = FOUND.arc_frequencies()
    assert shares["c", "a"] == pytest.approx(2 / 3)
    assert shares["a", "c"] == pytest.approx(1 / 3)
    assert FOUND.accuracy_range == (0.7, 0.9)
    assert FOUND.to_frame().loss.tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "3 structures within 10 %, proven to be all"),
        ({"more": True}, "the 3 best structures, proven; more may be within 10 %"),
        ({"within": None}, "the 3 best structures, proven"),
        ({"complete": False}, "3 structures found; others may exist that score up to 8.900000"),
    ],
)
def test_the_claim_in_words(changes, words):
    assert str(replace(FOUND, **changes)) == words


def test_equivalent_structures_have_the_same_key():
    keys = [equivalence_key(s.structure) for s in FOUND.structures]
    assert keys[0] == keys[1] != keys[2]


def test_plain_data_and_back():
    assert Alternatives.from_dict(FOUND.to_dict()) == FOUND


def test_the_set_of_a_data_set_is_in_its_model_file(iris, tmp_path):
    table, data = iris
    settings = {"max_parents": 2, "class_parents": False, "p": 0.99}
    found = learn_alternatives(data, best=5, **settings)
    assert found.complete
    assert len(found.structures) == 5
    model = learn_classifier(table, make_settings(**settings))
    assert found.structures[0].structure == model.network.structure
    assert found.structures[0].score == pytest.approx(model.result.objective)
    assert all(s.test_accuracy is not None for s in found.structures)
    replace(model, alternatives=found).save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json").alternatives == found
    assert verify_model(replace(model, alternatives=found), table).agrees
    wrong = replace(found, structures=(*found.structures, found.structures[0]))
    checks = verify_model(replace(model, alternatives=wrong), table).checks
    (seen,) = (c.seen for c in checks if c.holds is False)
    assert seen.startswith("a structure is listed twice")


@pytest.mark.parametrize("rest", [None, -1e6])
def test_a_set_is_compared_with_the_structures_near_its_own(iris, rest, monkeypatch):
    """If the space is too large to try them all."""
    monkeypatch.setattr("milpbn.verification.verify.ENUMERABLE", 0)
    table, data = iris
    settings = {"max_parents": 1, "class_parents": False}
    model = learn_classifier(table, make_settings(**settings))
    found = learn_alternatives(data, best=3, **settings)
    for alternatives, agrees in ((found, True), (replace(found, rest=rest), False)):
        checks = verify_model(replace(model, alternatives=alternatives), table).checks
        assert {c.claim: c.holds for c in checks}["the alternatives have their scores"] is agrees


def test_a_structure_that_was_dropped_is_found_although_several_families_differ(iris, monkeypatch):
    """Turning arcs round changes several families and, with this score, nothing else."""
    monkeypatch.setattr("milpbn.verification.verify.ENUMERABLE", 0)
    table, data = iris
    settings = {"score": "bdeu", "max_parents": 1}
    model = learn_classifier(table, make_settings(**settings))
    found = learn_alternatives(data, best=2, **settings)
    best, other = found.structures
    assert best.score == pytest.approx(other.score)
    assert len(best.structure.changes(other.structure)[0]) > 1
    more = learn_alternatives(data, best=12, **settings).structures
    rest = max(s.score for s in more if s.score < best.score - 1e-3)
    alone = replace(found, most=1, structures=(best,))
    for alternatives, agrees in ((found, True), (alone, True), (replace(alone, rest=rest), False)):
        checks = verify_model(replace(model, alternatives=alternatives), table).checks
        check = next(c for c in checks if c.claim == "the alternatives have their scores")
        assert check.holds is agrees
        told = {True: "none is missing was proven again", False: "a structure that is not listed"}
        assert told[agrees] in check.seen


def test_a_set_needs_a_limit():
    with pytest.raises(OptionError, match=r"give a number of structures .* or a tolerance"):
        pool_limits(None, None)
    for wrong in ({"best": 0, "within": None}, {"best": None, "within": 1.0}):
        with pytest.raises(OptionError):
            pool_limits(**wrong)
