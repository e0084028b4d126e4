"""Methods on several data sets: their means, ranks and tests over the sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from milpbn._types import FloatArray
from milpbn.datasets import load_dataset
from milpbn.datasets.table import Table
from milpbn.errors import OptionError
from milpbn.evaluation.comparison import LEVEL, Comparison, Label, compare_pairs, signed_rank
from milpbn.evaluation.run import evaluate
from milpbn.evaluation.summary import Evaluation, Named, Summary
from milpbn.widths import aligned, show
from milpbn.words import count


@dataclass(frozen=True)
class SetsSummary(Named):
    """A method over several data sets.

    Attributes
    ----------
    method, parameters
        The method's label, and how its parameters are learned.
    sets
        Number of data sets.
    accuracy, log_loss
        Means over the data sets.
    rank
        Mean rank by accuracy among the methods; 1 is the best, and equal ones share their ranks.
    """

    sets: int
    accuracy: float
    log_loss: float
    rank: float


@dataclass(frozen=True)
class Evaluations:
    """The results of methods on several data sets.

    Attributes
    ----------
    parts
        The results on each data set.
    n_expected
        Number of data sets of a complete evaluation.
    """

    parts: tuple[Evaluation, ...]
    n_expected: int

    @property
    def complete(self) -> bool:
        """Whether every fold of every method on every data set is finished."""
        return len(self.parts) == self.n_expected and all(e.complete for e in self.parts)

    def to_frame(self) -> pd.DataFrame:
        """The tables of all data sets as one data frame."""
        return self.concat(lambda part: part.to_frame())

    def concat(self, frame: Callable[[Evaluation], pd.DataFrame]) -> pd.DataFrame:
        """One frame from those of all data sets, such as ``Evaluation.confusion_frame``."""
        return pd.concat([frame(part) for part in self.parts], ignore_index=True)

    def summaries(self) -> list[SetsSummary]:
        """One line per method, over the data sets that all methods have finished."""
        labels, finished = self._finished()
        if not finished:
            return []
        accuracy, log_loss = (_values(finished, name) for name in ("accuracy", "log_loss"))
        ranks = np.array([rankdata(-row.round(12)) for row in accuracy])
        return [
            SetsSummary(
                *label,
                sets=len(finished),
                accuracy=float(accuracy[:, k].mean()),
                log_loss=float(log_loss[:, k].mean()),
                rank=float(ranks[:, k].mean()),
            )
            for k, label in enumerate(labels)
        ]

    def tests(self) -> list[Comparison]:
        """Compare every pair of methods by the Wilcoxon signed-rank test over the data sets.

        The tests over the folds of a data set are in :meth:`Evaluation.tests`.
        """
        labels, finished = self._finished()
        return compare_pairs(labels, _values(finished, "accuracy"), signed_rank)

    def _finished(self) -> tuple[list[Label], list[list[Summary]]]:
        """The methods, and their lines for each data set that is complete."""
        lines = [e.summaries() for e in self.parts if e.complete]
        return [s.label for s in lines[0]] if lines else [], lines

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The tables of the data sets, for a terminal with this many characters per line."""
        tables = [part.text(width) for part in self.parts]
        return "\n\n".join(tables if self.n_expected == 1 else [*tables, _summary_table(self)])

    def details(self) -> str:
        """The confusion matrix and the reliability curve of every method, as text."""
        return "\n\n".join(part.details() for part in self.parts)


def evaluate_all(
    data: Sequence[str | Table], methods: Sequence[str] | Mapping[str, Any], **arguments: Any
) -> Evaluations:
    """Evaluate methods on several data sets, each by its own protocol.

    Parameters
    ----------
    data
        Bundled data sets by name, or tables; their names must differ.
    methods
        See :func:`milpbn.evaluate`. The first one is compared with the others.
    arguments
        Other arguments of :func:`milpbn.evaluate`. One `result_file` keeps the folds of all
        data sets; with the same settings, data sets and methods can be added.

    Returns
    -------
    Evaluations
        After Ctrl-C, of the finished folds.

    Examples
    --------
    >>> found = evaluate_all(["iris", "synthetic-3", "monks-1"], ["tan-cmi", "nb"])
    >>> [(s.method, round(s.accuracy, 3), round(s.rank, 2)) for s in found.summaries()]
    [('tan-cmi', 0.822, 1.33), ('nb', 0.711, 1.67)]
    >>> (test,) = found.tests()
    >>> test.wins, test.ties, test.losses
    (2, 0, 1)
    """
    missing = arguments.get("missing")
    tables = [load_dataset(d, missing=missing) if isinstance(d, str) else d for d in data]
    names = [table.name for table in tables]
    if twice := [name for name in names if names.count(name) > 1]:
        raise OptionError(f"the data set {twice[0]!r} is listed twice")
    if not tables:
        raise OptionError("give at least one data set")
    parts: list[Evaluation] = []
    try:
        for table in tables:
            parts.append(evaluate(table, methods, **arguments))
            if not parts[-1].complete:
                break
    except KeyboardInterrupt:
        if not parts:
            raise
    return Evaluations(tuple(parts), len(tables))


def _values(lines: Sequence[Sequence[Summary]], name: str) -> FloatArray:
    """A measure, with one row for each data set and one column for each method."""
    return np.array([[getattr(s, name) for s in one] for one in lines], dtype=float)


def _summary_table(evaluations: Evaluations) -> str:
    summaries = evaluations.summaries()
    if not summaries:
        return "no data set was finished by every method"
    tests = {t.other: t for t in evaluations.tests()[: len(summaries) - 1]}
    lines = [["method", "accuracy", "log-loss", "rank", "win/tie/loss", "p"]]
    for s in summaries:
        cells = (f"{100 * s.accuracy:.2f} %", show(s.log_loss, ".4f"), f"{s.rank:.2f}")
        lines.append([s.name, *cells, *_test_cells(tests.get(s.label))])
    first = summaries[0].name
    heading = f"{'summary':<12}means over {count(summaries[0].sets, 'data set')}"
    notes = [
        "",
        f"win/tie/loss of {first}; p of the Wilcoxon signed-rank test over the data sets",
        f"+/-  {first} is significantly better/worse ({LEVEL:.0%})",
    ]
    return "\n".join([heading, "", aligned(lines), *(notes if tests else ())])


def _test_cells(test: Comparison | None) -> tuple[str, str]:
    if test is None:
        return "-", "-  "
    p = "-" if test.p is None else f"{test.p:.3f}"
    return f"{test.wins}/{test.ties}/{test.losses}", f"{p} {test.mark or ' '}"
