"""A classifier as one SELECT.

Each column becomes a code, -1 if its value is not known. Columns are summed out in a fixed order
(see :func:`~milpbn.deployment.calculation.schedule`). The message of column x to the columns s is

    m[s, c] = log sum over x of exp(terms[x, s, c] + messages[x, s, c])

and, if x is observed, the summand of its state alone. Each entry of a message is a column of a
common table expression, and only entries that agree with the observed columns are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
from scipy.special import logsumexp

from milpbn.deployment.calculation import (
    Calculation,
    ClassTerms,
    Elimination,
    InputColumn,
    make_calculation,
    n_cells,
    schedule,
)
from milpbn.encoding import Encoder
from milpbn.errors import OptionError
from milpbn.network.multinet import Classifier

# Above this the statement has tens of megabytes.
MOST_CELLS = 500_000

# SQLite allows 2000 columns in a SELECT and 1000 levels in an expression.
MOST_COLUMNS = 1900
_SUMMANDS = 100

# exp(700) is a number, exp(710) is not.
_LARGEST = 700

_PREDICTION = "prediction"

_HEAD = """\
-- Written by milpbn. One row per row of the table, with the probability of each class.
-- NULL, and texts that were not seen in training, are summed out.
"""


def write_sql(
    network: Classifier,
    encoder: Encoder | None = None,
    *,
    table: str = "data",
    keep: Iterable[str] = (),
) -> str:
    """The classifier as one SELECT.

    It gives one row per row of `table`, with the predicted class and the probability of each
    class, and runs in SQLite, DuckDB and PostgreSQL.

    Parameters
    ----------
    network
        For instance ``BNClassifier.network_`` or ``Model.network``.
    encoder
        How raw columns become states; without one, the values of columns are states.
    table
        The table or view with the rows; ``schema.table`` names its schema, too.
    keep
        Columns of the table to copy to the result.

    Examples
    --------
    >>> import sqlite3
    >>> from milpbn import BNClassifier, load_dataset
    >>> car = load_dataset("car")
    >>> model = BNClassifier(method="tan-cmi").fit(car.features, car.target)
    >>> base = sqlite3.connect(":memory:")
    >>> _ = car.features.to_sql("cars", base)
    >>> query = write_sql(model.network_, model.encoder_, table="cars", keep=["index"])
    >>> base.execute(query + " LIMIT 1").fetchall()
    [(0, 'unacc', ...)]
    """
    calculation = make_calculation(network, encoder)
    keep = list(keep)
    named = [_PREDICTION, *(f"P({label})" for label in calculation.classes)]
    if taken := sorted(set(keep) & set(named)):
        raise OptionError(f"keep: the result has a column {taken[0]!r} already")
    plans = [(part, schedule(part, calculation.cards)) for part in calculation.parts]
    size = sum(n_cells(part, steps, calculation.cards) for part, steps in plans)
    if size > MOST_CELLS:
        raise OptionError(
            f"in SQL, missing values of this network need sums with {size:,} terms, more than "
            f"{MOST_CELLS:,}; write JavaScript, which sums out only what is missing in a row"
        )
    kept = [f"k{j}" for j in range(len(keep))]
    layers = [_codes(calculation, keep), *_messages(calculation, plans, kept)]
    names = ["codes", *(f"level{k}" for k in range(1, len(layers) - 1)), "joint"]
    sources = [_qualified(table) + " AS t", *names]
    # MATERIALIZED: some databases would copy the text of a column wherever it is used.
    parts = [
        f"{name} AS MATERIALIZED (\n  SELECT {select}\n  FROM {source}\n)"
        for name, select, source in zip(names, layers, sources, strict=False)
    ]
    return f"{_HEAD}WITH {', '.join(parts)}\n{_final(calculation, kept, keep)}\n"


def quote_name(name: str) -> str:
    """A name as a quoted identifier.

    Examples
    --------
    >>> quote_name('5" screen')
    '"5"" screen"'
    """
    if not name or "\0" in name:
        raise OptionError(f"SQL has no column or table with the name {name!r}; rename it")
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text as a literal.

    Examples
    --------
    >>> quote_text("it's")
    "'it''s'"
    """
    if "\0" in text:
        raise OptionError(f"SQL has no text {text!r}: it contains a NUL character")
    return "'" + text.replace("'", "''") + "'"


def _number(value: float) -> str:
    """A literal in double precision: without an exponent, some databases read a decimal."""
    text = f"{value:.13g}"
    return text if "e" in text else f"{text}e0"


def _exact(value: float) -> str:
    """A literal that is read back as the same number."""
    return f"{value!r}{'' if 'e' in repr(value) else 'e0'}"


