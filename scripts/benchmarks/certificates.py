"""Certificates: size, and the time for checking against the time for solving.

All rows of the sets of the part "proofs" of the engines, class root. MILPBN_BENCH_SETS selects
sets: iris,heart.
"""

import os
import tempfile
import time
from pathlib import Path

from benchmarks.engines import PROOFS
from benchmarks.problems import all_rows
from milpbn.check import check_certificate, read_lines
from milpbn.learning.certification import certified_problem
from milpbn.learning.settings import make_settings
from milpbn.learning.structure import run_method

LIMIT = 600.0


def measure(name: str, file: Path) -> None:
    data, settings = all_rows(name), make_settings(class_parents=False, time_limit=LIMIT)
    run_method(data, settings)  # the first run compiles
    seconds = []
    for certificate in (None, file):
        began = time.perf_counter()
        result = run_method(data, settings, certificate=certificate)
        seconds.append(time.perf_counter() - began)
    began = time.perf_counter()
    problem = certified_problem(data, settings)
    proven = check_certificate(read_lines(file), problem, data.train(), data.train_weights())
    seconds.append(time.perf_counter() - began)
    slack = 2e-6 * abs(result.objective)
    assert result.status == "optimal", name
    assert proven.bound <= result.objective + slack, name
    print(
        f"{name:<12}{result.nodes:>8}{seconds[0]:>10.2f}{seconds[1]:>10.2f}"
        f"{file.stat().st_size / 1e3:>10.1f}{proven.rows:>8}{seconds[2]:>10.2f}"
        f"{seconds[2] / seconds[1]:>8.3f}",
        flush=True,
    )


def run() -> None:
    given = os.environ.get("MILPBN_BENCH_SETS")
    print(
        f"{'data set':<12}{'nodes':>8}{'solving':>10}{'logged':>10}{'kB':>10}{'rows':>8}"
        f"{'checking':>10}{'ratio':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in given.split(",") if given else PROOFS:
            measure(name, Path(folder, f"{name}.gz"))
