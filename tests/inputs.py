"""Random and damaged inputs for every reader and option parser, and what must be true of them.

An input is either accepted, or refused with one of milpbn's own errors; nothing else may happen,
and nothing may take long. Hypothesis shrinks what violates this. The default tests try a few
examples of each kind, and ``bash scripts/fuzz inputs`` goes on for as long as it is told to.
"""

import gzip
import io
import json
import signal
import threading
from collections import Counter
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import pandas as pd
from click.testing import CliRunner
from hypothesis import strategies as st

from milpbn.cli import cli, params
from milpbn.datasets import read_table
from milpbn.datasets.readers import read_raw
from milpbn.errors import MilpbnError
from milpbn.evaluation.protocol import read_folds
from milpbn.evaluation.records import ResultFile
from milpbn.families import Constraints
from milpbn.interchange import read_network, read_structure
from milpbn.interchange.jkl import read_jkl

SECONDS = 60
"""No input takes longer, not even on a busy machine."""

tally = Counter()
"""How many inputs of each kind were accepted and refused."""

# --- valid documents, to begin with ------------------------------------------------------------

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
            "model": ["solve", "--target", "y", "--max-parents", "1", "--select", "p=0.6,0.9"],
            "multinet": ["learn", "--target", "y", "--method", "multinet-cmi"],
            "gbnc": ["mdc", "solve", "--targets", "y,z", "--base", "logistic:C=1"],
            "skops": ["mdc", "solve", "--targets", "y,z", "--base", "gaussian-nb"],
        }[kind]
        done = CliRunner().invoke(cli, [*command, "--data", str(data), "--out", str(out)])
        assert done.exit_code == 0, done.output
        return json.loads(out.read_text()), data.read_text()


