"""Cross-validation of GBNC and the baselines, with a significance test over the folds."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.datasets.table import Table
from milpbn.errors import DataError, MilpbnError, OptionError
from milpbn.mdc.base import MultiDimensionalClassifier
from milpbn.mdc.baselines import BinaryRelevance, ClassifierChains, ClassPowerset
from milpbn.mdc.gbnc import GBNCClassifier
from milpbn.mdc.metrics import exact_match_score, hamming_score

METHODS: dict[str, type[MultiDimensionalClassifier]] = {
    "gbnc": GBNCClassifier,
    "br": BinaryRelevance,
    "cc": ClassifierChains,
    "cp": ClassPowerset,
}
"""Classifiers by the names of the tables."""

LEVEL = 0.05
"""Significance level of the marks."""

FORMAT = "milpbn-mdc-evaluation"


@dataclass(frozen=True)
class FoldScore:
    """What one method reached on one fold.

    GBNC's exact match score is that of the predictions for the subset 0/1 loss, its Hamming
    score that of the predictions for the Hamming loss.
    """

    method: str
    fold: int
    exact_match: float
    hamming: float
    seconds: float


def make_folds(n_rows: int, n_folds: int, seed: int) -> npt.NDArray[np.int64]:
    """A fold number 1, 2, ... for each row: shuffled, of sizes that differ by one at most."""
    if not 2 <= n_folds <= n_rows:
        raise OptionError(f"{n_folds} folds cannot be made of {n_rows} rows")
    folds = np.arange(n_rows) % n_folds + 1
    return np.random.default_rng(seed).permutation(folds)


def read_folds(path: str | Path, n_rows: int) -> npt.NDArray[np.int64]:
    """Fold numbers from a file: a header, then the number of a row's test fold in each line."""
    import pandas as pd

    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read folds from {path}: {error}") from None
    if frame.shape != (n_rows, 1):
        raise DataError(
            f"{path}: {frame.shape[0]} rows and {frame.shape[1]} columns; the folds of {n_rows} "
            "rows are one column with a header and a fold number for each row"
        )
    try:
        folds = frame.iloc[:, 0].to_numpy().astype(np.int64)
    except ValueError as error:
        raise DataError(f"{path}: fold numbers must be whole: {error}") from None
    if len(np.unique(folds)) < 2:
        raise DataError(f"{path}: all rows are in one fold; two are needed")
    return folds


def evaluate(
    table: Table,
    folds: npt.NDArray[np.int64],
    methods: Mapping[str, MultiDimensionalClassifier],
    *,
    done: Sequence[FoldScore] = (),
    listener: Callable[[FoldScore], None] | None = None,
) -> list[FoldScore]:
    """Fit and test each method on each fold, fold by fold.

    Parameters
    ----------
    table
        The rows.
    folds
        The number of the fold that each row tests.
    methods
        Unfitted classifiers by name.
    done
        Scores that are known already and are not computed again.
    listener
        Called with every new score.
    """
    known = {(s.method, s.fold) for s in done}
    scores = list(done)
    for fold in np.unique(folds).tolist():
        for name, method in methods.items():
            if (name, fold) in known:
                continue
            score = _evaluate_fold(table, folds == fold, name, fold, method)
            scores.append(score)
            if listener is not None:
                listener(score)
    return scores


