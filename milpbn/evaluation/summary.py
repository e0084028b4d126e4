"""The results of an evaluation: one line per method, and the predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from milpbn.datasets.table import Table
from milpbn.evaluation.measures import accuracy_interval, mean_brier, mean_log_likelihood
from milpbn.evaluation.records import FoldRecord
from milpbn.evaluation.several import several_table
from milpbn.learning.validation import RowNumbers


@dataclass(frozen=True)
class Summary:
    """One line of the table: a method over all its folds.

    Attributes
    ----------
    method, parameters
        The method's label, and how its parameters are learned.
    folds
        Number of finished folds.
    accuracy, interval
        Mean accuracy, and half the width of its 95 % confidence interval. With several class
        variables a row is correct if all of them are predicted (exact match).
    cll
        Conditional log-likelihood per row; None with several class variables.
    brier
        Brier score per row: 0 is perfect, 2 the worst; None with several class variables.
    n_parameters
        Number of free parameters of the networks, averaged over folds; None without a network.
    seconds
        Time for learning, over all folds.
    optimal
        Number of folds that ended with a proof of optimality.
    hamming
        Mean share of single class values that are correct; None with one class variable.
    sub_exact
        Mean share of rows with at most one wrong class value; None with one class variable.
    macro_f1
        Mean over folds and class variables of the macro F1; None with one class variable.
    unconverged
        Number of base models that did not converge.
    """

    method: str
    parameters: str
    folds: int
    accuracy: float
    interval: float
    cll: float | None
    brier: float | None
    n_parameters: float | None
    seconds: float
    optimal: int
    hamming: float | None = None
    sub_exact: float | None = None
    macro_f1: float | None = None
    unconverged: int = 0


@dataclass(frozen=True)
class Evaluation:
    """The results of methods on a data set.

    Attributes
    ----------
    table
        The rows, without incomplete ones if that is the policy.
    row_numbers
        The numbers of these rows in the given table, from 0.
    protocol
        How the rows were split, as text.
    records
        One for each method and fold, in the order of the methods.
    n_expected
        Number of records of a complete evaluation.
    """

    table: Table
    row_numbers: RowNumbers
    protocol: str
    records: tuple[FoldRecord, ...]
    n_expected: int

    @property
    def complete(self) -> bool:
        """Whether every fold of every method is finished; False after Ctrl-C."""
        return len(self.records) == self.n_expected

    def summaries(self) -> list[Summary]:
        """The lines of the table."""
        groups: dict[tuple[str, str], list[FoldRecord]] = {}
        for record in self.records:
            groups.setdefault((record.method, record.parameters), []).append(record)
        return [_summary(group) for group in groups.values()]

    def to_frame(self) -> pd.DataFrame:
        """The table as a data frame."""
        return pd.DataFrame([vars(s) for s in self.summaries()])

    def predictions(self) -> pd.DataFrame:
        """Out-of-fold predictions, one line per method and row, if `evaluate` kept them."""
        parts = [self._predictions_of(r) for r in self.records if r.predictions]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def _predictions_of(self, record: FoldRecord) -> pd.DataFrame:
        kept = record.predictions
        assert kept is not None
        proba = np.array(kept.proba)
        frame = pd.DataFrame(
            {
                "row": self.row_numbers[kept.rows] + 1,
                "method": record.method,
                "parameters": record.parameters,
                "fold": record.fold,
                "truth": self.table.target.iloc[kept.rows].to_numpy(),
                "prediction": np.array(kept.classes, dtype=object)[proba.argmax(axis=1)],
            }
        )
        for k, label in enumerate(kept.classes):
            frame[f"P({label})"] = proba[:, k]
        return frame

    def __str__(self) -> str:
        lines = [f"{'data':<12}{self.table.name}", f"{'protocol':<12}{self.protocol}"]
        if not self.complete:
            lines.append(f"{'finished':<12}{len(self.records)} of {self.n_expected} folds")
        if any(r.measures.unknown for r in self.records):
            lines.append(
                f"{'note':<12}test rows whose class is not in the training rows count as errors "
                "and are left out of CLL"
            )
        if self.table.targets.shape[1] > 1:
            return "\n".join([*lines, "", several_table(self.records)])
        summaries = self.summaries()
        width = max([len("method"), *(len(s.method) for s in summaries)]) + 2
        lines += [
            "",
            f"{'method':<{width}}{'learned':<9}{'accuracy':>16}{'CLL':>10}{'Brier':>9}"
            f"{'parameters':>12}{'seconds':>9}{'optimal':>9}",
        ]
        lines += [_line(s, width) for s in summaries]
        return "\n".join(lines)


def _summary(records: Sequence[FoldRecord]) -> Summary:
    measures = [r.measures for r in records]
    accuracy, interval = accuracy_interval(measures)
    sizes = [r.n_parameters for r in records if r.n_parameters is not None]
    return Summary(
        method=records[0].method,
        parameters=records[0].parameters,
        folds=len(records),
        accuracy=accuracy,
        interval=interval,
        cll=mean_log_likelihood(measures),
        brier=mean_brier(measures),
        n_parameters=float(np.mean(sizes)) if sizes else None,
        seconds=sum(r.seconds for r in records),
        optimal=sum(r.status == "optimal" for r in records),
        hamming=_mean([r.measures.hamming for r in records]),
        sub_exact=_mean([r.measures.sub_exact for r in records]),
        macro_f1=_mean([r.measures.macro_f1 for r in records]),
        unconverged=sum(r.unconverged for r in records),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None


def _line(s: Summary, width: int) -> str:
    share = f"{100 * s.accuracy:.2f} ± {100 * s.interval:.2f} %"
    size = "-" if s.n_parameters is None else f"{s.n_parameters:.0f}"
    optimal = f"{s.optimal}/{s.folds}" if s.optimal else "-"
    cll, brier = ("-" if v is None else f"{v:.4f}" for v in (s.cll, s.brier))
    return (
        f"{s.method:<{width}}{s.parameters:<9}{share:>16}{cll:>10}{brier:>9}"
        f"{size:>12}{s.seconds:>9.2f}{optimal:>9}"
    )
