"""What commands add to model files: it comes back as it was, and damage is named."""

import copy
import json
import re
from dataclasses import replace

import pytest

from milpbn import Model, learn_classifier, load_dataset, make_settings
from milpbn.certainty.alternatives import alternatives_of, pool_limits
from milpbn.certainty.arcs import model_arc_margins
from milpbn.certainty.stability import model_stability
from milpbn.clock import Clock
from milpbn.errors import ModelFileError
from milpbn.learning.classifier import encode


@pytest.fixture(scope="module")
def model():
    table, settings = load_dataset("iris"), make_settings(max_parents=1, class_parents=False)
    model = learn_classifier(table, settings)
    data = encode(table).data
    return replace(
        model,
        arcs=model_arc_margins(model, table),
        alternatives=alternatives_of(data, settings, model.result, pool_limits(3, None), Clock()),
        stability=model_stability(model, table, resamples=3),
    )


@pytest.fixture(scope="module")
def content(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "iris.json"
    model.save(path)
    return json.loads(path.read_text())


def test_additions_come_back_as_they_were(model, content):
    again = Model.from_dict(content, "iris.json")
    names = ("arcs", "alternatives", "stability", "importance")
    assert [getattr(again, n) for n in names] == [getattr(model, n) for n in names]


def test_entries_of_later_versions_are_ignored(model, content):
    newer = copy.deepcopy(content)
    for place in (
        newer["arcs"],
        newer["arcs"]["answers"][0],
        newer["alternatives"],
        newer["alternatives"]["structures"][0],
        newer["stability"],
    ):
        place["new"] = 1
    again = Model.from_dict(newer, "iris.json")
    assert (again.arcs, again.alternatives) == (model.arcs, model.alternatives)


DAMAGE = {
    "arcs.objective: expected a number, found a string": ("arcs", "objective", "x"),
    "arcs.answers: expected a list, found an object": ("arcs", "answers", {}),
    "arcs.answers[...].bound: expected a number or null": ("arcs", "answers", 0, "bound", True),
    "arcs.answers[...].changes: expected an object": ("arcs", "answers", 1, "changes", [1]),
    "arcs: there is no variable 'stranger'": ("arcs", "answers", 0, "parent", "stranger"),
    "alternatives.structures: expected a list of length >= 1": ("alternatives", "structures", []),
    "alternatives.most: expected a whole number": ("alternatives", "most", "3"),
    "alternatives.complete: expected true or false": ("alternatives", "complete", None),
    "the structure has a directed cycle": ("alternatives", "best", "class", ["petalwidth"]),
    "alternatives: there is no variable 'stranger'": ("alternatives", "best", "stranger", []),
    "stability.resamples: expected a whole number >= 1": ("stability", "resamples", 0),
    "stability: the numbers of samples contradict": ("stability", "wanted", 2),
    "stability.counts[...]: expected a list of length 3": ("stability", "counts", 0, ["class"]),
    "stability: an arc occurs in more structures": ("stability", "counts", 0, 2, 4),
    "stability: there is no variable 'stranger'": ("stability", "counts", 0, 1, "stranger"),
    "counts: expected an object, found a list": ("counts", []),
    "a count is negative": ("counts", "class", [1, 2, -1]),
    "importance[...]: expected a number >= 0.0": ("importance", "petalwidth", -1),
    "importance: there is no variable 'stranger'": ("importance", "stranger", 1),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_damage_is_named(content, message):
    *path, key, value = DAMAGE[message]
    damaged = copy.deepcopy(content)
    place = damaged
    for step in path:
        place = place[step]
    place[key] = value
    with pytest.raises(ModelFileError) as raised:
        Model.from_dict(damaged, "iris.json")
    # Older versions of msgspec do not say which element of a list it is.
    told = re.sub(r"\[\d+\]", "[...]", str(raised.value))
    assert f"iris.json is a damaged milpbn model: {message}" in told


def test_every_structure_has_all_variables(content):
    damaged = copy.deepcopy(content)
    damaged["alternatives"]["best"] = {"class": []}
    for structure in damaged["alternatives"]["structures"]:
        structure["changes"] = {}
    with pytest.raises(ModelFileError, match="structure 1 does not have the model's variables"):
        Model.from_dict(damaged, "iris.json")


@pytest.mark.parametrize("part", ["arcs", "alternatives", "stability"])
def test_a_missing_entry_is_named(content, part):
    for key in content[part]:
        if key in ("more", "nodes", "scale"):  # absent in older files
            continue
        damaged = {**content, part: {k: v for k, v in content[part].items() if k != key}}
        with pytest.raises(ModelFileError, match=rf"{part}: '{key}' is missing"):
            Model.from_dict(damaged, "iris.json")


@pytest.mark.parametrize("part", ["arcs", "alternatives", "stability"])
def test_a_multinet_has_none_of_them(content, part, tmp_path):
    table = load_dataset("iris")
    learn_classifier(table, make_settings(method="multinet-cmi")).save(tmp_path / "net.json")
    multinet = json.loads((tmp_path / "net.json").read_text())
    with pytest.raises(ModelFileError, match=f"{part}: a multinet has a structure per class"):
        Model.from_dict({**multinet, part: content[part]}, "net.json")
