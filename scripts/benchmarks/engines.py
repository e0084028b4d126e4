"""The exact engines: time to proof, gaps at a time limit, p, penalties, sbm, MDL, growth.

``bash scripts/bench engines`` runs all parts (hours), ``engines:proofs,gaps`` only some. Seconds
count from encoded data: tables, building and solving, not the start of the interpreter. Runs use
all rows of each data set and max_parents 2. Every run is appended to build/bench/engines.csv as
soon as it ends, and runs found there are not repeated; delete the file to start from scratch.
MILPBN_BENCH_SECONDS sets the time limit of a run, MILPBN_BENCH_SETS restricts the data sets,
MILPBN_BENCH_SPACES the spaces (class-root, class-parents), and MILPBN_BENCH_WORKERS is the number
of worker processes for the parts gaps and sbm.
"""

import os
import resource
import time
from pathlib import Path

import numpy as np

from benchmarks.problems import all_rows
from benchmarks.records import OUT, Records
from milpbn import learn_structure
from milpbn.anytime import SolveOptions
from milpbn.encoding import EncodedData
from milpbn.result import Result

PROOFS = (
    "car", "iris", "glass2", "glass", "corral", "monks-1", "monks-2", "monks-3", "pima", "heart",
    "australian", "crx", "cleve", "breast", "vote", "mushroom", "hepatitis", "lymphography",
    "flare", "nursery",
)  # fmt: skip
GAPS = {
    "segment": (16.58, 0.5), "soybean-large": (None, 0.35), "adult": (2.42, 0.9),
    "chess": (0.0, 1.9), "spambase": (1.07, 1.2), "vehicle": (4.57, 2.2),
    "satimage": (7.60, 4.2), "letter": (None, 12.5),
}  # fmt: skip
"""The gap in per cent of Peharz & Pernkopf (2012), with CPLEX in two hours (None: no bound), and
the target."""
EARLY = 120.0
PUBLISHED = "Peharz & Pernkopf %"
SWEEP = ("heart", "vehicle", "german", "glass")
SBM = {"letter": 1.99, "satimage": 15.04, "soybean-large": 0.00}
FIELDS = (
    "part", "set", "space", "score", "p", "engine", "host", "workers", "limit", "seconds",
    "status", "objective", "bound", "nodes", "rows",
)  # fmt: skip


def limit(default: float) -> float:
    return float(os.environ.get("MILPBN_BENCH_SECONDS", default))


def wanted(names):
    chosen = os.environ.get("MILPBN_BENCH_SETS")
    return [n for n in names if chosen is None or n in chosen.split(",")]


def spaces() -> list[str]:
    return os.environ.get("MILPBN_BENCH_SPACES", "class-root,class-parents").split(",")


def workers() -> int:
    return int(os.environ.get("MILPBN_BENCH_WORKERS", "2"))


def measure(part, name, data: EncodedData, seconds, *, space="class-root", score="sm", p=0.9,
            penalty=0, engine="branch-and-cut", host="highs", workers=0):  # fmt: skip
    """Run once, or return the row of an earlier run with the same settings."""
    label = f"{score}:penalty={penalty}" if penalty else score
    key = {
        "part": part, "set": name, "space": space, "score": label, "p": f"{p:g}",
        "engine": engine, "host": host, "workers": str(workers), "limit": f"{seconds:g}",
    }  # fmt: skip
    records = Records(OUT / "engines.csv", FIELDS)
    if (row := records.find(key)) is not None:
        return row
    begin = time.perf_counter()
    result: Result = learn_structure(
        data,
        method=engine,
        score=score,
        p=p,
        penalty=penalty,
        class_parents=space != "class-root",
        augmented=space == "augmented",
        time_limit=seconds,
        options=SolveOptions(host=host, workers=workers, memory_limit=8 * 2**30),
    )
    row = {
        **key, "seconds": f"{time.perf_counter() - begin:.3f}", "status": str(result.status),
        "objective": repr(result.objective), "bound": repr(result.bound),
        "nodes": str(result.nodes), "rows": str(len(data.train())),
    }  # fmt: skip
    records.append(row)
    _keep_trace(row, result)
    return row


def _keep_trace(row, result: Result):
    if row["part"] != "gaps":
        return
    with _trace_of(row).open("w") as stream:
        for t in result.trace:
            if t.gap_rel is not None:
                stream.write(f"{t.time:.3f},{100 * t.gap_rel:.5f}\n")


def _trace_of(row) -> Path:
    name = f"trace-{row['set']}-{row['space']}-{row['limit']}-{row['workers']}.csv"
    return OUT / name


