"""The base models of a GBNC as entries of its file, and the checks of such entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from milpbn.errors import ModelFileError
from milpbn.mdc.candidates import Nodes
from milpbn.mdc.local_models import ConfigurationModel, LocalModel


def check_local(
    local: Mapping[str, Any], child: int, nodes: Nodes, estimators: Sequence[Any], width: int
) -> None:
    """Raise if base models do not fit the nodes or each other."""
    parents, cards = local["parents"], nodes.cards
    known = child == local["child"] and all(p < len(cards) and p != child for p in parents)
    if not known or parents != sorted(set(parents)):
        raise ModelFileError("child and parents are not nodes of the model")
    discrete = [cards[p] for p in parents if p >= nodes.d]
    if (local["cards"], local["n_class_parents"], local["n_states"]) != (
        [cards[p] for p in parents],
        len(parents) - len(discrete),
        cards[child],
    ):
        raise ModelFileError("the numbers of parents or states differ from those of the nodes")
    if [len(f) for f in local["frequencies"]] != discrete:
        raise ModelFileError("the frequencies do not match the states of the parents")
    numbers = [c["configuration"] for c in local["configurations"]]
    if len(set(numbers)) < len(numbers) or max(numbers, default=0) >= prod(local["cards"]):
        raise ModelFileError("a configuration does not exist, or is listed twice")
    for c in local["configurations"]:
        _check_configuration(c, cards[child], estimators, width)


def _check_configuration(
    given: Mapping[str, Any], n_states: int, estimators: Sequence[Any], width: int
) -> None:
    where, counts = f"configuration {given['configuration']}", given["counts"]
    if len(counts) != n_states:
        raise ModelFileError(f"{where} has {len(counts)} counts for {n_states} states")
    if given["base_model"] is None:
        return
    if given["base_model"] >= len(estimators):
        raise ModelFileError(f"{where} names a base model that does not exist")
    estimator = estimators[given["base_model"]]
    shown = [state for state, n in enumerate(counts) if n]
    if len(shown) < 2 or list(estimator.classes_) != shown:
        raise ModelFileError(f"{where}: the base model has other states than the counts")
    if getattr(estimator, "n_features_in_", width) != width:
        raise ModelFileError(
            f"{where}: the base model has {estimator.n_features_in_} features, not {width}"
        )


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Errors name the place in the file."""
    try:
        yield
    except ModelFileError as error:
        raise error.at(place) from None


def local_to_dict(model: LocalModel, estimators: list[Any]) -> dict[str, Any]:
    """The entry of a family; its base models are appended to `estimators`."""
    configurations = []
    for number, part in sorted(model.models.items()):
        place = None
        if part.estimator is not None:
            place = len(estimators)
            estimators.append(part.estimator)
        configurations.append(
            {"configuration": number, "counts": part.counts.tolist(), "base_model": place}
        )
    return {
        "child": model.child,
        "parents": list(model.parents),
        "n_class_parents": model.n_class_parents,
        "cards": list(model.cards),
        "n_states": len(model.empty.counts),
        "frequencies": [f.tolist() for f in model.frequencies],
        "configurations": configurations,
    }


def local_from_dict(data: Mapping[str, Any], estimators: Sequence[Any]) -> LocalModel:
    """The inverse of :func:`local_to_dict`."""
    models = {
        int(c["configuration"]): ConfigurationModel(
            np.array(c["counts"]),
            None if c["base_model"] is None else estimators[c["base_model"]],
        )
        for c in data["configurations"]
    }
    return LocalModel(
        child=int(data["child"]),
        parents=tuple(map(int, data["parents"])),
        n_class_parents=int(data["n_class_parents"]),
        cards=tuple(map(int, data["cards"])),
        models=models,
        frequencies=tuple(np.array(f, dtype=np.float64) for f in data["frequencies"]),
        empty=ConfigurationModel(np.zeros(int(data["n_states"]), dtype=np.int64)),
    )