def _qualified(table: str) -> str:
    return ".".join(quote_name(part) for part in table.split("."))


def _codes(calculation: Calculation, keep: Sequence[str]) -> str:
    columns = [f"t.{quote_name(name)} AS k{j}" for j, name in enumerate(keep)]
    columns += [f"{_code(column)} AS c{v}" for v, column in enumerate(calculation.columns)]
    return ",\n    ".join(columns or ["1 AS one"])


def _code(column: InputColumn) -> str:
    # A qualified name: SQLite would read an unknown name in double quotes as a text.
    value = f"t.{quote_name(column.name)}"
    if column.numeric:
        number = f"CAST({value} AS DOUBLE PRECISION)"
        apart = "".join(
            f" WHEN {number} = {_exact(own)} THEN {code}" for own, code in column.numbers.items()
        )
        below = "".join(
            f" WHEN {number} <= {_exact(cut)} THEN {code}"
            for cut, code in zip(column.cuts, column.bins, strict=False)
        )
        # NaN, where a database has it, is larger than every number.
        missing = f"{value} IS NULL OR {number} > 1.7976931348623157e308"
        return f"CASE WHEN {missing} THEN {column.missing}{apart}{below} ELSE {column.bins[-1]} END"
    text = f"CAST({value} AS VARCHAR)"
    trimmed = {t: code for t, code in column.texts.items() if t == t.strip()}
    blank = {t: column.missing for t in ("", "nan", "NaN") if t not in trimmed}
    inner = f"CASE TRIM({text}){_whens({**trimmed, **blank})} ELSE {column.other} END"
    return (
        f"CASE WHEN {value} IS NULL THEN {column.missing} ELSE "
        f"CASE {text}{_whens(column.texts)} ELSE {inner} END END"
    )


def _whens(codes: Mapping[str, int]) -> str:
    return "".join(f" WHEN {quote_text(text)} THEN {code}" for text, code in codes.items())


class _Message:
    """The entries of one elimination, as names of columns or as expressions."""

    def __init__(
        self, step: Elimination, name: str, before: Sequence[_Message], cards: Sequence[int]
    ) -> None:
        self.step, self.name, self._cards = step, name, cards
        self.before = [before[k] for k in step.messages]
        self.level: int = 1 + max((m.level for m in self.before), default=0)
        self._axes = (step.variable, *step.scope)
        shape = [cards[v] for v in self._axes]
        self._sums = np.zeros((*shape, 1))
        for term in step.terms:
            self._sums = self._sums + term.along(self._axes)
        # How far the summands of one sum may be apart.
        self._spread = float(np.ptp(self._sums, axis=0).max()) + sum(m.range for m in self.before)
        self.range: float = float(np.ptp(self._sums)) + sum(m.range for m in self.before)

    def entry(self, states: Mapping[int, int], c: int) -> str:
        """The name of the column with the entry of these states and class `c`."""
        own = "_".join(str(states[v]) for v in self.step.scope)
        return f"{self.name}_{own}_{c}"

    @property
    def size(self) -> int:
        """The number of entries of each class."""
        return prod(self._cards[v] for v in self.step.scope)

    def configurations(self) -> Iterator[dict[int, int]]:
        """The states of the scope."""
        ranges = [range(self._cards[v]) for v in self.step.scope]
        return (dict(zip(self.step.scope, own, strict=True)) for own in product(*ranges))

    def expression(self, states: Mapping[int, int], c: int) -> str:
        """The entry of these states and class `c`, from the codes and earlier messages."""
        x = self.step.variable
        constants, names = [], []
        for k in range(self._cards[x]):
            here = {**states, x: k}
            cell = self._sums[tuple(here[v] for v in self._axes)]
            constants.append(float(cell[c if len(cell) > 1 else 0]))
            names.append([m.entry(here, c) for m in self.before])
        summands = [" + ".join([_number(a), *m]) for a, m in zip(constants, names, strict=True)]
        observed = "".join(f" WHEN c{x} = {k} THEN {s}" for k, s in enumerate(summands))
        away = " OR ".join(f"c{v} NOT IN ({state}, -1)" for v, state in states.items())
        guard = f" WHEN {away} THEN NULL" if away else ""
        if not self.before:
            return f"CASE{guard}{observed} ELSE {_number(float(logsumexp(constants)))} END"
        return f"CASE{guard}{observed} ELSE {_log_sum(summands, self._spread)} END"


