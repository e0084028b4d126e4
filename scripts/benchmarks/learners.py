"""Published heuristics: evaluations of omi-cr against hc, and their published accuracies.

Everything is scored with the epsilon smoothing of the publications.

Chess and mofn-3-7-10 with the original rows are read from the folder in the environment
variable MILPBN_VERIFY_DATA; without it only bundled data sets are used.
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from milpbn import Encoder, load_dataset
from milpbn.anytime import Run, SolveOptions
from milpbn.datasets.table import Table
from milpbn.encoding import EncodedData
from milpbn.families import Epsilon
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.network.inference import accuracy
from milpbn.network.network import fit_network
from milpbn.result import Result
from milpbn.scores import make_score
from milpbn.search import make_learner, run_learner

WORK = ("satimage", "chess", "vehicle", "spambase", "letter")
SPLITS = {"chess": 2130, "mofn-3-7-10": 300, "waveform-21": 300}
NUMERIC = ("waveform-21",)

# (published name, learner, max_parents, folds, published accuracies: satimage, chess, mofn)
CLASSIFIERS = (
    ("NB", "nb", 1, None, (81.75, 87.15, 86.43)),
    ("TAN-CMI", "tan-cmi", 2, None, (86.90, 92.40, 91.70)),
    ("TAN-EAR", "tan-ear", 2, None, (81.75, 94.18, 91.70)),
    ("TAN-CR", "hc", 2, None, (87.70, 96.06, 91.02)),
    ("TAN-OMI-CR", "omi-cr", 2, None, (88.25, 94.93, 91.41)),
    ("TAN-OMISP-CR", "omisp-cr", 2, None, (87.55, 95.31, 90.92)),
    ("TAN-OCR-CR", "ocr-cr", 2, None, (86.40, 96.34, 88.57)),
    ("TAN-SuperParent", "superparent", 2, None, (87.50, 94.09, 90.33)),
    ("2-tree-CR", "hc", 3, 5, (86.15, 97.75, 92.09)),
    ("2-tree-OMI-CR", "omi-cr", 3, 5, (86.85, 97.56, 93.16)),
    ("2-tree-SuperParent", "superparent", 3, 5, (86.05, 94.09, 89.65)),
)


# (published name, learner, score, seeds, published accuracy)
MARGINS = (
    ("NB", "nb", "cr", 1, 89.87),
    ("TAN-CMI", "tan-cmi", "cr", 1, 92.86),
    ("TAN-HC-CR", "hc-complete", "cr", 1, 92.08),
    ("TAN-HC-MM", "hc-complete", "sm", 1, 93.43),
    ("TAN-SA-CR", "sa", "cr", 3, 93.52),
    ("TAN-SA-MM", "sa", "sm", 3, 93.26),
)


def learned(
    data: EncodedData,
    learner: str,
    max_parents: int,
    folds: int | None,
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


def percent_correct(result: Result, data: EncodedData) -> tuple[float, float]:
    """Accuracy on training and test rows."""
    network = fit_network(result.structure, data.variables, data.train(), Epsilon())
    return 100 * accuracy(network, data.train()), 100 * accuracy(network, data.test())


def encoded(table: Table) -> EncodedData:
    return Encoder.fit(table).encode(table)


def from_papers(name: str) -> Table | None:
    """A data set with its original rows in their order, or None if they are not available."""
    if name not in SPLITS:
        return load_dataset(name)
    path = Path(os.environ.get("MILPBN_VERIFY_DATA", "")) / f"{name}.csv.gz"
    if "MILPBN_VERIFY_DATA" not in os.environ or not path.exists():
        return None
    frame = pd.read_csv(path, dtype=str)
    features = frame.drop(columns="class")
    return Table(
        name=name,
        features=features.astype(float) if name in NUMERIC else features,
        targets=frame["class"],
        numeric=tuple(features) if name in NUMERIC else (),
        is_train=np.arange(len(frame)) < SPLITS[name],
    )


def work() -> None:
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


def accuracies() -> None:
    for at, name in enumerate(("satimage", "chess", "mofn-3-7-10")):
        table = from_papers(name)
        if table is None:
            print(f"{name}: the original rows are not available; set MILPBN_VERIFY_DATA")
            continue
        data = encoded(table)
        print(f"\n{name:<20}{'train':>8}{'test':>8}{'published':>11}{'evaluations':>13}{'s':>8}")
        for title, learner, max_parents, folds, papers in CLASSIFIERS:
            result, seconds = learned(data, learner, max_parents, folds)
            train, test = percent_correct(result, data)
            print(
                f"{title:<20}{train:>8.2f}{test:>8.2f}{papers[at]:>11.2f}"
                f"{result.evaluations:>13,}{seconds:>8.2f}"
            )


def margins() -> None:
    data = encoded(load_dataset("spambase"))
    print(f"\n{'spambase':<20}{'train':>8}{'test':>8}{'published':>11}{'evaluations':>13}{'s':>8}")
    for title, learner, score, seeds, paper in MARGINS:
        for seed in range(seeds):
            result, seconds = learned(data, learner, 2, 5, score, seed)
            train, test = percent_correct(result, data)
            print(
                f"{title:<20}{train:>8.2f}{test:>8.2f}{paper:>11.2f}"
                f"{result.evaluations:>13,}{seconds:>8.2f}"
            )


def run() -> None:
    work()
    accuracies()
    margins()
