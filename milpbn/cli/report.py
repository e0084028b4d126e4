"""The report at the end of a run, as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import shlex
from typing import Any

import numpy as np

from milpbn.cli.alternatives import alternative_lines
from milpbn.datasets.bins import MDLP
from milpbn.datasets.monotone import as_typed
from milpbn.encoding import EncodedData
from milpbn.learning.model import Model
from milpbn.messages import listed_names, on_command_line, option
from milpbn.network.inference import accuracy, log_posterior
from milpbn.network.monotone import odds_steps
from milpbn.network.network import Network
from milpbn.result import Result
from milpbn.selection.candidates import show_values
from milpbn.selection.criteria import CRITERIA
from milpbn.settings import ColumnNames, declared
from milpbn.structure import Structure
from milpbn.words import count, name_in_list


def accuracies(model: Model, data: EncodedData) -> dict[str, float]:
    """Training accuracy, and test accuracy if there are test rows."""
    out = {"training": accuracy(model.network, data.train())}
    if len(data.test()):
        out["test"] = accuracy(model.network, data.test())
    return out


def measured_on_test_rows(model: Model, data: EncodedData) -> dict[str, Any] | None:
    """What the test rows say about the classifier and about the majority class."""
    test = data.test()
    if not len(test):
        return None
    from milpbn.evaluation.measures import (
        accuracy_interval,
        majority_proba,
        mean_brier,
        mean_log_loss,
        measure_rows,
    )

    classes = np.arange(model.network.n_classes)
    counts = np.bincount(data.train()[:, 0], minlength=len(classes))
    proba = np.exp(log_posterior(model.network, test[:, 1:]))
    found = [measure_rows(classes, proba, test[:, 0])]
    least = [measure_rows(classes, majority_proba(counts, len(test)), test[:, 0])]
    accuracy, interval = accuracy_interval(found)
    return {
        "rows": len(test),
        "accuracy": accuracy,
        "interval": interval,
        "log_loss": mean_log_loss(found),
        "brier": mean_brier(found),
        "majority": {"accuracy": least[0].accuracy, "log_loss": mean_log_loss(least)},
    }


def warnings(model: Model, data: EncodedData) -> list[str]:
    """Warnings if the classifier is not better than the majority class on the test rows."""
    found = measured_on_test_rows(model, data)
    if found is None:
        return []
    least, told = found["majority"], []
    if found["accuracy"] <= least["accuracy"]:
        told.append(
            f"warning: {100 * found['accuracy']:.2f} % of the test rows are predicted correctly; "
            f"always predicting the majority class gets {100 * least['accuracy']:.2f} %"
        )
    if found["log_loss"] > least["log_loss"]:
        told.append(
            f"warning: the log-loss on the test rows is {found['log_loss']:.4f}; the class "
            f"frequencies of the training rows get {least['log_loss']:.4f}"
        )
    return told


def text_report(model: Model, data: EncodedData) -> str:
    """The report as text: data, rows, result, parameters, accuracies and structure."""
    n_train, n_test = len(data.train()), len(data.test())
    rows = f"{n_train} training" + (f", {n_test} test" if n_test else "")
    if (weights := data.train_weights()) is not None:
        rows += f", total weight {weights.sum():g}"
    if data.n_dropped_rows:
        rows += f" ({count(data.n_dropped_rows, 'incomplete row')} left out)"
    lines = [
        f"{'data':<12}{data.name}",
        f"{'rows':<12}{rows}",
        *bins_lines(model),
        *selection_lines(model),
        str(model.result),
        f"{'parameters':<12}{_parameters(model, n_train)}",
        *_accuracy_lines(model, data),
        "",
        *structure_lines(model),
    ]
    if model.alternatives is not None:
        lines += ["", *alternative_lines(model.alternatives, model.encoder)]
    if not n_test and "file" in data.source:
        lines += ["", _advice(model, data)]
    return "\n".join(lines)


def _parameters(model: Model, n_train: int) -> str:
    told = f"{model.network.n_parameters} by {model.parameters}"
    if model.network.n_parameters <= n_train:
        return told
    return f"{told}; more parameters than training rows, so the training accuracy says little"


def structure_lines(model: Model) -> list[str]:
    """The structure, and the states of the resolutions that its families use."""
    legend = model.seen.legend
    return [str(model.seen), *([""] if legend else []), *legend, *_cost_lines(model)]


def _cost_lines(model: Model) -> list[str]:
    """What the features of the structure cost, if they have costs."""
    costs = model.settings.get("constraints", {}).get("feature_costs")
    structure = model.result.structure
    if not costs or not isinstance(structure, Structure):
        return []
    used = {name for arc in structure.arcs for name in arc}
    paid = [f"{name_in_list(n)} {cost}" for n, cost in costs.items() if n in used and cost]
    total = sum(cost for name, cost in costs.items() if name in used)
    return ["", f"{'cost':<12}{total}{' (' + ', '.join(paid) + ')' if paid else ''}"]


def bins_lines(model: Model) -> list[str]:
    """How numeric columns were cut, if not in the usual way."""
    bins, own = model.encoder.bins, " ".join(model.encoder.own_bins.on_command_line())
    told = [bins] if bins != MDLP else []
    told += [own] if own else []
    lines = [f"{'bins':<12}{', '.join(told)}"] if told else []
    return [*lines, *_effect_lines(model)]


def _effect_lines(model: Model) -> list[str]:
    """The monotone effects, and how the odds change from one state to the next."""
    if not model.encoder.monotone or not isinstance(model.network, Network):
        return []
    label = model.encoder.target.readable_states[1]
    lines = [f"{'monotone':<12}odds of {label!r}, each state against the one before"]
    for i, code in enumerate(model.encoder.columns, 1):
        if code.monotone:
            low, high = np.exp(odds_steps(model.network, i))
            steps = (
                f"{state} x{a:.2f}" if b - a < 0.005 else f"{state} x{a:.2f} to x{b:.2f}"
                for state, a, b in zip(code.readable_states, low, high, strict=False)
            )
            sign = "+" if code.monotone > 0 else "-"
            first, *others = steps
            told = ", ".join([first.rpartition(" x")[0], *others])
            lines.append(f"{'':<12}{code.name}{sign}: {told}")
    return lines if len(lines) > 1 else []


def selection_lines(model: Model, most: int = 0) -> list[str]:
    """What validation chose, and the best candidates if `most` is positive."""
    selection = model.selection
    if selection is None:
        return []
    lines = [f"{'selected':<12}{selection}"]
    if not most:
        return lines
    criterion = CRITERIA[selection.by]
    for k in selection.order[:most]:
        c = selection.candidates[k]
        value = criterion.show(c.scores[selection.by]) if c.scores else "-"
        early = f" ({c.error})" if c.error else ", stopped early" if c.stopped_early else ""
        lines.append(f"{'':<12}{value:>10}  {show_values(c.values)}{early}")
    if len(selection.candidates) > most:
        lines.append(f"{'':<12}{'...':>10}  {len(selection.candidates) - most} more candidates")
    return lines


def _accuracy_lines(model: Model, data: EncodedData) -> list[str]:
    training = f"training {100 * accuracy(model.network, data.train()):.2f} %"
    found = measured_on_test_rows(model, data)
    if found is None:
        return [f"{'accuracy':<12}{training}"]
    share = f"{100 * found['accuracy']:.2f} ± {100 * found['interval']:.2f} %"
    least = found["majority"]
    return [
        f"{'accuracy':<12}{training}, test {share}",
        f"{'log-loss':<12}test {found['log_loss']:.4f}",
        f"{'majority':<12}test {100 * least['accuracy']:.2f} %, log-loss {least['log_loss']:.4f}",
    ]


def _advice(model: Model, data: EncodedData) -> str:
    """How to estimate the accuracy on unseen data of the user's own file."""
    columns = {**data.source.get("columns", {}), "missing": model.encoder.missing}
    columns["bins"] = model.encoder.bins
    usual = {name: one.default for name, one in declared(ColumnNames).items()}
    factors = data.source.get("class_weight")
    if isinstance(factors, dict):
        factors = [f"{label}={weight:g}" for label, weight in factors.items()]
    orders = columns.pop("ordered", {})
    told = {"data": data.source["file"], **columns, "class_weight": factors}
    words = [
        option(name, value if isinstance(value, list) else str(value)).command_line
        for name, value in told.items()
        if value and value != usual.get(name)
    ]
    words += model.encoder.own_bins.on_command_line()
    if model.encoder.monotone:
        words.append(option("monotone", as_typed(model.encoder.monotone)).command_line)
    words += [shlex.join(["--ordered", f"{c}={listed_names(own)}"]) for c, own in orders.items()]
    return (
        "To estimate the accuracy on unseen data, add --holdout 0.25, or run: "
        f"milpbn evaluate {' '.join(words)}"
    )


def report_dict(model: Model, data: EncodedData) -> dict[str, Any]:
    """The report as plain data."""
    found = measured_on_test_rows(model, data)
    return {
        "data": model.data,
        "settings": model.settings,
        "result": model.result.to_dict(),
        "parameters": model.parameters.to_dict(),
        "accuracy": accuracies(model, data),
        **({"selection": model.selection.to_dict()} if model.selection else {}),
        **({"alternatives": model.alternatives.to_dict()} if model.alternatives else {}),
        **({"test": found} if found else {}),
        "notes": [on_command_line(note) for note in data.notes],
    }


def json_report(model: Model, data: EncodedData) -> str:
    """The report as JSON."""
    return json.dumps(report_dict(model, data), indent=1, allow_nan=False)


def trace_csv(result: Result) -> str:
    """The trace as CSV: time, objective, bound, relative gap, nodes, source."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["time", "objective", "bound", "gap", "nodes", "source"])
    for point in result.trace:
        writer.writerow(
            [
                f"{point.time:.4f}",
                point.objective,
                point.bound,
                point.gap_rel,
                point.nodes,
                point.source,
            ]
        )
    return out.getvalue()
