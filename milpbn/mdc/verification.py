"""Verification: the claims of a GBNC model file, checked against its data.

The base models of the file are used as they are, to check that data, encoding, structure and
score are what the file says. Only a score of held-out rows needs base models that are trained
again, without one fold at a time; those of the file are then trained again too, because they
have no part in the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from milpbn._types import Codes
from milpbn.anytime import allowed_gap
from milpbn.datasets.table import Table
from milpbn.families import Constraints
from milpbn.files import plain
from milpbn.mdc.bases import Base, make_base
from milpbn.mdc.candidates import Nodes
from milpbn.mdc.features import FeatureEncoder, Features
from milpbn.mdc.gbnc import GBNCClassifier
from milpbn.mdc.local_models import LocalModel, configurations, train_family
from milpbn.mdc.local_scores import make_local_score
from milpbn.mdc.model_file import GBNCModel, describe_table
from milpbn.mdc.rescore import score_by_prediction
from milpbn.mdc.score import HeldOutCLL, PenalisedCLL
from milpbn.verification.checks import (
    Check,
    Verification,
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
)
"""Entries of a model that data and file can contradict, but not prove."""

_SAME = ("validation", "max_parents", "mixed", "max_discrete_parents", "loss", "engine")
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
    chosen = ("base",) if _may_choose(make_base(model.settings.get("base"))) else ()
    return Verification(checks, not_checkable((*ENTRIES, *chosen), told, again))


def _may_choose(base: Base) -> bool:
    """Whether the settings of the base models were chosen by validation."""
    return len(base.candidates()) > 1


def _checks(model: GBNCModel, table: Table) -> Iterator[Check]:
    classifier = model.classifier
    yield check_source(model.data, table)
    rows = plain(describe_table(table))
    yield check_that(
        "the rows are described as they are",
        list(data_errors(model.data, rows)),
        f"{rows['n_rows']} rows",
    )
    same = _encoded_alike(classifier, table)
    yield Check(
        "fitting the encoder again gives the same states, means and deviations",
        same,
        f"{len(classifier.encoder_.names)} features, {len(table)} rows",
    )
    if not same:
        return
    yield check_that(
        "the settings agree with each other and with the result",
        list(_settings_errors(model)),
        f"{len(model.settings)} settings",
    )
    result = classifier.result_
    errors = list(result_errors(result, model.settings, 0, 0.0, 1.0))
    yield check_that("the result agrees with its trace", errors, f"{len(result.trace)} points")
    broken = list(
        _broken_rules(classifier, Constraints.from_dict(model.settings.get("constraints", {})))
    )
    yield Check(
        "the class network satisfies limits and constraints",
        not broken,
        "; ".join(broken) or f"{len(classifier.structure_.arcs)} arcs",
    )
    yield _score(classifier, table)
    yield _local_models(classifier, table)
    yield check_status(result)


def _settings_errors(model: GBNCModel) -> Iterator[str]:
    """Where settings, parameters and the score of the result contradict each other."""
    classifier, told = model.classifier, model.settings
    parameters = {name: getattr(classifier, name) for name in _SAME}
    yield from differences(told, {**parameters, "seed": classifier.random_state}, "settings")
    base = make_base(told.get("base"))
    score: dict[str, Any] = {"base": str(base), "mixed": classifier.mixed}
    if classifier.validation is not None:
        seed = classifier.random_state or 0
        score |= {"validation": classifier.validation, "fold_seed": seed}
    stated = classifier.result_.score_parameters
    if stated.keys() != score.keys():
        yield "result.score_parameters has other settings"
    yield from differences(stated, score, "result.score_parameters")
    name = (PenalisedCLL if classifier.validation is None else HeldOutCLL).name
    if classifier.result_.score != name:
        yield f"result.score is {classifier.result_.score!r}, not {name!r}"
    if not _may_choose(base) and classifier.base_ not in (None, base):
        yield f"base is {str(classifier.base_)!r}, not {str(base)!r}"


def _encoded_alike(classifier: GBNCClassifier, table: Table) -> bool:
    encoder = classifier.encoder_
    if list(table.features.columns) != list(encoder.names):
        return False
    if list(table.targets.columns) != list(classifier.target_names_):
        return False
    again = FeatureEncoder.fit(table.features, set(table.categorical), encoder.mixed)
    labels = [np.unique(table.targets[name]).tolist() for name in table.targets.columns]
    return again.to_dict() == encoder.to_dict() and labels == [
        [str(c) for c in classes] for classes in classifier.target_classes_
    ]


def _broken_rules(classifier: GBNCClassifier, constraints: Constraints) -> Iterator[str]:
    d = len(classifier.target_classes_)
    for name, local in zip(classifier.target_names_, classifier.local_models_, strict=True):
        n_class, n = local.n_class_parents, len(local.parents)
        for limit, count, what in (
            (classifier.max_parents, n_class, "class parents"),
            (classifier.max_discrete_parents, n - n_class, "categorical parents"),
            (constraints.max_parents.get(name), n, "parents"),
        ):
            if limit is not None and count > limit:
                yield f"{name} has {count} {what}, {limit} are allowed"
        parents = set(classifier.structure_.to_dict()[name])
        for parent in sorted(set(constraints.required_parents(name)) - parents):
            yield f"{parent}->{name} is required"
        for parent in sorted(parents):
            if not constraints.allows(parent, name):
                yield f"{parent}->{name} is forbidden"
    structure = classifier.structure_
    for feature, above in zip(structure.variables[d:], structure.parents[d:], strict=True):
        if above:
            yield f"the feature {feature} has parents"


def _score(classifier: GBNCClassifier, table: Table) -> Check:
    """The score of the class network, from the training rows."""
    rows = "the training rows" if classifier.validation is None else "held-out rows"
    claim = f"the class network has the stated score, by its predictions for {rows}"
    features, codes, nodes = _rows(classifier, table)
    seed = classifier.random_state or 0
    every_code = np.column_stack([codes, features.codes])
    score = make_local_score(every_code, nodes.cards, classifier.validation, seed)
    bases: list[Any] = []
    if score.folds is not None:
        if classifier.base_ is None:
            return Check(claim, None, "the file does not describe its base estimator")
        bases = _bases(classifier, features, nodes)
    value = score_by_prediction(classifier.local_models_, bases, features, codes, nodes, score)
    told = classifier.result_.objective
    return Check(
        claim,
        abs(value - told) <= max(allowed_gap(told), 1e-6 * abs(told)),
        f"{value:.6f}, the model says {told:.6f}",
    )


def _rows(classifier: GBNCClassifier, table: Table) -> tuple[Features, Codes, Nodes]:
    features, nodes = classifier.encoder_.transform(table.features), classifier.nodes()
    return features, classifier.known_codes(table.targets, len(table)), nodes


def _bases(classifier: GBNCClassifier, features: Features, nodes: Nodes) -> list[Any]:
    """The base estimator of each class variable, not yet trained."""
    assert classifier.base_ is not None
    n_columns, seed = features.matrix.shape[1], classifier.random_state or 0
    return [classifier.base_.estimator(n_columns, c, seed) for c in nodes.cards[: nodes.d]]


def _local_models(classifier: GBNCClassifier, table: Table) -> Check:
    """The counts behind the base models; for held-out rows, also the base models themselves."""
    features, codes, nodes = _rows(classifier, table)
    every_code = np.column_stack([codes, features.codes])
    errors = [
        f"{name} has other counts"
        for name, local in zip(classifier.target_names_, classifier.local_models_, strict=True)
        if not _same_counts(local, every_code, nodes)
    ]
    if classifier.validation is None or classifier.base_ is None:
        # The score is computed with the base models of the file.
        return check_that("the base models have the stated rows", errors, f"{nodes.d} class nodes")
    for local, base in zip(
        classifier.local_models_, _bases(classifier, features, nodes), strict=True
    ):
        own = (every_code, nodes.cards, local.child, local.parents, nodes.d, base)
        again = train_family(features.matrix, *own).model
        tables = (np.exp(m.log_table(features, nodes.d)) for m in (local, again))
        if np.abs(np.subtract(*tables)).max() > _CLOSE:
            errors.append(f"training again changes {classifier.target_names_[local.child]}")
    return check_that("training again gives the same base models", errors, f"{nodes.d} class nodes")


def _same_counts(local: LocalModel, codes: Codes, nodes: Nodes) -> bool:
    """Whether counts by configuration, and frequencies of states, are those of the rows."""
    number = configurations(codes, nodes.cards, local.parents)
    card = nodes.cards[local.child]
    counts = {k: np.bincount(codes[number == k, local.child], minlength=card) for k in number}
    told = {k: part.counts for k, part in local.models.items()}
    features = [p for p in local.parents if p >= nodes.d]
    shares = [np.bincount(codes[:, p], minlength=nodes.cards[p]) / len(codes) for p in features]
    return (
        told.keys() == counts.keys()
        and all(np.array_equal(told[k], counts[k]) for k in told)
        and all(map(np.allclose, local.frequencies, shares))
    )
