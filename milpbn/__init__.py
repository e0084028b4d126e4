"""milpbn learns Bayesian network classifiers exactly and says how good the answer is.

:class:`BNClassifier` is the scikit-learn estimator, :func:`learn_structure` the learner on
encoded data, :func:`evaluate` the comparison of methods, :class:`GBNCClassifier` the classifier
for several class variables; :func:`load_dataset` and :func:`read_table` bring the data.
"""

from __future__ import annotations

import importlib
import time
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# The time limit of a command counts from here, close to the start of the process.
PROCESS_START = time.perf_counter()

if TYPE_CHECKING:
    from milpbn.datasets import load_dataset, read_table
    from milpbn.encoding import EncodedData, Encoder
    from milpbn.engines.monolithic import SolveOptions
    from milpbn.estimators import BNClassifier
    from milpbn.evaluation import evaluate
    from milpbn.families import Constraints
    from milpbn.grid import learn_grid
    from milpbn.learning import learn_parameters, learn_structure
    from milpbn.mdc import GBNCClassifier
    from milpbn.network.model_file import Model
    from milpbn.result import Result, Status
    from milpbn.structure import Structure

_HOMES = {
    "BNClassifier": "milpbn.estimators",
    "Constraints": "milpbn.families",
    "EncodedData": "milpbn.encoding",
    "Encoder": "milpbn.encoding",
    "GBNCClassifier": "milpbn.mdc",
    "Model": "milpbn.network.model_file",
    "Result": "milpbn.result",
    "SolveOptions": "milpbn.engines.monolithic",
    "Status": "milpbn.result",
    "Structure": "milpbn.structure",
    "evaluate": "milpbn.evaluation",
    "learn_grid": "milpbn.grid",
    "learn_parameters": "milpbn.learning",
    "learn_structure": "milpbn.learning",
    "load_dataset": "milpbn.datasets",
    "read_table": "milpbn.datasets",
}

__all__ = [
    "BNClassifier",
    "Constraints",
    "EncodedData",
    "Encoder",
    "GBNCClassifier",
    "Model",
    "Result",
    "SolveOptions",
    "Status",
    "Structure",
    "evaluate",
    "learn_grid",
    "learn_parameters",
    "learn_structure",
    "load_dataset",
    "read_table",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: `milpbn --help` must not wait for pandas and the solver.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'milpbn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
