"""How well classifiers predict new rows: the tables of the manual's page on usefulness.

Parts, each resumable (finished folds are kept in build/usefulness):

- ``raw``: the default selection next to other classifiers, with the raw columns for all of them,
  see :mod:`benchmarks.raw_columns`; ``raw-summary`` shows what is finished, and ``raw-publish``
  puts it into the manual;
- ``table``: nested selection on all data sets of SETS, next to networks, and to classifiers of
  scikit-learn on milpbn's states;
- ``validation``: soft margins on training rows, leave-one-out and 10 folds: accuracy, log-loss and
  time to proof;
- ``sparse``: the penalty chosen inside the training folds, next to TAN, pyAgrum's BIC search and a
  decision tree.

MILPBN_BENCH_SECONDS sets the limit of a fit, and MILPBN_BENCH_SETS replaces the data sets.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks import raw_columns
from milpbn import BNClassifier, SelectionPlan, Structure, evaluate
from milpbn.evaluation.sets import Evaluations
from milpbn.evaluation.summary import Evaluation

SETS = (
    *("australian", "breast", "car", "chess", "cleve", "corral", "crx", "diabetes", "flare"),
    *("german", "glass", "glass2", "heart", "hepatitis", "iris", "lymphography", "mofn-3-7-10"),
    *("monks-1", "monks-2", "monks-3", "nursery", "segment", "soybean-large", "vehicle", "vote"),
    "waveform-21",
)
SPARSE_SETS = ("heart", "vote", "crx", "cleve", "hepatitis", "lymphography")
VALIDATION_SETS = (
    *("breast", "car", "cleve", "corral", "crx", "glass", "glass2", "heart", "hepatitis", "iris"),
    *("lymphography", "mofn-3-7-10", "monks-1", "monks-2", "monks-3", "nursery", "vote"),
)
SECONDS = float(os.environ.get("MILPBN_BENCH_SECONDS", "60"))
JOBS = int(os.environ.get("MILPBN_BENCH_JOBS", "2"))
FOLDER = Path(__file__).parents[2] / "build" / "usefulness"

_OTHERS = tuple(
    f"sk:{name}:inputs=states"
    for name in ("logistic", "svm", "random-forest", "gradient-boosting", "tree")
)
# p and the number of parents by accuracy on validation rows, ML parameters, and the class may
# have parents, as in Peharz & Pernkopf (2012).
_PUBLISHED = SelectionPlan(
    {"p": [0.501, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999], "max_parents": [1, 2]}, "accuracy"
)
_PAPER = {"class_parents": True}
_VALIDATIONS = (None, "loo", 10)
_PENALTIES = SelectionPlan({"penalty": [0.0, 0.1, 0.3, 1.0, 3.0, "bic"]}, "accuracy")


def run(part: str = "raw,raw-summary,table,validation,sparse") -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    parts = {
        "raw": raw_columns.run,
        "raw-summary": raw_columns.summarise,
        "raw-publish": raw_columns.publish,
        **{"table": _table, "validation": _validation, "sparse": _sparse},
    }
    for name in part.split(","):
        parts[name]()


def _sets(default: tuple[str, ...]) -> list[str]:
    given = os.environ.get("MILPBN_BENCH_SETS")
    return given.split(",") if given else list(default)


def _run(data: str, group: str, methods: Any, **settings: Any) -> Evaluation:
    """Evaluate one group of methods on one data set; finished folds are not computed again."""
    if not isinstance(methods, dict):
        settings = {"class_parents": False, "time_limit": SECONDS, **settings}
    file = FOLDER / f"{data}-{group}.jsonl"
    return evaluate(data, methods, n_jobs=JOBS, result_file=file, **settings)


def _joined(evaluations: list[Evaluation], labels: list[str] | None = None) -> Evaluation:
    """One evaluation with the methods of several, which have the same rows and folds."""
    records = [
        record if labels is None else replace(record, method=labels[k])
        for k, evaluation in enumerate(evaluations)
        for record in evaluation.records
    ]
    return replace(evaluations[0], records=tuple(records), n_expected=len(records))


def _report(found: list[Evaluation], name: str) -> None:
    """Print means and tests over the sets, and one line per set; save all as CSV."""
    evaluations = Evaluations(tuple(found), len(found))
    print(f"{evaluations}\n")
    evaluations.to_frame().to_csv(FOLDER / f"{name}.csv", index=False)
    methods = [s.method for s in found[0].summaries()]
    print("| data set | " + " | ".join(methods) + " |")
    print("|---" * (len(methods) + 1) + "|")
    for part in found:
        cells = [f"{100 * s.accuracy:.1f} {s.log_loss:.3f}" for s in part.summaries()]
        print(f"| {part.table.name} | " + " | ".join(cells) + " |")


def _table() -> None:
    found = []
    for data in _sets(SETS):
        found.append(
            _joined(
                [
                    _run(data, "auto", ["auto"]),
                    _run(data, "plain", ["nb", "tan-cmi", "hc:cr", "omi-cr:cr"]),
                    _run(data, "published", ["branch-and-cut"], select=_PUBLISHED, **_PAPER),
                    _run(data, "others", list(_OTHERS)),
                ]
            )
        )
        print(f"{found[-1]}\n", flush=True)
    _report(found, "table")


def _validation() -> None:
    found = []
    for data in _sets(VALIDATION_SETS):
        parts = [
            _run(data, f"validation-{v}", ["branch-and-cut"], validation=v) for v in _VALIDATIONS
        ]
        found.append(_joined(parts, [f"validation={v}" for v in _VALIDATIONS]))
        print(f"{found[-1]}\n", flush=True)
    _report(found, "validation")


def _sparse() -> None:
    found = []
    labels = ["sm, penalty selected", "sm", "tan-cmi", "decision tree", "pyAgrum BIC"]
    for data in _sets(SPARSE_SETS):
        parts = [
            _run(data, "sparse-selected", ["branch-and-cut"], select=_PENALTIES),
            _run(data, "sparse-plain", ["branch-and-cut"]),
            _run(data, "sparse-tan", ["tan-cmi"]),
            _run(data, "sparse-tree", ["sk:tree:inputs=states"]),
            _run(data, "sparse-bic", {"bic": AgrumBIC()}),
        ]
        found.append(_joined(parts, labels))
        print(f"{found[-1]}\n", flush=True)
    _report(found, "sparse")


class AgrumBIC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The structure of pyAgrum's greedy BIC search on milpbn's states, with ML parameters."""

    def fit(self, X: pd.DataFrame, y: pd.Series) -> "AgrumBIC":
        import pyagrum

        first = BNClassifier(method="nb", max_parents=1, missing="state").fit(X, y)
        variables, codes = first.encoder_.variables, first.model_.encoder.transform(X).codes
        labels = pd.Categorical(y.astype(str), categories=variables[0].states).codes
        template = pyagrum.BayesNet()
        for variable in variables:
            states = [str(k) for k in range(variable.card)]
            template.add(pyagrum.LabelizedVariable(variable.name, variable.name, states))
        names = [v.name for v in variables]
        rows = pd.DataFrame(np.column_stack([labels, codes]), columns=names).astype(str)
        learner = pyagrum.BNLearner(rows, template)
        learner.useScoreBIC()
        learner.useGreedyHillClimbing()
        order = learner.names()
        arcs = [(order[a], order[b]) for a, b in learner.learnDAG().arcs()]
        structure = Structure.from_arcs(names, arcs)
        self.fitted_ = BNClassifier(method=structure, structure_score="mdl", missing="state").fit(
            X, y
        )
        self.classes_, self.network_ = self.fitted_.classes_, self.fitted_.network_
        return self

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.fitted_.predict_proba(X)
