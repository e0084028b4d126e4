"""Tables of an evaluation as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from milpbn.evaluation.comparison import LEVEL
from milpbn.widths import aligned, fitting, show

if TYPE_CHECKING:
    from milpbn.evaluation.summary import Evaluation, Summary

_HEADER = (
    *("method", "accuracy", "balanced", "AUC", "log-loss", "ECE"),
    *("size", "seconds", "proven"),
)

# What a narrow terminal leaves out first.
_DISPENSABLE = ("size", "seconds", "ECE", "balanced", "AUC", "proven")

# Marks an accuracy or a log-loss that is not better than that of the majority baseline.
_WARNING = "!"


def methods_table(evaluation: Evaluation, width: int | None = None) -> str:
    """One line per method, the majority baseline first, and footnotes for the marks.

    If the terminal has only `width` characters per line, columns that do not fit are left out.
    """
    summaries, least = evaluation.summaries(), evaluation.majority()
    weak = {s.label for s in evaluation.not_better()}
    lossy = {s.label for s in evaluation.worse_loss()}
    tests = evaluation.tests()[: max(0, len(summaries) - 1)]  # those of the first method
    marks = {test.other: test.mark for test in tests if test.mark}
    n_signs = bool(marks) + bool(weak)
    lines: list[Sequence[str]] = [_HEADER]
    for s in [*([least] if least else []), *summaries]:
        signs = marks.get(s.label, "") + (_WARNING if s.label in weak else "")
        loss_sign = _WARNING if s.label in lossy else ""
        lines.append(_line(s, signs.ljust(n_signs), loss_sign.ljust(bool(lossy))))
    notes = []
    if marks:
        notes.append(
            f"+/-  {summaries[0].name} is significantly better/worse (corrected resampled t-test, "
            f"{LEVEL:.0%})"
        )
    if weak:
        notes.append(f"{_WARNING}    not more accurate than always predicting the majority class")
    if lossy:
        notes.append(f"{_WARNING}    log-loss larger than that of the class frequencies (majority)")
    return "\n".join([aligned(_narrowed(lines, width)), *([""] if notes else []), *notes])


def _narrowed(lines: Sequence[Sequence[str]], width: int | None) -> list[list[str]]:
    columns = dict(zip(_HEADER, zip(*lines, strict=True), strict=True))
    widths = {name: max(map(len, cells)) for name, cells in columns.items()}
    shown = fitting(widths, _DISPENSABLE, width, gap=2)
    return [list(cells) for cells in zip(*(columns[name] for name in shown), strict=True)]


def _line(s: Summary, signs: str, loss_sign: str) -> list[str]:
    share, loss = f"{100 * s.accuracy:.2f} ± {100 * s.interval:.2f} %", show(s.log_loss, ".4f")
    return [
        s.name,
        f"{share} {signs}" if signs else share,
        show(s.balanced_accuracy, ".2f", 100),
        show(s.auc, ".3f"),
        f"{loss} {loss_sign}" if loss_sign else loss,
        show(s.calibration_error, ".3f"),
        show(s.n_parameters, ".0f"),
        f"{s.seconds:.2f}" if s.seconds else "-",
        _proven(s),
    ]


def _proven(s: Summary) -> str:
    """How many folds were proven optimal, and the largest gap of the others."""
    if s.gap is None:
        return f"{s.optimal}/{s.folds}" if s.optimal else "-"
    proven = f"{s.optimal}/{s.folds}"
    return proven if s.optimal == s.folds else f"{proven}, gap {100 * s.gap:.2g} %"
