"""SQL, JavaScript and ONNX give the probabilities that milpbn gives."""

import json
import shutil
import sqlite3
import sys

import numpy as np
import pandas as pd
import pytest
from deployed import KINDS, NODE, run, run_node, with_holes
from interchange_tools import HOSTILE, make_network

from milpbn import BNClassifier, load_dataset
from milpbn.datasets import load_catalog
from milpbn.deployment import make_onnx, onnx_graph, sql, write_javascript, write_sql
from milpbn.errors import OptionError
from milpbn.network.inference import log_posterior
from milpbn.network.network import Network

pytestmark = pytest.mark.filterwarnings("ignore::milpbn.errors.DataWarning")

# Rows, at most, to learn from.
ROWS = 1500
ALL = sorted(name for name, entry in load_catalog().items() if len(entry.targets) == 1)
QUICK = ["car", "crx", "glass", "heart", "vote"]


def learned(name, **settings):
    table = load_dataset(name)
    settings = {"method": "tan-cmi", "missing": "state", **settings}
    features = table.features.sample(min(ROWS, len(table)), random_state=0)
    model = BNClassifier(**settings).fit(features, table.target[features.index])
    return model, with_holes(features[:30].reset_index(drop=True))


def check(kind, network, encoder, frame, codes, folder):
    """The probabilities agree, and so do predictions unless two classes are about equal."""
    wanted = np.exp(log_posterior(network, codes))
    predicted, found = run(kind, network, encoder, frame, folder)
    assert found == pytest.approx(wanted, abs=1e-9)
    clear = np.diff(np.sort(wanted, axis=1)[:, -2:]).ravel() > 1e-6
    states = np.array(network.variables[0].states, dtype=object)
    assert (states[wanted.argmax(axis=1)] == predicted)[clear].all()


def check_model(kind, model, frame, folder):
    codes = model.encoder_.transform(frame).codes
    assert (codes < 0).any()
    assert (codes >= 0).all(axis=1).any()
    check(kind, model.network_, model.encoder_, frame, codes, folder)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", QUICK)
