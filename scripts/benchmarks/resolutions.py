"""Families, tables, seconds and gaps against the number of resolutions per variable.

``bash scripts/bench resolutions`` cuts the numeric columns of some bundled sets with
``bins="auto"`` and offers the first 1, 2, ... resolutions of every variable: its finest states,
the bins of MDLP, then quantiles. For each number it prints

- the number of families (class root, at most two parents) and the size of their tables;
- the CPU seconds that local search takes for the best family of a variable, 100 times;
- the CPU seconds, status and gap of branch-and-cut within MILPBN_BENCH_SECONDS (default 60).

The score is sm with p = 0.9 and leave-one-out. Results are appended to
build/bench/resolutions.csv, and what is found there is not measured again.
``resolutions:glass,heart`` measures only these sets.
"""

import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.growth import FewMoves
from benchmarks.records import OUT, Records
from milpbn import Encoder, learn_structure, load_dataset
from milpbn.encoding import EncodedData
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import MarginObjective, make_score

SETS = ("iris", "glass", "heart", "vehicle")
MOST = 5
FIELDS = (
    *("set", "resolutions", "families", "tables_mib"),
    *("search_seconds", "solve_seconds", "status", "objective", "gap"),
)
SCORE = make_score("sm", p=0.9, validation="loo")


def with_resolutions(data: EncodedData, most: int) -> EncodedData:
    """The data with at most this many resolutions per variable."""
    variables = (replace(v, coarsenings=v.coarsenings[: most - 1]) for v in data.variables)
    return replace(data, variables=tuple(variables))


def measure(data: EncodedData, limit: float) -> dict[str, str]:
    """One line of the table, without its key."""
    objective = build_objective(data, SCORE, SearchSpace(class_parents=False))
    assert isinstance(objective, MarginObjective)
    tables = objective.tables
    tables.ensure(np.arange(len(objective.space)))
    how = {"score": SCORE, "class_parents": False}
    learn_structure(data, method="nb", **how)  # compiled before the clock runs
    began = time.process_time()
    learn_structure(data, method=FewMoves(), **how)
    searched = time.process_time()
    result = learn_structure(data, time_limit=limit, **how)
    solved = time.process_time()
    return {
        "families": str(len(objective.space)),
        "tables_mib": f"{(tables.exact.nbytes + tables.fast.nbytes) / 2**20:.1f}",
        "search_seconds": f"{searched - began:.2f}",
        "solve_seconds": f"{solved - searched:.1f}",
        "status": str(result.status),
        "objective": f"{result.objective:.4f}",
        "gap": f"{100 * (result.gap_rel or 0.0):.3f}",
    }


def run(sets: str = ",".join(SETS), folder: Path = OUT) -> None:
    records = Records(folder / "resolutions.csv", FIELDS)
    limit = float(os.environ.get("MILPBN_BENCH_SECONDS", "60"))
    print("".join(f"{name:>16}" for name in FIELDS))
    for name in sets.split(","):
        table = replace(load_dataset(name), bins="auto")
        data = Encoder.fit(table).encode(table)
        for most in range(1, MOST + 1):
            key = {"set": name, "resolutions": str(most)}
            row = records.find(key)
            if row is None:
                row = {**key, **measure(with_resolutions(data, most), limit)}
                records.append(row)
            print("".join(f"{row[field]:>16}" for field in FIELDS), flush=True)
