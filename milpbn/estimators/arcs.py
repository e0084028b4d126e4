"""Arc margins of a fitted classifier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from milpbn.certainty.arc_records import ArcMargins
from milpbn.certainty.arcs import Watch, model_arc_margins
from milpbn.estimators.base import rows_with_weight
from milpbn.estimators.bn import BNClassifier


def arc_margins(
    classifier: BNClassifier,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    time_limit: float | None = None,
    watch: Watch | None = None,
) -> ArcMargins:
    """How much score each arc of a classifier is worth: the loss if it is removed, or added.

    Parameters
    ----------
    classifier
        A fitted classifier with one structure, and a score that engines can maximise.
    X, y, sample_weight
        What it was fitted on.
    time_limit
        Seconds, or None. A second call continues with the open questions.
    watch
        Called with the number of questions that are closed, and of all.

    Returns
    -------
    ArcMargins
        An interval per arc. It is also kept in ``classifier.model_``, so that
        :meth:`BNClassifier.save` writes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BNClassifier(max_parents=1, class_parents=False).fit(X, y)
    >>> margins = arc_margins(model, X, y)
    >>> first = margins.arcs[0]
    >>> print(first.parent, "->", first.child, round(first.margin.low, 3))
    class -> petal width (cm) 10.924
    """
    check_is_fitted(classifier)
    # A copy: reading the rows sets attributes that belong to `fit`.
    reader = clone(classifier)
    frame = reader._frame(X, y, reset=True)
    table = reader._table(*rows_with_weight(frame, np.asarray(y).ravel(), sample_weight))
    margins = model_arc_margins(classifier.model_, table, time_limit=time_limit, watch=watch)
    classifier.model_ = replace(classifier.model_, arcs=margins)
    return margins
