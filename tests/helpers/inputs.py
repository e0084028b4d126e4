"""Random and damaged inputs for every reader and option parser, and what must be true of them.

An input is either accepted, or refused with one of milpbn's own errors; nothing else may happen,
and nothing may take long. Hypothesis shrinks what violates this. The default tests try a few
examples of each kind, and ``bash scripts/fuzz inputs`` goes on for as long as it is told to.
"""

import gzip
import json
import signal
import threading
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from click.testing import CliRunner
from hypothesis import strategies as st
from valid_inputs import (
    ARFF,
    CONSTRAINTS,
    CSV,
    FOLDS,
    JKL,
    STRUCTURES,
    certificate,
    parquet,
    results,
    saved,
)

from milpbn.check import check_certificate
from milpbn.cli import cli, params
from milpbn.cli.options import option_type
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
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
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
            how = draw(st.integers(0, 5))
            if how == 0:
                del place[key]
                content.edits.append((path, "deleted"))
                break
            if how == 1 and isinstance(place, list):
                place.append(place[key])
            elif how == 2:
                place[key] = place[draw(st.sampled_from(keys))]
            else:  # mostly values that a schema accepts
                place[key] = draw(VALUES if how == 3 else similar(place[key]))
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
        more = Path(folder, "more.csv")
        more.write_text("".join(rows.splitlines(keepends=True)[:9]))
        for command in (
            ["verify", model, "--data", data, "--time-limit", "2s"],
            ["inspect", model, "--json"],
            ["inspect", model, "--tables"],
            ["predict", model, data],
            ["export", model, "--format", "bif"],
            ["explain", model, data],
            ["explain", model, data, "--why", "--flip"],
            ["card", model, "--test", data],
            ["inspect", model, "--importance", "--test", data],
            ["report", model, "--test", data, "--out", Path(folder, "report.html")],
            ["stability", model, "--data", data, "--resamples", 1],
            ["arcs", model, "--data", data],
            ["drift", model, data],
            ["update", model, more, "--out", Path(folder, "updated.json")],
            ["update", model, more, "--search", "--data", data, "--time-limit", "2s"],
        ):
            with in_time():
                done = CliRunner().invoke(cli, list(map(str, command)))
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
            assert done.exit_code in (0, 1, 2, 3, 4), done.output
            tally[kind, f"{command[0]} exit {done.exit_code}"] += 1


@st.composite
def false_claims(draw):
    """A model whose score, bound, probabilities or encoding are not those of its data."""
    content = Edited(saved("model")[0])
    tables = content["log_probabilities"]
    # One row of the class's table, which is all of it if the class is a root.
    row = tables["y"][0] if isinstance(tables["y"][0], list) else tables["y"]
    found = [a for a in content["arcs"]["answers"] if a["value"] is not None]
    place, key = draw(
        st.sampled_from(
            [
                (content["result"], "objective"),
                (content["result"], "bound"),
                (row, 0),
                (content["data"], "n_rows"),
                (draw(st.sampled_from(found)), "value"),
                (draw(st.sampled_from(content["alternatives"]["structures"])), "score"),
            ]
        )
    )
    if key == "n_rows":
        place[key] += draw(st.integers(1, 9))
    elif place is row:
        place[key] -= draw(st.floats(1e-3, 5))
    else:
        place[key] += draw(st.floats(1e-2, 100)) * draw(st.sampled_from([-1, 1]))
    content.edits.append((key, place[key]))
    return content


def find_false_claim(content):
    """`verify` never agrees with a false claim."""
    with TemporaryDirectory() as folder:
        model, data = Path(folder, "model.json"), Path(folder, "rows.csv")
        model.write_text(json.dumps(content))
        data.write_text(saved("model")[1])
        done = CliRunner().invoke(cli, ["verify", str(model), "--data", str(data)])
    assert done.exit_code == 4, done.output
    tally["claims", "found"] += 1


def certificates():
    """A certificate with damaged bytes, or with entries that were edited."""
    lines = certificate()[0]
    as_bytes = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return damaged(as_bytes) | edited({"lines": lines})


def check_damaged(content):
    """A damaged certificate is refused, or proves something that is true."""
    _, problem, codes, best = certificate()
    if isinstance(content, Edited):
        left = content.get("lines")
        lines = [json.dumps(line).encode() for line in left] if isinstance(left, list) else []
    else:
        lines = content.splitlines()

    def prove():
        assert check_certificate(lines, problem, codes).bound >= best

    accept_or_refuse("certificate", prove)


PARSERS = {
    "Duration": (params.Duration(), b"90s", b"1.5m", b"2 h"),
    "Gap": (params.Gap(), b"1%", b"0.01"),
    "Size": (params.Size(), b"4GiB", b"500 MB"),
    "Names": (params.Names(), b"a,b", b'"a, b",c'),
    "Order": (params.Order(), b"size=S,M,L", b'a="b, c",d'),
    "ColumnNumbers": (params.ColumnNumbers(), b"income=1000,2000", b"a=b=-999"),
    "Share": (params.Share(), b"5%", b"0.05"),
    "COSTS": (params.COSTS, b"sick:healthy=10,healthy:sick=1"),
    "Jobs": (params.Jobs(), b"-1", b"2"),
    "Candidates": (params.Candidates(), b"p=0.6,0.9", b"auto", b"penalty=0.5,bic"),
    "Counts": (params.Counts(), b"0,5,10"),
    "score": (option_type("score"), b"sm", b"BIC"),
    "smoothing": (option_type("smoothing"), b"laplace:2", b"epsilon:1e-5"),
    "penalty": (option_type("penalty"), b"bic", b"0.1"),
    "validation": (option_type("validation"), b"loo", b"5", b"none"),
    "class_weight": (option_type("class_weight"), b"sick=5,healthy=1", b"balanced"),
    "parameters": (option_type("parameters"), b"cl:penalty=0.1,method=cg", b"mm", b"ml"),
    "bins": (option_type("bins"), b"mdlp", b"quantile:6"),
    "monotone": (option_type("monotone"), b"age+,income-", b'"a, b"+'),
    "Number": (params.Number(0.5, 1), b"0.9"),
    "Numbers": (params.Numbers(0.5, 1), b"0.6, 0.9"),
    "ARC": (params.ARC, b"A->B", b'"a->b" -> c'),
    "feature_costs": (option_type("feature_costs"), b"test=5,xray=20", b'"a, b=3"'),
    "PENALTIES": (params.PENALTIES, b"0,0.5,bic"),
    "FOLDS": (params.FOLDS, b"5", b"none"),
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
    "claims": (false_claims, find_false_claim),
    "certificate": (certificates, check_damaged),
    **{
        kind: (lambda kind=kind: edited(saved(kind)[0]), partial(use_model, kind))
        for kind in ("model", "multinet", "gbnc", "skops")
    },
}
"""For each kind of input, what generates one and what must not fail on it."""
