"""The conditional log-likelihood, exactly: root gap, nodes and seconds beside the soft margin.

``bash scripts/bench cll`` measures all single-class sets with at most 36 features: all rows, the
class is a root, two parents, one thread. Seconds are those of the processor, and so is the limit of
60, which a busy machine does not change. Every run is appended to build/bench/cll.csv as soon as it
ends, and runs found there are not repeated; MILPBN_BENCH_SECONDS sets the limit of a run,
MILPBN_BENCH_SETS and MILPBN_BENCH_SCORES ("cll loo,sm") restrict what is measured. It takes hours.

``cll:workers`` gives german and vehicle ten minutes with two workers. ``cll:certificates`` solves
the sets again that were proven with leave-one-out, and checks their certificates. ``cll:publish``
puts all that is there into the manual.
"""

import os
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from benchmarks.problems import all_rows
from benchmarks.records import OUT, Records
from milpbn import clock, learn_structure
from milpbn.datasets import load_catalog
from milpbn.scores import make_score

DOCS = Path(__file__).resolve().parents[2] / "docs" / "explanation"
SCORES = {"cll loo": ("cll", "loo"), "cll": ("cll", None), "sm": ("sm", None)}
MOST_FEATURES = 36
HARD, MINUTES = ("german", "vehicle"), 10
FIELDS = (
    "set", "score", "limit", "rows", "features", "status", "objective", "bound", "root", "nodes",
    "cpu",
)  # fmt: skip
WORKER_FIELDS = ("set", "status", "objective", "bound", "nodes", "seconds")
CERTIFICATE_FIELDS = ("set", "nodes", "bytes", "rows", "bound", "objective", "cpu")


def sets() -> list[str]:
    """The data sets, small ones first."""
    catalog = [e for e in load_catalog().values() if len(e.targets) == 1]
    chosen = os.environ.get("MILPBN_BENCH_SETS", "").split(",")
    names = [e for e in catalog if e.features <= MOST_FEATURES]
    names.sort(key=lambda e: e.rows * e.features)
    return [e.name for e in names if chosen == [""] or e.name in chosen]


def _limit() -> float:
    return float(os.environ.get("MILPBN_BENCH_SECONDS", "60"))


def _compile() -> None:
    for score in ("cll", "sm"):
        for name in ("iris", "corral"):
            learn_structure(all_rows(name), max_parents=1, score=score)


def measure(records: Records, name: str, label: str, limit: float) -> None:
    """One run, unless it is there."""
    key = {"set": name, "score": label, "limit": f"{limit:g}"}
    if records.find(key) is not None:
        return
    data, (score, validation) = all_rows(name), SCORES[label]
    begin = time.process_time()
    result = learn_structure(
        data,
        score=make_score(score, validation=validation),
        class_parents=False,
        time_limit=limit,
    )
    root = min(t.bound for t in result.trace if t.bound is not None and t.nodes <= 1)
    records.append({
        **key, "rows": str(len(data.train())), "features": str(len(data.variables) - 1),
        "status": str(result.status), "objective": repr(result.objective),
        "bound": repr(result.bound), "root": repr(root), "nodes": str(result.nodes),
        "cpu": f"{time.process_time() - begin:.2f}",
    })  # fmt: skip


def runs() -> None:
    """All sets with all scores."""
    records, limit = Records(OUT / "cll.csv", FIELDS), _limit()
    given = os.environ.get("MILPBN_BENCH_SCORES")
    _compile()
    clock.time = SimpleNamespace(perf_counter=time.process_time)
    for label in given.split(",") if given else SCORES:
        for name in sets():
            measure(records, name, label, limit)


def workers() -> None:
    """Two workers for ten minutes on what stays open."""
    records = Records(OUT / "cll-workers.csv", WORKER_FIELDS)
    for name in HARD:
        if records.find({"set": name}) is not None:
            continue
        began = time.perf_counter()
        result = learn_structure(
            all_rows(name),
            score=make_score("cll", validation="loo"),
            class_parents=False,
            workers=2,
            time_limit=60 * MINUTES,
        )
        records.append({
            "set": name, "status": str(result.status), "objective": repr(result.objective),
            "bound": repr(result.bound), "nodes": str(result.nodes),
            "seconds": f"{time.perf_counter() - began:.1f}",
        })  # fmt: skip


