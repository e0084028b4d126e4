"""The part of a report that computes: choices for a case, and the tables that answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from milpbn._types import Codes
from milpbn.deployment.calculation import Calculation, make_calculation
from milpbn.deployment.javascript import calculation_content
from milpbn.learning.model import Model

# More entries of tables make a page of more than a megabyte.
_MOST_ENTRIES = 50_000


def what_if(model: Model, codes: Codes | None, chosen: Mapping[int, str]) -> dict[str, Any] | None:
    """The choices and the tables; None if no feature matters, or if they are too large for a page.

    Parameters
    ----------
    model
        The model.
    codes
        ``(M, n)`` rows, the class first.
    chosen
        Positions of the rows to start with, and why they were chosen.
    """
    calculation = make_calculation(model.network, model.encoder)
    if not calculation.columns or _n_entries(calculation) > _MOST_ENTRIES:
        return None
    content = calculation_content(calculation)
    # The page shows names and states as people write them, and does not read rows.
    content["classes"] = list(model.encoder.target.readable_states)
    for column in content["columns"]:
        reading = model.encoder.readings.get(column["name"])
        if reading is not None and reading.measure:
            column["name"] = f"{column['name']} ({reading.measure})"
        for key in ("texts", "numbers", "cuts", "bins", "other"):
            column.pop(key, None)
    unknown = [-1] * len(calculation.columns)
    starts = [
        (f"row {row + 1}{f', {why}' if why else ''}", _case(calculation, codes[row, 1:]))
        for row, why in chosen.items()
        if codes is not None
    ]
    given = any(
        term.scope for part in calculation.parts for term in part.terms if term.variable < 0
    )
    return {
        "model": content,
        "before": "given its parents" if given else "before any feature",
        "columns": content["columns"],
        "classes": content["classes"],
        "starts": [*starts, ("nothing known", unknown)],
    }


def _n_entries(calculation: Calculation) -> int:
    return sum(term.values.size for part in calculation.parts for term in part.terms)


def _case(calculation: Calculation, codes: Codes) -> list[int]:
    """The codes of a row, as the page counts them."""
    own = [int(codes[column.feature]) for column in calculation.columns]
    return [
        column.merged[code] if code >= 0 else -1
        for column, code in zip(calculation.columns, own, strict=True)
    ]