def early_gap(row) -> float:
    """The gap after 120 seconds."""
    times, gaps = np.loadtxt(_trace_of(row), delimiter=",", ndmin=2).T
    return float(gaps[times <= EARLY][-1])


def gap(row) -> float:
    objective, bound = float(row["objective"]), float(row["bound"])
    return 100 * max(bound - objective, 0.0) / abs(objective) if objective else float("inf")


def table(title, header, lines):
    """Print a Markdown table and save it."""
    text = [f"## {title}", "", "| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    text += ["| " + " | ".join(map(str, line)) + " |" for line in lines]
    print("\n".join([*text, ""]), flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / f"engines-{title.split(':')[0].lower().replace(' ', '-')}.md"
    file.write_text("\n".join([*text, ""]))


def proofs() -> None:
    seconds, lines, ratios = limit(600), [], []
    for space in spaces():
        for name in wanted(PROOFS):
            data = all_rows(name)
            ours = measure("proofs", name, data, seconds, space=space)
            paper = measure("proofs", name, data, seconds, space=space, engine="monolithic")
            ratio = float(paper["seconds"]) / float(ours["seconds"])
            if float(paper["seconds"]) >= 1:
                ratios.append(ratio)
            agree = abs(float(ours["objective"]) - float(paper["objective"])) <= 1e-5 * abs(
                float(ours["objective"])
            )
            both = ours["status"] == paper["status"] == "optimal"
            lines.append((
                name, space, ours["status"], ours["seconds"], ours["nodes"], paper["status"],
                paper["seconds"], paper["nodes"], f"{ratio:.1f}",
                ("agree" if agree else "DISAGREE") if both else "-",
            ))  # fmt: skip
    header = ("data set", "space", "branch-and-cut", "s", "nodes", "monolithic", "s", "nodes",
              "ratio", "optima")  # fmt: skip
    table(f"Proofs: limit {seconds:g} s", header, lines)
    if ratios:
        mean = float(np.exp(np.mean(np.log(ratios))))
        print(
            f"{len(ratios)} data sets with monolithic >= 1 s; ratio: mean {mean:.1f}, "
            f"minimum {min(ratios):.2f}"
        )


def gaps() -> None:
    lines = []
    for space in spaces():
        for name in wanted(GAPS):
            data = all_rows(name)
            row = measure("gaps", name, data, limit(600), space=space, workers=workers())
            paper, bar = GAPS[name]
            lines.append((
                name, space, f"{float(row['objective']):.3f}", f"{float(row['bound']):.3f}",
                f"{early_gap(row):.3f}", f"{gap(row):.3f}", bar,
                "-" if paper is None else paper, row["nodes"],
            ))  # fmt: skip
    header = ("data set", "space", "objective", "bound", f"{EARLY:g} s: gap %",
              f"{limit(600):g} s: gap %", "target %", PUBLISHED, "nodes")  # fmt: skip
    table(f"Gaps: workers {workers()}", header, lines)
    _plot_gaps()


def _plot_gaps() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    for name in GAPS:
        files = sorted(OUT.glob(f"trace-{name}-class-root-*.csv"))
        if not files:
            continue
        points = np.loadtxt(files[-1], delimiter=",", ndmin=2)
        points = points[points[:, 1] > 0]
        axis.step(points[:, 0], points[:, 1], where="post", label=name)
    axis.set(xscale="log", yscale="log", xlabel="seconds", ylabel="gap in per cent")
    axis.grid(alpha=0.3, which="both")
    axis.legend(fontsize=8, ncols=2)
    figure.savefig(OUT / "engines-gaps.png", dpi=130)


def sweep() -> None:
    """Small p is hard, and the objective is near zero, so the relative gap says little."""
    lines = []
    for name in wanted(SWEEP):
        data = all_rows(name)
        for p in (0.501, 0.6, 0.8, 0.95, 0.999):
            row = measure("sweep", name, data, limit(60), p=p)
            objective, bound = float(row["objective"]), float(row["bound"])
            rows, hinge = int(row["rows"]), np.log(p / (1 - p))
            loss = hinge * rows - objective  # as Result.gap_of_hinge_loss
            lines.append((
                name, p, row["status"], row["seconds"], f"{objective:.6f}", f"{gap(row):.4f}",
                f"{(bound - objective) / rows:.2g}", f"{100 * (bound - objective) / loss:.4f}",
            ))  # fmt: skip
    header = ("data set", "p", "status", "s", "objective", "gap %", "gap per row", "gap/loss %")
    table(f"Sweep: p, limit {limit(60):g} s", header, lines)


def penalties() -> None:
    """What a penalty does to a proof; times are ratios to the run without a penalty."""
    lines, tried = [], (0, 0.5, 1, "bic")
    for name in wanted(PROOFS):
        data = all_rows(name)
        rows = [measure("penalties", name, data, limit(120), penalty=x) for x in tried]
        base = float(rows[0]["seconds"])
        cells = []
        for row in rows:
            solved = row["status"] == "optimal"
            cells.append(row["nodes"] if solved else f"{row['nodes']} ({gap(row):.2f} %)")
        ratios = [f"{float(row['seconds']) / base:.2f}" for row in rows[1:]]
        lines.append((name, *cells, f"{base:.1f}", *ratios))
    header = (
        "data set",
        *(f"nodes, {x}" for x in tried),
        "s, 0",
        *(f"time, {x}" for x in tried[1:]),
    )
    table(f"Penalties: class root, limit {limit(120):g} s", header, lines)


def sbm() -> None:
    lines = []
    for name in wanted(SBM):
        row = measure("sbm", name, all_rows(name), limit(120), score="sbm", workers=workers())
        lines.append((name, row["status"], row["seconds"], row["objective"][:12],
                      f"{gap(row):.3f}", SBM[name]))  # fmt: skip
    table("SBM: class root", ("data set", "status", "s", "objective", "gap %", PUBLISHED), lines)


def mdl() -> None:
    from milpbn.datasets import load_catalog

    lines = []
    for space in ("augmented", "class-parents"):
        for name in wanted([e.name for e in load_catalog().values() if len(e.targets) == 1]):
            data = all_rows(name)
            row = measure("mdl", name, data, limit(120), score="mdl", space=space)
            lines.append((name, "with class" if space == "augmented" else "any",
                          len(data.variables), row["rows"], row["status"], row["seconds"],
                          row["nodes"], f"{gap(row):.4f}"))  # fmt: skip
    header = ("data set", "parent sets", "variables", "rows", "status", "s", "nodes", "gap %")
    table("MDL: all data sets", header, lines)


def hosts() -> None:
    lines = []
    for name in wanted(("glass", "heart", "breast", "vote", "vehicle")):
        data = all_rows(name)
        ours, scip = (measure("hosts", name, data, limit(60), host=h) for h in ("highs", "scip"))
        both = [(r["status"], r["seconds"], r["nodes"], f"{gap(r):.3f}") for r in (ours, scip)]
        lines.append((name, *both[0], *both[1]))
    header = ("data set", "highs", "s", "nodes", "gap %", "scip", "s", "nodes", "gap %")
    table("Hosts: milpbn's own tree and SCIP's", header, lines)


def growth() -> None:
    """Root time and memory against rows, families and classes, on generated data."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from benchmarks.problems import synthetic
    from milpbn.engines.branch_and_cut.engine import root_bound
    from milpbn.learning.objective import build_objective
    from milpbn.learning.settings import SearchSpace
    from milpbn.scores import make_score

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
    base = {"rows": 2000, "features": 16, "classes": 4}
    grids = {
        "rows": (500, 1000, 2000, 4000, 8000, 16000),
        "features": (8, 12, 16, 24, 32, 48),
        "classes": (2, 4, 8, 16, 26),
    }
    lines = []
    for axis, (what, values) in zip(axes, grids.items(), strict=True):
        seconds = []
        for value in values:
            data = synthetic(**{**base, what: value}, seed=1)
            begin = time.perf_counter()
            objective = build_objective(data, make_score("sm"), SearchSpace(class_parents=False))
            root_bound(objective, objective.space.feasible_families())
            seconds.append(time.perf_counter() - begin)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            lines.append((what, value, len(objective.space), f"{seconds[-1]:.2f}", f"{peak:.2f}"))
        axis.loglog(values, seconds, "o-")
        axis.set(xlabel=what, xticks=values, xticklabels=values)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("seconds to the root bound")
    OUT.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT / "engines-growth.png", dpi=130)
    header = ("variable", "value", "families", "root s", "peak GiB so far")
    table("Growth: 2000 rows, 16 features, 4 classes, with one of them varied", header, lines)


PARTS = {f.__name__: f for f in (proofs, gaps, sweep, penalties, sbm, mdl, hosts, growth)}


def run(parts: str = "") -> None:
    learn_structure(all_rows("iris"), max_parents=1)  # compile first
    for part in parts.split(",") if parts else PARTS:
        if part not in PARTS:
            raise SystemExit(f"unknown part {part!r}; the parts are {', '.join(PARTS)}")
        PARTS[part]()
