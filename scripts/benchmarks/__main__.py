"""Run benchmarks by name."""

import importlib
import sys

BENCHMARKS = {
    "emitters": "building the monolithic model and passing it to HiGHS: PuLP against highspy",
    "exchange": "scores of single exchanges per second: the compiled kernel against plain numpy",
    "learners": "published heuristics: evaluations and seconds of omi-cr against hc",
    "engines": "time to proof, gaps, p, SBM, MDL, hosts, growth (hours; engines:gaps for one part)",
    "cll": "the conditional log-likelihood: root gap, nodes, seconds (an hour or two; resumable)",
    "certificates": "size of certificates, and checking them against solving (half an hour)",
    "workers": "worker processes: time to proof with 1 and 2, simulation of up to 256",
    "arcs": "arc margins and the ten best structures: heart, breast, vote (half an hour)",
    "parameters": "discriminative parameters: against logistic regression, and on held-out rows",
    "usefulness": "accuracy and log-loss on new rows, next to scikit-learn and pyAgrum (resumable)",
    "bins": "numeric columns cut by MDLP, at selected quantiles, or several times (resumable)",
    "inference": "class posteriors of letter's test rows: against pgmpy and pyAgrum",
    "gbnc": "several class variables: seconds in base models against the rest",
    "gbnc_validation": "several class variables, on new rows: C and scores by validation",
    "gbnc_folds": "several class variables: both scores and other methods on published folds",
    "growth": "seconds and memory against features and rows, stage by stage (hours; resumable)",
    "resolutions": "families, seconds and gaps against the number of resolutions (half an hour)",
    "reading": "CSV files of up to 100 MB: CPU seconds for reading and encoding, and memory",
    "build": "building spambase's model (all rows, class root): seconds and memory",
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name.partition(":")[0] not in BENCHMARKS]
    if unknown or not names:
        for name in unknown:
            print(f"unknown benchmark {name!r}; the benchmarks are:", file=sys.stderr)
        for name, what in BENCHMARKS.items():
            print(f"{name:<16}{what}")
        return 2 if unknown else 0
    for name in names:
        module, _, parts = name.partition(":")
        importlib.import_module(f"benchmarks.{module}").run(*([parts] if parts else []))
    return 0


sys.exit(main(sys.argv[1:]))