def test_code_gives_the_same_probabilities(kind, name, tmp_path):
    check_model(kind, *learned(name, missing="drop"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_code_gives_the_same_probabilities_on_every_data_set(kind, name, tmp_path):
    check_model(kind, *learned(name), tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("heart", {"method": "hc", "bins": "auto"}),  # several resolutions
        ("heart", {"method": "multinet-cmi", "bins": "auto"}),
        ("crx", {"method": "hc", "smoothing": "epsilon"}),  # tables that do not sum to 1
        ("german", {"method": "nb", "max_states": 3}),  # pooled states
    ],
)
def test_every_kind_of_classifier_can_be_written(kind, name, settings, tmp_path):
    model, frame = learned(name, **settings)
    check(
        kind,
        model.network_,
        model.encoder_,
        frame,
        model.encoder_.transform(frame).codes,
        tmp_path,
    )


def random_network(seed):
    """A network in which any variable, the class too, has up to three parents."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 4, 7)
    order = rng.permutation(7)
    parents = [()] * 7
    for place, child in enumerate(order):
        chosen = rng.permutation(order[:place])[: rng.integers(0, 4)]
        parents[child] = tuple(sorted(map(int, chosen)))
    names = ["class", *(f"x{i}" for i in range(6))]
    return make_network(names, [[f"s{k}" for k in range(c)] for c in cards], parents, seed)


def rows_of(network, rng, n=40):
    """Codes with holes, and the frame of their states."""
    cards = [v.card for v in network.variables[1:]]
    codes = np.stack([rng.integers(-1, card, n) for card in cards], axis=1)
    columns = {
        v.name: [None if k < 0 else v.states[k] for k in column]
        for v, column in zip(network.variables[1:], codes.T, strict=True)
    }
    return codes, pd.DataFrame(columns, dtype=object)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_any_structure_can_be_written(kind, seed, tmp_path):
    network = random_network(seed)
    codes, frame = rows_of(network, np.random.default_rng(seed))
    check(kind, network, None, frame, codes, tmp_path)


EVIL = [
    '\'); DROP TABLE "the rows"; --',
    "\\'); --",
    "*/ process.exit(1); /*",
    "</script><script>alert(1)</script>",
    "__proto__",
    "${1}`",
    "\u2028",
]


@pytest.mark.parametrize("kind", KINDS)
def test_names_and_states_are_only_data(kind, tmp_path):
    # NUL and the empty name are refused; " a" and "a" would be the same state.
    names = [n for n in (*EVIL, *HOSTILE) if n and "\0" not in n and n == n.strip()]
    if kind == "duckdb":
        names.remove("Variable")  # names that differ only in case are the same
    states = [[names[(i + k) % len(names)] for k in range(3)] for i in range(len(names))]
    parents = [() if i == 0 else (0, i - 1) if i > 1 else (0,) for i in range(len(names))]
    network = make_network(names, states, parents)
    codes, frame = rows_of(network, np.random.default_rng(0))
    check(kind, network, None, frame, codes, tmp_path)


def test_a_script_cannot_be_ended_by_a_name():
    network = make_network(["</script>", "x"], [["a", "<!--"], ["a", "b"]], [(), (0,)])
    assert "</script" not in write_javascript(network)
    assert "<!--" not in write_javascript(network)


def test_javascript_reads_values_as_python_does(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    frame = pd.DataFrame(
        {"size": [1.0, 2.0, 3.0, 11.0, 12.0, 13.0] * 4, "code": ["1", "2", "x", "3", "3", "2"] * 4}
    )
    model = BNClassifier(method="nb").fit(
        frame, ["small", "small", "small", "tall", "tall", "x"] * 4
    )
    sizes = ["7", " 12 ", "1e1", "huge", "", "nan", None, "0x10", "1_0", "inf", "-.5", True]
    codes = ["1", " 1 ", "1.0", "01", "y", "", "nan", None, "x ", 2, 2.0, True]
    given = [{"size": a, "code": b} for a, b in zip(sizes, codes, strict=True)]
    wanted = model.predict_proba(pd.DataFrame(given, dtype=object))
    file = tmp_path / "predict.js"
    file.write_text(write_javascript(model.network_, model.encoder_), encoding="utf-8")
    answers = run_node(NODE, file, json.dumps(given))
    found = [[dict(pairs)[c] for c in model.classes_] for _, pairs in answers]
    assert np.array(found) == pytest.approx(wanted, abs=1e-12)
    # A column that the row lacks is missing, whatever objects inherit.
    assert run_node(NODE, file, "[{}]")[0][1] == run_node(NODE, file, '[{"size": null}]')[0][1]


def test_sql_copies_columns_and_reads_a_schema():
    model, _ = learned("iris")
    base = sqlite3.connect(":memory:")
    base.execute("ATTACH ':memory:' AS lab")
    rows = load_dataset("iris").features.head(3).assign(id=[7, 8, 9])
    base.execute(f"CREATE TABLE lab.flowers ({', '.join(rows)})")
    base.executemany(f"INSERT INTO lab.flowers VALUES ({'?, ' * 4}?)", rows.to_numpy().tolist())
    query = write_sql(model.network_, model.encoder_, table="lab.flowers", keep=["id"])
    found = pd.read_sql(query, base)
    assert list(found) == ["id", "prediction", *(f"P({c})" for c in model.classes_)]
    assert found["id"].tolist() == [7, 8, 9]
    with pytest.raises(OptionError, match="the result has a column 'prediction' already"):
        write_sql(model.network_, model.encoder_, keep=["prediction"])


def test_a_column_that_the_table_lacks_is_an_error_and_no_text():
    model, _ = learned("iris")
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (other)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        base.execute(write_sql(model.network_, model.encoder_))


def test_what_says_nothing_about_the_class_is_left_out():
    names, states = ["class", "a", "b", "c"], [["x", "y"]] * 4
    network = make_network(names, states, [(), (0,), (), (2,)])
    text = write_sql(network)
    assert 't."a"' in text
    assert 't."b"' not in text
    assert 't."c"' not in text


def test_a_network_without_useful_columns_gives_the_class_distribution():
    network = make_network(["class", "a"], [["x", "y"]] * 2, [(), ()])
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (a)")
    base.execute("INSERT INTO data VALUES ('x')")
    found = base.execute(write_sql(network)).fetchall()[0][1:]
    assert found == pytest.approx(np.exp(network.log_cpts[0]))
    pytest.importorskip("onnx", reason="onnx is not installed")
    with pytest.raises(OptionError, match="no column matters"):
        make_onnx(network)


@pytest.mark.parametrize("write", [write_sql, make_onnx, write_javascript])
def test_impossible_states_are_refused(write):
    pytest.importorskip("onnx", reason="onnx is not installed")
    network = make_network(["class", "a"], [["x", "y"]] * 2, [(), (0,)])
    with np.errstate(divide="ignore"):
        tables = (network.log_cpts[0], np.log(np.array([[1.0, 0.0], [0.5, 0.5]])))
    with pytest.raises(OptionError, match="probabilities of 0"):
        write(Network(network.structure, network.variables, tables))


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_names_that_sql_does_not_have_are_refused(name):
    network = make_network(["class", name], [["x", "y"]] * 2, [(), (0,)])
    with pytest.raises(OptionError, match="SQL has no column or table with the name"):
        write_sql(network)


@pytest.mark.parametrize("name", ["", "label"])
def test_names_that_onnx_does_not_have_are_refused(name):
    pytest.importorskip("onnx", reason="onnx is not installed")
    network = make_network(["class", name], [["x", "y"]] * 2, [(), (0,)])
    with pytest.raises(OptionError, match="an ONNX model has no input with the name"):
        make_onnx(network)


def test_onnx_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(OptionError, match=r"pip install 'milpbn\[onnx\]'"):
        make_onnx(random_network(0))


def test_sums_that_explode_are_refused(monkeypatch):
    network = random_network(3)
    monkeypatch.setattr(sql, "MOST_COLUMNS", 5)
    with pytest.raises(OptionError, match=r"need \d+ columns.*JavaScript"):
        write_sql(network)
    monkeypatch.setattr(sql, "MOST_CELLS", 5)
    with pytest.raises(OptionError, match=r"sums with \d+ terms.*JavaScript"):
        write_sql(network)
    pytest.importorskip("onnx", reason="onnx is not installed")
    monkeypatch.setattr(onnx_graph, "MOST_CELLS", 5)
    with pytest.raises(OptionError, match="tables that are too large"):
        make_onnx(network)


@pytest.mark.parametrize("kind", KINDS)
def test_very_small_probabilities_do_not_underflow(kind, tmp_path):
    """A hundred children of a missing variable, each as good as impossible in one of its states."""
    n = 100
    names = ["class", "top", *(f"x{i}" for i in range(n))]
    network = make_network(names, [["a", "b"]] * (n + 2), [(), (0,), *([(0, 1)] * n)])
    small = np.log(np.array([[[1e-9, 1.0], [1.0, 1e-9]], [[1.0, 1e-9], [1e-9, 1.0]]]))
    logs = (*network.log_cpts[:2], *([small] * n))
    network = Network(network.structure, network.variables, logs)
    codes = np.zeros((3, n + 1), dtype=int)
    codes[:, 0], codes[0, 1:41], codes[1, 1::2] = -1, 1, 1
    frame = pd.DataFrame(
        {
            name: [None if k < 0 else "ab"[k] for k in codes[:, j]]
            for j, name in enumerate(names[1:])
        }
    )
    check(kind, network, None, frame, codes, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ["tan-cmi", "multinet-cmi"])
def test_special_values_are_states_in_code(kind, engine, tmp_path):
    table = load_dataset("heart")
    frame = table.features.copy()
    name = table.numeric[0]
    frame.loc[::7, name] = -999.0
    frame.loc[::11, name] = -99.5
    own = {"bins": {name: [50.0]}, "special": {name: [-999.0, -99.5]}}
    model = BNClassifier(method=engine, **own).fit(frame, table.target)
    assert model.encoder_.columns[0].variable.card == 4
    check_model(kind, model, with_holes(frame[:40].reset_index(drop=True)), tmp_path)