@cache
def results():
    """A file of evaluation results."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "r.jsonl")
        command = ["evaluate", "--dataset", "corral", "--method", "nb", "--folds", "2"]
        done = CliRunner().invoke(cli, [*command, "--out", str(out)])
        assert done.exit_code == 0, done.output
        return out.read_bytes()


# --- damage ------------------------------------------------------------------------------------

PIECES = (
    *(b"", b"\x00", b"\n", b"\r", b" ", b"\t" * 40, b" " * 200, b'"', b"'", b"\\", b",", b";"),
    *(b"|", b"{", b"}", b"(", b")", b"[", b"]", b"<", b">", b"&", b"/*", b"//", b"%", b"#"),
    *(b"->", b"<-", b"=", b":", b"-", b"-1", b"0", b"1e999", b"nan", b"inf", b"9" * 30),
    *(b"9" * 5000, b"1.5", b"true", b"null", b"\xff", b"\xc3\xa4", "\u202e\x9b\x1b[2J".encode()),
    *("\U0001f600".encode(), b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"_x0041_", b"network"),
    *(b"variable", b"@attribute", b"@data", b"&lol;", b"<!DOCTYPE x>", b"2021-13-45", b"25:61"),
)


@st.composite
def damaged(draw, *documents):
    """A document with some bytes cut out, doubled, replaced or inserted."""
    text = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 1, 2, 10, 1000])))
        piece = draw(st.sampled_from(PIECES) | st.binary(max_size=8) | st.just(text[start:end] * 2))
        text = text[:start] + piece + text[end:]
    return text


NAMES = st.text(max_size=6) | st.sampled_from(["class", "y", "color", "a->b", "", "\x1b[2J"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from([10**12, 10**30, -(10**30), 1e300, 0.5, 2**53 + 1, "<U99", "<M8[s]", "1e9"])
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def similar(value):
    """Values of the same type, which a schema accepts."""
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, int):
        return st.integers(value - 3, value + 3) | st.integers(0, 10**6)
    if isinstance(value, float):
        return st.floats(-1e3, 1e3) | st.floats(0, 1) | st.just(-value)
    if isinstance(value, str):
        return NAMES | st.sampled_from(["drop", "state", "sm", "mdl", "nb", "none", "laplace:2"])
    return st.just(value * 2) if isinstance(value, list) else st.just({})


class Edited(dict):
    """The content of an edited file; it is shown by its edits."""

    def __init__(self, content):
        super().__init__(json.loads(json.dumps(content)))
        self.edits = []

    def __repr__(self):
        return f"Edited({self.edits})"


@st.composite
def edited(draw, content):
    """Content of a JSON file in which entries were replaced, deleted, repeated or exchanged."""
    content = Edited(content)
    for _ in range(draw(st.integers(1, 3))):
        place, path = content, []
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            path.append(key)
            if isinstance(place[key], dict | list) and place[key] and draw(st.integers(0, 5)):
                place = place[key]
                continue
            how = draw(st.integers(0, 3))
            if how == 0:
                del place[key]
                content.edits.append((path, "deleted"))
                break
            if how == 1 and isinstance(place, list):
                place.append(place[key])
            elif how == 2:
                place[key] = place[draw(st.sampled_from(keys))]
            else:
                place[key] = draw(similar(place[key]) | VALUES)
            content.edits.append((path, place[key]))
            break
    return content


# --- readers -----------------------------------------------------------------------------------


@contextmanager
def in_time():
    """Raise TimeoutError if the work takes too long; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise TimeoutError(f"an input took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def accept_or_refuse(kind, read, *arguments):
    """Call a reader; only milpbn's own errors may come out of it."""
    with in_time():
        try:
            read(*arguments)
            tally[kind, "accepted"] += 1
        except (MilpbnError, click.UsageError):
            tally[kind, "refused"] += 1


def read_file(kind, name, read, content):
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        accept_or_refuse(kind, read, path)


def read_any_table(path):
    frame = read_raw(path).frame
    read_table(path, str(frame.columns[-1]), missing="state")


def read_either(path):
    try:
        read_network(path)
    except MilpbnError:
        read_structure(path)


def open_results(path):
    """Open a results file with the settings and the data that it was begun with."""
    header, data = (json.loads(line) for line in results().splitlines()[:2])
    ResultFile(path, header["settings"], data["data"]).open()


def use_model(kind, content):
    """Load an edited model file with every command that takes one."""
    _, rows = saved(kind)
    with TemporaryDirectory() as folder:
        model, data = Path(folder, "model.json"), Path(folder, "rows.csv")
        model.write_text(json.dumps(content))
        data.write_text(rows)
        for command in (
            ["verify", model, "--data", data, "--time-limit", "2s"],
            ["inspect", model, "--json"],
            ["inspect", model, "--tables"],
            ["predict", model, data],
            ["export", model, "--format", "bif"],
        ):
            with in_time():
                done = CliRunner().invoke(cli, list(map(str, command)))
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
            assert done.exit_code in (0, 1, 2, 4), done.output
            tally[kind, f"{command[0]} exit {done.exit_code}"] += 1


PARSERS = {
    "Duration": (params.Duration(), b"90s", b"1.5m", b"2 h"),
    "Gap": (params.Gap(), b"1%", b"0.01"),
    "Size": (params.Size(), b"4GiB", b"500 MB"),
    "Names": (params.Names(), b"a,b", b'"a, b",c'),
    "Jobs": (params.Jobs(), b"-1", b"2"),
    "Candidates": (params.Candidates(), b"p=0.6,0.9", b"auto", b"penalty=0.5,bic"),
    "Counts": (params.Counts(), b"0,5,10"),
    "ScoreName": (params.ScoreName(), b"sm", b"BIC"),
    "Number": (params.Number(0.5, 1), b"0.9"),
    "Numbers": (params.Numbers(0.5, 1), b"0.6, 0.9"),
    "ARC": (params.ARC, b"A->B", b'"a->b" -> c'),
    "SMOOTHING": (params.SMOOTHING, b"laplace:2", b"epsilon:1e-5"),
    "PENALTY": (params.PENALTY, b"bic", b"0.1"),
    "PENALTIES": (params.PENALTIES, b"0,0.5,bic"),
    "VALIDATION": (params.VALIDATION, b"loo", b"5", b"none"),
    "CLASS_WEIGHT": (params.CLASS_WEIGHT, b"sick=5,healthy=1", b"balanced"),
    "PARAMETERS": (params.PARAMETERS, b"cl:penalty=0.1,method=cg", b"mm", b"ml"),
    "BASE": (params.BASE, b"logistic:C=0.1", b"forest:n_estimators=3", b"gaussian-nb"),
}
"""The types of options, each with some valid values."""


@st.composite
def option_values(draw):
    name = draw(st.sampled_from(sorted(PARSERS)))
    text = draw(damaged(*PARSERS[name][1:]) | st.text(max_size=20))
    return name, text if isinstance(text, str) else text.decode("utf-8", "replace")


def parse_option(value):
    name, text = value
    accept_or_refuse(f"option {name}", PARSERS[name][0].convert, text, None, None)


TARGETS = {
    "csv": (lambda: damaged(CSV), partial(read_file, "csv", "x.csv", read_any_table)),
    "arff": (lambda: damaged(ARFF), partial(read_file, "arff", "x.arff", read_any_table)),
    "parquet": (
        lambda: damaged(parquet()),
        partial(read_file, "parquet", "x.parquet", read_any_table),
    ),
    "gzip": (
        lambda: damaged(gzip.compress(CSV, mtime=0)),
        partial(read_file, "gzip", "x.csv.gz", read_any_table),
    ),
    "structure": (
        lambda: damaged(*STRUCTURES),
        partial(read_file, "structure", "x", read_either),
    ),
    "jkl": (lambda: damaged(JKL), partial(read_file, "jkl", "x.jkl", read_jkl)),
    "toml": (
        lambda: damaged(CONSTRAINTS[0]),
        partial(read_file, "toml", "x.toml", Constraints.from_file),
    ),
    "json": (
        lambda: damaged(CONSTRAINTS[1]),
        partial(read_file, "json", "x.json", Constraints.from_file),
    ),
    "folds": (
        lambda: damaged(FOLDS),
        partial(read_file, "folds", "x.csv", lambda p: read_folds(p, 4)),
    ),
    "results": (
        lambda: damaged(results()),
        partial(read_file, "results", "r.jsonl", open_results),
    ),
    "option": (option_values, parse_option),
    **{
        kind: (lambda kind=kind: edited(saved(kind)[0]), partial(use_model, kind))
        for kind in ("model", "multinet", "gbnc", "skops")
    },
}
"""For each kind of input, what generates one and what must not fail on it."""
