"""Files of other tools that contradict themselves: the message says where and what."""

import json

import pytest
from valid_inputs import BIF, JKL, NETWORK

from milpbn import BNClassifier, load_dataset
from milpbn.errors import DataError, ModelFileError
from milpbn.interchange import read_network, read_structure
from milpbn.interchange.jkl import read_jkl


def variables(content):
    return content["variables"]


CHANGES = {
    "there are no variables": lambda c: variables(c).clear(),
    "the variable 'class' is declared twice": lambda c: variables(c).append(variables(c)[0]),
    "the variable 'class' has the same state twice": lambda c: variables(c)[0].update(
        states=["a", "a"]
    ),
    "the table of 'x' names 'stranger', which is not a variable": lambda c: variables(c)[1].update(
        parents=["stranger"]
    ),
    "the table of 'x' names a parent twice": lambda c: variables(c)[1].update(
        parents=["class", "class"]
    ),
    r"the table of 'x' has shape \(1, 1\), not \(2, 1\)": lambda c: variables(c)[1].update(
        probabilities=[[1.0]]
    ),
    "'states' is missing": lambda c: variables(c)[0].pop("states"),
    "7 should be a name": lambda c: variables(c)[1].update(parents=[7]),
    "inhomogeneous": lambda c: variables(c)[1].update(probabilities=[[1.0], 1.0]),
}


@pytest.mark.parametrize("message", CHANGES)
def test_a_network_that_contradicts_itself(tmp_path, message):
    content = json.loads(NETWORK)
    CHANGES[message](content)
    path = tmp_path / "net.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match=rf"net\.json: .*{message}"):
        read_network(path)


def test_a_variable_of_bif_needs_states(tmp_path):
    path = tmp_path / "net.bif"
    path.write_bytes(BIF.replace(b"type discrete [ 2 ] { a, b };", b""))
    with pytest.raises(ModelFileError, match="'class' has no states"):
        read_network(path)


def test_a_variable_of_local_scores_needs_a_parent_set(tmp_path):
    path = tmp_path / "scores.jkl"
    path.write_bytes(JKL.replace(b"class 1\n-10.5 0\n", b"class 0\n"))
    with pytest.raises(DataError, match="'class' has no parent set; write 'SCORE 0'"):
        read_jkl(path)


def test_models_as_networks(tmp_path):
    corral, path = load_dataset("corral"), tmp_path / "model.json"
    BNClassifier(method="nb").fit(corral.features, corral.target).save(path)
    assert read_network(path).structure == read_structure(path)
    with pytest.raises(ModelFileError, match="the class of the model is 'class', not 'A0'"):
        read_network(path, target="A0")
    BNClassifier(method="multinet-cmi").fit(corral.features, corral.target).save(path)
    for read in (read_network, read_structure):
        with pytest.raises(ModelFileError, match=r"model\.json is a multinet"):
            read(path)
