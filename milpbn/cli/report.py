"""The report at the end of a run, as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from milpbn.encoding import EncodedData
from milpbn.learning.model import Model
from milpbn.messages import on_command_line
from milpbn.network.inference import accuracy
from milpbn.result import Result
from milpbn.words import count


def accuracies(model: Model, data: EncodedData) -> dict[str, float]:
    """Training accuracy, and test accuracy if there are test rows."""
    out = {"training": accuracy(model.network, data.train())}
    if len(data.test()):
        out["test"] = accuracy(model.network, data.test())
    return out


def text_report(model: Model, data: EncodedData) -> str:
    """The report as text: data, rows, result, parameters, accuracies and structure."""
    n_train, n_test = len(data.train()), len(data.test())
    rows = f"{n_train} training" + (f", {n_test} test" if n_test else "")
    if data.n_dropped_rows:
        rows += f" ({count(data.n_dropped_rows, 'incomplete row')} left out)"
    share = ", ".join(f"{k} {100 * v:.2f} %" for k, v in accuracies(model, data).items())
    lines = [
        f"{'data':<12}{data.name}",
        f"{'rows':<12}{rows}",
        str(model.result),
        f"{'parameters':<12}{_parameters(model, n_train)}",
        f"{'accuracy':<12}{share}",
        "",
        str(model.network.structure),
    ]
    return "\n".join(lines)


def _parameters(model: Model, n_train: int) -> str:
    told = f"{model.network.n_parameters} by {model.parameters}"
    if model.network.n_parameters <= n_train:
        return told
    return f"{told}; more parameters than training rows, so the training accuracy says little"


def report_dict(model: Model, data: EncodedData) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "data": model.data,
        "settings": model.settings,
        "result": model.result.to_dict(),
        "parameters": model.parameters.to_dict(),
        "accuracy": accuracies(model, data),
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
