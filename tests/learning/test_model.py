"""Model files: exact to the last bit, and damaged ones are named."""

import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from milpbn import Encoder, Model, learn_parameters, learn_structure, load_dataset
from milpbn.errors import ModelFileError, OptionError
from milpbn.families import Epsilon
from milpbn.network.inference import log_joint
from milpbn.network.network import fit_network


@pytest.fixture(scope="module")
def model():
    table = load_dataset("iris")
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    result = learn_structure(data, p=0.9, max_parents=1, class_parents=False)
    network = fit_network(result.structure, data.variables, data.train(), Epsilon(1e-5))
    return Model(network, encoder, result, {"p": 0.9}, {"name": "iris", **data.source})


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "iris.json"
    model.save(path)
    return path


def damage(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_model_comes_back_to_the_last_bit(model, saved):
    loaded = Model.load(saved)
    assert loaded.network.structure == model.network.structure
    assert loaded.network.variables == model.network.variables
    for mine, theirs in zip(model.network.log_cpts, loaded.network.log_cpts, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes()
    for mine, theirs in zip(model.network.counts, loaded.network.counts, strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert loaded.network.table("class", counts=True).to_numpy().tolist() == [[50, 50, 50]]
    assert loaded.encoder.to_dict() == model.encoder.to_dict()
    assert loaded.result == model.result
    assert (loaded.settings, loaded.data) == (model.settings, model.data)
    features = np.array([[0, -1, 1, -1], [1, 0, 0, 1]])
    assert (log_joint(loaded.network, features) == log_joint(model.network, features)).all()


def test_saving_again_writes_the_same_bytes(saved, tmp_path):
    Model.load(saved).save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == saved.read_bytes()


def test_the_file_says_what_it_is(saved):
    content = json.loads(saved.read_text(encoding="utf-8"))
    assert (content["format"], content["version"]) == ("milpbn-model", 1)
    assert list(content["log_probabilities"]) == list(content["structure"])


def test_how_parameters_were_learned_is_kept(model, tmp_path):
    data = model.encoder.encode(load_dataset("iris"))
    network, report = learn_parameters(data, model.network.structure, parameters="cl")
    path = tmp_path / "cl.json"
    replace(model, network=network, parameters=report).save(path)
    loaded = Model.load(path)
    assert loaded.parameters == report
    assert loaded.parameters.method == "cl"
    assert (loaded.network.log_cpts[1] == network.log_cpts[1]).all()


def test_a_file_without_a_word_on_parameters_has_maximum_likelihood(saved):
    damage(saved, lambda content: content.pop("parameters"))
    assert Model.load(saved).parameters.method == "ml"


def test_a_missing_folder_is_an_error(model, tmp_path):
    with pytest.raises(OptionError, match=r"cannot write .*gone"):
        model.save(tmp_path / "gone" / "model.json")


@pytest.mark.parametrize("keep", [0, 1, 10, 0.3, 0.9, -3])
def test_a_truncated_file_is_named(saved, keep):
    text = saved.read_bytes()
    saved.write_bytes(text[: int(keep * len(text)) if 0 < keep < 1 else keep])
    with pytest.raises(ModelFileError, match=r"iris\.json is not a milpbn model, or is truncated"):
        Model.load(saved)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00binary", r"iris\.json is not a milpbn model: it is not a text file"),
        (
            b"[1, 2, 3]",
            r"a milpbn model of this kind: it has no format mark 'milpbn-model'",
        ),
        (b'{"format": "other"}', r"its format is 'other', not 'milpbn-model'"),
        (b"a,b\n1,2\n", r"iris\.json is not a milpbn model, or is truncated"),
        (b"[" * 100_000, r"iris\.json is not a milpbn model, or is truncated"),
    ],
)
def test_a_foreign_file_is_named(saved, content, message):
    saved.write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        Model.load(saved)


@pytest.mark.parametrize("version", [0, 2, None, "1"])
def test_another_version_is_named(saved, version):
    damage(saved, lambda content: content.update(version=version))
    with pytest.raises(
        ModelFileError,
        match=rf"iris\.json has version {version!r} of the format 'milpbn-model'; this",
    ):
        Model.load(saved)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"cannot read .*gone\.json: No such file"):
        Model.load(tmp_path / "gone.json")
    with pytest.raises(ModelFileError, match="cannot read"):
        Model.load(tmp_path)


@pytest.mark.parametrize(
    "key", ["encoder", "structure", "log_probabilities", "result", "settings", "data"]
)
def test_a_missing_part_is_named(saved, key):
    damage(saved, lambda content: content.pop(key))
    with pytest.raises(ModelFileError, match=rf"iris\.json is a damaged .*'{key}' is missing"):
        Model.load(saved)


