"""The largest model with two classes: encoding, tables, model, transfer to HiGHS, peak memory."""

import resource
import time

import highspy

from benchmarks.problems import all_rows
from milpbn.engines.monolithic import build_model
from milpbn.engines.monolithic.emit_highs import Arrays
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score


def run() -> None:
    began = time.perf_counter()
    marks = []

    def mark(what: str) -> None:
        marks.append((what, time.perf_counter()))

    data = all_rows("spambase")
    mark("encoding")
    objective = build_objective(data, make_score("sm"), SearchSpace(2, class_parents=False))
    mark("tables")
    model, _ = build_model(objective)
    mark("model")
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    Arrays.of(model).pass_to(highs)
    mark("transfer")
    print(f"spambase: {model.n_nonzeros:,} nonzeros in {model.n_rows:,} rows")
    for what, at in marks:
        print(f"{what:<12}{at - began:>8.2f} s")
        began = at
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:>8.2f} GiB")
