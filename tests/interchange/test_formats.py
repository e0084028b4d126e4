"""Formats that milpbn reads back: the same network; and files with something wrong in them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interchange_tools import HOSTILE

from milpbn.errors import ModelFileError, OptionError
from milpbn.interchange import export_network, read_network, read_structure
from milpbn.interchange.names import (
    IDENTIFIER,
    MODELSTRING,
    QUOTED,
    WORD,
    WORD_OR_NUMBER,
    XML,
    escape,
    unescape,
)
from milpbn.structure import Structure

WITH_NUMBERS = ["bif", "xmlbif", "json"]


@pytest.mark.parametrize("kind", WITH_NUMBERS)
@pytest.mark.parametrize("names", ["plain", "hostile"])
def test_a_network_comes_back(request, tmp_path, kind, names):
    network = request.getfixturevalue(names)
    path = tmp_path / "network.txt"
    path.write_text(export_network(network, kind, name="a b"), encoding="utf-8")
    back = read_network(path)
    assert back.structure == network.structure
    assert back.variables == network.variables
    for mine, theirs in zip(network.log_cpts, back.log_cpts, strict=True):
        np.testing.assert_allclose(np.exp(theirs), np.exp(mine), rtol=1e-14)


@pytest.mark.parametrize("kind", [*WITH_NUMBERS, "modelstring"])
@pytest.mark.parametrize("names", ["plain", "hostile"])
def test_a_structure_comes_back(request, tmp_path, kind, names):
    network = request.getfixturevalue(names)
    path = tmp_path / "network.txt"
    path.write_text(export_network(network, kind), encoding="utf-8")
    assert read_structure(path) == network.structure


@given(st.text())
@pytest.mark.parametrize(
    "unsafe", [WORD, WORD_OR_NUMBER, IDENTIFIER, QUOTED, XML, MODELSTRING], ids=lambda p: p.pattern
)
def test_escaping_is_reversible_and_safe(unsafe, name):
    escaped = escape(name, unsafe, {"table"})
    assert unescape(escaped) == name
    assert escaped
    assert all(match[0] == "_" for match in unsafe.finditer(escaped))


@pytest.mark.parametrize("name", HOSTILE)
def test_hard_names_are_words_in_bif(name):
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", escape(name, WORD))
    assert re.fullmatch(r"[0-9]+|[A-Za-z_][A-Za-z0-9_.-]*", escape(name, WORD_OR_NUMBER))


@pytest.mark.parametrize("name", ["length_x", "pos_x1", "a-b", "Iris-setosa", "v1.2"])
def test_common_names_stay_as_they_are(name):
    assert escape(name, WORD) == name


def test_an_unknown_format_is_refused(plain):
    with pytest.raises(OptionError, match="unknown format 'yaml'; known formats: bif, xmlbif"):
        export_network(plain, "yaml")


BIF = """// a comment
network "two words" { property author = me; }
variable "class" { type discrete[2] { "no" "yes" }; property position = (1, 2) ; }
variable a { type discrete [ 3 ] { low, not so low, high }; }
variable b { type discrete [ 2 ] { 0, 1 }; }
probability ( "class" ) { table 0.5 0.5; }
probability ( a | class ) { ( no ) 0.2, 0.3, 0.5; default 0.1, 0.1, 0.8; }
probability ( b a class ) {
  table 0.1 0.2 0.3 0.4 0.5 0.6 /* b = 0 */ 0.9 0.8 0.7 0.6 0.5 0.4;
}
"""


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="file.txt"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def test_older_forms_of_bif_are_read(write):
    network = read_network(write(BIF))
    assert network.structure == Structure(("class", "a", "b"), ((), (0,), (0, 1)))
    assert network.variables[1].states == ("low", "not so low", "high")
    np.testing.assert_allclose(np.exp(network.log_cpts[1]), [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])
    # P(b = 0 | class, a): the file lists a slowest, then the class.
    b = np.exp(network.log_cpts[2])
    np.testing.assert_allclose(b[..., 0], [[0.1, 0.3, 0.5], [0.2, 0.4, 0.6]])
    np.testing.assert_allclose(b.sum(axis=-1), 1)


def test_the_class_can_be_chosen(write):
    network = read_network(write(BIF), target="b")
    assert network.structure.variables == ("b", "class", "a")
    assert set(network.structure.arcs) == {("class", "a"), ("class", "b"), ("a", "b")}
    with pytest.raises(ModelFileError, match=r"no variable 'c'; the variables are class, a, b"):
        read_network(write(BIF), target="c")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table 0.5 0.5;", "table 0.5;", "line 6: expected 2 numbers, found 1"),
        ("table 0.5 0.5;", "table 0.5 half;", "line 6: could not convert .*half"),
        ("table 0.5 0.5;", "table 0.5 0.6;", "table of 'class' does not contain probabilities"),
        ("table 0.5 0.5;", "table 1.5 -0.5;", "table of 'class' does not contain probabilities"),
        ("table 0.5 0.5;", "table nan nan;", "table of 'class' does not contain probabilities"),
        ("table 0.5 0.5;", "", "variable 'class' has no table of probabilities"),
        ("( no )", "( maybe )", "line 7: 'class' has no state 'maybe'"),
        ("( no )", "( no, 0 )", "line 7: a row needs one state for each of 1 parents, not 2"),
        ("default 0.1, 0.1, 0.8;", "", "table of 'a' does not contain probabilities"),
        ("( a | class )", "( a | clas )", "line 7: 'clas' has not been declared"),
        ("( a | class )", "( class )", "line 7: a second table for 'class'"),
        ("[ 3 ]", "[ 4 ]", "line 4: 'a' should have 4 states, but 3 are listed"),
        ("variable b", "variable a", "line 5: 'a' is declared twice"),
        ("variable a", "variable class", "line 4: 'class' is declared twice"),
        ("variable b", "wariable b", "line 5: expected network, variable or probability"),
        ("0, 1 };", "0, 0 };", "variable 'b' has the same state twice"),
        ("discrete [ 3 ]", "continuous [ 3 ]", "line 4: 'a' is not discrete"),
        ('"yes"', '"yes', "line"),
    ],
)
def test_what_is_wrong_in_bif_is_named(write, old, new, message):
    assert old in BIF
    path = write(BIF.replace(old, new))
    with pytest.raises(
        ModelFileError, match=rf"cannot read a network from .*file\.txt: .*{message}"
    ):
        read_network(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</BIF>", "", "not valid XML: .*line"),
        ("NETWORK>", "NET>", "not XMLBIF"),
        ("<FOR>a</FOR>", "", "a <DEFINITION> has no <FOR>"),
        ("<FOR>a</FOR>", "<FOR>b</FOR>", "a second definition for 'b'"),
        ("<GIVEN>target</GIVEN>", "<GIVEN>tarot</GIVEN>", "has .* numbers, not 0"),
        ("<OUTCOME>lo</OUTCOME>", "", "table of 'b' has 12 numbers, not 6"),
        ("<TABLE>", "<TABLE> x", "could not convert"),
    ],
)
def test_what_is_wrong_in_xmlbif_is_named(plain, write, old, new, message):
    text = export_network(plain, "xmlbif")
    assert old in text
    with pytest.raises(
        ModelFileError, match=rf"cannot read a network from .*file\.txt: .*{message}"
    ):
        read_network(write(text.replace(old, new)))


def test_a_cycle_in_a_file_is_named(write):
    with pytest.raises(ModelFileError, match=r"a structure from .*file\.txt: .*cycle"):
        read_structure(write("[a|b][b|a]"))


def test_net_files_are_not_read(plain, write):
    with pytest.raises(ModelFileError, match=r"file\.txt: NET files can be written, but not read"):
        read_network(write(export_network(plain, "net")))


@pytest.mark.parametrize("kind", ["modelstring", "dot"])
def test_a_graph_is_no_network(plain, write, kind):
    with pytest.raises(ModelFileError, match=r"network from .*file\.txt: it is not BIF"):
        read_network(write(export_network(plain, kind)))


@pytest.mark.parametrize("kind", [*WITH_NUMBERS, "modelstring", "networkx-json"])
def test_a_truncated_file_never_gives_another_error(plain, write, kind):
    """Cut anywhere, changed anywhere: a structure, a network, or a ModelFileError."""
    text = export_network(plain, kind)
    rng = np.random.default_rng(1)
    refused = []
    for cut in rng.integers(0, len(text), 60):
        damaged = text[:cut], text[:cut] + chr(rng.integers(33, 500)) + text[cut + 1 :]
        for version in damaged:
            path = write(version)
            for read in (read_structure, read_network):
                try:
                    read(path)
                except ModelFileError as error:
                    refused.append(str(error))
    assert len(refused) > 40
    assert all("file.txt" in message for message in refused)
