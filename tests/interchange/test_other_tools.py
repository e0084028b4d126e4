"""What milpbn exports is read by pgmpy and pyAgrum: same names, states, order, numbers."""

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pgmpy
import pyagrum
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interchange_tools import make_network
from pgmpy.readwrite import BIFReader, NETReader, XMLBIFReader

from milpbn.encoding.columns import Coarsening, Variable
from milpbn.families import Laplace
from milpbn.interchange import export_network, read_network
from milpbn.interchange.names import state_of, unescape
from milpbn.network.inference import log_posterior
from milpbn.network.network import fit_network
from milpbn.structure import Structure

ENDINGS = {"bif": "bif", "xmlbif": "bifxml", "net": "net"}
PGMPY = {"bif": BIFReader, "xmlbif": XMLBIFReader, "net": NETReader}

# pyAgrum reads the numbers of these formats in single precision, those of its own files too.
SINGLE = ("bif", "net")


def through_pyagrum(network, kind, folder):
    """{name: (states, parents, table with the child's axis last)} as pyAgrum reads the file."""
    path = folder / f"network.{ENDINGS[kind]}"
    path.write_text(export_network(network, kind), encoding="utf-8")
    read = pyagrum.loadBN(str(path))
    out = {}
    for node in sorted(read.nodes()):
        cpt = read.cpt(node)
        # The array's axes are in the reverse order of the variables: the child comes last.
        axes = [cpt.variable(k).name() for k in range(cpt.nbrDim())]
        variable = read.variable(node)
        out[unescape(variable.name())] = (
            tuple(map(state_of, variable.labels())),
            tuple(unescape(a) for a in reversed(axes[1:])),
            cpt.toarray(),
        )
    return out


def through_pgmpy(network, kind, folder):
    path = folder / f"network.{ENDINGS[kind]}"
    path.write_text(export_network(network, kind), encoding="utf-8")
    model = PGMPY[kind](str(path)).get_model()
    out = {}
    for name in model.nodes():
        cpd = model.get_cpds(name)
        out[unescape(name)] = (
            tuple(map(state_of, cpd.state_names[name])),
            tuple(map(unescape, cpd.variables[1:])),
            np.moveaxis(cpd.values, 0, -1),
        )
    return out


def check(network, read, single_precision=False):
    assert list(read) == list(network.structure.variables)
    for i, variable in enumerate(network.variables):
        states, parents, table = read[variable.name]
        assert states == variable.states
        mine = [network.variables[p].name for p in network.structure.parents[i]]
        assert sorted(parents) == sorted(mine)
        table = np.moveaxis(
            table, range(table.ndim), [*(mine.index(p) for p in parents), len(mine)]
        )
        wanted = np.exp(network.log_cpts[i])
        if single_precision:
            assert (table.astype(np.float32) == table).all()
            np.testing.assert_allclose(table, wanted, rtol=2e-7, atol=0)
        else:
            np.testing.assert_allclose(table, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ENDINGS)
@pytest.mark.parametrize("reader", [through_pyagrum, through_pgmpy])
@pytest.mark.parametrize("names", ["plain", "hostile"])
def test_other_tools_read_the_same_network(request, tmp_path, kind, reader, names):
    network = request.getfixturevalue(names)
    check(network, reader(network, kind, tmp_path), reader is through_pyagrum and kind in SINGLE)


@pytest.fixture
def tied():
    """A network whose families see two variables in coarser states."""
    x = Variable("x", ("a", "b", "c"), (Coarsening(("ab", "c"), (0, 0, 1)),))
    y = Variable("y", ("k", "l", "m"), (Coarsening(("k", "lm"), (0, 1, 1)),))
    structure = Structure(("t", "x", "y"), ((), (0,), (0, 1)), ((0,), (0, 1), (0, 1, 1)))
    codes = np.random.default_rng(3).integers(0, [2, 3, 3], (40, 3))
    return fit_network(structure, (Variable("t", ("no", "yes")), x, y), codes, Laplace())


@pytest.mark.parametrize("kind", ENDINGS)
@pytest.mark.parametrize("reader", [through_pyagrum, through_pgmpy])
def test_other_tools_read_the_finest_states_of_tied_tables(tied, tmp_path, kind, reader):
    read = reader(tied, kind, tmp_path)
    check(tied.finest, read, reader is through_pyagrum and kind in SINGLE)


def test_other_tools_give_the_same_posteriors_for_tied_tables(tied, tmp_path):
    path = tmp_path / "tied.bifxml"
    path.write_text(export_network(tied, "xmlbif"), encoding="utf-8")
    theirs = pyagrum.LazyPropagation(pyagrum.loadBN(str(path)))
    for row in ({"x": "b", "y": "m"}, {"y": "l"}, {"x": "c"}):
        theirs.setEvidence(row)
        codes = [[v.states.index(row[v.name]) if v.name in row else -1 for v in tied.variables[1:]]]
        mine = np.exp(log_posterior(tied, np.array(codes)))[0]
        assert mine == pytest.approx(theirs.posterior("t").toarray(), abs=1e-6)


