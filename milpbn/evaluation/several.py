"""The table of an evaluation with several class variables: means, deviations and marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from milpbn._types import FloatArray
from milpbn.evaluation.comparison import LEVEL, compare
from milpbn.evaluation.records import FoldRecord

REFERENCE = "gbnc"
"""The method with which the others are compared by marks."""

METRICS: dict[str, Callable[[FoldRecord], float]] = {
    "exact match": lambda r: r.measures.accuracy,
    "Hamming score": lambda r: r.measures.hamming or 0.0,
}


def several_table(records: Sequence[FoldRecord]) -> str:
    """The table, with mean and standard deviation over the folds that every method finished."""
    by_key = {(r.method, r.fold): r for r in records}
    methods = list(dict.fromkeys(r.method for r in records))
    numbers = sorted({r.fold for r in records})
    folds = [k for k in numbers if all((m, k) in by_key for m in methods)]
    if not folds:
        return "no fold was finished by every method"
    lines = [f"{'method':<8}{'exact match':>20}{'Hamming score':>22}{'seconds':>12}"]
    for m in methods:
        own = [by_key[m, k] for k in folds]
        reference = None
        if REFERENCE in methods and m != REFERENCE:
            reference = [by_key[REFERENCE, k] for k in folds]
        cells = [_cell(own, reference, metric) for metric in METRICS.values()]
        seconds = np.mean([r.seconds for r in own])
        lines.append(f"{m:<8}{cells[0]:>20}{cells[1]:>22}{seconds:>12.1f}")
    lines.append(f"mean and standard deviation over {len(folds)} folds; seconds per fold")
    if REFERENCE in methods and len(methods) > 1:
        lines.append(
            f"+/-: {REFERENCE} is significantly better/worse (Wilcoxon signed-rank test, "
            f"{LEVEL:.0%})"
        )
    return "\n".join(lines)


def _cell(
    own: Sequence[FoldRecord],
    reference: Sequence[FoldRecord] | None,
    metric: Callable[[FoldRecord], float],
) -> str:
    values = _values(own, metric)
    mark = "" if reference is None else compare(_values(reference, metric), values)[1]
    deviation = f" ± {values.std(ddof=1):.3f}" if len(values) > 1 else ""
    return f"{values.mean():.3f}{deviation} {mark or ' '}"


def _values(records: Sequence[FoldRecord], metric: Callable[[FoldRecord], float]) -> FloatArray:
    return np.array([metric(r) for r in records])
