"""The results of an evaluation: one line per method, tests between methods, and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from milpbn.datasets.table import Table
from milpbn.errors import OptionError
from milpbn.evaluation.comparison import Comparison, Label, compare_pairs, corrected_t
from milpbn.evaluation.details import Confusion, Reliability
from milpbn.evaluation.measures import (
    Measures,
    accuracy_interval,
    mean_brier,
    mean_defined,
    mean_log_loss,
)
from milpbn.evaluation.records import FoldRecord
from milpbn.evaluation.several import several_table
from milpbn.evaluation.tables import methods_table
from milpbn.words import count

MAJORITY = "majority"
"""The label of the baseline that predicts the class frequencies of the training rows."""


@dataclass(frozen=True)
class Named:
    """A method, and how its parameters are learned."""

    method: str
    parameters: str

    @property
    def label(self) -> Label:
        """What identifies the method within an evaluation."""
        return self.method, self.parameters

    @property
    def name(self) -> str:
        """The label as text."""
        return " ".join(self.label).strip()


@dataclass(frozen=True)
class Summary(Named):
    """One line of the table: a method over all its folds.

    With several class variables, all but the accuracy, macro F1, the Hamming score, the sub-exact
    match and what concerns learning is None.

    Attributes
    ----------
    method, parameters
        The method's label, and how its parameters are learned.
    folds
        Number of finished folds.
    accuracy, interval
        Mean accuracy, and half the width of its 95 % confidence interval. With several class
        variables a row is correct if all of them are predicted (exact match).
    balanced_accuracy
        Mean over the classes of the share of correct rows, over the rows of all folds.
    macro_f1
        Mean of F1 over the classes, over the rows of all folds; with several class variables the
        mean over class variables and folds.
    auc
        Area under the ROC curve, averaged over classes (each against the rest) and folds.
    log_loss
        Minus log P(class | features) per row.
    brier
        Brier score per row: 0 is perfect, 2 the worst.
    calibration_error
        Expected calibration error, see :class:`~milpbn.evaluation.details.Reliability`.
    n_parameters
        Number of free parameters of the networks, averaged over folds; None without a network.
    seconds
        Time for learning, over all folds.
    optimal
        Number of folds that ended with a proof of optimality.
    gap
        The largest relative gap of a fold; None if there is a fold without a bound.
    hamming
        Mean share of single class values that are correct; None with one class variable.
    sub_exact
        Mean share of rows with at most one wrong class value; None with one class variable.
    unconverged
        Number of base models that did not converge.
    """

    folds: int
    accuracy: float
    interval: float
    balanced_accuracy: float | None
    macro_f1: float | None
    auc: float | None
    log_loss: float | None
    brier: float | None
    calibration_error: float | None
    n_parameters: float | None
    seconds: float
    optimal: int
    gap: float | None
    hamming: float | None = None
    sub_exact: float | None = None
    unconverged: int = 0


@dataclass(frozen=True)
class Evaluation:
    """The results of methods on a data set.

    Attributes
    ----------
    table
        The rows.
    protocol
        How the rows were split, as text.
    records
        One for each method and fold, in the order of the methods.
    n_expected
        Number of records of a complete evaluation.
    baseline
        The majority baseline, one record per fold; empty with several class variables.
    not_kept
        Why the results file does not have all records, if it does not.
    """

    table: Table
    protocol: str
    records: tuple[FoldRecord, ...]
    n_expected: int
    baseline: tuple[FoldRecord, ...] = ()
    not_kept: str = ""

    @property
    def complete(self) -> bool:
        """Whether every fold of every method is finished; False after Ctrl-C."""
        return len(self.records) == self.n_expected

    @property
    def n_incomplete(self) -> int:
        """Number of rows that milpbn's methods do not learn from, because a feature is missing."""
        return int(self.table.incomplete.sum()) if self.table.missing == "drop" else 0

    def by_method(self) -> dict[Label, list[FoldRecord]]:
        """The finished folds of each method."""
        groups: dict[Label, list[FoldRecord]] = {}
        for record in self.records:
            groups.setdefault((record.method, record.parameters), []).append(record)
        return groups

    def summaries(self) -> list[Summary]:
        """The lines of the table, one per method."""
        return [_summary(group) for group in self.by_method().values()]

    def majority(self) -> Summary | None:
        """The line of the baseline that always predicts the class frequencies."""
        return _summary(self.baseline) if self.baseline else None

    def not_better(self) -> list[Summary]:
        """The methods that are not more accurate than the majority baseline on their folds."""
        return [s for s, least in self._beside_majority() if s.accuracy <= least.accuracy]

    def worse_loss(self) -> list[Summary]:
        """The methods whose log-loss is larger than that of the majority baseline."""
        return [
            s
            for s, least in self._beside_majority()
            if s.log_loss is not None and least.log_loss is not None and s.log_loss > least.log_loss
        ]

    def _beside_majority(self) -> list[tuple[Summary, Summary]]:
        """Every method, and the majority baseline on the same folds."""
        least = {r.fold: r for r in self.baseline}
        groups = self.by_method().values() if least else ()
        return [(_summary(group), _summary([least[r.fold] for r in group])) for group in groups]

    def to_frame(self) -> pd.DataFrame:
        """The table as a data frame, with the majority baseline first."""
        least = self.majority()
        lines = [*([least] if least else []), *self.summaries()]
        frame = pd.DataFrame([vars(s) for s in lines])
        frame.insert(0, "data", self.table.name)
        return frame

    def tests(self) -> list[Comparison]:
        """Compare every pair of methods by the corrected resampled t-test.

        Only the folds that all methods have finished are compared.
        """
        groups = [{r.fold: r for r in records} for records in self.by_method().values()]
        folds = [k for k in (groups[0] if groups else ()) if all(k in g for g in groups)]
        first = [groups[0][k] for k in folds]
        values = np.array([[g[k].measures.accuracy for g in groups] for k in folds])
        ratio = float(np.mean([r.measures.rows / r.train_rows for r in first])) if first else 0.0
        return compare_pairs(
            list(self.by_method()), values, lambda a, b: corrected_t(a, b, test_share=ratio)
        )

    def confusion(self, method: str, parameters: str | None = None) -> Confusion:
        """The confusion matrix of a method over all its folds."""
        return Confusion.of(self._measures(method, parameters))

    def reliability(self, method: str, parameters: str | None = None) -> Reliability:
        """The reliability curve of a method over all its folds."""
        return Reliability.of(self._measures(method, parameters))

    def confusion_frame(self) -> pd.DataFrame:
        """All confusion matrices: one line per method, true class and predicted class."""
        lines = [
            (self.table.name, *label, truth, predicted, int(found.counts[a, b]))
            for label in self.by_method()
            for found in (self.confusion(*label),)
            for a, truth in enumerate(found.classes)
            for b, predicted in enumerate(found.classes)
        ]
        columns = ["data", "method", "parameters", "truth", "prediction", "rows"]
        return pd.DataFrame(lines, columns=columns)

    def reliability_frame(self) -> pd.DataFrame:
        """All reliability curves: one line per method and bin."""
        curves = {label: vars(self.reliability(*label)) for label in self.by_method()}
        frames = [
            pd.DataFrame({"data": self.table.name, "method": m, "parameters": p, **curve})
            for (m, p), curve in curves.items()
        ]
        return pd.concat(frames, ignore_index=True)

    def details(self) -> str:
        """The confusion matrix and the reliability curve of every method, as text."""
        blocks = []
        for label in self.by_method():
            heading = f"{self.table.name}: {Named(*label).name}"
            blocks += [heading, f"{self.confusion(*label)}\n", f"{self.reliability(*label)}\n"]
        return "\n".join(blocks).rstrip()

    def _measures(self, method: str, parameters: str | None) -> list[Measures]:
        for label, records in self.by_method().items():
            if label[0] == method and parameters in (None, label[1]):
                return [r.measures for r in records]
        raise OptionError(f"no results of a method {method!r}")

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
                "data": self.table.name,
                "row": np.array(kept.rows) + 1,
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
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The table of the methods, for a terminal with this many characters per line."""
        lines = [f"{'data':<12}{self.table.name}", f"{'protocol':<12}{self.protocol}"]
        if self.n_incomplete:
            rows = count(self.n_incomplete, "incomplete row")
            lines.append(
                f"{'note':<12}milpbn's methods do not learn from {rows}; all rows are tested"
            )
        if not self.complete:
            lines.append(f"{'finished':<12}{len(self.records)} of {self.n_expected} folds")
        if any(r.measures.unknown for r in self.records):
            lines.append(
                f"{'note':<12}test rows whose class is not in the training rows count as errors "
                "and are left out of log-loss"
            )
        if self.table.targets.shape[1] > 1:
            return "\n".join([*lines, "", several_table(self.records)])
        return "\n".join([*lines, "", methods_table(self, width)])


def _summary(records: Sequence[FoldRecord]) -> Summary:
    measures = [r.measures for r in records]
    accuracy, interval = accuracy_interval(measures)
    sizes = [r.n_parameters for r in records if r.n_parameters is not None]
    gaps = [0.0 if r.status == "optimal" else r.gap for r in records]
    known = [g for g in gaps if g is not None]
    # With several class variables there are no probabilities, and no single matrix.
    single = all(m.confusion for m in measures)
    confusion = Confusion.of(measures) if single else None
    return Summary(
        method=records[0].method,
        parameters=records[0].parameters,
        folds=len(records),
        accuracy=accuracy,
        interval=interval,
        balanced_accuracy=confusion.balanced_accuracy if confusion else None,
        macro_f1=confusion.macro_f1 if confusion else mean_defined([m.macro_f1 for m in measures]),
        auc=mean_defined([m.auc for m in measures]),
        log_loss=mean_log_loss(measures),
        brier=mean_brier(measures),
        calibration_error=Reliability.of(measures).calibration_error if single else None,
        n_parameters=float(np.mean(sizes)) if sizes else None,
        seconds=sum(r.seconds for r in records),
        optimal=sum(r.status == "optimal" for r in records),
        gap=max(known) if len(known) == len(gaps) else None,
        hamming=mean_defined([r.measures.hamming for r in records]),
        sub_exact=mean_defined([r.measures.sub_exact for r in records]),
        unconverged=sum(r.unconverged for r in records),
    )