def certificates() -> None:
    """The certificates of the sets that were proven with leave-one-out, smallest trees first."""
    from milpbn.check import check_certificate, read_lines
    from milpbn.learning.certification import certified_problem
    from milpbn.learning.settings import make_settings
    from milpbn.learning.structure import run_method
    from milpbn.verification.certificate_claims import named_families

    records = Records(OUT / "cll-certificates.csv", CERTIFICATE_FIELDS)
    proven = _found().query("score == 'cll loo' and status == 'optimal'").sort_values("cpu")
    for name in proven["set"]:
        if records.find({"set": name}) is not None:
            continue
        data = all_rows(name)
        settings = make_settings(
            score="cll", validation="loo", class_parents=False, time_limit=3600.0
        )
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "certificate.gz")
            result = run_method(data, settings, certificate=file)
            began = time.process_time()
            shown = check_certificate(
                read_lines(file),
                certified_problem(data, settings),
                data.train(),
                data.train_weights(),
                structure=named_families(result.structure, data.variables),
            )
            assert shown.optimal, name
            records.append({
                "set": name, "nodes": str(result.nodes), "bytes": str(file.stat().st_size),
                "rows": str(shown.rows), "bound": repr(shown.bound),
                "objective": repr(result.objective), "cpu": f"{time.process_time() - began:.2f}",
            })  # fmt: skip


def _found() -> pd.DataFrame:
    found = pd.read_csv(OUT / "cll.csv")
    return found[found["limit"] == _limit()]


def publish() -> None:
    """Put the runs into the manual, with a copy of the measurements."""
    from reproduction.report import Report, fill_page

    found, report = _found(), Report(DOCS)
    found.to_csv(DOCS / "results" / "cll.csv", index=False)
    report.table(table(found))
    report.text(_summary(found))
    report.text(_certified(pd.read_csv(OUT / "cll-certificates.csv")))
    fill_page(DOCS / "engines.md", {"cll": str(report)})


def table(found: pd.DataFrame) -> pd.DataFrame:
    """A line for each set that was solved with leave-one-out."""
    of = {(r.set, r.score): r for r in found.itertuples()}
    order = [name for name in sets() if (name, "cll loo") in of]
    lines = []
    for name in order:
        loo = of[name, "cll loo"]
        line = {"set": f"`{name}`", "log-loss (loo)": f"{-loo.objective / loo.rows:.4f}"}
        for k, label in enumerate(SCORES):
            space = " " * k  # columns of the same name
            root, nodes, seconds = _cells(of.get((name, label)))
            line |= {f"{label}: root gap": root, f"nodes{space}": nodes, f"s{space}": seconds}
        lines.append(line)
    return pd.DataFrame(lines)


def _cells(run) -> tuple[str, str, str]:
    """Root gap per row, nodes, and seconds or the open gap per row."""
    if run is None:
        return "", "", ""
    root, gap = ((bound - run.objective) / run.rows for bound in (run.root, run.bound))
    proven = run.status == "optimal"
    return f"{root:.4f}", str(run.nodes), f"{run.cpu:.1f}" if proven else f"({gap:.4f})"


def _summary(found: pd.DataFrame) -> str:
    parts = []
    for label in SCORES:
        own = found[found["score"] == label]
        parts.append(f"`{label}` {(own['status'] == 'optimal').sum()} of {len(own)}")
    return f"Proven, of the sets that were measured: {', '.join(parts)}."


def _certified(done: pd.DataFrame) -> str:
    """Only certificates that prove the optimum are there."""
    most = done.loc[done["bytes"].idxmax()]
    return (
        f"The certificates of {len(done)} sets that were proven with leave-one-out have been "
        f"checked, and all of them hold. That of `{most['set']}` is the largest, with "
        f"{most['bytes'] / 1e6:.1f} MB."
    )


PARTS = {"": runs, "workers": workers, "certificates": certificates, "publish": publish}


def run(part: str = "") -> None:
    PARTS[part]()
