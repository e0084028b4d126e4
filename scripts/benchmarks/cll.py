"""The conditional log-likelihood, exactly: root gap, nodes and seconds beside the soft margin.

``bash scripts/bench cll`` takes an hour or two. All single-class sets with at most 36 features,
all rows, the class is a root, two parents, one thread. Seconds are those of the processor, and so
is the limit, which a busy machine does not change. Every run is appended to build/bench/cll.csv as
soon as it ends, and runs found there are not repeated; MILPBN_BENCH_SECONDS sets the limit of a run
(20), and MILPBN_BENCH_SETS restricts the data sets. ``bash scripts/bench cll:table`` only prints
the table of the runs that are there.
"""

import os
import time
from types import SimpleNamespace

from benchmarks.problems import all_rows
from benchmarks.records import OUT, Records
from milpbn import clock, learn_structure
from milpbn.datasets import load_catalog
from milpbn.scores import make_score

SCORES = {"cll loo": ("cll", "loo"), "cll": ("cll", None), "sm": ("sm", None)}
MOST_FEATURES = 36
FIELDS = (
    "set", "score", "limit", "rows", "features", "status", "objective", "bound", "root", "nodes",
    "cpu",
)  # fmt: skip


def sets() -> list[str]:
    """The data sets, small ones first."""
    catalog = [e for e in load_catalog().values() if len(e.targets) == 1]
    chosen = os.environ.get("MILPBN_BENCH_SETS", "").split(",")
    names = [e for e in catalog if e.features <= MOST_FEATURES]
    names.sort(key=lambda e: e.rows * e.features)
    return [e.name for e in names if chosen == [""] or e.name in chosen]


def measure(records: Records, name: str, label: str, limit: float) -> None:
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


def _cells(row) -> list[str]:
    """Root gap and open gap per row, nodes, seconds."""
    rows, value = int(row["rows"]), float(row["objective"])
    root, gap = ((float(row[k]) - value) / rows for k in ("root", "bound"))
    proven = row["status"] == "optimal"
    return [f"{root:.4f}", row["nodes"], f"{float(row['cpu']):.1f}" if proven else f"({gap:.4f})"]


def table(records: Records, limit: float) -> None:
    found = {(r["set"], r["score"]): r for r in records.rows() if r["limit"] == f"{limit:g}"}
    head = "".join(f" {s}: root gap | nodes | s |" for s in SCORES)
    lines = ["| set | log-loss |" + head, "|---|--:|" + "--:|" * 3 * len(SCORES)]
    for name in sets():
        rows = [found.get((name, score)) for score in SCORES]
        if rows[0] is None:
            continue
        loss = -float(rows[0]["objective"]) / int(rows[0]["rows"])
        cells = [c for r in rows for c in (["", "", ""] if r is None else _cells(r))]
        lines.append(f"| `{name}` | {loss:.4f} | " + " | ".join(cells) + " |")
    for score in SCORES:
        of_score = [r for (_, s), r in found.items() if s == score]
        proven = sum(r["status"] == "optimal" for r in of_score)
        lines.append(f"\n{score}: {proven} of {len(of_score)} proven in {limit:g} s")
    print("\n".join(lines))


def run(part: str = "") -> None:
    records = Records(OUT / "cll.csv", FIELDS)
    limit = float(os.environ.get("MILPBN_BENCH_SECONDS", "20"))
    if part != "table":
        for score in ("cll", "sm"):  # compile first
            for name in ("iris", "corral"):
                learn_structure(all_rows(name), max_parents=1, score=score)
        clock.time = SimpleNamespace(perf_counter=time.process_time)
        for label in SCORES:
            for name in sets():
                measure(records, name, label, limit)
    table(records, limit)
