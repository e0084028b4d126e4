"""The explanation of predictions: contributions to the log-odds, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from milpbn._types import Codes, FloatArray
from milpbn.encoding import ColumnCode, Encoder
from milpbn.errors import OptionError
from milpbn.explanation.contributions import contributions_of, log_odds_of, sizes_of
from milpbn.explanation.resolutions import seen_by_family
from milpbn.network.inference import log_joint
from milpbn.network.multinet import Classifier
from milpbn.network.terms import family_terms
from milpbn.structure import AnyStructure
from milpbn.words import count, quoted

Words = tuple[str | None, ...]
"""What is said for each code of a feature, and at the end for a missing one."""

MISSING = "(missing features)"
"""The column for what the missing features of a row add."""

ALL_OTHERS = "all others"
"""The column for the log-odds against all other classes together."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Contributions of the features to the predictions for some rows.

    The contributions of a row add up to the log-odds of its explained class against another
    class, or against all others. The contribution of a variable is that of its family: it
    depends on the state of the variable and on the states of its parents.

    Attributes
    ----------
    variables
        Names; the class comes first.
    parents
        For each variable, the features whose states its contribution depends on, too.
    classes
        The class labels.
    states
        The states of the features as they are shown to people, one row per row; None if a
        feature is missing. They are those that the family of the feature sees.
    codes
        The same rows as codes of finest states; negative for missing features.
    words
        For each variable, the states of the features in its family as the family sees them, by
        the code of the finest state. The last one, None, stands for a missing feature.
    terms
        ``(M, n + 1, |C|)``: what each variable, and the missing features together, add to
        ``log P(c, observed features)``.
    joint
        ``(M, |C|)``: ``log P(c, observed features)``, computed without the terms.
    of
        Positions of the explained classes in `classes`.
    against
        Position of the class to compare with; None for all others together.
    """

    variables: tuple[str, ...]
    parents: Mapping[str, tuple[str, ...]]
    classes: npt.NDArray[Any]
    states: pd.DataFrame
    codes: Codes
    words: Mapping[str, Mapping[str, Words]]
    terms: FloatArray
    joint: FloatArray
    of: npt.NDArray[np.intp]
    against: int | None = None

    def __len__(self) -> int:
        return len(self.of)

    def __repr__(self) -> str:
        rival = ALL_OTHERS if self.against is None else repr(self.classes.tolist()[self.against])
        rows, features = count(len(self), "row"), count(len(self.variables) - 1, "feature")
        return f"<Explanation: {rows}, {features}, log-odds against {rival}>"

    @property
    def columns(self) -> list[str]:
        """The class, the features, and the missing features together."""
        return [*self.variables, MISSING]

    @property
    def explained(self) -> npt.NDArray[Any]:
        """The explained class of every row."""
        labels: npt.NDArray[Any] = self.classes[self.of]
        return labels

    @property
    def log_odds(self) -> pd.Series[float]:
        """The log-odds of the explained classes, from the class probabilities."""
        found = log_odds_of(self.joint, self.of, self.against)
        return pd.Series(found, index=self.states.index, name="log_odds")

    @property
    def probability(self) -> pd.Series[float]:
        """The probability of the explained class of every row."""
        found = np.exp(-np.logaddexp(0.0, -log_odds_of(self.joint, self.of)))
        return pd.Series(found, index=self.states.index, name="probability")

    @cached_property
    def contributions(self) -> pd.DataFrame:
        """One row per row, one column per variable; the rows add up to the log-odds.

        The column of the class is the contribution of its own table: that of the class
        frequencies, if the class has no parents. The last column is what the missing features
        add together; it is 0 for complete rows.
        """
        found = contributions_of(self.terms, self.of, self.against)
        return pd.DataFrame(found, index=self.states.index, columns=self.columns)

    @property
    def importance(self) -> pd.Series[float]:
        """The mean absolute contribution of each feature, the largest first.

        The parents of the class share the contribution of its table, as far as it deviates from
        its mean. A feature that is only a parent of other features has 0: it acts through them.
        """
        above = [self.variables.index(p) for p in self.parents[self.variables[0]]]
        sizes = sizes_of(self.terms, self.of, self.against, class_parents=above).mean(axis=0)
        found = pd.Series(sizes, index=self.variables[1:], name="importance")
        return found.sort_values(ascending=False, kind="stable")

    def row(self, position: int) -> pd.DataFrame:
        """The contributions of one row against every other class.

        Parameters
        ----------
        position
            The position of the row, from 0.

        Returns
        -------
        DataFrame
            One row per variable with its ``state``, and one column per competitor, the most
            probable first. With more than two classes, ``"all others"`` comes before them. If
            the explanation is against one class, there is only its column. The largest
            contributions come first, those of the class and of the missing features last.
        """
        terms, of = self.terms[[position]], self.of[[position]]
        found = {
            name: contributions_of(terms, of, c)[0] for name, c in self._rivals(position).items()
        }
        states = [self.explained[position], *self.states.iloc[position], None]
        table = pd.DataFrame({"state": pd.Series(states, dtype=object), **found})
        sizes = -np.abs(table.iloc[1:-1, 1].to_numpy())
        order = [*(1 + np.argsort(sizes, kind="stable")), 0, len(table) - 1]
        return table.set_axis(self.columns).iloc[order]

    def _rivals(self, position: int) -> dict[Any, int | None]:
        """The columns of :meth:`row`, and the classes that they compare with."""
        labels: list[Any] = self.classes.tolist()
        if self.against is not None:
            return {labels[self.against]: self.against}
        ranked = np.argsort(-self.joint[position], kind="stable").tolist()
        rivals: dict[Any, int | None] = {labels[c]: c for c in ranked if c != self.of[position]}
        return {ALL_OTHERS: None, **rivals} if len(rivals) > 1 else rivals

    def given(self, variable: str, position: int) -> dict[str, str | None]:
        """The states of the parents of a variable in one row, as its family sees them."""
        return {
            p: self.words[variable][p][
                max(-1, int(self.codes[position, self.variables.index(p) - 1]))
            ]
            for p in self.parents.get(variable, ())
        }

    def to_dict(self, position: int) -> dict[str, Any]:
        """One row as plain data, for JSON: the values of :meth:`row`, and what they add up to."""
        table = self.row(position)
        rivals = [str(name) for name in table.columns[1:]]
        states = dict(self.states.iloc[position])
        items = [
            {
                "variable": name,
                "state": None if name == MISSING else str(state) if state is not None else None,
                "given": self.given(name, position),
                "contributions": dict(zip(rivals, values, strict=True)),
            }
            for name, state, *values in table.itertuples(name=None)
        ]
        return {
            "class": self.classes.tolist()[self.of[position]],
            "probability": float(self.probability.iloc[position]),
            "log_odds": dict(zip(rivals, table.iloc[:, 1:].sum().tolist(), strict=True)),
            "missing": [name for name, state in states.items() if state is None],
            "contributions": items,
        }


def explain_rows(
    network: Classifier,
    encoder: Encoder,
    frame: pd.DataFrame,
    *,
    classes: Sequence[Any] | npt.NDArray[Any] | None = None,
    of: Any = None,
    against: Any = None,
) -> Explanation:
    """Explain the predictions for raw rows.

    Parameters
    ----------
    network
        The classifier: a network or a multinet.
    encoder
        How raw columns become states.
    frame
        The rows; columns are found by name. Missing and unknown values are summed out.
    classes
        The class labels, in the order of the states; by default the states.
    of
        The class to explain; by default, in every row, the most probable one.
    against
        The class to compare with; by default all others together.
    """
    codes = encoder.transform(frame).codes
    return explain_codes(
        network, encoder, codes, index=frame.index, classes=classes, of=of, against=against
    )


def explain_codes(
    network: Classifier,
    encoder: Encoder,
    codes: Codes,
    *,
    index: pd.Index[Any] | None = None,
    classes: Sequence[Any] | npt.NDArray[Any] | None = None,
    of: Any = None,
    against: Any = None,
) -> Explanation:
    """As :func:`explain_rows`, for the codes of the features."""
    labels = np.asarray(encoder.target.variable.states if classes is None else classes)
    known = labels.tolist()
    joint = log_joint(network, codes)
    chosen = None if of is None else class_position("of", of, known)
    rival = None if against is None else class_position("against", against, known)
    if chosen is not None and chosen == rival:
        raise OptionError(f"of and against are both {of!r}; choose two different classes")
    explained = joint.argmax(axis=1) if chosen is None else np.full(len(codes), chosen)
    words = _words(network.structure, encoder)
    return Explanation(
        variables=tuple(v.name for v in encoder.variables),
        parents=feature_parents(network.structure),
        classes=labels,
        states=_readable_states(encoder, codes, index, words),
        codes=codes,
        words=words,
        terms=family_terms(network, codes),
        joint=joint,
        of=explained,
        against=rival,
    )


def feature_parents(structure: AnyStructure) -> dict[str, tuple[str, ...]]:
    """For each variable, its parents without the class; in a multinet, those of every class."""
    names = structure.variables
    return {
        name: tuple(names[p] for p in sorted(set(seen_by_family(structure, i)) - {0, i}))
        for i, name in enumerate(names)
    }


def class_position(option: str, label: Any, labels: Sequence[Any]) -> int:
    """The position of a class label that an option names."""
    if label not in labels:
        told = f"there is no class {label!r}; the classes are {quoted(labels)}"
        raise OptionError(f"{option}: {told}")
    return labels.index(label)


def _words(structure: AnyStructure, encoder: Encoder) -> dict[str, dict[str, Words]]:
    """The states that each family sees; see :attr:`Explanation.words`."""
    codes = (encoder.target, *encoder.columns)
    found = {}
    for child, own in enumerate(codes):
        seen = seen_by_family(structure, child).items()
        found[own.name] = {codes[v].name: _words_of(codes[v], r) for v, r in seen if v != 0}
    return found


def _words_of(column: ColumnCode, resolution: int) -> Words:
    states = column.readable(resolution)
    return (*(states[k] for k in column.variable.resolution(resolution).of), None)


def _readable_states(
    encoder: Encoder,
    codes: Codes,
    index: pd.Index[Any] | None,
    words: Mapping[str, Mapping[str, Words]],
) -> pd.DataFrame:
    # A negative code takes the last entry.
    return pd.DataFrame(
        {
            column.name: np.array(words[column.name][column.name], dtype=object)[
                np.maximum(codes[:, j], -1)
            ]
            for j, column in enumerate(encoder.columns)
        },
        index=index,
        dtype=object,
    )
