"""The parts of a report as plain data: what the templates show, in readable words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from milpbn._types import Codes
from milpbn.certainty.arc_records import show_loss
from milpbn.datasets.monotone import in_words
from milpbn.evaluation.details import Confusion, Reliability
from milpbn.evaluation.measures import (
    Measures,
    accuracy_interval,
    majority_proba,
    mean_brier,
    mean_log_loss,
    measure,
)
from milpbn.explanation import explain_codes, importance_table
from milpbn.explanation.resolutions import seen_cuts
from milpbn.learning.model import Model
from milpbn.network.inference import log_posterior
from milpbn.pictures.waterfall import waterfall_bars
from milpbn.reporting.charts import reliability_chart
from milpbn.result import Result, Status, format_gap, log_loss_in_words
from milpbn.structure import Structure
from milpbn.words import count, probability

# Longer tables are cut off, so that a report stays small.
_MOST_CONFIGURATIONS = 64
_MOST_STATES = 60
_MOST_CARD_LINES = 1500
_MOST_ALTERNATIVES = 50
_MOST_ARCS = 100

_POLICIES = {
    "auto": "a state of their own; mostly empty columns left out",
    "state": "a state of their own",
    "drop": "rows left out",
}


def verdict(result: Result) -> tuple[str, str]:
    """A word for how good the structure is, and the same as a sentence."""
    if result.bound is None:
        return "heuristic", "A heuristic found the structure; there is no bound on the best score."
    said = log_loss_in_words(result)
    in_words = "" if said is None else f" In other words: {said}."
    if result.status is Status.OPTIMAL:
        return "optimal", (
            "Proven: no structure in the search space scores higher, at a relative tolerance of "
            f"{result.tolerance:g}.{in_words}"
        )
    return "gap", (
        f"No structure in the search space scores higher than {result.bound:.6g}. "
        f"The gap is {format_gap(result)}.{in_words}"
    )


def tables(model: Model) -> Iterator[dict[str, Any]]:
    """The probability tables, with states in readable words."""
    network, codes = model.network, (model.encoder.target, *model.encoder.columns)
    words, cuts = {c.name: c.words for c in codes}, seen_cuts(network.structure, model.encoder)
    for code in codes:
        table = network.table(code.name)
        parents = [str(level) for level in table.index.names if level is not None]
        shown = table.iloc[:_MOST_CONFIGURATIONS, :_MOST_STATES]
        rows: list[Any] = [None] * len(table)
        if network.has_counts:
            rows = network.table(code.name, counts=True).sum(axis=1).tolist()
        labels = table.index.to_frame().itertuples(index=False, name=None)
        reading = model.encoder.readings.get(code.name)
        yield {
            "name": code.name,
            "measure": reading.measure if reading else "",
            "cuts": cuts[code.name],
            "states": [words[code.name][s] for s in shown.columns],
            "parents": parents,
            "lines": [
                {
                    "given": [words[p].get(s, s) for p, s in zip(parents, given, strict=False)],
                    "rows": None if n is None else f"{n:.10g}",
                    "shares": [round(float(p), 4) for p in own],
                }
                for given, n, own in zip(labels, rows, shown.to_numpy(), strict=False)
            ],
            "more_lines": len(table) - len(shown),
            "more_states": table.shape[1] - shown.shape[1],
        }


def performance(model: Model, codes: Codes) -> dict[str, Any] | None:
    """What labelled rows say about the classifier; None if there are none."""
    known = codes[codes[:, 0] >= 0]
    if not len(known):
        return None
    found = _measured(model, known, np.exp(log_posterior(model.network, known[:, 1:])))
    confusion, reliability = Confusion.of([found]), Reliability.of([found])
    accuracy, interval = accuracy_interval([found])
    measures = [
        ("accuracy", f"{100 * accuracy:.2f} ± {100 * interval:.2f} %"),
        ("balanced accuracy", f"{100 * confusion.balanced_accuracy:.2f} %"),
        ("macro F1", f"{confusion.macro_f1:.4f}"),
        *([("AUC", f"{found.auc:.4f}")] if found.auc is not None else []),
        ("log-loss", f"{mean_log_loss([found]):.4f}"),
        ("Brier score", f"{mean_brier([found]):.4f}"),
        ("calibration error", f"{reliability.calibration_error:.4f}"),
    ]
    summary = f"{100 * accuracy:.1f} % of {count(len(known), 'row')} are predicted correctly"
    if model.network.has_counts:
        counts = model.network.table(model.encoder.target.name, counts=True).sum(axis=0).to_numpy()
        least = _measured(model, known, majority_proba(counts, len(known)))
        measures.append(("accuracy of the majority class", f"{100 * least.accuracy:.2f} %"))
        summary += f"; always predicting the most frequent class gives {100 * least.accuracy:.1f} %"
    return {
        "summary": summary,
        "left_out": len(codes) - len(known),
        "measures": measures,
        "classes": confusion.classes,
        "confusion": confusion.counts.tolist(),
        "shares": _shares(confusion),
        "chart": reliability_chart(reliability),
        "bins": [
            (f"{low:.1f} to {high:.1f}", n, f"{100 * c:.1f} %", f"{100 * a:.1f} %")
            for low, high, n, c, a in zip(*vars(reliability).values(), strict=True)
        ],
    }


def _measured(model: Model, known: Codes, proba: Any) -> Measures:
    labels = np.array(model.encoder.target.readable_states, dtype=object)
    return measure(labels, proba, labels[known[:, 0]])


def _shares(confusion: Confusion) -> list[list[float]]:
    totals = np.maximum(confusion.counts.sum(axis=1, keepdims=True), 1)
    shares: list[list[float]] = (confusion.counts / totals).round(3).tolist()
    return shares


def importance(model: Model, codes: Codes | None) -> list[dict[str, Any]]:
    """The importance of every feature, the most important first; empty if it is not known."""
    if codes is None or not len(codes):
        stored = pd.Series(model.importance, dtype=float).sort_values(ascending=False)
        table = stored.to_frame("contribution")
    else:
        table = importance_table(model.network, codes)
    most = float(table["contribution"].max()) if len(table) else 0.0
    return [
        {
            "name": name,
            "share": round(row["contribution"] / most, 3) if most > 0 else 0.0,
            "contribution": f"{row['contribution']:.3f}",
            **(
                {
                    "accuracy": _spread(100 * row["accuracy"], 100 * row["accuracy_std"], 2),
                    "log_loss": _spread(row["log_loss"], row["log_loss_std"], 4),
                }
                if "accuracy" in table
                else {}
            ),
        }
        for name, row in table.iterrows()
    ]


def _spread(mean: float, deviation: float, digits: int) -> str:
    return f"{_signed(f'{mean:z.{digits}f}')} ± {deviation:.{digits}f}"


def _signed(number: str) -> str:
    return number.replace("-", "−")


def typical_rows(model: Model, codes: Codes) -> dict[int, str]:
    """Positions of a few rows, and why they were chosen: clear, doubtful and wrong predictions."""
    if not len(codes):
        return {}
    log_proba = log_posterior(model.network, codes[:, 1:])
    sure, predicted = log_proba.max(axis=1), log_proba.argmax(axis=1)
    right, wrong = predicted == codes[:, 0], (predicted != codes[:, 0]) & (codes[:, 0] >= 0)
    chosen: dict[int, str] = {}
    for why, among, sign in (
        ("the clearest correct prediction", right, 1),
        ("the clearest wrong prediction", wrong, 1),
        ("the most doubtful prediction", np.ones(len(codes), dtype=bool), -1),
    ):
        at = np.flatnonzero(among)
        if len(at):
            chosen.setdefault(int(at[np.argmax(sign * sure[at])]), why)
    return chosen


def explanations(model: Model, codes: Codes, chosen: dict[int, str]) -> list[dict[str, Any]]:
    """The contributions to the predictions for some rows, by position."""
    rows = list(chosen)
    found = explain_codes(model.network, model.encoder, codes[rows, 1:], index=pd.Index(rows))
    states = model.encoder.target.readable_states
    out = []
    for k, row in enumerate(rows):
        told, bars = found.to_dict(k), waterfall_bars(found, k)
        most = max((abs(bar.size) for bar in bars), default=0.0) or 1.0
        label = int(codes[row, 0])
        out.append(
            {
                "row": row + 1,
                "why": chosen[row],
                "predicted": told["class"],
                "true": states[label] if label >= 0 else None,
                "probability": probability(told["probability"]),
                "rival": next(iter(told["log_odds"])),
                "log_odds": _signed(f"{next(iter(told['log_odds'].values())):+z.2f}"),
                "bars": [
                    (bar.label, _signed(f"{bar.size:+z.2f}"), round(bar.size / most, 3))
                    for bar in bars
                ],
            }
        )
    return out


def card(model: Model, codes: Codes | None) -> dict[str, Any]:
    """The score card, and what its rounding costs."""
    made = model.card()
    lines = made.to_frame()
    # Points are for complete rows.
    usable = codes is not None and bool((codes >= 0).all(axis=1).any())
    loss = made.loss(model.network, codes) if usable and codes is not None else None
    one = len(made.columns) == 1
    groups = [
        (name, own.drop(columns="feature").to_numpy().tolist())
        for name, own in lines.groupby("feature", sort=False)
    ]
    return {
        "one": one,
        "columns": made.columns,
        "against": made.against,
        "threshold": made.threshold if one else None,
        "groups": groups if len(lines) <= _MOST_CARD_LINES else [],
        "n_lines": len(lines),
        "totals": [(t, probability(p, 3)) for t, p in made.probabilities().items()] if one else [],
        "loss": loss,
    }


def arc_strengths(model: Model) -> dict[str, Any] | None:
    """The margins of the arcs, and how often they are learned from resampled rows."""
    arcs, stability = model.arcs, model.stability
    if not isinstance(model.network.structure, Structure) or (arcs is None and stability is None):
        return None
    if arcs is not None:
        own = [(a.parent, a.child, a.present) for a in arcs.arcs]
        losses = {(a.parent, a.child): a for a in arcs.arcs}
    else:
        own, losses = [(*arc, True) for arc in model.network.structure.arcs], {}
    slack = arcs.tolerance if arcs else 0.0
    lines = [
        {
            "arc": f"{parent} → {child}",
            "present": present,
            "margin": show_loss(losses[parent, child].margin, slack) if arcs else "",
            "edge": show_loss(losses[parent, child].edge, slack) if arcs else "",
            "frequency": f"{100 * stability.frequency((parent, child)):.0f} %" if stability else "",
        }
        for parent, child, present in own
    ]
    return {
        "arcs": arcs,
        "stability": stability,
        "own": [line for line in lines if line["present"]],
        "others": [line for line in lines if not line["present"]][:_MOST_ARCS],
    }


def alternatives(model: Model) -> dict[str, Any] | None:
    """The other structures within the tolerance, compared with the best one."""
    found = model.alternatives
    if found is None:
        return None
    best = found.structures[0].score
    lines = []
    for k, one in enumerate(found.structures[:_MOST_ALTERNATIVES]):
        added, removed, otherwise = found.described(k, model.encoder)
        test = one.test_accuracy
        lines.append(
            {
                "score": f"{one.score:.6f}",
                "loss": f"{best - one.score:.4f}",
                "group": one.group,
                "test": "" if test is None else f"{100 * test:.2f} %",
                "added": [" → ".join(arc) for arc in added],
                "removed": [" → ".join(arc) for arc in removed],
                "seen": otherwise,
            }
        )
    shares = [(a, s) for a, s in found.arc_frequencies().items() if s < 1]
    return {
        "summary": str(found),
        "tested": found.accuracy_range is not None,
        "lines": lines,
        "more": count(len(found.structures) - len(lines), "more structure")
        if len(found.structures) > len(lines)
        else "",
        "sometimes": [(" → ".join(arc), f"{100 * s:.0f} %") for arc, s in shares[:_MOST_ARCS]],
    }


def data_facts(model: Model) -> list[tuple[str, str]]:
    """Where the rows come from and what they became."""
    data, encoder = model.data, model.encoder
    names = {"dataset": "data set", "file": "file", "sha256": "SHA-256", "n_rows": "training rows"}
    facts = [(label, str(data[key])) for key, label in names.items() if key in data]
    if data.get("n_incomplete_rows"):
        facts.append(("incomplete rows, left out", str(data["n_incomplete_rows"])))
    if model.has_newer_rows:
        facts.append(("rows of the structure", f"the first {model.result.n_rows}"))
    target = encoder.target
    facts += [
        ("class", f"{target.name}: {', '.join(target.readable_states)}"),
        ("features", str(len(encoder.columns))),
        ("bins of numeric columns", ", ".join((encoder.bins, *encoder.own_bins.in_words()))),
        *(
            (f"effect of {name}", f"{word} (odds of {target.readable_states[1]})")
            for name, word in in_words(encoder.monotone).items()
        ),
        ("missing values", _POLICIES[encoder.missing]),
    ]
    facts += [(f"left out: {name}", reason) for name, reason in encoder.dropped.items()]
    return facts


def setting_facts(model: Model, versions: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Every setting of the run, and the versions of the software."""
    settings = {k: v for k, v in model.settings.items() if v not in (None, {}, [])}
    facts = [(name.replace("_", " "), _plain(value)) for name, value in settings.items()]
    return [*facts, ("parameters learned by", str(model.parameters)), *versions]


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}: {_plain(v)}" for k, v in value.items() if v) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
