"""Fine bins in the tables, coarse ones in the search."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from milpbn import BNClassifier, load_dataset
from milpbn.encoding.columns import Coarsening, Variable
from milpbn.errors import MilpbnError
from milpbn.learning.classifier import encode, learn_classifier
from milpbn.learning.model import Model
from milpbn.learning.refinement import refine
from milpbn.learning.settings import make_settings
from milpbn.structure import Structure
from milpbn.verification.verify import verify_model


@pytest.fixture(scope="module")
def table():
    return replace(load_dataset("iris"), bins="fine")


@pytest.fixture(scope="module")
def model(table):
    return learn_classifier(table, make_settings(parameters="cl:penalty=3", class_parents=False))


def test_the_search_sees_coarser_bins_of_the_same_rows(table):
    data = encode(table).data
    coarse = data.searched()
    for j, variable in enumerate(data.variables):
        of = variable.resolution(variable.search).of
        assert coarse.variables[j].card == len(set(of)) <= variable.card
        assert (coarse.codes[:, j] == np.array(of)[data.codes[:, j]]).all()
    assert coarse.searched() is coarse


def test_a_row_to_predict_with_an_unknown_value_stays_unknown(table):
    data = encode(table).data
    codes = data.codes.copy()
    codes[0, 1:] = -1
    assert (replace(data, codes=codes).searched().codes[0, 1:] == -1).all()


def test_the_structure_is_optimal_in_coarse_bins_and_its_tables_are_fine(model, table):
    assert str(model.result.status) == "optimal"
    assert model.result.structure.resolutions == ()
    variables = model.network.variables
    assert model.network.structure == refine(model.result.structure, variables, (0, 0, 1))
    single = [i for i, own in enumerate(model.result.structure.parents) if own == (0,)]
    assert single
    for i in single:
        assert model.network.log_cpts[i].shape == (3, variables[i].card)
    # No feature is dropped, and each has the class as a parent.
    assert all(0 in own for own in model.result.structure.parents[1:])


def test_a_model_can_be_saved_loaded_and_verified(model, table, tmp_path):
    file = tmp_path / "model.json"
    model.save(file)
    loaded = Model.load(file)
    assert loaded.to_dict() == model.to_dict()
    content = json.loads(file.read_text(encoding="utf-8"))
    verification = verify_model(loaded, table, content=content)
    assert verification.agrees, verification


def test_tables_in_other_resolutions_are_refused(table):
    settings = make_settings(parameters="cl:penalty=3,prior=independence", class_parents=False)
    content = learn_classifier(table, settings).to_dict()
    name = next(iter(content["resolutions"]), None)
    assert name is not None
    del content["resolutions"][name]
    with pytest.raises(MilpbnError, match="forged"):
        Model.from_dict(content, "forged")


def test_counted_tables_have_the_bins_of_the_search(table):
    counted = learn_classifier(table, make_settings(method="nb"))
    coarse = encode(table).data.searched().variables
    assert [t.shape[-1] for t in counted.network.log_cpts] == [v.card for v in coarse]


def test_the_resolution_of_a_family_depends_on_its_number_of_features(table):
    variables = encode(table).data.variables
    names = [v.name for v in variables]
    arcs = [(names[0], names[3]), (names[1], names[3]), (names[2], names[3])]
    structure = Structure.from_arcs(names, arcs)
    assert refine(structure, variables, (0, 1)).seen(3) == (
        0,
        *(variables[v].search for v in (1, 2, 3)),
    )
    assert refine(structure, variables, (0, 0, 1)).seen(3) == (0, 1, 1, 1)


def test_a_table_that_would_be_huge_is_coarser():
    coarser = tuple(
        Coarsening(tuple(map(str, range(n))), tuple(k * n // 24 for k in range(24)))
        for n in (12, 6)
    )
    numbers = [Variable(name, tuple(map(str, range(24))), coarser, 24, 2) for name in "xy"]
    structure = Structure.from_arcs(["class", "x", "y"], [("class", "y"), ("x", "y")])
    for n_classes, level in ((30, 0), (60, 1), (150, 2)):
        target = Variable("class", tuple(map(str, range(n_classes))))
        assert refine(structure, [target, *numbers], (0, 0, 1)).seen(2) == (0, level, level)


def test_a_pair_that_only_matters_together_is_kept():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.uniform(-1, 1, (600, 3)), columns=list("abc"))
    y = np.where(x.a * x.b > 0, "same", "other")
    learned = BNClassifier(method="tan-residual", bins="fine", parameters="cl")
    learned.fit(x[:400], y[:400])
    assert {frozenset(arc) for arc in learned.structure_.arcs if "class" not in arc[0]} >= {
        frozenset("ab")
    }
    assert learned.score(x[400:], y[400:]) > 0.9


def test_noise_gets_no_arc():
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(400, 12)))
    x.columns = [f"x{j}" for j in range(12)]
    y = np.where(x.x0 + rng.normal(size=400) > 0, "yes", "no")
    learned = BNClassifier(method="tan-residual", bins="fine", parameters="cl:penalty=3")
    learned.fit(x, y)
    assert len(learned.structure_.arcs) == 12
