"""Valid files of every format that milpbn reads, small ones, to be damaged."""

import io
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from click.testing import CliRunner

from milpbn import load_dataset, make_settings
from milpbn.check import read_lines
from milpbn.cli import cli
from milpbn.learning.certification import certified_problem
from milpbn.learning.classifier import encode
from milpbn.learning.structure import run_method

CSV = b"color;size, cm;day;price;class\n" + b"".join(
    f"{'red' if i % 3 else 'dark blue'};{i},5;{1 + i % 28}.12.2021;${i}.50;{'ab'[i % 2]}\n".encode()
    for i in range(12)
)
ARFF = (
    b"% toy\n@relation toy\n@attribute 'the color' {red, 'dark blue'}\n@attribute size numeric\n"
    b"@attribute day date 'yyyy-MM-dd'\n@attribute class {a, b}\n@data\n"
    + b"red,1.5,2021-12-24,a\n'dark blue',?,2022-01-01,b\n"
    * 5
)
BIF = (
    b"// toy\nnetwork toy {\n}\nvariable class {\n  type discrete [ 2 ] { a, b };\n}\n"
    b"variable size {\n  type discrete [ 2 ] { s, l };\n}\nprobability ( class ) {\n"
    b"  table 0.5, 0.5;\n}\nprobability ( size | class ) {\n  ( a ) 0.1, 0.9;\n"
    b"  ( b ) 0.3, 0.7;\n}\n"
)
XMLBIF = (
    b'<?xml version="1.0"?>\n<BIF VERSION="0.3"><NETWORK><NAME>toy</NAME>'
    b'<VARIABLE TYPE="nature"><NAME>class</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME>'
    b"</VARIABLE><DEFINITION><FOR>class</FOR><TABLE>0.5 0.5</TABLE></DEFINITION></NETWORK></BIF>"
)
NETWORK = json.dumps(
    {
        "format": "milpbn-network",
        "version": 1,
        "variables": [
            {"name": "class", "states": ["a", "b"], "parents": [], "probabilities": [0.5, 0.5]},
            {"name": "x", "states": ["0"], "parents": ["class"], "probabilities": [[1.0], [1.0]]},
        ],
    }
).encode()
STRUCTURES = (
    *(BIF, XMLBIF, NETWORK, b"[class][a|class][b|class:a]", b'{"class": [], "a": ["class"]}'),
    *(b"class\na <- class\nb <- class, a\n", b"% net\nnet { }\n"),
)
JKL = b"2\nclass 1\n-10.5 0\na 2\n-3.5 1 class\n-9.25 0\n"
CONSTRAINTS = (
    b'required = ["class->a"]\nforbidden = [["a", "b"]]\ntiers = [["class"], ["a", "b"]]\n'
    b"max_arcs = 3\n[max_parents]\na = 1\n",
    b'{"required": ["class->a"], "tiers": [["class"], ["a"]], "max_parents": {"a": 1}}',
)
FOLDS = b"fold\n1\n2\n1\n2\n"


@cache
def parquet():
    buffer = io.BytesIO()
    frame = pd.DataFrame({"a": [1.5, 2.0, None] * 4, "b": ["x", "y", "z"] * 4, "class": [0, 1] * 6})
    frame.to_parquet(buffer)
    return buffer.getvalue()


@cache
def saved(kind):
    """The content of a model file that a command wrote, and rows that it can predict."""
    lines = [f"{'rgb'[i % 3]},{i % 7},{'ab'[i % 2]},{'uv'[i % 3 > 0]}\n" for i in range(40)]
    with TemporaryDirectory() as folder:
        data, out = Path(folder, "rows.csv"), Path(folder, "model.json")
        data.write_text("color,size,y,z\n" + "".join(lines))
        command = {
            "model": [
                *("solve", "--target", "y", "--max-parents", "1", "--select", "p=0.6,0.9"),
                *("--best", "2"),
            ],
            "multinet": ["learn", "--target", "y", "--method", "multinet-cmi"],
            "gbnc": ["mdc", "solve", "--targets", "y,z", "--base", "logistic:C=1"],
            "skops": ["mdc", "solve", "--targets", "y,z", "--base", "gaussian-nb"],
        }[kind]
        commands = [[*command, "--data", str(data), "--out", str(out)]]
        if kind == "model":
            commands += [["arcs", str(out)], ["stability", str(out), "--resamples", "2"]]
        for command in commands:
            done = CliRunner().invoke(cli, command)
            assert done.exit_code == 0, done.output
        return json.loads(out.read_text()), data.read_text()


@cache
def certificate():
    """The lines of a certificate, what it is about, the rows, and the optimum that it proves."""
    table, settings = load_dataset("iris"), make_settings(max_parents=1)
    data = encode(table).data
    with TemporaryDirectory() as folder:
        path = Path(folder, "proof.gz")
        best = run_method(data, settings, certificate=path).objective
        lines = [json.loads(line) for line in read_lines(path)]
    return lines, certified_problem(data, settings), data.train(), best


@cache
def results():
    """A file of evaluation results."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "r.jsonl")
        command = ["evaluate", "--dataset", "corral", "--method", "nb", "--folds", "2"]
        done = CliRunner().invoke(cli, [*command, "--out", str(out)])
        assert done.exit_code == 0, done.output
        return out.read_bytes()
