"""Evaluate several methods by the protocol of a data set, with folds in parallel."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from milpbn.cluster import results_as_they_come
from milpbn.datasets import load_dataset
from milpbn.datasets.bins import MDLP
from milpbn.datasets.table import Table, with_states
from milpbn.errors import MilpbnError, OptionError, OutputError, OutputWarning
from milpbn.evaluation.measures import majority_proba, measure
from milpbn.evaluation.methods import Contender, contenders
from milpbn.evaluation.protocol import FoldNumbers, fold_numbers, read_folds, splits
from milpbn.evaluation.records import FoldRecord, Key, ResultFile
from milpbn.evaluation.summary import MAJORITY, Evaluation
from milpbn.selection.plan import SelectionPlan
from milpbn.selection.validation import Split, part
from milpbn.settings import StateNames, declared

Note = tuple[str, type[Warning]]
"""The text of a warning, and its category."""

FoldListener = Callable[[FoldRecord, int, int], None]
"""Called with every finished fold, how many are finished, and how many there are."""


def evaluate(
    data: str | Table,
    methods: Sequence[str] | Mapping[str, Any] = ("branch-and-cut",),
    *,
    parameters: Sequence[str] = ("ml",),
    select: SelectionPlan | Mapping[str, Sequence[Any]] | None = None,
    folds: int | Sequence[int] | None = None,
    fold_file: str | Path | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    result_file: str | Path | None = None,
    predictions: bool = False,
    listener: FoldListener | None = None,
    **settings: Any,
) -> Evaluation:
    """Evaluate methods on a data set.

    Everything is learned from the training rows of a fold alone: cuts, states, structure,
    parameters and hyper-parameters. All test rows count, also those with missing features. See
    :func:`evaluate_all` for several data sets.

    Parameters
    ----------
    data
        A bundled data set by name, or a table.
    methods
        Names of engines and heuristics (``milpbn.learning.methods.METHODS``), each with its own
        score if one is given (``"hc:cr"``); ``"auto"`` for the default selection of
        :class:`~milpbn.BNClassifierCV`; names of classifiers of other libraries, which get the
        raw columns (``milpbn.evaluation.others.OTHERS``), such as ``"sk:logistic"``, or
        ``"sk:logistic:inputs=states"`` for the same states as milpbn's; or ``{label:
        scikit-learn classifier}``. Data with several class variables need classifiers such as
        :class:`milpbn.GBNCClassifier`.
    parameters
        How parameters are learned: ``"ml"``, ``"cl"``, ``"mm"``, with settings as in
        :class:`~milpbn.BNClassifier`.
    select
        Settings to choose from by validation on the training rows, for every method:
        candidate values such as ``{"p": [0.6, 0.9]}``, judged by log-loss, or a
        :class:`milpbn.SelectionPlan` with another measure. The method ``"auto"`` always
        chooses among its own candidates, with the `bins` of the plan.
    folds
        Number of cross-validation folds, even if the data set has test rows; or the number of
        every row's test fold. By default the data set's own protocol: its test rows, or 5 folds
        (10 with several class variables).
    fold_file
        Published folds instead: a file with a header, then the number of every row's test fold.
    seed
        Random seed for folds, validation and learners.
    n_jobs
        Number of folds to run in parallel, as in joblib; a backend chosen by
        ``joblib.parallel_config`` is used.
    result_file
        File that keeps every finished fold; a later call with the same settings does not
        compute it again.
    predictions
        Keep the predictions for all test rows.
    listener
        Called with every finished fold.
    settings
        Other parameters of :class:`~milpbn.BNClassifier`; `time_limit` is for each fit. `missing`,
        `bins`, `special`, `min_bin_share` and `monotone` replace those of the table.

    Returns
    -------
    Evaluation
        The records of all folds; after Ctrl-C, of the finished ones.

    Examples
    --------
    >>> from milpbn import evaluate
    >>> evaluation = evaluate("synthetic-3", ["nb", "branch-and-cut:sm"])
    >>> for line in evaluation.summaries():
    ...     print(f"{line.method}: {100 * line.accuracy:.1f} +- {100 * line.interval:.1f} %")
    nb: 47.6 +- 3.1 %
    branch-and-cut:sm: 60.5 +- 3.0 %
    """
    settings = {"random_state": seed, **settings}
    states: Any = {k: settings.pop(k) for k in declared(StateNames) if k in settings}
    table = data
    if isinstance(table, str):
        table = load_dataset(table, missing=states.get("missing"))
    table = with_states(table, **states)
    numbers = _given_folds(table, folds, fold_file)
    plan = SelectionPlan(select) if isinstance(select, Mapping) and select else select or None
    assert plan is None or isinstance(plan, SelectionPlan)
    chosen = contenders(methods, parameters, plan, settings)
    n_folds = folds if isinstance(folds, int) else None
    parts = splits(table, n_folds if numbers is None else numbers, seed)
    header = {
        **_described_settings(methods, settings),
        "folds": n_folds,
        "seed": seed,
        "select": None if plan is None else plan.to_dict(),
    }
    file = None
    if result_file is not None:
        file = ResultFile(result_file, header, _described_table(table, numbers))
    wanted = {(c.method, c.parameters, k + 1): (c, k) for k in range(len(parts)) for c in chosen}
    done: dict[Key, FoldRecord] = {}
    not_kept, noted = "", set[Note]()
    with file.locked() if file else nullcontext():
        for record in file.open() if file else ():
            if record.key in wanted and (record.predictions or not predictions):
                done[record.key] = record
        tasks = [
            delayed(_run_fold)(table, c, parts[k], k + 1, seed, predictions)
            for key, (c, k) in wanted.items()
            if key not in done
        ]
        try:
            for record, notes in results_as_they_come(tasks, n_jobs):
                for text, category in (note for note in notes if note not in noted):
                    warnings.warn(text, category, stacklevel=2)
                noted.update(notes)
                if file and not not_kept:
                    not_kept = _keep(file, record)
                done[record.key] = record
                if listener is not None:
                    listener(record, len(done), len(wanted))
        except KeyboardInterrupt:
            if not done:
                raise
    records = tuple(
        done[key] for c in chosen for key in wanted if wanted[key][0] is c and key in done
    )
    return Evaluation(
        table,
        _protocol(parts, table),
        records,
        len(wanted),
        baseline=_baseline(table, parts),
        not_kept=not_kept,
    )


def _keep(file: ResultFile, record: FoldRecord) -> str:
    """Add a record to the file; a full disk is reported but does not end the evaluation."""
    try:
        file.append(record)
    except OutputError as error:
        warnings.warn(
            f"{error}; this fold and later ones are not kept", OutputWarning, stacklevel=3
        )
        return str(error)
    return ""


def _run_fold(
    table: Table, contender: Contender, split: Split, fold: int, seed: int, keep: bool
) -> tuple[FoldRecord, list[Note]]:
    """The result of a fold, and the warnings about it, which may be those of other folds."""
    train, test = split
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            # The record says how the run ended, so the warning adds nothing.
            warnings.simplefilter("ignore", ConvergenceWarning)
            learned = contender.learn(part(table, train), seed)
    except MilpbnError as error:
        raise error.at(f"{contender.method}, fold {fold}") from error
    seconds = time.perf_counter() - began
    measures, predictions = learned.measure(part(table, test), np.sort(test))
    network, result = learned.network, learned.result
    gap = None if result is None else result.gap_rel
    record = FoldRecord(
        method=contender.method,
        parameters=contender.parameters,
        fold=fold,
        measures=measures,
        train_rows=len(train),
        n_parameters=None if network is None else network.n_parameters,
        status="" if result is None else str(result.status),
        gap=gap if gap is not None and math.isfinite(gap) else None,
        evaluations=None if result is None else result.evaluations,
        selected=dict(learned.selected),
        seconds=seconds,
        predictions=predictions if keep else None,
        unconverged=learned.unconverged,
        data=table.name,
    )
    return record, [(str(w.message), w.category) for w in caught]


def _baseline(table: Table, parts: Sequence[Split]) -> tuple[FoldRecord, ...]:
    """Predict the class frequencies of the training rows, whatever the features are."""
    if table.targets.shape[1] > 1:
        return ()
    labels, records = table.target.to_numpy(), []
    for fold, (train, test) in enumerate(parts, 1):
        classes, counts = np.unique(labels[train].astype(str), return_counts=True)
        measures = measure(classes, majority_proba(counts, len(test)), labels[test])
        size = len(classes) - 1
        records.append(FoldRecord(MAJORITY, "", fold, measures, len(train), size, data=table.name))
    return tuple(records)


def _given_folds(
    table: Table, folds: int | Sequence[int] | None, fold_file: str | Path | None
) -> FoldNumbers | None:
    """The number of every row's test fold, if folds are given one by one."""
    if fold_file is not None:
        return read_folds(fold_file, len(table))
    if folds is None or isinstance(folds, int):
        return None
    if len(folds) != len(table):
        raise OptionError(f"{len(folds)} fold numbers for the {len(table)} rows of {table.name}")
    return fold_numbers(folds, "folds")


