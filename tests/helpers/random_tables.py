"""Random tables, as bad as people's: never a traceback, never a silent loss."""

import datetime as dt
import gzip
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
from click.testing import CliRunner
from troubles import write_arff

from milpbn import BNClassifier, Encoder
from milpbn.cli import cli
from milpbn.datasets import read_features, read_table, table_from_frame
from milpbn.datasets.readers import read_raw
from milpbn.errors import MilpbnError

WORDS = (
    "north",
    "Süd",
    "体重",
    "a,b",
    'say "hi"',
    "x;y",
    "",
    " padded ",
    "1e5",
    "?",
    "None",
    "-",
    "=SUM(A1)",
    "🙂",
    "o'neil",
    "50%",
    "2021-13-45",
    "12:61",
    "$",
    "true",
    "NA",
    "x" * 300,
)
NAMES = (
    "id",
    "age",
    "name, given",
    "a->b",
    "größe",
    "体重",
    "x y",
    'q"uote',
    "it's",
    "tab\there",
    "line\nbreak",
    "\x1b[31mred",
    "=1+1",
    "P(yes)",
    "class",
    "year",
    "100%",
    "🙂",
    "a|b",
    "a;b",
)


def _numbers(rng, n):
    return rng.choice([rng.normal(size=n), rng.integers(-5, 9, n), rng.lognormal(9, 2, n).round(2)])


KINDS = {
    "floats": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-5, 9),
    "integers": lambda rng, n: rng.integers(0, int(rng.integers(2, 500)), n),
    "row number": lambda rng, n: np.arange(n) + 7,
    "identifier": lambda rng, n: [f"id-{i:05}" for i in rng.permutation(n)],
    "words": lambda rng, n: rng.choice(WORDS, n),
    "many words": lambda rng, n: [f"w{int(v)}" for v in rng.exponential(60, n)],
    "constant": lambda rng, n: [str(rng.choice(WORDS))] * n,
    "nothing": lambda rng, n: [None] * n,
    "truth": lambda rng, n: rng.random(n) < 0.5,
    "spellings": lambda rng, n: rng.choice(["yes", "No", "TRUE", "f", "1", "off"], n),
    "dollars": lambda rng, n: [f"${v:,.2f}" for v in _numbers(rng, n)],
    "percent": lambda rng, n: [f"{v:.1f} %" for v in _numbers(rng, n)],
    "units": lambda rng, n: [f"{v:g}{rng.choice(['kg', 'g'])}" for v in _numbers(rng, n)],
    "european": lambda rng, n: [
        f"{v:,.1f}".translate({44: ".", 46: ","}) for v in _numbers(rng, n)
    ],
    "dates": lambda rng, n: (
        pd.Timestamp("1999-12-01") + pd.to_timedelta(rng.integers(0, 9999, n), "h")
    ),
    "zoned dates": lambda rng, n: pd.date_range(
        "2021-03-27", periods=n, freq="h", tz="Europe/Paris"
    ),
    "written dates": lambda rng, n: [
        f"{d}/{m}/20{y:02}"
        for d, m, y in zip(
            rng.integers(1, 32, n), rng.integers(1, 13, n), rng.integers(0, 99, n), strict=True
        )
    ],
    "date objects": lambda rng, n: [
        dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 800, n)
    ],
    "times": lambda rng, n: [
        f"{h}:{m:02}" for h, m in zip(rng.integers(0, 24, n), rng.integers(0, 60, n), strict=True)
    ],
    "durations": lambda rng, n: pd.to_timedelta(rng.integers(0, 900, n), "min"),
    "strings of numbers": lambda rng, n: [f"{v:.3g}" for v in rng.normal(size=n)],
    "broken numbers": lambda rng, n: [
        f"{v:.3g}" if rng.random() < 0.97 else "n.a." for v in rng.normal(size=n)
    ],
    "nullable": lambda rng, n: pd.array(rng.integers(0, 40, n), dtype="Int64"),
    "categories": lambda rng, n: pd.Categorical(
        rng.choice(["u", "v", "w"], n), categories=["w", "v", "u", "gone"]
    ),
    "decimals": lambda rng, n: [Decimal(int(v)) / 8 for v in rng.integers(0, 99, n)],
    "objects": lambda rng, n: [[1, "a", None, 2.5, True, "7"][k] for k in rng.integers(0, 6, n)],
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
    "infinite": lambda rng, n: rng.choice([1.0, 2.0, np.inf], n, p=[0.6, 0.39, 0.01]),
}


