"""What a fitted classifier says about rows: predictions, explanations, importance of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from milpbn._types import FloatArray, IntArray
from milpbn.encoding import Encoder
from milpbn.errors import DataError
from milpbn.estimators.base import TableClassifier
from milpbn.explanation import (
    MOST_POINTS,
    Drift,
    Effect,
    Explanation,
    Flip,
    Reason,
    ScoreCard,
    drift_of,
    effects_of,
    explain_rows,
    flip_of,
    importance_table,
    reason_of,
)
from milpbn.learning.model import Model
from milpbn.network.costs import CostNames, Costs
from milpbn.network.multinet import Classifier
from milpbn.words import count


class ExplainedClassifier(TableClassifier):
    """A classifier for tables that predicts and explains; it is fitted by subclasses."""

    classes_: npt.NDArray[Any]
    model_: Model
    encoder_: Encoder
    network_: Classifier

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of every row."""
        best = self.predict_log_proba(X).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[best]
        return labels

    def decide(self, X: Any, costs: CostNames) -> npt.NDArray[Any]:
        """The class of the smallest expected cost of every row.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The rows. Missing features are summed out exactly.
        costs : dict
            ``costs[true][predicted]`` for every error; right predictions cost 0 unless they are
            named.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.

        Examples
        --------
        >>> from milpbn import BNClassifier, load_dataset
        >>> heart = load_dataset("heart")
        >>> model = BNClassifier(method="nb").fit(heart.features, heart.target)
        >>> costs = {"2": {"1": 5}, "1": {"2": 1}}  # 2: heart disease
        >>> for found in model.predict(heart.features), model.decide(heart.features, costs):
        ...     print(pd.crosstab(heart.target, found).to_numpy().tolist())
        [[132, 18], [23, 97]]
        [[115, 35], [12, 108]]
        """
        check_is_fitted(self)
        found = Costs.of(costs, self.classes_.tolist()).decide(self.predict_proba(X))
        labels: npt.NDArray[Any] = self.classes_[found]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities, in the order of ``classes_``."""
        proba: FloatArray = np.exp(self.predict_log_proba(X))
        return proba

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the class probabilities."""
        check_is_fitted(self)
        return self.model_.log_posterior(self._frame(X, reset=False))

    def explain(self, X: Any, *, of: Any = None, against: Any = None) -> Explanation:
        """Explain predictions: the contribution of every feature to the log-odds.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The rows. Missing features are summed out exactly.
        of : class label, default=None
            The class to explain; by default the predicted class of each row.
        against : class label, default=None
            The class to compare with; by default all other classes together. The contributions
            of a row that is explained against its own class are 0.

        Returns
        -------
        Explanation
            Its ``contributions`` have one row per row of `X` and one column per variable, and
            they add up to its ``log_odds``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> from milpbn import BNClassifier
        >>> model = BNClassifier(max_parents=1).fit(X, y)
        >>> explanation = model.explain(X.iloc[[0, 70]])
        >>> explanation.explained.tolist()
        [0, 2]
        >>> explanation.contributions.round(2).T
                              0     70
        class              -0.69 -0.64
        sepal length (cm)   0.00  0.00
        sepal width (cm)    0.00  0.00
        petal length (cm)   0.00  0.00
        petal width (cm)    3.93  3.37
        (missing features)  0.00  0.00
        >>> explanation.log_odds.round(2).tolist()
        [3.24, 2.73]
        """
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        if isinstance(X, pd.DataFrame):
            frame = frame.set_axis(X.index)
        return explain_rows(
            self.network_, self.encoder_, frame, classes=self.classes_, of=of, against=against
        )

    def reasons(self, X: Any) -> list[Reason]:
        """For each row, a smallest set of features that fixes its prediction, whatever others are.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The rows.

        Examples
        --------
        >>> from milpbn import BNClassifier, load_dataset
        >>> monks = load_dataset("monks-3")
        >>> model = BNClassifier(max_parents=1).fit(monks.features, monks.target)
        >>> print(model.reasons(monks.features.head(1))[0])
        0, because a5 = 4
        """
        codes = self.encode_rows(X)[:, 1:]
        return [reason_of(self.network_, self.encoder_, row) for row in codes]

    def flips(self, X: Any, fixed: Sequence[str] = ()) -> list[Flip]:
        """For each row, a smallest change of its features that leads to another prediction.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The rows. What is missing stays missing.
        fixed : list of str, default=()
            Features of the model that cannot change.

        Examples
        --------
        >>> from milpbn import BNClassifier, load_dataset
        >>> monks = load_dataset("monks-3")
        >>> model = BNClassifier(max_parents=1).fit(monks.features, monks.target)
        >>> print(model.flips(monks.features.head(1))[0])
        0 becomes 1 (0.897) with a2: 3 -> 2, a5: 4 -> 3
        """
        codes = self.encode_rows(X)[:, 1:]
        return [flip_of(self.network_, self.encoder_, row, fixed) for row in codes]

    def effects(self, X: Any, features: Sequence[str] | None = None) -> tuple[Effect, ...]:
        """The effects of features: what each of their states adds to the log-odds of a class.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The rows that effects are averaged over.
        features : list of str, default=None
            Features of the model. By default all of them, those with the largest effects first.

        Returns
        -------
        tuple of Effect
            ``to_frame()`` is a table of one effect, and :func:`milpbn.pictures.plot_effects`
            draws them: numbers as curves over their own units.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> from milpbn import BNClassifier
        >>> model = BNClassifier(max_parents=1).fit(X, y)
        >>> model.effects(X, ["petal width (cm)"])[0].to_frame().round(2)
                          share     0     1     2
        petal width (cm)
        <= 0.8             0.33  4.80 -2.37 -2.70
        0.8 to 1.75        0.36 -2.47  3.54 -0.89
        > 1.75             0.31 -2.31 -1.58  3.98
        """
        check_is_fitted(self)
        codes = self.encoder_.transform(self._frame(X, reset=False)).codes
        return effects_of(self.network_, self.encoder_, codes, features, classes=self.classes_)

    @property
    def feature_importances_(self) -> FloatArray:
        """The mean absolute contribution of each column in the training rows.

        Columns that the classifier does not use have 0. A column that became several features,
        such as a date, has the sum of theirs. The parents of the class share the contribution of
        its table. A feature that is only a parent of other features has 0, because it acts
        through them.
        """
        check_is_fitted(self)
        if not self.model_.importance:
            raise AttributeError(
                "the model has no importances: its file is too old, or it was updated; use "
                "importances() with rows"
            )
        total = dict.fromkeys(self._columns_in or [], 0.0)
        for name, size in self.model_.importance.items():
            reading = self.encoder_.readings.get(name)
            total[reading.source if reading else name] += size
        return np.array(list(total.values()))

    def importances(
        self, X: Any, y: Any = None, *, n_repeats: int = 5, random_state: int = 0
    ) -> pd.DataFrame:
        """The importance of every feature on the given rows, the most important first.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The rows, best those that the classifier was not fitted on.
        y : array-like of shape (n_samples,), default=None
            Class labels; without them there is no permutation importance.
        n_repeats : int, default=5
            How often each feature is permuted.
        random_state : int, default=0
            Random seed for permutations.

        Returns
        -------
        DataFrame
            For each feature of the model the mean absolute ``contribution`` to the log-odds of
            the predicted class, and how much ``accuracy`` falls and ``log_loss`` rises if the
            feature is permuted, with standard deviations.
        """
        codes = self.encode_rows(X, y)
        return importance_table(self.network_, codes, repeats=n_repeats, seed=random_state)

    def drift(self, X: Any, y: Any = None) -> Drift:
        """How rows differ from those that the classifier was fitted on, column by column.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,), default=None
            Their class labels, if they are known.

        Returns
        -------
        Drift
            Its ``columns`` have the population stability index of each column, and ``changed``
            names those that changed.

        Examples
        --------
        >>> from milpbn import BNClassifier, load_dataset
        >>> car = load_dataset("car")
        >>> model = BNClassifier(method="nb").fit(car.features, car.target)
        >>> model.drift(car.features[car.features["safety"] != "high"]).changed
        ('safety',)
        """
        return drift_of(self.network_, self.encoder_, self.encode_rows(X, y))

    def encode_rows(self, X: Any, y: Any = None) -> IntArray:
        """Rows as codes of states, the class first.

        A class that is not known, and a missing feature without a state of its own, are -1.
        """
        check_is_fitted(self)
        features = self.encoder_.transform(self._frame(X, reset=False)).codes
        return np.column_stack([self._label_codes(y, len(features)), features])

    def _label_codes(self, y: Any, rows: int) -> IntArray:
        """Positions in ``classes_``; -1 for labels that are not known."""
        if y is None:
            return np.full(rows, -1)
        place = {label: k for k, label in enumerate(self.classes_.tolist())}
        labels = np.asarray(y).ravel().tolist()
        if len(labels) != rows:
            raise DataError(f"X has {count(rows, 'row')}, but y has {count(len(labels), 'label')}")
        return np.array([place.get(label, -1) for label in labels], dtype=np.int64)

    def card(self, *, of: Any = None, points: int = MOST_POINTS) -> ScoreCard:
        """The classifier as a score card: points to be added up on paper.

        Parameters
        ----------
        of : class label, default=None
            The class that points speak for. By default the second of two classes; with more
            classes, every class has a column of points.
        points : int, default=10
            The largest number of points of a line. More points usually lose less by rounding.

        Returns
        -------
        ScoreCard
            See ``to_frame()`` for its lines, and ``loss()`` for what it costs.

        Examples
        --------
        >>> from milpbn import BNClassifier, load_dataset
        >>> monks = load_dataset("monks-3")
        >>> model = BNClassifier(max_parents=1).fit(monks.features, monks.target)
        >>> card = model.card()
        >>> card.columns, card.threshold
        (('1',), 13)
        >>> card.to_frame()[["feature", "state", "points"]]
          feature state  points
        0      a2     1       7
        1      a2     2       7
        2      a2     3       0
        3      a4     1       1
        4      a4     2       0
        5      a4     3       0
        6      a5     1       9
        7      a5     2       9
        8      a5     3      10
        9      a5     4       0
        """
        check_is_fitted(self)
        states = dict(zip(self.classes_.tolist(), self.encoder_.target.states, strict=True))
        return self.model_.card(of=states.get(of, of), points=points)
