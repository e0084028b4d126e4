"""The classifier that chooses its own settings."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from sklearn.model_selection import BaseCrossValidator

from milpbn.clock import Clock
from milpbn.datasets.bins import MDLP
from milpbn.datasets.own_bins import OTHERS, Bins
from milpbn.datasets.table import Table
from milpbn.estimators.bn import PARAMETERS, BNClassifier
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings
from milpbn.selection.auto import AUTO
from milpbn.selection.choose import learn_selected
from milpbn.selection.criteria import LOG_LOSS
from milpbn.selection.plan import Grid, SelectionPlan


class BNClassifierCV(BNClassifier):
    """Bayesian network classifier with settings that predict held-out rows best.

    Every candidate learns from part of the training rows and predicts the others, fold by fold.
    Inside the folds local search replaces the exact engine. The engine runs once, with
    the chosen settings and all rows. Candidates share the encoding, the tables and their
    structures, so that a selection costs far less than ``GridSearchCV(BNClassifier(), ...)``.

    Parameters
    ----------
    param_grid : "auto", dict or list of dict, default="auto"
        Parameters of :class:`BNClassifier` and their candidate values, such as
        ``{"p": [0.6, 0.9], "parameters": ["ml", "cl"]}``. A list of grids goes from simple to
        complex: the first one is chosen whose best candidate is within one standard error of
        the best of all. ``"auto"`` is the list ``milpbn.selection.auto.AUTO_GRID``.
    scoring : {"log-loss", "accuracy", "balanced-accuracy", "auc"}, default="log-loss"
        The measure to select by. scikit-learn's names (``"neg_log_loss"``, ``"roc_auc"``, ...)
        are accepted.
    cv : int, cross-validator or list of splits, default=None
        Number of stratified folds, or a splitter. By default five folds, or as many of them as
        hold out 1000 rows.
    exact_folds : bool, default=False
        Run the exact engine inside the folds, too.
    bins : str, list of str, dict or None, default=None
        How numeric columns are cut, see :class:`BNClassifier`. By default the candidates decide:
        those of ``"auto"`` have bins of their own, others have ``"mdlp"``. Every candidate is
        tried with each of the given ones instead. A dict has own cuts of some columns; they are
        the same in all candidates.
    **settings
        The other parameters of :class:`BNClassifier`. The time limit covers the selection and
        the final fit; the selection gets at most 60 % of it.

    Attributes
    ----------
    best_params_ : dict
        The chosen values.
    cv_results_ : DataFrame
        The candidates: values, measures on held-out rows, parameters, seconds.
    selection_ : Selection
        The same as an object.
    model_, structure_, network_, result_, ...
        As in :class:`BNClassifier`.

    See Also
    --------
    milpbn.evaluate : Estimates how well the result classifies new rows.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> monks = load_dataset("monks-1")
    >>> train, test = monks.train(), monks.test()
    >>> grid = {"max_parents": [1, 2], "parameters": ["ml", "cl"]}
    >>> model = BNClassifierCV(param_grid=grid).fit(train.features, train.target)
    >>> model.best_params_["max_parents"], model.optimal_, model.score(test.features, test.target)
    (2, True, 1.0)
    """

    def __init__(
        self,
        *,
        param_grid: Grid | str = AUTO,
        scoring: str = LOG_LOSS,
        cv: int | BaseCrossValidator | None = None,
        exact_folds: bool = False,
        bins: Bins | Sequence[str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.bins = bins  # type: ignore[assignment]  # more than the base class takes
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.exact_folds = exact_folds

    def _of_columns(self) -> dict[str, Any]:
        own = self.bins if isinstance(self.bins, Mapping) else MDLP
        return {**super()._of_columns(), "bins": own}

    def _learn(self, table: Table, clock: Clock) -> Model:
        grid = _in_setting_names(self.param_grid)
        others: Any = self.bins.get(OTHERS) if isinstance(self.bins, Mapping) else self.bins
        bins = [others] if isinstance(others, str) else others
        plan = SelectionPlan(grid, self.scoring, self.cv, self.exact_folds, bins)
        return learn_selected(table, self._names(), plan, clock=clock)

    def _settings(self) -> Settings:
        return Settings.from_dict(self.model_.settings)  # those that were chosen

    def _take(self, model: Model) -> None:
        super()._take(model)
        self.selection_ = selection = model.selection
        if selection is None:  # a model file of another learner
            self.best_params_, self.cv_results_ = {}, pd.DataFrame()
            return
        back = {setting: parameter for parameter, setting in PARAMETERS.items()}
        self.best_params_ = {back.get(k, k): v for k, v in selection.values.items()}
        self.cv_results_ = selection.to_frame().rename(columns=back)


def _in_setting_names(grid: Grid | str) -> Grid | str:
    if isinstance(grid, str):
        return grid
    if isinstance(grid, Mapping):
        return {PARAMETERS.get(k, k): values for k, values in grid.items()}
    return [{PARAMETERS.get(k, k): values for k, values in one.items()} for one in grid]


def _signature() -> inspect.Signature:
    """Own parameters, then those of BNClassifier: scikit-learn reads the names here."""
    own = inspect.signature(BNClassifierCV.__init__).parameters.values()
    base = list(inspect.signature(BNClassifier.__init__).parameters.values())[1:]
    named = {p.name: p for p in own if p.kind is not inspect.Parameter.VAR_KEYWORD}
    return inspect.Signature([*named.values(), *(p for p in base if p.name not in named)])


BNClassifierCV.__init__.__signature__ = _signature()  # type: ignore[attr-defined]
