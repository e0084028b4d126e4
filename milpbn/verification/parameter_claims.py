"""Verification of the tables of a model, and of the report on how they were learned."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from milpbn._types import FloatArray
from milpbn.encoding import EncodedData
from milpbn.families.candidates import CLASS
from milpbn.learning.classifier import feature_importance
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings
from milpbn.network.inference import log_joint
from milpbn.network.multinet import Classifier, Multinet, fit_classifier
from milpbn.parameters.discriminative import Discriminative
from milpbn.parameters.losses import Loss
from milpbn.result import ParameterReport
from milpbn.scores.definition import row_weights
from milpbn.verification.entries import differences

_CLOSE = 1e-9
_RELATIVE = 1e-6


def table_errors(model: Model, settings: Settings, data: EncodedData) -> Iterator[str]:
    """Where counts, tables and importance are not what the training rows give.

    Tables that were learned by a search are not learned again: each must add up to 1, and those
    that the search does not change are counted.
    """
    again = _counted(model, settings, data)
    if not _same_counts(model.network, again):
        yield "the counts differ"
    if not _same_shares(model.network, again):
        yield "the shares of states inside coarser ones differ"
    learned = not settings.parameters.counted
    for name, told, counted, discriminates in _tables(model.network, again):
        worst = float(np.abs(np.exp(told).sum(axis=-1) - 1).max())
        if learned and discriminates and worst >= _CLOSE:
            yield f"the probabilities of {name} add up to 1 only within {worst:.1g}"
        far = float(np.abs(told - counted).max())
        if not (learned and discriminates) and far >= _CLOSE:
            yield f"counting again changes the logarithms of {name} by {far:.1g}"
    if model.importance:
        known = feature_importance(model.network, data)
        if model.importance.keys() != known.keys():
            yield "the importance is not that of the features"
        yield from differences(model.importance, known, "importance")


def report_errors(model: Model, settings: Settings, data: EncodedData) -> Iterator[str]:
    """Where the report on the parameters contradicts the settings, the tables or itself."""
    told, learner = model.parameters, settings.parameters
    if told.method != str(learner):
        yield f"parameters.method is {told.method!r}, but settings.parameters is {str(learner)!r}"
        return
    if not isinstance(learner, Discriminative):
        again = {**ParameterReport(str(learner)).to_dict(), "seconds": told.seconds}
        yield from differences(told.to_dict(), again, "parameters")
        return
    if told.measure != learner.measure:
        yield f"the measure is {told.measure!r}, not {learner.measure!r}"
    loss = learner.loss_of(told.chosen)
    for name, network in (("start", _counted(model, settings, data)), ("objective", model.network)):
        value, stated = _measure(loss, network, data), getattr(told, name)
        if stated is None or abs(stated - value) > _RELATIVE * max(1.0, abs(value)):
            yield f"parameters.{name} is {stated}, but the tables give {value:.6f}"
    if not learner.beats_ml or told.start is None or told.objective is None:
        return
    if told.objective < told.start - _RELATIVE:
        yield "the parameters are worse than their start"


def _measure(loss: Loss, network: Classifier, data: EncodedData) -> float:
    """What was maximised, without any penalty; only the differences between classes matter."""
    codes = data.train()
    joint, weights = log_joint(network, codes[:, 1:]), row_weights(codes, data.train_weights())
    return loss(joint, codes[:, CLASS], weights)[0]


def _counted(model: Model, settings: Settings, data: EncodedData) -> Classifier:
    """The classifier with the tables of maximum likelihood."""
    structure, codes, weights = model.network.structure, data.train(), data.train_weights()
    return fit_classifier(structure, data.variables, codes, settings.smoothing, weights)


def _same_counts(told: Classifier, again: Classifier) -> bool:
    """Whether the counts of a model, if it has any, are those of its data."""
    if not told.has_counts:
        return True
    names = [v.name for v in told.variables]
    pairs = ((told.table(n, counts=True), again.table(n, counts=True)) for n in names)
    return all(np.allclose(mine, theirs, rtol=1e-9, atol=1e-9) for mine, theirs in pairs)


def _same_shares(told: Classifier, again: Classifier) -> bool:
    """Whether states have the same shares; parameter learners do not change these."""
    parts = [own.networks if isinstance(own, Multinet) else (own,) for own in (told, again)]
    pairs = zip(*parts, strict=True)
    both = [shares for a, b in pairs for shares in zip(a.shares, b.shares, strict=True)]
    return all(np.allclose(mine, theirs, rtol=0, atol=_CLOSE) for mine, theirs in both)


def _tables(
    told: Classifier, again: Classifier
) -> Iterator[tuple[str, FloatArray, FloatArray, bool]]:
    """Name, table of the file, table counted again, and whether it discriminates the classes."""
    if isinstance(told, Multinet):
        assert isinstance(again, Multinet)
        yield told.variables[CLASS].name, told.log_prior, again.log_prior, True
        for state, one, other in zip(
            told.structure.classes, told.networks, again.networks, strict=True
        ):
            pairs = zip(told.variables[1:], one.log_cpts[1:], other.log_cpts[1:], strict=True)
            yield from (
                (f"{v.name} given {state}", mine, theirs, True) for v, mine, theirs in pairs
            )
        return
    assert not isinstance(again, Multinet)
    pairs = zip(told.variables, told.log_cpts, again.log_cpts, strict=True)
    for i, (variable, mine, theirs) in enumerate(pairs):
        yield variable.name, mine, theirs, i == CLASS or CLASS in told.structure.parents[i]
