"""The chain from a table to a classifier; the command line, estimators and folds all call it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from milpbn.clock import Clock, OutOfTime
from milpbn.datasets.table import Table, with_states
from milpbn.encoding import EncodedData, Encoder
from milpbn.errors import OptionError, TimeLimitError
from milpbn.explanation import mean_contributions
from milpbn.families.smoothing import Smoothing, parse_smoothing
from milpbn.learning.maximise import Shared
from milpbn.learning.model import Model
from milpbn.learning.refinement import refine
from milpbn.learning.settings import Settings
from milpbn.learning.structure import run_method
from milpbn.network.multinet import Classifier
from milpbn.parameters import Parameters, make_parameters
from milpbn.result import Listener, ParameterReport, Result, TracePoint
from milpbn.structure import AnyStructure

# The share of the time limit that is reserved for parameters that need a search.
_PARAMETERS_SHARE = 0.2
# The time of the passes over the rows at the end, by the number of codes, and the largest share.
_SECONDS_PER_CELL = 3e-7
_PASSES_SHARE = 0.2

# The importance of features takes at most this many terms, but always some rows: about a second.
_MOST_TERMS = 20_000_000
_LEAST_ROWS = 1000

PARAMETERS_BEGIN = "parameters"
"""The source of the event that a listener gets when a search for parameters begins."""


@dataclass(frozen=True)
class Encoded:
    """An encoder, the rows that it was fitted on, and the columns that they came from."""

    encoder: Encoder
    data: EncodedData
    features: tuple[str, ...]


def late_by_columns(clock: Clock, name: str) -> TimeLimitError:
    """The error of a run without an answer: its columns take too long."""
    return TimeLimitError(
        f"{name}: the time limit of {clock.limit:g} s was reached before all columns were read "
        "and encoded; allow more time or select columns"
    )


def encode(table: Table, clock: Clock | None = None) -> Encoded:
    """Learn states and cuts from the training rows of a table, and encode all its rows."""
    clock = clock or Clock()
    try:
        encoder = Encoder.fit(table, clock.checkpoint)
        data = encoder.encode(table, clock.checkpoint)
    except OutOfTime:
        raise late_by_columns(clock, table.name) from None
    encoded = Encoded(encoder, data, tuple(table.sources))
    clock.close_phase("encoding")
    return encoded


def check_constraints(table: Table, settings: Settings) -> None:
    """Raise now if a constraint names no column; encoding and compiling take time."""
    if settings.space.constraints is not None:
        names = [str(table.target.name), *map(str, table.features.columns)]
        settings.space.constraints.check_names(names)
        settings.space.constraints.check_costs(names)


def learn_classifier(
    table: Table,
    settings: Settings | None = None,
    *,
    clock: Clock | None = None,
    listener: Listener | None = None,
    shared: Shared | None = None,
    certificate: str | Path | None = None,
) -> Model:
    """Learn encoder, structure and parameters from the training rows of a table.

    Parameters
    ----------
    table
        The rows; held-out rows are not used.
    settings
        See :func:`~milpbn.learning.settings.make_settings`.
    clock
        A running clock; by default a new one with the time limit of the settings.
    listener
        Called with every any-time event of structure learning, and once with the source
        ``"parameters"`` if parameters need a search.
    shared
        What was found on parts of the rows.
    certificate
        A file for the proof of the bound, see :func:`~milpbn.learn_structure`.

    Examples
    --------
    >>> from milpbn import load_dataset
    >>> from milpbn.learning.settings import make_settings
    >>> model = learn_classifier(load_dataset("iris"), make_settings(max_parents=1))
    >>> str(model.result.status), round(model.result.objective, 4)
    ('optimal', 298.8924)
    """
    settings = settings or Settings()
    clock = clock or Clock(settings.time_limit)
    table = with_states(table, **settings.states)
    check_constraints(table, settings)
    encoded = encode(table, clock)
    return learn_encoded(
        encoded, settings, clock=clock, listener=listener, shared=shared, certificate=certificate
    )


def learn_encoded(
    encoded: Encoded,
    settings: Settings,
    *,
    clock: Clock,
    listener: Listener | None = None,
    shared: Shared | None = None,
    certificate: str | Path | None = None,
) -> Model:
    """Learn structure and parameters from encoded rows."""
    data, constraints = encoded.data, settings.space.constraints
    settings = settings.for_variables(data.variables)
    if constraints is not None:
        constraints.check_names([v.name for v in data.variables], encoded.encoder.dropped)
    result = run_method(
        data,
        settings,
        clock=structure_clock(clock, settings.parameters, data.codes.size),
        listener=listener,
        shared=shared,
        certificate=certificate,
    )
    chosen = {} if shared is None else shared.chosen
    return fit_model(encoded, settings, result, clock=clock, listener=listener, chosen=chosen)


def fit_model(
    encoded: Encoded,
    settings: Settings,
    result: Result,
    *,
    clock: Clock,
    listener: Listener | None = None,
    chosen: Mapping[str, Any] | None = None,
) -> Model:
    """Learn parameters for the structure of a result; return the classifier.

    `chosen` is what the search for parameters chose on a part of the rows.
    """
    data = encoded.data
    searched = not settings.parameters.counted
    if searched and listener is not None:
        listener(TracePoint(clock.elapsed, result.objective, result.bound, source=PARAMETERS_BEGIN))
    network, report = fit_parameters(data, result.structure, settings, clock, chosen)
    if searched:
        clock.close_phase("parameters")
        result = replace(result, seconds={**result.seconds, "parameters": report.seconds})
    return Model(
        network=network,
        encoder=encoded.encoder,
        result=result,
        parameters=report,
        settings=settings.to_dict(),
        data=describe_rows(encoded),
        importance=feature_importance(network, data),
    )


def feature_importance(network: Classifier, data: EncodedData) -> dict[str, float]:
    """The mean absolute contribution of each feature in the training rows, or in a part of them."""
    features, weights = data.train()[:, 1:], data.train_weights()
    most = max(_LEAST_ROWS, _MOST_TERMS // (len(network.variables) * network.n_classes))
    if len(features) > most:
        evenly = np.linspace(0, len(features) - 1, most).astype(np.intp)
        features, weights = features[evenly], None if weights is None else weights[evenly]
    sizes = mean_contributions(network, features, weights)
    names = (v.name for v in network.variables[1:])
    return dict(zip(names, sizes.tolist(), strict=True))


def fit_parameters(
    data: EncodedData,
    structure: AnyStructure,
    settings: Settings,
    clock: Clock,
    guess: Mapping[str, Any] | None = None,
) -> tuple[Classifier, ParameterReport]:
    """Parameters for a structure, from the training rows and their weights.

    The tables may have finer bins than the search, see :mod:`~milpbn.learning.refinement`.
    """
    structure = refine(structure, data.variables, settings.parameters.resolutions)
    rows, weights = data.train(), data.train_weights()
    return settings.parameters.fit(
        structure, data.variables, rows, settings.smoothing, clock, weights, guess
    )


def describe_rows(encoded: Encoded) -> dict[str, Any]:
    """Which rows were used, so that they can be found and read again."""
    data = encoded.data
    return {
        "rows": "train",
        **data.source,
        "name": data.name,
        "n_rows": int(data.is_train.sum()),
        "n_incomplete_rows": data.n_dropped_rows,
        **({"weighted": True} if data.weights is not None else {}),
        "missing": encoded.encoder.missing,
        "bins": encoded.encoder.bins,
        **({"monotone": m} if (m := dict(encoded.encoder.monotone)) else {}),
        **({"own_bins": own.to_dict()} if (own := encoded.encoder.own_bins) else {}),
        "features": list(encoded.features),
    }


def structure_clock(clock: Clock, parameters: Parameters, n_codes: int = 0) -> Clock:
    """The clock for structure learning, with part of the limit reserved for what follows.

    These are the parameters, and the passes over all rows, with so many codes, that check and
    describe the result.
    """
    if clock.limit == float("inf"):
        return clock
    passes = min(_SECONDS_PER_CELL * n_codes, _PASSES_SHARE * clock.limit)
    searched = 0.0 if parameters.counted else _PARAMETERS_SHARE * clock.limit
    reserved = max(passes, searched)
    return clock.until(clock.end - reserved) if reserved else clock


def learn_parameters(
    data: EncodedData,
    structure: AnyStructure,
    *,
    parameters: str | Parameters = "ml",
    smoothing: str | Smoothing = "laplace",
    time_limit: float | None = None,
) -> tuple[Classifier, ParameterReport]:
    """Learn parameters for a structure from the training rows of `data`.

    Parameters
    ----------
    data
        Encoded rows, see :class:`milpbn.Encoder`.
    structure
        A structure over the variables of `data`, in the same order.
    parameters
        ``"ml"``, ``"cl"`` or ``"mm"``, with settings as ``"cl:penalty=0.1"``; see
        ``milpbn.parameters.PARAMETERS``.
    smoothing
        Smoothing of the maximum-likelihood parameters, from which the other learners start.
    time_limit
        Seconds, or None. At the limit the best parameters so far are returned.

    Examples
    --------
    >>> from milpbn import learn_structure, load_dataset
    >>> from milpbn.encoding import Encoder
    >>> from milpbn.network.inference import accuracy
    >>> table = load_dataset("mofn-3-7-10")
    >>> data = Encoder.fit(table).encode(table)
    >>> structure = learn_structure(data, method="nb").structure
    >>> for parameters in ("ml", "cl"):
    ...     network, report = learn_parameters(data, structure, parameters=parameters)
    ...     print(parameters, round(accuracy(network, data.test()), 3))
    ml 0.921
    cl 1.0
    """
    if structure.variables != tuple(v.name for v in data.variables):
        raise OptionError(
            "the structure's variables are not those of the data: "
            f"{', '.join(structure.variables)} instead of "
            f"{', '.join(v.name for v in data.variables)}"
        )
    settings = Settings(
        parameters=make_parameters(parameters), smoothing=parse_smoothing(smoothing)
    )
    return fit_parameters(data, structure, settings, Clock(time_limit))
