"""Seconds and peak memory against the number of features and of rows, from reading to a bound.

``bash scripts/bench growth`` measures every stage at every size (hours at full size) and draws
build/bench/growth.png; ``growth:nb,tan-cmi`` measures only some stages. Stages:

- ``read``: a CSV file of categories;
- ``encode``: the table that was read;
- ``nb`` and ``tan-cmi``: from encoded rows to a checked result;
- ``local-search``: the best family of a variable is looked for 100 times;
- ``bound``: ``solve`` until its bound is better than the trivial one, which is gamma per row, or
  until the trivial one is proven to be the optimum.

The class is a root with ten states, at most two parents, score sm. Each measurement has a process
of its own, which first does the same on a few rows, so that nothing is compiled while the clock
runs. It is appended to build/bench/growth.csv as soon as it ends, and what is found there is not
measured again; delete the file to start from scratch. Peak memory is that of the process (needs
Linux), and `start_mib` is the peak before the stage, with all libraries and the data loaded.
MILPBN_BENCH_SECONDS is the time limit of a measurement (default 300; beyond it, seconds are left
empty), and MILPBN_BENCH_SIZES replaces the sizes, for example ``60000x196,2000x512``.
"""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.problems import pictures
from benchmarks.records import OUT, Records
from milpbn import learn_structure
from milpbn.clock import OutOfTime
from milpbn.datasets import Table, read_table
from milpbn.encoding import EncodedData, Encoder
from milpbn.result import Result, Status, TracePoint
from milpbn.search import Search
from milpbn.search.local_search import Climber, LocalSearch

FIELDS = ("stage", "rows", "features", "seconds", "start_mib", "peak_mib")
STAGES = ("read", "encode", "nb", "tan-cmi", "local-search", "bound")
ROWS, FEATURES = 2_000, 64
BY_FEATURES = tuple((ROWS, n) for n in (64, 128, 256, 512, 1_024))
BY_ROWS = tuple((m, FEATURES) for m in (1_000, 10_000, 100_000, 1_000_000))
MOVES = 100

Size = tuple[int, int]
"""Rows and features."""


class FewMoves(LocalSearch):
    """Local search that ends after looking for the best family of a variable some times."""

    def run(self, search: Search) -> None:
        climber = Climber(search, self.name)
        best_response, left = climber.best_response, iter(range(MOVES))

        def counted(variable: int) -> bool:
            if next(left, None) is None:
                raise OutOfTime
            return best_response(variable)

        climber.best_response = counted
        climber.run(self.patience)


def _solve_until_bound(data: EncodedData, limit: float) -> float | None:
    """Seconds until the bound is better than gamma per row or a proof; None if it never is."""
    trivial = math.log(9.0) * len(data.train())
    found: list[float] = []

    def listener(point: TracePoint) -> None:
        if point.bound is not None and point.bound < (1 - 1e-6) * trivial and not found:
            found.append(point.time)
            raise KeyboardInterrupt  # what Ctrl-C does: the run ends with what it has

    result = learn_structure(data, class_parents=False, time_limit=limit, listener=listener)
    if not found and result.status is Status.OPTIMAL:
        found.append(result.trace[-1].time)
    return found[0] if found else None


def _learn(data: EncodedData, method: str | LocalSearch, limit: float) -> Result:
    return learn_structure(data, method=method, class_parents=False, time_limit=limit)


def _within(limit: float, work: Callable[[], object]) -> float | None:
    began = time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    return seconds if seconds <= limit else None


def _write_csv(file: Path, size: Size) -> None:
    """One byte per value: states a, b, c and classes 0 to 9."""
    codes = pictures(*size).codes.astype(np.uint8)
    rows, columns = codes.shape
    text = np.full((rows, 2 * columns), ord(","), dtype=np.uint8)
    text[:, :-2:2] = codes[:, 1:] + ord("a")
    text[:, -2] = codes[:, 0] + ord("0")
    text[:, -1] = ord("\n")
    names = [f"x{j}" for j in range(1, columns)]
    with file.open("wb") as stream:
        stream.write((",".join([*names, "class"]) + "\n").encode())
        stream.write(text.tobytes())


def _read(file: Path) -> Table:
    return read_table(file, target="class")


