"""Cost of published heuristics: evaluations and seconds of omi-cr against hc.

Everything is scored with the epsilon smoothing of the publications. Their accuracies are compared
with the published ones by scripts/reproduce.
"""

import time

from milpbn import Encoder, load_dataset
from milpbn.anytime import Run, SolveOptions
from milpbn.datasets.table import Table
from milpbn.encoding import EncodedData
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.result import Result
from milpbn.scores import make_score
from milpbn.search import Learner, make_learner, run_learner

WORK = ("satimage", "chess", "vehicle", "spambase", "letter")


def learned(
    data: EncodedData,
    learner: str | Learner,
    max_parents: int = 2,
    folds: int | None = None,
    score_name: str = "cr",
    seed: int = 0,
) -> tuple[Result, float]:
    """The result of a learner, and the seconds of its search."""
    score = make_score(score_name, smoothing="epsilon", validation=folds)
    space = SearchSpace(max_parents, class_parents=False)
    objective = build_objective(data, score, space)
    began = time.perf_counter()
    result = run_learner(
        make_learner(learner), objective, score, Run(options=SolveOptions(seed=seed))
    )
    return result, time.perf_counter() - began


def encoded(table: Table) -> EncodedData:
    return Encoder.fit(table).encode(table)


def run() -> None:
    print(f"{'data set':<10}{'learner':<10}{'evaluations':>12}{'seconds':>9}{'CR':>8}{'ratio':>8}")
    for name in WORK:
        data = encoded(load_dataset(name))
        learned(data, "omi-cr", 2, None)  # compiles what is not compiled yet
        count = {}
        for learner in ("hc", "omi-cr"):
            result, seconds = learned(data, learner, 2, None)
            count[learner] = result.evaluations
            rate = result.objective / len(data.train())
            ratio = count["hc"] / count[learner]
            print(
                f"{name:<10}{learner:<10}{result.evaluations:>12,}{seconds:>9.2f}{rate:>8.4f}"
                f"{ratio:>8.1f}"
            )
