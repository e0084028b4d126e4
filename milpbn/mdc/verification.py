"""Verification: the claims of a GBNC model file, checked against its data.

Base models are not trained again. They are used as they are, to check that data, encoding,
structure and score are what the file says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from milpbn.anytime import allowed_gap
from milpbn.datasets.table import Table
from milpbn.families import Constraints
from milpbn.learning.verification import Check, Verification, check_source, check_status
from milpbn.mdc.features import FeatureEncoder
from milpbn.mdc.gbnc import GBNCClassifier
from milpbn.mdc.model_file import GBNCModel


def verify_gbnc(model: GBNCModel, table: Table) -> Verification:
    """Check a model for several class variables against its data, which were read again."""
    return Verification(tuple(_checks(model, table)))


def _checks(model: GBNCModel, table: Table) -> Iterator[Check]:
    classifier = model.classifier
    yield check_source(model.data, table)
    same = _encoded_alike(classifier, table)
    yield Check(
        "fitting the encoder again gives the same states, means and deviations",
        same and len(table) == model.data.get("n_rows", len(table)),
        f"{len(classifier.encoder_.names)} features, {len(table)} rows",
    )
    if not same:
        return
    broken = list(_broken_rules(classifier, Constraints(**model.settings.get("constraints", {}))))
    yield Check(
        "the class network satisfies limits and constraints",
        not broken,
        "; ".join(broken) or f"{len(classifier.structure_.arcs)} arcs",
    )
    told, value = classifier.result_.objective, _objective(classifier, table)
    yield Check(
        "the class network has the stated score, by its predictions for the training rows",
        abs(value - told) <= max(allowed_gap(told), 1e-6 * abs(told)),
        f"{value:.6f}, the model says {told:.6f}",
    )
    yield check_status(classifier.result_)


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


def _objective(classifier: GBNCClassifier, table: Table) -> float:
    """The log-likelihood of the training labels minus the BIC penalty of every base model."""
    likelihood = classifier.predict_joint_log_proba(table.features, table.targets).sum()
    penalty = 0.0
    for local, classes in zip(classifier.local_models_, classifier.target_classes_, strict=True):
        penalty += 0.5 * math.log(len(table)) * (len(classes) - 1) * math.prod(local.cards)
    return float(likelihood) - penalty
