"""The importance of the features of a model, as text for people and as plain data."""

from __future__ import annotations

from typing import Any

import click
import pandas as pd

from milpbn.cli.outputs import say
from milpbn.cli.rows import measured_rows
from milpbn.explanation import importance_table
from milpbn.explanation.explain import feature_parents
from milpbn.learning.model import Model
from milpbn.widths import aligned, fitting
from milpbn.words import name_in_list

_CONTRIBUTION, _ACCURACY, _LOG_LOSS = "contribution", "accuracy lost, %", "log-loss gained"


class ModelImportance:
    """Mean absolute contributions and, if there are labelled rows, permutation importance.

    Parameters
    ----------
    model
        The model.
    model_file
        Its file, for messages.
    file
        Rows to measure on; by default those of the model's own data.
    """

    def __init__(self, model: Model, model_file: str, file: str | None) -> None:
        parents = feature_parents(model.network.structure)
        self._parents = {parent for above in parents.values() for parent in above}
        rows = measured_rows(model, model_file, file)
        if rows is not None:
            self._table, self._rows = importance_table(model.network, rows.codes), rows.described
            return
        if not model.importance:
            raise click.UsageError(
                f"{model_file} does not say where its data are; give rows with --test"
            )
        stored = pd.Series(model.importance, name="contribution").to_frame()
        self._table = stored.sort_values("contribution", ascending=False, kind="stable")
        self._rows = f"{model.data.get('n_rows', '')} training rows".strip()
        say(
            f"note: {model_file} does not say where its data are; for permutation importance, give "
            "rows with --test"
        )

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        return {"rows": self._rows, "features": self._table.to_dict("index")}

    def text(self, width: int | None) -> str:
        """One line per feature, the most important first."""
        table = self._table
        columns = {
            "feature": list(map(name_in_list, table.index)),
            _CONTRIBUTION: [f"{size:.3f}" for size in table["contribution"]],
        }
        if "accuracy" in table:
            columns[_ACCURACY] = _spread(100 * table["accuracy"], 100 * table["accuracy_std"], 2)
            columns[_LOG_LOSS] = _spread(table["log_loss"], table["log_loss_std"], 4)
        widths = {name: max(map(len, [name, *cells])) for name, cells in columns.items()}
        kept = fitting(widths, [_ACCURACY, _LOG_LOSS], width, gap=2)
        lines = zip(*([name, *columns[name]] for name in kept), strict=True)
        told = [
            f"Importance on {self._rows}.",
            "contribution: mean size of the contribution to the log-odds of the prediction",
            "lost, gained: if the feature is permuted (mean ± standard deviation)",
        ]
        blocks = ["\n".join(told[: 2 + ("accuracy" in table)]), aligned(list(map(list, lines)))]
        through = [
            name for name in table.index[table["contribution"] == 0] if name in self._parents
        ]
        if through:
            names = ", ".join(map(name_in_list, through))
            blocks.append(f"no contribution of their own, but parents of other features: {names}")
        return "\n\n".join(blocks)


def _spread(means: pd.Series[float], deviations: pd.Series[float], digits: int) -> list[str]:
    pairs = zip(means, deviations, strict=True)
    return [f"{mean:.{digits}f} ± {deviation:.{digits}f}" for mean, deviation in pairs]