def random_frame(rng):
    """Columns of random kinds with random names and gaps, and the name of the target."""
    n = int(rng.integers(1, 15)) if rng.random() < 0.15 else int(rng.integers(20, 130))
    width = int(rng.integers(1, 25)) if rng.random() < 0.985 else int(rng.integers(300, 2000))
    columns = {}
    for j in range(width):
        kind = str(rng.choice(list(KINDS)))
        if kind == "infinite" and rng.random() < 0.8:
            kind = "floats"  # most tables should be accepted
        values = pd.Series(KINDS[kind](rng, n))
        if rng.random() < 0.25 and kind != "nothing":
            values = values.mask(rng.random(n) < rng.choice([0.02, 0.3]))
        name = str(rng.choice(NAMES)) if rng.random() < 0.3 else f"{kind} {j}"
        columns[name if name not in columns else f"{name} {j}"] = values
    frame = pd.DataFrame(columns)
    target = str(rng.choice(["class", "left, or stayed", "y"]))
    labels = rng.choice(["a", "b", "c"], n) if rng.random() < 0.9 else rng.normal(size=n)
    frame[target] = pd.Series(labels, dtype=object).mask(rng.random(n) < rng.choice([0, 0, 0.1]))
    return frame, target


def write(frame, folder, rng):
    """A file with the frame, in a random format, separator and encoding."""
    way = str(rng.choice(["csv", "csv", "parquet", "arff"]))
    path = folder / f"table.{way}"
    if way == "arff":
        write_arff(frame, path)
        return path
    if way == "parquet":
        try:
            frame.to_parquet(path)
            return path
        except (ValueError, TypeError, OverflowError):  # Arrow refuses columns of mixed objects
            path = folder / "table.csv"
    ends = str(rng.choice(["\n", "\r\n"]))
    text = frame.to_csv(
        index=False, sep=str(rng.choice([",", ";", "\t", "|"])), lineterminator=ends
    )
    data = text.encode(
        str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"])), "replace"
    )
    if rng.random() < 0.1:
        path, data = path.with_suffix(".csv.gz"), gzip.compress(data, mtime=0)
    if rng.random() < 0.05:
        data = data[: int(rng.integers(len(data) + 1))]
    path.write_bytes(data)
    return path


def loss(raw, target, table):
    """Columns and rows that are gone without a note; "" if there are none."""
    notes = " ".join(table.notes)
    more = sum(map(int, re.findall(r"and (\d+) more", notes)))
    gone = [c for c in raw.columns if c != target and c not in table.sources]
    silent = [c for c in gone if repr(c) not in notes]
    if len(silent) > more:
        return f"columns {silent[:5]} are gone"
    left_out = sum(map(int, re.findall(r"left out (\d+) row", notes)))
    return "" if len(table) + left_out == len(raw) else "rows are gone"


def complaint(seed, folder):
    """What is wrong with the treatment of a random table; "" for nothing, None if it is refused."""
    rng = np.random.default_rng(seed)
    frame, target = random_frame(rng)
    options = {
        "missing": str(rng.choice(["drop", "state"])),
        "dates": str(rng.choice(["expand", "expand", "drop", "keep"])),
        "max_states": int(rng.choice([2, 5, 50])),
        "bins": str(rng.choice(["mdlp", "quantile:5", "auto"])),
    }
    path = write(frame, folder, rng)
    flags = [f for k, v in options.items() for f in (f"--{k.replace('_', '-')}", v)]
    model = folder / "model.json"
    model.unlink(missing_ok=True)
    wrong = _command(
        "learn", "--data", path, "--target", target, "--method", "nb", *flags, "--out", model
    )
    if not wrong and model.exists():
        wrong = _command("predict", model, path, "--out", folder / "predictions.csv")
    wrong = wrong or _estimator(frame, target, options)
    if wrong:
        return wrong
    try:
        table = read_table(path, target, **options)
        raw = read_features(path, [], [c for c in map(str, read_raw(path).frame) if c != target])
    except MilpbnError:
        return None
    return loss(raw, target, table) or _codes(raw, table)


def _codes(raw, table):
    """Rows to predict must get the codes of the same rows in training."""
    try:
        encoder = Encoder.fit(table)
    except MilpbnError:
        return None
    codes = encoder.encode(table).codes[:, 1:]
    if len(codes) != len(raw) or not encoder.columns:
        return ""  # rows were left out
    same = np.array_equal(encoder.transform(raw).codes, codes)
    again = np.array_equal(encoder.transform(table.features).codes, codes)
    return "" if same and again else "raw rows and rows of the table have different codes"


def _command(*arguments):
    done = CliRunner().invoke(cli, [str(a) for a in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"{arguments[0]}: {done.exception!r}"
    bad = done.exit_code not in (0, 1) or "\x1b[31m" in done.stderr
    return f"{arguments[0]}: exit code {done.exit_code}, {done.stderr!r}" if bad else ""


def _estimator(frame, target, options):
    labelled = frame[frame[target].notna()]
    X, y = labelled.drop(columns=target), labelled[target].to_numpy()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = table_from_frame(X, y, **options)
            wrong = loss(X, "", table)
            model = BNClassifier(method="nb", **options).fit(X, y)
            proba = model.predict_proba(X)
    except (MilpbnError, ValueError) as error:
        return "" if str(error) else f"an error without a message: {error!r}"
    return wrong or ("" if np.allclose(proba.sum(axis=1), 1) else "probabilities do not add up")