def _log_sum(summands: Sequence[str], spread: float) -> str:
    """The logarithm of a sum of exponentials, relative to a summand so that it does not overflow.

    If `spread`, the largest difference of two summands, allows it, this is the first one,
    otherwise the largest.
    """

    def beside(k: int) -> str:
        others = (s for j, s in enumerate(summands) if j != k)
        terms = [_exp(f"{s} - ({summands[k]})", spread) for s in others]
        return f"{summands[k]} + LN({_sum(['1e0', *terms])})"

    if spread < _LARGEST:
        return beside(0)
    last = len(summands) - 1
    whens = (f" WHEN {_no_later_exceeds(summands, k)} THEN {beside(k)}" for k in range(last))
    return f"CASE{''.join(whens)} ELSE {beside(last)} END"


def _no_later_exceeds(values: Sequence[str], k: int) -> str:
    """The first value that no later one exceeds is the first of the largest ones."""
    return " AND ".join(f"{values[k]} >= {later}" for later in values[k + 1 :])


def _exp(difference: str, spread: float) -> str:
    if spread < _LARGEST:
        return f"EXP({difference})"
    low, high = -_LARGEST, _LARGEST
    return (
        f"EXP(CASE WHEN {difference} > {high} THEN {high} WHEN {difference} < {low} THEN {low} "
        f"ELSE {difference} END)"
    )


def _sum(terms: Sequence[str]) -> str:
    """A sum in brackets of bounded depth."""
    while len(terms) > _SUMMANDS:
        starts = range(0, len(terms), _SUMMANDS)
        terms = [f"({' + '.join(terms[s : s + _SUMMANDS])})" for s in starts]
    return " + ".join(terms) or "0e0"


def _messages(
    calculation: Calculation,
    plans: Sequence[tuple[ClassTerms, list[Elimination]]],
    kept: Sequence[str],
) -> list[str]:
    """The SELECT lists after the codes: messages level by level, then log P(c, z)."""
    by_part: list[list[_Message]] = []
    for p, (_, steps) in enumerate(plans):
        by_part.append([])
        for k, step in enumerate(steps):
            by_part[-1].append(_Message(step, f"m{p}_{k}", by_part[-1], calculation.cards))
    messages = [m for own in by_part for m in own]
    classes = range(len(plans[0][0].classes))
    codes = [f"c{v}" for v in range(len(calculation.columns))]
    inner = [m for m in messages if m.step.scope]
    top = max((m.level for m in inner), default=0)
    # The level after which a message is not needed; the last messages are part of log P(c, z).
    until = {b: m.level - 1 if m.step.scope else top for m in messages for b in m.before}
    alive = {
        level: [m for m in inner if m.level <= level <= max(m.level, until[m])]
        for level in range(1, top + 1)
    }
    most = max([len(classes) * sum(m.size for m in a) for a in alive.values()], default=0)
    if most + len(kept) + len(codes) > MOST_COLUMNS:
        raise OptionError(
            f"in SQL, missing values of this network need {most:,} columns, more than databases "
            "have; write JavaScript, which sums out only what is missing in a row"
        )
    layers = []
    for level, needed in alive.items():
        names = [*kept, *codes]
        for m in needed:
            entries = [(states, c) for states in m.configurations() for c in classes]
            new = m.level == level
            names += [
                f"{m.expression(*e)} AS {m.entry(*e)}" if new else m.entry(*e) for e in entries
            ]
        layers.append(names)
    joint = [
        _sum([_number(constant), *(m.expression({}, c) for m in own if not m.step.scope)])
        for (part, _), own in zip(plans, by_part, strict=True)
        for c, constant in enumerate(part.constants.tolist())
    ]
    layers.append([*kept, *(f"{text} AS l{c}" for c, text in enumerate(joint))])
    return [",\n    ".join(layer) for layer in layers]


def _final(calculation: Calculation, kept: Sequence[str], keep: Sequence[str]) -> str:
    columns = [f"{short} AS {quote_name(name)}" for short, name in zip(kept, keep, strict=True)]
    classes = range(len(calculation.classes))
    logs = [f"l{c}" for c in classes]
    best = "".join(
        f" WHEN {_no_later_exceeds(logs, c)} THEN {quote_text(calculation.classes[c])}"
        for c in classes[:-1]
    )
    last = quote_text(calculation.classes[-1])
    columns.append(f"CASE{best} ELSE {last} END AS {quote_name(_PREDICTION)}")
    for c, label in enumerate(calculation.classes):
        others = [_exp(f"l{d} - l{c}", np.inf) for d in classes if d != c]
        columns.append(f"1e0 / ({_sum(['1e0', *others])}) AS {quote_name(f'P({label})')}")
    return "SELECT " + ",\n  ".join(columns) + "\nFROM joint"