def _evaluate_fold(
    table: Table,
    test: npt.NDArray[np.bool_],
    name: str,
    fold: int,
    method: MultiDimensionalClassifier,
) -> FoldScore:
    began = time.perf_counter()
    try:
        method.fit(table.features[~test], table.targets[~test])
    except MilpbnError as error:
        raise error.at(f"{table.name}, fold {fold}, {name}") from error
    truth, rows = table.targets[test].to_numpy(dtype=object), table.features[test]
    if isinstance(method, GBNCClassifier):
        method.loss = "subset"
        exact = exact_match_score(truth, method.predict(rows))
        method.loss = "hamming"
        hamming = hamming_score(truth, method.predict(rows))
    else:
        predicted = method.predict(rows)
        exact, hamming = exact_match_score(truth, predicted), hamming_score(truth, predicted)
    return FoldScore(name, fold, exact, hamming, time.perf_counter() - began)


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation over the folds, and how GBNC compares.

    `mark` is ``"+"`` where GBNC is significantly better than this method by a two-sided
    Wilcoxon signed-rank test over the folds, ``"-"`` where it is worse, else empty.
    """

    method: str
    metric: str
    folds: int
    mean: float
    deviation: float
    p_value: float | None
    mark: str


def summarise(scores: Sequence[FoldScore]) -> list[Summary]:
    """One line per method and metric, over the folds that every method has finished."""
    methods = list(dict.fromkeys(s.method for s in scores))
    by_key = {(s.method, s.fold): s for s in scores}
    folds = [f for f in sorted({s.fold for s in scores}) if all((m, f) in by_key for m in methods)]
    out = []
    for metric in ("exact_match", "hamming"):
        values = {
            m: np.array([getattr(by_key[m, f], metric) for f in folds], dtype=np.float64)
            for m in methods
        }
        for m in methods if folds else ():
            p, mark = None, ""
            if "gbnc" in values and m != "gbnc":
                p, mark = compare(values["gbnc"], values[m])
            deviation = float(values[m].std(ddof=1)) if len(folds) > 1 else math.nan
            mean = float(values[m].mean())
            out.append(Summary(m, metric, len(folds), mean, deviation, p, mark))
    return out


def compare(
    gbnc: npt.NDArray[np.float64], other: npt.NDArray[np.float64]
) -> tuple[float | None, str]:
    """The p-value of the Wilcoxon signed-rank test, and the mark.

    Examples
    --------
    >>> gbnc = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    >>> compare(gbnc, gbnc - np.array([0.1, 0.11, 0.12, 0.13, 0.14, 0.15]))
    (0.03125, '+')
    >>> compare(gbnc, gbnc)
    (None, '')
    """
    from scipy.stats import wilcoxon

    # Equal scores can differ in the last bit.
    difference = np.round(gbnc - other, 12)
    if not difference.any():
        return None, ""
    p = float(wilcoxon(difference).pvalue)
    if not p < LEVEL:
        return p, ""
    return p, "+" if np.median(difference) > 0 else "-"


def text_table(scores: Sequence[FoldScore]) -> str:
    """The summary as people read it."""
    summaries = summarise(scores)
    if not summaries:
        return "no fold was finished by every method"
    by_key = {(s.method, s.metric): s for s in summaries}
    lines = [f"{'method':<8}{'exact match':>20}{'Hamming score':>22}{'seconds':>12}"]
    for m in dict.fromkeys(s.method for s in summaries):
        cells = [_cell(by_key[m, metric]) for metric in ("exact_match", "hamming")]
        seconds = np.mean([s.seconds for s in scores if s.method == m])
        lines.append(f"{m:<8}{cells[0]:>20}{cells[1]:>22}{seconds:>12.1f}")
    n = summaries[0].folds
    lines.append(f"mean and standard deviation over {n} folds; seconds a fold")
    if any(s.p_value is not None for s in summaries):
        lines.append(
            f"+/-: gbnc is significantly better/worse (Wilcoxon signed-rank test, {LEVEL:.0%})"
        )
    return "\n".join(lines)


def _cell(s: Summary) -> str:
    deviation = "" if math.isnan(s.deviation) else f" ± {s.deviation:.3f}"
    return f"{s.mean:.3f}{deviation} {s.mark or ' '}"


def to_json(settings: Mapping[str, Any], scores: Sequence[FoldScore]) -> str:
    """Settings, scores and summary, to read and to go on from."""
    content = {
        "format": FORMAT,
        "settings": dict(settings),
        "scores": [asdict(s) for s in scores],
        "summary": [
            {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in asdict(s).items()}
            for s in summarise(scores)
        ],
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def read_scores(path: str | Path, settings: Mapping[str, Any]) -> list[FoldScore]:
    """The scores of an earlier run with the same settings."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise DataError(f"{path} is not an evaluation of milpbn")
        before = content["settings"]
        scores = [FoldScore(**s) for s in content["scores"]]
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, TypeError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is not an evaluation of milpbn, or is damaged") from None
    wanted = json.loads(json.dumps(dict(settings)))
    differing = sorted(k for k in {*before, *wanted} if before.get(k) != wanted.get(k))
    if differing:
        raise OptionError(
            f"{path} was made with other settings ({', '.join(differing)}); choose another file"
        )
    return scores
