"""Several methods on the protocol of a data set, folds in parallel, into one table."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from milpbn.datasets import load_dataset
from milpbn.datasets.table import Table
from milpbn.errors import DataError, MilpbnError
from milpbn.evaluation.measures import measure
from milpbn.evaluation.methods import Candidate, candidates
from milpbn.evaluation.protocol import Rows, Split, splits
from milpbn.evaluation.records import FoldRecord, Predictions, ResultFile
from milpbn.evaluation.summary import Evaluation

Listener = Callable[[FoldRecord, int, int], None]
"""Called with every finished fold, how many are finished, and how many there are."""


def evaluate(
    data: str | Table,
    methods: Sequence[str] | Mapping[str, Any] = ("branch-and-cut",),
    *,
    parameters: Sequence[str] = ("ml",),
    select: Mapping[str, Sequence[Any]] | None = None,
    folds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    result_file: str | Path | None = None,
    predictions: bool = False,
    listener: Listener | None = None,
    **settings: Any,
) -> Evaluation:
    """Evaluate methods on a data set.

    Everything is learned from the training rows of a fold alone: cuts, states, structure,
    parameters and hyper-parameters.

    Parameters
    ----------
    data
        A bundled data set by name, or a table.
    methods
        Names of engines and heuristics (``milpbn.learning.METHODS``), each with a score of
        its own if one is given (``"hc:cr"``); or ``{label: scikit-learn classifier}``.
    parameters
        How parameters are learned: ``"ml"``, ``"cl"``, ``"mm"``, with settings as in
        :class:`~milpbn.BNClassifier`.
    select
        Hyper-parameters and their candidate values, such as ``{"p": [0.6, 0.9]}``; chosen
        by accuracy on :class:`ValidationSplit` of the training rows.
    folds
        Cross-validate with so many folds, also where the set has test rows. By default the
        set's own protocol: its test rows, or 5 folds.
    seed
        Of folds, validation and learners.
    n_jobs
        Folds at the same time, as in joblib; a backend chosen by
        ``joblib.parallel_config`` is used.
    result_file
        Every finished fold is kept there, and not computed again by a later call with the
        same settings.
    predictions
        Keep the predictions for all test rows.
    listener
        Called with every finished fold.
    settings
        Further parameters of :class:`~milpbn.BNClassifier`; `time_limit` is for each fit.

    Returns
    -------
    Evaluation
        After Ctrl-C, with the folds that were finished.

    Examples
    --------
    >>> from milpbn import evaluate
    >>> evaluation = evaluate("synthetic-3", ["nb", "branch-and-cut:sm"])
    >>> for line in evaluation.summaries():
    ...     print(f"{line.method}: {100 * line.accuracy:.1f} +- {100 * line.interval:.1f} %")
    nb: 47.6 +- 3.1 %
    branch-and-cut:sm: 60.5 +- 3.0 %
    """
    table, row_numbers = _complete_rows(data)
    settings = {"random_state": seed, **settings}
    settings.setdefault("missing", table.missing)
    chosen = candidates(methods, parameters, select or {}, settings)
    parts = splits(table, folds, seed)
    header = _header(table, methods, select or {}, folds, seed, settings)
    file = ResultFile(result_file, header) if result_file is not None else None
    wanted = {(c.method, c.parameters, k + 1): (c, k) for c in chosen for k in range(len(parts))}
    done = {}
    for record in file.open() if file else ():
        if record.key in wanted and (record.predictions or not predictions):
            done[record.key] = record
    tasks = [
        delayed(_run_fold)(table, c, parts[k], k + 1, seed, predictions)
        for key, (c, k) in wanted.items()
        if key not in done
    ]
    try:
        for record in _results(tasks, n_jobs):
            if file:
                file.append(record)
            done[record.key] = record
            if listener is not None:
                listener(record, len(done), len(wanted))
    except KeyboardInterrupt:
        if not done:
            raise
    records = tuple(done[key] for key in wanted if key in done)
    return Evaluation(table, row_numbers, _protocol(parts, table), records, len(wanted))


def _results(tasks: list[Any], n_jobs: int | None) -> Iterator[FoldRecord]:
    """Records as they come; what still runs is given up when the caller stops."""
    if not tasks:
        return
    results = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="all")(tasks)
    try:
        yield from results
    finally:
        results.close()


def _run_fold(
    table: Table, candidate: Candidate, split: Split, fold: int, seed: int, keep: bool
) -> FoldRecord:
    train, test = split
    began = time.perf_counter()
    estimator = clone(candidate.with_selection(seed))
    try:
        with warnings.catch_warnings():
            # The record says how the run ended, so the warning tells nothing new.
            warnings.simplefilter("ignore", ConvergenceWarning)
            estimator.fit(table.features.iloc[train], table.target.iloc[train])
    except MilpbnError as error:
        raise error.at(f"{candidate.method}, fold {fold}") from error
    seconds = time.perf_counter() - began
    truth = table.target.iloc[test].to_numpy()
    proba = estimator.predict_proba(table.features.iloc[test])
    best = getattr(estimator, "best_estimator_", estimator)
    network, result = getattr(best, "network_", None), getattr(best, "result_", None)
    gap = None if result is None else result.gap_rel
    return FoldRecord(
        method=candidate.method,
        parameters=candidate.parameters,
        fold=fold,
        measures=measure(estimator.classes_, proba, truth),
        train_rows=len(train),
        n_parameters=None if network is None else network.n_parameters,
        status="" if result is None else str(result.status),
        gap=gap if gap is not None and math.isfinite(gap) else None,
        selected=dict(getattr(estimator, "best_params_", {})),
        seconds=seconds,
        predictions=_keep(test, estimator.classes_, proba) if keep else None,
    )


def _keep(rows: Any, classes: Any, proba: Any) -> Predictions:
    return Predictions(rows.tolist(), [str(c) for c in classes], proba.tolist())


def _complete_rows(data: str | Table) -> tuple[Table, Rows]:
    """The rows to evaluate on, and their numbers in the table."""
    table = load_dataset(data) if isinstance(data, str) else data
    if table.missing != "drop":
        return table, np.arange(len(table.target))
    complete = table.features.notna().all(axis=1).to_numpy()
    if not complete.any():
        raise DataError(f"{table.name}: no row is complete; use missing='state'")
    return table.rows(complete), np.flatnonzero(complete)


def _header(
    table: Table,
    methods: Sequence[str] | Mapping[str, Any],
    select: Mapping[str, Sequence[Any]],
    folds: int | None,
    seed: int,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """All that a record depends on beside its method, parameters and fold."""
    own = {k: str(v) for k, v in methods.items()} if isinstance(methods, Mapping) else {}
    return {
        "data": table.name,
        "source": dict(table.source),
        "rows": len(table.target),
        "features": list(table.features.columns),
        "numeric": list(table.numeric),
        "folds": folds,
        "seed": seed,
        "select": {k: list(v) for k, v in select.items()},
        **{k: v if isinstance(v, int | float | str) else str(v) for k, v in settings.items()},
        **({"estimators": own} if own else {}),
    }


def _protocol(parts: Sequence[Split], table: Table) -> str:
    if len(parts) > 1:
        return f"{len(parts)}-fold cross-validation of {len(table.target)} rows"
    train, test = parts[0]
    return f"{len(train)} training rows, {len(test)} test rows"
