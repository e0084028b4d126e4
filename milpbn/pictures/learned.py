"""What pictures take besides plain data: fitted classifiers and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milpbn.estimators import BNClassifier
from milpbn.mdc import GBNCClassifier
from milpbn.model_files import AnyModel
from milpbn.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Learned = BNClassifier | GBNCClassifier | AnyModel | Result
"""A fitted classifier, a model from a file, or a result."""


def result_of(learned: Learned) -> Result:
    """What was found while learning."""
    if isinstance(learned, Result):
        return learned
    if isinstance(learned, AnyModel):
        return learned.result
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(learned)
    result: Result = learned.result_
    return result


def new_axes(width: float, height: float) -> Axes:
    """Axes of a new figure of this size in inches, which pyplot and notebooks show."""
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