def _described_settings(
    methods: Sequence[str] | Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings that the records of all data sets depend on."""
    own = {}
    if isinstance(methods, Mapping):
        own = {"estimators": {name: _described(method) for name, method in methods.items()}}
    plain = {k: v if isinstance(v, int | float | str) else str(v) for k, v in settings.items()}
    return {**plain, **own}


def _described_table(table: Table, numbers: FoldNumbers | None) -> dict[str, Any]:
    """The properties of a data set that its records depend on."""
    return {
        "name": table.name,
        "source": dict(table.source),
        "rows": len(table),
        "features": list(table.features.columns),
        "numeric": list(table.numeric),
        "missing": table.missing,
        **({"bins": table.bins} if table.bins != MDLP else {}),
        **({"monotone": dict(table.monotone)} if table.monotone else {}),
        **({"own_bins": table.own_bins.to_dict()} if table.own_bins else {}),
        "folds": None if numbers is None else hashlib.sha256(numbers.tobytes()).hexdigest(),
    }


def _described(estimator: Any) -> str:
    """A classifier with all its parameters, except those that only affect speed and output."""
    quiet = {name: None for name in ("n_jobs", "verbose") if name in estimator.get_params()}
    return str(clone(estimator).set_params(**quiet))


def _protocol(parts: Sequence[Split], table: Table) -> str:
    if len(parts) > 1:
        return f"{len(parts)}-fold cross-validation of {len(table)} rows"
    train, test = parts[0]
    return f"{len(train)} training rows, {len(test)} test rows"
