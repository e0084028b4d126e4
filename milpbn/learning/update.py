"""New rows for a model: its tables at once, from the counts; its structure from all rows.

The tables of maximum likelihood are functions of counts, which the model has, so the old rows are
not needed: the updated tables are those of all rows, bit by bit. What the score says about the
structure needs all rows. Cuts and states stay those of the first rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from milpbn._types import Codes
from milpbn.anytime import allowed_gap
from milpbn.clock import Clock
from milpbn.datasets.table import Table
from milpbn.encoding.data import complete_rows
from milpbn.errors import DataError, OptionError
from milpbn.families.smoothing import parse_smoothing
from milpbn.learning.classifier import describe_rows, encode, learn_encoded
from milpbn.learning.maximise import Shared
from milpbn.learning.model import Model
from milpbn.learning.settings import Settings
from milpbn.messages import Message, Spelling
from milpbn.network.monotone import broken_trends
from milpbn.network.multinet import count_more
from milpbn.result import Listener, Status
from milpbn.scores.rescore import rescore
from milpbn.structure import AnyStructure

_AGAIN = "learn a new model from all rows"
_SEARCH = Spelling("milpbn.learning.update.search_again", "--search")


def add_rows(model: Model, codes: Codes, source: Mapping[str, Any] | None = None) -> Model:
    """The model with its tables counted from more rows; its structure stays.

    The result of the model is still that of the rows which its structure was learned from:
    ``result.n_rows``, of ``data["n_rows"]`` rows in the tables. Its importance of features is left
    out, because it needs all rows.

    Parameters
    ----------
    model
        A model with parameters of maximum likelihood, without weights, without several resolutions.
    codes
        ``(M, n)`` codes of labelled rows, the class first, see
        :meth:`milpbn.Encoder.encode_labelled`. Rows with a feature of code -1 are left out.
    source
        Where the rows come from, for the model file.

    Raises
    ------
    OptionError
        If the tables cannot be counted from those of the model.
    DataError
        If no row is complete, or the new tables are not monotone although they must be.

    Examples
    --------
    >>> import numpy as np
    >>> from milpbn import Encoder, load_dataset
    >>> from milpbn.learning.classifier import Encoded, learn_encoded
    >>> from milpbn.learning.settings import make_settings
    >>> table = load_dataset("monks-3")
    >>> data = Encoder.fit(table).encode(table)
    >>> encoded = Encoded(Encoder.fit(table), data.first(80), tuple(table.sources))
    >>> model = learn_encoded(encoded, make_settings(method="nb"), clock=Clock())
    >>> more = add_rows(model, data.train()[80:])
    >>> more.data["n_rows"], more.result.n_rows
    (122, 80)
    >>> bool(more.network.table("a2", counts=True).to_numpy().sum() == 122)
    True
    """
    check_updatable(model)
    kept, left_out = complete_rows(codes)
    if not len(kept):
        raise DataError("no new row is complete: every one lacks the class or a feature")
    smoothing = parse_smoothing(model.settings.get("smoothing", "laplace"))
    network = count_more(model.network, kept, smoothing)
    if broken := broken_trends(network):
        raise DataError(f"with the new rows, {broken[0]}; {_AGAIN}")
    told = model.data
    data = {
        **told,
        "n_rows": told.get("n_rows", model.result.n_rows) + len(kept),
        "n_incomplete_rows": told.get("n_incomplete_rows", 0) + left_out,
        "updates": [*told.get("updates", ()), {**(source or {}), "n_rows": len(kept)}],
    }
    return replace(model, network=network, data=data, importance={})


def check_updatable(model: Model) -> None:
    """Raise if the tables of a model cannot be updated from its counts."""
    _check_weights(model)
    if model.parameters.method != "ml":
        told = f"{model.parameters.method} parameters cannot be updated from counts; "
        raise OptionError(Message(told, "to learn them again from all rows, use ", _SEARCH))
    if model.network.structure.resolutions_to_dict():
        told = "tables with several resolutions cannot be updated from counts; "
        raise OptionError(Message(told, "to count all rows again, use ", _SEARCH))
    if not model.network.has_counts:
        raise OptionError(f"the file is too old to have counts; {_AGAIN}")


def _check_weights(model: Model) -> None:
    told = model.data  # files of earlier versions do not say "weighted"
    weighted = told.get("weighted") or told.get("columns", {}).get("weight") is not None
    scaled = model.result.weight != model.result.n_rows
    if weighted or scaled or told.get("class_weight") is not None:
        raise OptionError(f"the model was learned with weights, which new rows lack; {_AGAIN}")


@dataclass(frozen=True)
class StructureUpdate:
    """A search for the structure after an update.

    Attributes
    ----------
    model
        The model of all rows.
    before
        The old structure.
    objective
        Its score on all rows.
    """

    model: Model
    before: AnyStructure
    objective: float

    @property
    def is_better(self) -> bool:
        """Whether the new structure scores more than the old one."""
        return self._gain > allowed_gap(self.objective, self.model.result.scale)

    @property
    def still_optimal(self) -> bool | None:
        """Whether the old structure is optimal for all rows; None if this is not known."""
        if self.is_better:
            return False
        return True if self.model.result.status is Status.OPTIMAL else None

    @property
    def _gain(self) -> float:
        return self.model.result.objective - self.objective


def search_again(
    model: Model, table: Table, *, clock: Clock | None = None, listener: Listener | None = None
) -> StructureUpdate:
    """Learn structure and parameters from all rows, beginning with the structure of the model.

    Parameters
    ----------
    model
        The model before the update.
    table
        Its data, read again, with the new rows as its last ``updates``.
    clock, listener
        See :func:`~milpbn.learn_classifier`.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from milpbn import learn_classifier, load_dataset, make_settings
    >>> table = load_dataset("monks-3")
    >>> model = learn_classifier(table, make_settings(max_parents=1))
    >>> train = table.train()
    >>> rows = train.features.assign(**{train.target.name: train.target})
    >>> found = search_again(model, replace(table, updates=(rows,)))
    >>> found.model.data["n_rows"], found.still_optimal
    (244, True)
    """
    _check_weights(model)
    if model.data.get("sha256") != table.source.get("sha256"):
        raise DataError(f"{table.name}: these are not the rows that the model was learned from")
    clock = clock or Clock()
    encoded = encode(table, clock)
    if encoded.encoder.to_dict() != model.encoder.to_dict():
        raise DataError("the rows do not give the states and cuts of the model; choose its data")
    settings, before = Settings.from_dict(model.settings), model.result.structure
    if model.result.engine == "given structure":
        settings = replace(settings, method=before)
    data = encoded.data.searched()
    value = rescore(settings.score, before, data.variables, data.train())
    shared = Shared(begin=(before,))
    found = learn_encoded(encoded, settings, clock=clock, listener=listener, shared=shared)
    told = {**model.data, **describe_rows(encoded)}
    return StructureUpdate(replace(found, data=told, selection=model.selection), before, value)
