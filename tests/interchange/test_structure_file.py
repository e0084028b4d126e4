"""Structures from files: a model, a JSON table, printed lines."""

import json

import pytest

from milpbn.errors import ModelFileError
from milpbn.interchange import read_structure
from milpbn.structure import Structure

STRUCTURE = Structure(("class", "a", "b b"), ((), (0,), (0, 1)))


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="start.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(STRUCTURE.to_dict()),
        "  \n" + json.dumps(STRUCTURE.to_dict(), indent=2),
        str(STRUCTURE),
        "class\n\n  a<-class\nb b <- class , a\n\n",
        "class <-\na <- class\nb b <- a,class",
    ],
)
def test_json_and_printed_lines_are_read(write, text):
    assert read_structure(write(text)) == STRUCTURE


def test_a_model_is_read(tmp_path):
    from milpbn import Encoder, Model, learn_structure, load_dataset
    from milpbn.families import Laplace
    from milpbn.network.network import fit_network

    table = load_dataset("iris")
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    result = learn_structure(data, max_parents=1)
    network = fit_network(result.structure, data.variables, data.train(), Laplace())
    Model(network, encoder, result).save(tmp_path / "model.json")
    assert read_structure(tmp_path / "model.json") == result.structure


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("class\na <- clas", r"a structure from .*start\.txt: .*no variable 'clas'"),
        ("class <- a\na <- class", r"a structure from .*start\.txt: .*cycle: "),
        ('{"class": ["a"], "a": ["class"]}', r"a structure from .*start\.txt: .*cycle"),
        ('{"class": [', r"a structure from .*start\.txt: not valid JSON"),
        ('{"a":' * 100_000, r"a structure from .*start\.txt: not valid JSON"),
        ('{"class": null}', r"a structure from .*start\.txt"),
        ('{"class": 5}', r"a structure from .*start\.txt"),
        ('{"class": [["a"]]}', r"a structure from .*start\.txt"),
        ('{"format": "milpbn-model", "version": 1}', r"start\.txt is a damaged milpbn model"),
        (b"\xff\xfe\x00", r"start\.txt is not a network or structure file: it is not text"),
    ],
)
def test_a_bad_file_is_named_with_the_reason(write, content, message):
    with pytest.raises(ModelFileError, match=message):
        read_structure(write(content))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"cannot read .*gone\.txt: No such file"):
        read_structure(tmp_path / "gone.txt")


@pytest.mark.parametrize(
    "opening", [" " * 200, "/* " * 5_000, "// \n" * 5_000, "% net\n" * 5_000, "\n" * 5_000]
)
def test_an_opening_of_blanks_or_comments_is_read_in_linear_time(write, opening):
    # Backtracking over this many blanks would take longer than the age of the universe.
    assert "end" in read_structure(write(opening + "\nend <-")).variables


@pytest.mark.parametrize("mark", ["/* " * 50_000, '"' + "/*" * 50_000])
def test_what_is_not_closed_in_a_bif_file_is_named(write, mark):
    message = r"start\.txt: line 2: (the comment is not closed|unmatched quotation mark)"
    with pytest.raises(ModelFileError, match=message):
        read_structure(write("network rain {\n" + mark))


@pytest.mark.parametrize("text", ["network\na <- network", "variable\na <- variable"])
def test_variables_may_have_the_names_of_bif_blocks(write, text):
    assert read_structure(write(text)).variables == (text.split("\n")[0], "a")
