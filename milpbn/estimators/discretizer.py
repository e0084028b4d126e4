"""MDLP as a transformer of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from milpbn._types import FloatArray
from milpbn.datasets.own_bins import own_bins
from milpbn.datasets.weights import check_weights
from milpbn.encoding.mdlp import mdlp_cuts


class MDLPDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cut numeric columns where the classes change, for any classifier.

    The cuts are those of :class:`~milpbn.BNClassifier`: by the minimum description length
    principle of Fayyad and Irani. A column without a cut has a single bin.

    Parameters
    ----------
    min_bin_share : float, default=0.0
        The smallest share of the rows in a bin.

    Attributes
    ----------
    cuts_ : list of ndarray
        The cuts of each column. Value v is in bin ``number of cuts < v``.
    n_bins_ : ndarray of shape (n_features_in_,)
        The number of bins of each column.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    sklearn.preprocessing.KBinsDiscretizer : Cuts that do not look at the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bins = MDLPDiscretizer().set_output(transform="pandas").fit(X, y)
    >>> bins.n_bins_, bins.cuts_[3]
    (array([3, 3, 3, 3]), array([0.8 , 1.75]))
    >>> bins.transform(X).iloc[[0, 60, 140]]
         sepal length (cm)  sepal width (cm)  petal length (cm)  petal width (cm)
    0                  0.0               2.0                0.0               0.0
    60                 0.0               0.0                1.0               1.0
    140                2.0               1.0                2.0               2.0
    """

    def __init__(self, *, min_bin_share: float = 0.0) -> None:
        self.min_bin_share = min_bin_share

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MDLPDiscretizer:
        """Learn the cuts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is a missing value and is ignored.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows with a weight of 0 are left out.

        Returns
        -------
        self
            The fitted transformer.
        """
        values, labels = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", multi_output=False
        )
        check_classification_targets(labels)
        least = own_bins(None, None, self.min_bin_share).min_share
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, values, dtype=np.float64)
            check_weights(weights, weights, "sample_weight")
            used = weights > 0
            values, labels, weights = values[used], labels[used], weights[used]
        self.cuts_ = [mdlp_cuts(column, labels, weights, least) for column in values.T]
        self.n_bins_ = np.array([len(cuts) + 1 for cuts in self.cuts_])
        return self

    def transform(self, X: Any) -> FloatArray:
        """The number of the bin of each value, from 0; NaN stays NaN.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers or NaN.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Bins as floats. With ``set_output(transform="pandas")`` a frame.
        """
        check_is_fitted(self)
        values: FloatArray = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        out: FloatArray = np.empty_like(values)
        for j, cuts in enumerate(self.cuts_):
            known = values[:, j]
            out[:, j] = np.where(np.isnan(known), np.nan, np.searchsorted(cuts, known))
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
