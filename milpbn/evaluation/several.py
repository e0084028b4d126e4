"""The table of an evaluation with several class variables: means, deviations and marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from milpbn._types import FloatArray
from milpbn.evaluation.comparison import LEVEL, compare
from milpbn.evaluation.records import FoldRecord
from milpbn.words import count

REFERENCE = "gbnc"
"""The method with which the others are compared by marks."""

METRICS: dict[str, Callable[[FoldRecord], float]] = {
    "exact match": lambda r: r.measures.accuracy,
    "sub-exact": lambda r: r.measures.sub_exact or 0.0,
    "Hamming score": lambda r: r.measures.hamming or 0.0,
    "macro F1": lambda r: r.measures.macro_f1 or 0.0,
}

_WIDTH = 18


def several_table(records: Sequence[FoldRecord]) -> str:
    """The table, with mean and standard deviation over the folds that every method finished."""
    by_key = {(r.method, r.fold): r for r in records}
    methods = list(dict.fromkeys(r.method for r in records))
    numbers = sorted({r.fold for r in records})
    folds = [k for k in numbers if all((m, k) in by_key for m in methods)]
    if not folds:
        return "no fold was finished by every method"
    # Two columns are kept for a space and a mark.
    titles = "".join(f"{title + '  ':>{_WIDTH}}" for title in METRICS)
    lines = [f"{'method':<6}{titles}{'seconds':>9}"]
    for m in methods:
        own = [by_key[m, k] for k in folds]
        reference = None
        if REFERENCE in methods and m != REFERENCE:
            reference = [by_key[REFERENCE, k] for k in folds]
        cells = [_cell(own, reference, metric) for metric in METRICS.values()]
        seconds = np.mean([r.seconds for r in own])
        shown = "".join(f"{cell:>{_WIDTH}}" for cell in cells)
        lines.append(f"{m:<6}{shown}{seconds:>9.1f}")
    lines.append(f"mean and standard deviation over {len(folds)} folds; seconds per fold")
    if REFERENCE in methods and len(methods) > 1:
        lines.append(
            f"+/-: {REFERENCE} is significantly better/worse (Wilcoxon signed-rank test, "
            f"{LEVEL:.0%})"
        )
    for m in methods:
        if unconverged := sum(by_key[m, k].unconverged for k in folds):
            lines.append(f"note: {m}: {count(unconverged, 'base model')} did not converge")
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
