"""Verification: the claims of a GBNC model file, checked against its data.

The base models of the file are used as they are, to check that data, encoding, structure and
score are what the file says. Only a score of held-out rows needs base models that are trained
again, without one fold at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from milpbn.anytime import allowed_gap
from milpbn.datasets.table import Table
from milpbn.families import Constraints
from milpbn.learning.verification import Check, Verification, check_source, check_status
from milpbn.mdc.features import FeatureEncoder
from milpbn.mdc.gbnc import GBNCClassifier
from milpbn.mdc.local_scores import make_local_score
from milpbn.mdc.model_file import GBNCModel
from milpbn.mdc.rescore import score_by_prediction


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
    yield _score(classifier, table)
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


def _score(classifier: GBNCClassifier, table: Table) -> Check:
    """The score of the class network, from the training rows."""
    rows = "the training rows" if classifier.validation is None else "held-out rows"
    claim = f"the class network has the stated score, by its predictions for {rows}"
    features, nodes = classifier.encoder_.transform(table.features), classifier.nodes()
    codes = classifier.known_codes(table.targets, len(table))
    seed = classifier.random_state or 0
    every_code = np.column_stack([codes, features.codes])
    score = make_local_score(every_code, nodes.cards, classifier.validation, seed)
    bases: list[Any] = []
    if score.folds is not None:
        if classifier.base_ is None:
            return Check(claim, None, "the file does not describe its base estimator")
        n_columns = features.matrix.shape[1]
        cards = nodes.cards[: nodes.d]
        bases = [classifier.base_.estimator(n_columns, card, seed) for card in cards]
    value = score_by_prediction(classifier.local_models_, bases, features, codes, nodes, score)
    told = classifier.result_.objective
    return Check(
        claim,
        abs(value - told) <= max(allowed_gap(told), 1e-6 * abs(told)),
        f"{value:.6f}, the model says {told:.6f}",
    )