def _encode(table: Table) -> EncodedData:
    return Encoder.fit(table).encode(table)


def _stage(stage: str, size: Size, limit: float, folder: Path) -> tuple[float | None, float]:
    """The seconds of a stage, and the peak memory before it."""
    if stage in ("read", "encode"):
        file = folder / f"{size[0]}x{size[1]}.csv"
        _write_csv(file, size)
        table = None if stage == "read" else _read(file)
        start = _peak()
        work = (lambda: _read(file)) if table is None else (lambda: _encode(table))
        return _within(limit, work), start
    data = pictures(*size)
    start = _peak()
    if stage == "bound":
        return _solve_until_bound(data, limit), start
    method = FewMoves() if stage == "local-search" else stage
    return _within(limit, lambda: _learn(data, method, limit)), start


def _peak() -> float:
    """The peak memory of this process in MiB."""
    # getrusage would begin with the memory of the parent process.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**10


def _child(stage: str, rows: str, features: str, limit: str) -> None:
    """Measure in this process and print the result."""
    with TemporaryDirectory() as folder:
        _stage(stage, (100, 8), float(limit), Path(folder))
        size = (int(rows), int(features))
        seconds, start = _stage(stage, size, float(limit), Path(folder))
    print(json.dumps({"seconds": seconds, "start_mib": start, "peak_mib": _peak()}))


def measure(records: Records, stage: str, size: Size, limit: float) -> dict[str, str]:
    """Measure once, or return the row of an earlier run."""
    key = {"stage": stage, "rows": str(size[0]), "features": str(size[1])}
    if (row := records.find(key)) is not None:
        return row
    command = [sys.executable, "-m", "benchmarks.growth", stage, *map(str, size), str(limit)]
    found = subprocess.run(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE)
    values = json.loads(found.stdout) if found.returncode == 0 else {}
    row = {**key, **{k: "" if v is None else f"{v:.3f}" for k, v in values.items()}}
    records.append(row)
    return row


def sizes() -> Sequence[Size]:
    given = os.environ.get("MILPBN_BENCH_SIZES")
    if given is None:
        return list(dict.fromkeys((*BY_FEATURES, *BY_ROWS)))
    return [(int(m), int(n)) for m, n in (size.split("x") for size in given.split(","))]


def run(stages: str = ",".join(STAGES), folder: Path = OUT) -> None:
    records = Records(folder / "growth.csv", FIELDS)
    limit = float(os.environ.get("MILPBN_BENCH_SECONDS", "300"))
    print(f"{'stage':<14}{'rows':>10}{'features':>10}{'seconds':>10}{'peak MiB':>10}")
    for size in sizes():
        for stage in stages.split(","):
            row = measure(records, stage, size, limit)
            print(
                f"{stage:<14}{row['rows']:>10}{row['features']:>10}"
                f"{row.get('seconds') or '-':>10}{row.get('peak_mib') or '-':>10}",
                flush=True,
            )
    plot(records.rows(), folder / "growth.png")


def plot(rows: Sequence[dict[str, str]], file: Path) -> None:
    """Draw what was measured with 2,000 rows, and with 64 features."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained", sharey="row")
    panels = (("features", "rows", ROWS), ("rows", "features", FEATURES))
    for column, (what, fixed, value) in enumerate(panels):
        used = [row for row in rows if row[fixed] == str(value)]
        ticks = sorted({int(row[what]) for row in used})
        for axis, unit in zip(axes[:, column], ("seconds", "peak_mib"), strict=True):
            for stage in STAGES:
                own = [row for row in used if row["stage"] == stage]
                points = sorted((int(row[what]), float(row[unit] or "nan")) for row in own)
                axis.plot([x for x, _ in points], [y for _, y in points], "o-", ms=4, label=stage)
            axis.set_xscale("log")
            axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=30)
            axis.minorticks_off()
            axis.grid(alpha=0.3)
        axes[0, column].set_title(f"{value:,} {fixed}")
        axes[1, column].set_xlabel(what)
    axes[0, 0].set_yscale("log")
    axes[1, 0].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("seconds")
    axes[1, 0].set_ylabel("peak memory in MiB")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    figure.savefig(file, dpi=130)


if __name__ == "__main__":
    _child(*sys.argv[1:])