@pytest.mark.parametrize("kind", ["bif", "xmlbif", "json"])
def test_what_is_read_back_gives_the_same_posteriors_for_tied_tables(tied, tmp_path, kind):
    path = tmp_path / f"tied.{ENDINGS.get(kind, kind)}"
    path.write_text(export_network(tied, kind), encoding="utf-8")
    rows = np.array([[x, y] for x in (-1, 0, 1, 2) for y in (-1, 0, 1, 2)])
    again = log_posterior(read_network(path, "t"), rows)
    assert again == pytest.approx(log_posterior(tied, rows), abs=1e-9)


texts = st.text(max_size=8)


@settings(max_examples=40, deadline=None)
@given(
    names=st.lists(texts, min_size=2, max_size=2, unique_by=str.lower),
    states=st.lists(texts, min_size=2, max_size=3, unique=True),
)
@pytest.mark.parametrize("kind", ENDINGS)
def test_any_name_goes_through_other_tools(tmp_path_factory, kind, names, states):
    network = make_network(names, [["a", "b"], states], [(), (0,)])
    folder = tmp_path_factory.mktemp("any")
    check(network, through_pyagrum(network, kind, folder), kind in SINGLE)
    if kind != "bif":  # building pgmpy's BIF grammar takes a second each time
        check(network, through_pgmpy(network, kind, folder))


def test_networkx_reads_its_json(hostile):
    import json

    graph = nx.node_link_graph(json.loads(export_network(hostile, "networkx-json")), edges="edges")
    assert tuple(graph) == hostile.structure.variables
    assert set(graph.edges) == set(hostile.structure.arcs)
    for i, v in enumerate(hostile.variables):
        node = graph.nodes[v.name]
        assert tuple(node["states"]) == v.states
        np.testing.assert_allclose(node["probabilities"], np.exp(hostile.log_cpts[i]), atol=1e-15)


@pytest.mark.parametrize("kind", ["bif", "xmlbif"])
@pytest.mark.parametrize("writer", ["pgmpy", "pyagrum"])
def test_what_other_tools_write_is_read(plain, tmp_path, kind, writer):
    mine = tmp_path / f"mine.{ENDINGS[kind]}"
    mine.write_text(export_network(plain, kind), encoding="utf-8")
    theirs = tmp_path / f"theirs.{ENDINGS[kind]}"
    if writer == "pyagrum":
        pyagrum.saveBN(pyagrum.loadBN(str(mine)), str(theirs))
    else:
        from pgmpy.readwrite import BIFWriter, XMLBIFWriter

        model = PGMPY[kind](str(mine)).get_model()
        (BIFWriter if kind == "bif" else XMLBIFWriter)(model).write(str(theirs))
    network = read_network(theirs, target="target")
    assert network.structure.variables[0] == "target"
    assert set(network.structure.arcs) == set(plain.structure.arcs)
    mine_by_name = {v.name: v for v in plain.variables}
    assert {v.name: v for v in network.variables} == mine_by_name
    # pyAgrum writes six digits.
    tolerance = 1e-5 if writer == "pyagrum" else 1e-12
    for v in network.variables:
        i, j = network.variables.index(v), plain.variables.index(v)
        table = np.exp(network.log_cpts[i])
        here = [network.variables[p].name for p in network.structure.parents[i]]
        there = [plain.variables[p].name for p in plain.structure.parents[j]]
        order = [here.index(p) for p in there]
        table = np.transpose(table, (*order, len(order)))
        np.testing.assert_allclose(table, np.exp(plain.log_cpts[j]), rtol=0, atol=tolerance)


@pytest.mark.parametrize(("name", "n_parameters"), [("asia", 18), ("survey", 21)])
def test_networks_of_the_repository_are_read(tmp_path, name, n_parameters):
    """Files by other hands, with impossible states; pgmpy reads the same tables."""
    folder = Path(pgmpy.__file__).parent / "utils" / "example_models"
    path = tmp_path / f"{name}.bif"
    path.write_bytes(gzip.decompress((folder / f"{name}.bif.gz").read_bytes()))
    network = read_network(path)
    assert network.n_parameters == n_parameters
    model = BIFReader(str(path)).get_model()
    for i, v in enumerate(network.variables):
        cpd = model.get_cpds(v.name)
        assert tuple(cpd.state_names[v.name]) == v.states
        parents = [network.variables[p].name for p in network.structure.parents[i]]
        order = [cpd.variables.index(p) for p in parents]
        table = np.transpose(cpd.values, (*order, 0))
        table = table / table.sum(axis=-1, keepdims=True)  # the files round thirds
        np.testing.assert_allclose(np.exp(network.log_cpts[i]), table, rtol=1e-9, atol=1e-12)