def first_table(content):
    return content["log_probabilities"][next(iter(content["structure"]))]


def drop_entry(content):
    first_table(content).pop()


def nest_entry(content):
    first_table(content)[0] = [first_table(content)[0]]


def make_positive(content):
    first_table(content)[0] = 0.5


def close_cycle(content):
    structure = content["structure"]
    a, b = list(structure)[1:3]
    structure[a], structure[b] = [b], [a]


def name_stranger(content):
    structure = content["structure"]
    structure[next(iter(structure))] = ["stranger"]


def lose_variable(content):
    content["structure"].popitem()


def count_less_than_nothing(content):
    content["counts"]["class"][0] = -1


def break_status(content):
    content["result"]["status"] = "perfect"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (drop_entry, r"has shape \(2,\), not \(3,\)"),
        (nest_entry, "inhomogeneous"),
        (make_positive, "a log-probability is positive or not a number"),
        (count_less_than_nothing, "a count is negative or not a number"),
        (close_cycle, "directed cycle"),
        (name_stranger, "no variable 'stranger'"),
        (lose_variable, "structure and encoder have different variables"),
        (break_status, "result.status: 'perfect' is not one of the known values"),
    ],
)
def test_damage_is_named_with_the_file(saved, change, message):
    damage(saved, change)
    with pytest.raises(ModelFileError, match=rf"iris\.json is a damaged milpbn model: .*{message}"):
        Model.load(saved)


def spots(content, path=()):
    """Every place of the nested content."""
    yield path
    items = ()
    if isinstance(content, dict):
        items = content.items()
    elif isinstance(content, list):
        items = enumerate(content[:2])
    for key, value in items:
        yield from spots(value, (*path, key))


POISON = [None, 7, -1.5, "text", [], {}, [[1]], {"a": 1}, True, 10**320]


@pytest.mark.parametrize("poison", POISON, ids=repr)
def test_any_value_anywhere_loads_or_is_a_model_file_error(saved, tmp_path, poison):
    """Whatever stands in the file, nothing but a ModelFileError comes out of load."""
    content = json.loads(saved.read_text(encoding="utf-8"))
    content["result"]["trace"] = content["result"]["trace"][:1]
    broken = 0
    for path in list(spots(content))[1:]:
        other = copy.deepcopy(content)
        place = other
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = poison
        target = tmp_path / "poisoned.json"
        target.write_text(json.dumps(other), encoding="utf-8")
        try:
            loaded = Model.load(target)
        except ModelFileError:
            broken += 1
        else:
            # What was taken can be shown and used.
            assert str(loaded.result)
            assert log_joint(loaded.network, np.array([[0, 0, 0, -1]])).shape == (1, 3)
    assert broken > 10


def test_damage_at_any_byte_loads_or_is_a_model_file_error(saved, tmp_path):
    """Cut, changed, doubled or lost bytes at many places: never another error."""
    text = saved.read_bytes()
    target = tmp_path / "iris.json"
    rng = np.random.default_rng(2)
    refused = []
    for place in rng.integers(0, len(text), 120):
        byte = bytes([rng.integers(0, 256)])
        size = int(rng.integers(1, 30))
        for damaged in (
            text[:place],
            text[:place] + byte + text[place + 1 :],
            text[:place] + text[place + size :],
            text[: place + size] + text[place:],
        ):
            target.write_bytes(damaged)
            try:
                loaded = Model.load(target)
            except ModelFileError as error:
                refused.append(str(error))
            else:
                assert str(loaded.result)
                assert log_joint(loaded.network, np.array([[0, 0, 0, -1]])).shape == (1, 3)
    assert len(refused) > 300
    assert all("iris.json" in message for message in refused)


def repeat_state(content):
    content["encoder"]["target"]["states"][0] = content["encoder"]["target"]["states"][1]


def change_result_structure(content):
    content["result"]["structure"] = {name: [] for name in content["structure"]}


def name_variable_twice(content):
    content["encoder"]["columns"][0]["name"] = content["encoder"]["columns"][1]["name"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (repeat_state, "a state is listed twice"),
        (change_result_structure, "the result has a different structure"),
        (name_variable_twice, "structure and encoder have different variables"),
    ],
)
def test_contradictions_inside_a_file_are_named(saved, change, message):
    damage(saved, change)
    with pytest.raises(ModelFileError, match=rf"iris\.json is a damaged milpbn model: .*{message}"):
        Model.load(saved)
