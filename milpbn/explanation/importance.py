"""The importance of features: the size of their contributions, and what permuting them costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import Codes
from milpbn.explanation.contributions import mean_contributions
from milpbn.network.inference import log_posterior
from milpbn.network.multinet import Classifier


class _OnCodes:
    """A classifier for rows of codes, as scikit-learn's permutation importance needs it."""

    def __init__(self, network: Classifier) -> None:
        self.network = network

    def fit(self, X: Any, y: Any = None) -> _OnCodes:
        """Do nothing: the classifier has been learned."""
        return self


def _scores(model: _OnCodes, codes: Codes, labels: npt.NDArray[Any]) -> dict[str, float]:
    proba = log_posterior(model.network, codes)
    return {
        "accuracy": float((proba.argmax(axis=1) == labels).mean()),
        "log_loss": float(proba[np.arange(len(labels)), labels].mean()),
    }


def importance_table(
    network: Classifier,
    codes: Codes,
    *,
    repeats: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """The importance of each feature on the given rows, the most important first.

    Parameters
    ----------
    network
        The classifier.
    codes
        ``(M, n)`` codes, the class first. If the class is negative, it is unknown: the row counts
        for contributions only.
    repeats
        How often each feature is permuted; 0 to leave out permutations.
    seed
        Random seed for permutations.

    Returns
    -------
    DataFrame
        For each feature the mean absolute ``contribution`` to the log-odds of the predicted class
        against all others (see :func:`mean_contributions`); and, if there are labels, how much
        ``accuracy`` falls and ``log_loss`` rises if the feature is permuted over the rows, with
        standard deviations over the repeats.
        Features that are not used have 0 everywhere. A feature that is only a parent of other
        features has the contribution 0, because it acts through theirs.
    """
    from sklearn.inspection import permutation_importance  # slow to import; all models come here

    names = [v.name for v in network.variables[1:]]
    sizes = mean_contributions(network, codes[:, 1:])
    table = pd.DataFrame({"contribution": sizes}, index=names)
    labelled = codes[codes[:, 0] >= 0]
    if repeats and len(labelled) and names:
        features, labels = labelled[:, 1:], labelled[:, 0]
        found = permutation_importance(
            _OnCodes(network),
            features,
            labels,
            scoring=_scores,
            n_repeats=repeats,
            random_state=seed,
        )
        for measure, of_measure in found.items():
            table[measure] = of_measure["importances_mean"]
            table[f"{measure}_std"] = of_measure["importances_std"]
    return table.sort_values("contribution", ascending=False, kind="stable")
