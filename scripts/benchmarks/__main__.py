"""Run benchmarks by name."""

import importlib
import sys

BENCHMARKS = {
    "emitters": "building the monolithic model and handing it to HiGHS: PuLP against highspy",
    "exchange": "scores of single exchanges a second: the compiled kernel against plain numpy",
    "learners": "the papers' heuristics: evaluations, seconds and test accuracies",
    "build": "building spambase's model (all rows, class root): seconds and memory",
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown or not names:
        for name in unknown:
            print(f"there is no benchmark {name!r}", file=sys.stderr)
        for name, what in BENCHMARKS.items():
            print(f"{name:<12}{what}")
        return 2 if unknown else 0
    for name in names:
        importlib.import_module(f"benchmarks.{name}").run()
    return 0


sys.exit(main(sys.argv[1:]))
