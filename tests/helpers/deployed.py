"""Classifiers as SQL, JavaScript and ONNX, run by the tools that are installed."""

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest

from milpbn.deployment import make_onnx, write_javascript, write_sql

KINDS = ["sqlite", "duckdb", "javascript", "onnx"]

NODE = """
const predict = require(process.argv[1]);
const rows = JSON.parse(require("fs").readFileSync(0, "utf-8"));
const answers = rows.map((row) => predict(row));
const shown = (a) => [a.prediction, Object.entries(a.probabilities)];
console.log(JSON.stringify(answers.map(shown)));
"""


def run(kind, network, encoder, frame, folder):
    """The predictions and probabilities of the rows of a frame, by one kind of code."""
    return RUNNERS[kind](network, encoder, frame, folder)


def _sqlite(network, encoder, frame, folder):
    with sqlite3.connect(":memory:") as base:
        named(frame).to_sql('the "rows"', base, index=False)
        query = write_sql(network, encoder, table='the "rows"', keep=["row number"])
        found = pd.read_sql(f"{query} ORDER BY 1", base)
    return found.iloc[:, 1].to_numpy(), found.iloc[:, 2:].to_numpy(dtype=float)


def _duckdb(network, encoder, frame, folder):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    with duckdb.connect() as base:
        base.register("given", named(frame))
        base.execute('CREATE TABLE "the ""rows""" AS SELECT * FROM given')
        query = write_sql(network, encoder, table='the "rows"', keep=["row number"])
        found = base.execute(f"{query} ORDER BY 1").df()
    return found.iloc[:, 1].to_numpy(), found.iloc[:, 2:].to_numpy(dtype=float)


def named(frame):
    return frame.assign(**{"row number": range(len(frame))})


def _javascript(network, encoder, frame, folder):
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    file = folder / "predict.js"
    file.write_text(write_javascript(network, encoder), encoding="utf-8")
    rows = json.loads(frame.to_json(orient="records", double_precision=15))
    answers = run_node(NODE, file, json.dumps(rows))
    labels = network.variables[0].states
    shares = [[dict(pairs)[label] for label in labels] for _, pairs in answers]
    return np.array([prediction for prediction, _ in answers]), np.array(shares)


def run_node(script, file, given=""):
    """What a script prints as JSON; it may load a file."""
    done = subprocess.run(
        ["node", "-e", script, str(file)], input=given, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _onnx(network, encoder, frame, folder):
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(make_onnx(network, encoder).SerializeToString())
    feeds = {}
    for needed in session.get_inputs():
        column = frame[needed.name]
        if needed.type == "tensor(double)":
            values = pd.to_numeric(column).to_numpy(dtype=np.float64)
        else:
            values = np.array(["" if pd.isna(v) else str(v) for v in column], dtype=object)
        feeds[needed.name] = values.reshape(-1, 1)
    return session.run(["label", "probabilities"], feeds)


RUNNERS = {"sqlite": _sqlite, "duckdb": _duckdb, "javascript": _javascript, "onnx": _onnx}


def with_holes(frame, seed=0):
    """A third of the rows complete, a third with some holes, a third with hardly anything.

    Some of the holes in text columns are values that were never seen.
    """
    rng = np.random.default_rng(seed)
    holes = rng.random(frame.shape) < np.resize([0.0, 0.3, 0.9], len(frame))[:, None]
    columns = {}
    for j, name in enumerate(frame):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            columns[name] = column.astype(float).mask(holes[:, j])
        else:
            odd = np.where(rng.random(len(frame)) < 0.5, None, "ne'v\"er seen")
            columns[name] = column.astype(object).where(~holes[:, j], odd)
    return pd.DataFrame(columns)
