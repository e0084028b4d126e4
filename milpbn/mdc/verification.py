"""Verification: the claims of a GBNC model file, checked against its data.

The base models of the file are used as they are, to check that data, encoding, structure and
score are what the file says. Only a score of held-out rows needs base models that are trained
again, without one fold at a time; those of the file are then trained again too, because they
have no part in the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from milpbn.anytime import allowed_gap
from milpbn.datasets.table import Table
from milpbn.datasets.values import show_value
from milpbn.families import Constraints
from milpbn.files import plain
from milpbn.mdc.learn import base_estimators, describe_table
from milpbn.mdc.local_models import LocalModel, train_family
from milpbn.mdc.local_scores import make_local_score
from milpbn.mdc.model import GBNCModel
from milpbn.mdc.rescore import score_by_prediction
from milpbn.mdc.rows import TrainingRows, class_codes, class_states, encode_rows
from milpbn.mdc.score import HeldOutCLL, PenalisedCLL
from milpbn.verification.checks import (
    DISAGREES,
    Check,
    Verification,
    all_hold,
    check_entries,
    check_source,
    check_status,
    check_that,
    data_errors,
    not_checkable,
)
from milpbn.verification.entries import RUN, differences
from milpbn.verification.run_claims import result_errors

ENTRIES = (
    *RUN,
    *("settings.warm_start", "settings.jobs", "settings.loss", "parameters.loss", "training"),
    *("flat", "named_features", "targets[].dtype", "result.bound", "result.bound_is_trivial"),
    "data.features",
)
"""Entries of a model that data and file can contradict, but not prove."""

_CLOSE = 1e-4


def verify_gbnc(
    model: GBNCModel, table: Table, *, content: Mapping[str, Any] | None = None
) -> Verification:
    """Check a model for several class variables against its data, which were read again.

    `content` is that of the model file; see :func:`~milpbn.verification.verify.verify_model`.
    """
    again = plain(model.to_dict())
    told = dict(again if content is None else content)
    if again["base_models"]["format"] == "skops":
        again["base_models"] = told["base_models"]  # equal objects need not have equal bytes
    checks = (check_entries(told, again), *_checks(model, table))
    chosen = ("base",) if model.settings.chooses else ()
    unchecked = not_checkable((*ENTRIES, *chosen), told, again)
    if not all_hold(checks):
        return Verification(checks, unchecked, DISAGREES)
    complete = all(check.holds for check in checks)
    agrees = "Everything agrees." if complete else "Nothing disagrees, but a claim is open."
    verdict = (
        f"{agrees} The bound itself was not checked: base models of other families were not "
        "trained again."
    )
    return Verification(checks, unchecked, verdict)


def _checks(model: GBNCModel, table: Table) -> Iterator[Check]:
    yield check_source(model.data, table)
    rows = plain(describe_table(table))
    yield check_that(
        "the rows are described as they are",
        list(data_errors(model.data, rows)),
        f"{rows['n_rows']} rows",
    )
    encoder, read = encode_rows(table, model.encoder.mixed)
    states = {name: tuple(map(_text, own)) for name, own in model.classes.items()}
    found = {name: set(own) for name, own in class_states(table).items()}
    same = encoder.to_dict() == model.encoder.to_dict()
    same &= found == {name: set(own) for name, own in states.items()}
    yield Check(
        "fitting the encoder again gives the same states, means and deviations",
        same,
        f"{len(model.encoder.names)} features, {len(table)} rows",
    )
    if not same:
        return
    codes = np.column_stack([class_codes(table.targets, states), read.features.codes])
    read = replace(read, codes=codes, nodes=model.nodes)
    yield check_that(
        "the settings agree with each other and with the result",
        list(_settings_errors(model)),
        f"{len(model.settings.to_dict())} settings",
    )
    result = model.result
    errors = list(result_errors(result, model.settings.to_dict(), 0, 0.0, 1.0))
    yield check_that("the result agrees with its trace", errors, f"{len(result.trace)} points")
    broken = list(_broken_rules(model))
    yield Check(
        "the class network satisfies limits and constraints",
        not broken,
        "; ".join(broken) or f"{len(model.structure.arcs)} arcs",
    )
    yield _score(model, read)
    yield _local_models(model, read)
    yield check_status(result)


def _text(label: object) -> str:
    return str(show_value(label))


def _settings_errors(model: GBNCModel) -> Iterator[str]:
    """Where settings and the score of the result contradict each other."""
    settings, stated = model.settings, model.result.score_parameters
    score: dict[str, Any] = {"base": str(settings.base), "mixed": settings.mixed}
    if settings.validation is not None:
        score |= {"validation": settings.validation, "fold_seed": settings.seed or 0}
    if stated.keys() != score.keys():
        yield "result.score_parameters has other settings"
    yield from differences(stated, score, "result.score_parameters")
    name = (PenalisedCLL if settings.validation is None else HeldOutCLL).name
    if model.result.score != name:
        yield f"result.score is {model.result.score!r}, not {name!r}"
    if model.encoder.mixed != settings.mixed:
        yield f"features.mixed is {model.encoder.mixed!r}, not {settings.mixed!r}"
    if not settings.chooses and model.base not in (None, settings.base):
        yield f"base is {str(model.base)!r}, not {str(settings.base)!r}"


def _broken_rules(model: GBNCModel) -> Iterator[str]:
    settings, shown = model.settings, model.structure.to_dict()
    constraints = settings.constraints or Constraints()
    for name, local in zip(model.classes, model.local_models, strict=True):
        n_class, n = local.n_class_parents, len(local.parents)
        for limit, count, what in (
            (settings.max_parents, n_class, "class parents"),
            (settings.max_discrete_parents, n - n_class, "categorical parents"),
            (constraints.max_parents.get(name), n, "parents"),
        ):
            if limit is not None and count > limit:
                yield f"{name} has {count} {what}, {limit} are allowed"
        parents = set(shown[name])
        for parent in sorted(set(constraints.required_parents(name)) - parents):
            yield f"{parent}->{name} is required"
        for parent in sorted(parents):
            if not constraints.allows(parent, name):
                yield f"{parent}->{name} is forbidden"
    for feature in model.structure.variables[model.n_class_variables :]:
        if shown[feature]:
            yield f"the feature {feature} has parents"


def _score(model: GBNCModel, rows: TrainingRows) -> Check:
    """The score of the class network, from the training rows."""
    settings, base = model.settings, model.base
    what = "the training rows" if settings.validation is None else "held-out rows"
    claim = f"the class network has the stated score, by its predictions for {what}"
    score = make_local_score(rows, settings.validation, settings.seed or 0)
    bases: list[Any] = []
    if score.folds is not None:
        if base is None:
            return Check(claim, None, "the file does not describe its base estimator")
        bases = base_estimators(base, rows, settings)
    value = score_by_prediction(model.local_models, bases, rows, score)
    told = model.result.objective
    return Check(
        claim,
        abs(value - told) <= max(allowed_gap(told), 1e-6 * abs(told)),
        f"{value:.6f}, the model says {told:.6f}",
    )


def _local_models(model: GBNCModel, rows: TrainingRows) -> Check:
    """The counts behind the base models; for held-out rows, also the base models themselves."""
    errors = [
        f"{name} has other counts"
        for name, local in zip(model.classes, model.local_models, strict=True)
        if not _same_counts(local, rows)
    ]
    seen = f"{len(model.classes)} class nodes"
    if model.settings.validation is None or model.base is None:
        # The score is computed with the base models of the file.
        return check_that("the base models have the stated rows", errors, seen)
    bases = base_estimators(model.base, rows, model.settings)
    for name, local, base in zip(model.classes, model.local_models, bases, strict=True):
        again = train_family(rows, local.child, local.parents, base).model
        tables = (np.exp(m.log_table(rows.features, rows.nodes.d)) for m in (local, again))
        if np.abs(np.subtract(*tables)).max() > _CLOSE:
            errors.append(f"training again changes {name}")
    return check_that("training again gives the same base models", errors, seen)


def _same_counts(local: LocalModel, rows: TrainingRows) -> bool:
    """Whether counts by configuration, and frequencies of states, are those of the rows."""
    number, told = rows.configurations(local.parents), local.models
    counts = {k: rows.part(number == k).counts(local.child) for k in set(number.tolist())}
    features = [p for p in local.parents if p >= rows.nodes.d]
    shares = [rows.counts(p) / rows.total for p in features]
    return (
        told.keys() == counts.keys()
        and all(np.allclose(told[k].counts, counts[k], rtol=1e-9) for k in told)
        and all(map(np.allclose, local.frequencies, shares))
    )
