"""milpbn learns Bayesian network classifiers exactly, with a bound on the optimal score.

:class:`BNClassifier` is the scikit-learn estimator, and :class:`BNClassifierCV` the one that also
chooses its settings. :func:`learn_structure` learns from encoded data, :func:`evaluate` compares
methods, and :class:`GBNCClassifier` is the classifier for several class variables.
:func:`load_dataset` and :func:`read_table` load data.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from milpbn.lazy import lazy_names

__version__ = "0.2.0"

# The time limit of a command counts from here, close to the start of the process.
PROCESS_START = time.perf_counter()

if TYPE_CHECKING:  # the names with an alias are exported, for type checkers
    from milpbn.anytime import SolveOptions as SolveOptions
    from milpbn.certainty.alternatives import learn_alternatives as learn_alternatives
    from milpbn.datasets import load_dataset as load_dataset
    from milpbn.datasets import read_table as read_table
    from milpbn.encoding import EncodedData as EncodedData
    from milpbn.encoding import Encoder as Encoder
    from milpbn.errors import DataWarning as DataWarning
    from milpbn.estimators import BNClassifier as BNClassifier
    from milpbn.estimators import BNClassifierCV as BNClassifierCV
    from milpbn.estimators import MDLPDiscretizer as MDLPDiscretizer
    from milpbn.estimators import arc_margins as arc_margins
    from milpbn.evaluation import evaluate as evaluate
    from milpbn.families import Constraints as Constraints
    from milpbn.learning.classifier import learn_classifier as learn_classifier
    from milpbn.learning.classifier import learn_parameters as learn_parameters
    from milpbn.learning.model import Model as Model
    from milpbn.learning.settings import Settings as Settings
    from milpbn.learning.settings import make_settings as make_settings
    from milpbn.learning.structure import learn_structure as learn_structure
    from milpbn.mdc import GBNCClassifier as GBNCClassifier
    from milpbn.model_files import load_model as load_model
    from milpbn.reporting import report as report
    from milpbn.result import Result as Result
    from milpbn.result import Status as Status
    from milpbn.selection.choose import learn_selected as learn_selected
    from milpbn.selection.grid import learn_grid as learn_grid
    from milpbn.selection.path import learn_path as learn_path
    from milpbn.selection.plan import SelectionPlan as SelectionPlan
    from milpbn.structure import Structure as Structure

_HOMES = {
    "BNClassifier": "milpbn.estimators",
    "BNClassifierCV": "milpbn.estimators",
    "Constraints": "milpbn.families",
    "DataWarning": "milpbn.errors",
    "EncodedData": "milpbn.encoding",
    "Encoder": "milpbn.encoding",
    "GBNCClassifier": "milpbn.mdc",
    "MDLPDiscretizer": "milpbn.estimators",
    "Model": "milpbn.learning.model",
    "Result": "milpbn.result",
    "SelectionPlan": "milpbn.selection.plan",
    "Settings": "milpbn.learning.settings",
    "SolveOptions": "milpbn.anytime",
    "Status": "milpbn.result",
    "Structure": "milpbn.structure",
    "arc_margins": "milpbn.estimators",
    "evaluate": "milpbn.evaluation",
    "learn_alternatives": "milpbn.certainty.alternatives",
    "learn_classifier": "milpbn.learning.classifier",
    "learn_grid": "milpbn.selection.grid",
    "learn_parameters": "milpbn.learning.classifier",
    "learn_selected": "milpbn.selection.choose",
    "learn_path": "milpbn.selection.path",
    "learn_structure": "milpbn.learning.structure",
    "load_dataset": "milpbn.datasets",
    "load_model": "milpbn.model_files",
    "make_settings": "milpbn.learning.settings",
    "read_table": "milpbn.datasets",
    "report": "milpbn.reporting",
}

__all__ = sorted(_HOMES)

# `milpbn --help` must not wait for pandas and the solver.
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
