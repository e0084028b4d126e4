"""Stability of a structure: how often its arcs are learned again from resampled rows.

A bootstrap sample draws as many training rows as there are, with replacement; a row that is drawn
k times has k times its weight. The encoding stays that of the model, so that arcs connect the same
variables with the same states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from joblib import delayed

from milpbn.certainty.stability_records import Arc, Stability
from milpbn.clock import Clock
from milpbn.cluster import results_as_they_come
from milpbn.datasets.table import Table
from milpbn.encoding import EncodedData
from milpbn.errors import MilpbnError, OptionError
from milpbn.learning.maximise import warm_starter
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings
from milpbn.learning.structure import run_method
from milpbn.result import Status
from milpbn.search.local_search import LocalSearch
from milpbn.structure import Structure

METHODS = (LocalSearch.name, "branch-and-cut")
"""What can learn the structures of the samples."""


def model_stability(
    model: Model,
    table: Table,
    *,
    resamples: int = 100,
    method: str = LocalSearch.name,
    resample_limit: float | None = None,
    time_limit: float | None = None,
    clock: Clock | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Stability:
    """Learn structures from bootstrap samples of a model's rows, and count their arcs.

    Parameters
    ----------
    model
        A model with one structure. Its score, search space and encoding are used.
    table
        The rows that it was learned from.
    resamples
        Number of samples.
    method
        ``"local-search"``, or ``"branch-and-cut"`` for optimal structures.
    resample_limit
        Seconds for each sample, or None.
    time_limit
        Seconds for everything, or None. Samples that are not finished then do not count.
    clock
        A running clock, instead of a time limit.
    seed
        Random seed of the samples and of the search.
    n_jobs
        Number of samples to work on in parallel, as in joblib.
    watch
        Called after every sample with the numbers of finished and of all samples.

    Examples
    --------
    >>> from milpbn import learn_classifier, load_dataset, make_settings
    >>> table = load_dataset("iris")
    >>> model = learn_classifier(table, make_settings(max_parents=1, class_parents=False))
    >>> stability = model_stability(model, table, resamples=20)
    >>> stability.frequency(("class", "petalwidth")) > 0.5
    True
    """
    if method not in METHODS:
        raise OptionError(f"the method must be {' or '.join(METHODS)}, not {method!r}")
    if resamples < 1:
        raise OptionError(f"at least 1 sample is needed, not {resamples}")
    if not isinstance(model.result.structure, Structure):
        raise OptionError("a multinet has a structure per class; this needs a single structure")
    clock = clock or Clock(time_limit)
    data = model.encoder.encode(table)
    data = data.select(data.is_train)
    settings = _settings(model, method, resample_limit)
    tasks = [delayed(_learn)(data, settings, seed, k) for k in range(resamples)]
    counts, done, optimal = Counter[Arc](), 0, 0
    try:
        for arcs, proven in results_as_they_come(tasks, n_jobs):
            counts.update(arcs)
            done, optimal = done + 1, optimal + proven
            if watch is not None:
                watch(done, resamples)
            if clock.remaining == 0:
                break
    except KeyboardInterrupt:
        pass
    if done == 0:
        raise MilpbnError("no sample was finished; allow more time")
    # By name where counts are equal: samples may end in any order.
    listed = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return Stability(done, resamples, method, optimal, seed, listed)


def _settings(model: Model, method: str, limit: float | None) -> Settings:
    settings = replace(Settings.from_dict(model.settings), time_limit=limit)
    if method == LocalSearch.name:
        return replace(settings, method=warm_starter(method), start=None)
    return replace(settings, method=method, start=LocalSearch.name)


def _learn(
    data: EncodedData, settings: Settings, seed: int, number: int
) -> tuple[tuple[Arc, ...], bool]:
    """The arcs that are learned from one sample, and whether they are proven optimal."""
    n, rng = len(data.codes), np.random.default_rng([seed, number])
    times = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
    weights = times if data.weights is None else times * data.weights
    sample = replace(data, weights=weights).select(times > 0)
    result = run_method(sample, settings)
    assert isinstance(result.structure, Structure)
    return result.structure.arcs, result.status is Status.OPTIMAL
