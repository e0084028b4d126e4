"""The time for passing a model to HiGHS: through PuLP's Python objects, and as arrays."""

import time

import highspy

from benchmarks.problems import objective_of
from milpbn.engines.monolithic import build_model, to_pulp
from milpbn.engines.monolithic.emit_highs import Arrays
from milpbn.engines.monolithic.pulp_highs import AnytimeHiGHS

SETS = ("car", "breast", "vehicle", "segment", "nursery")


def run() -> None:
    print(f"{'data set':<12}{'nonzeros':>12}{'PuLP s':>10}{'highspy s':>11}{'ratio':>8}")
    for name in SETS:
        model, _ = build_model(objective_of(name))
        began = time.perf_counter()
        problem, _ = to_pulp(model)
        solver = AnytimeHiGHS()
        solver.createAndConfigureSolver(problem)
        solver.buildSolverModel(problem)
        middle = time.perf_counter()
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        Arrays.of(model).pass_to(highs)
        end = time.perf_counter()
        by_pulp, direct = middle - began, end - middle
        print(
            f"{name:<12}{model.n_nonzeros:>12,}{by_pulp:>10.2f}{direct:>11.3f}"
            f"{by_pulp / direct:>8.0f}"
        )
