"""Constraints on the structure: arcs, tiers, parent limits and budgets.

Arcs, tiers and parent limits filter the candidate families once, so every learner that works on
these families satisfies them. Budgets limit the structure as a whole.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from milpbn.errors import ConstraintError
from milpbn.families.budgets import Budgets
from milpbn.files import read_limited

FEATURE_COSTS = "feature_costs"
BUDGETS = tuple(f.name for f in fields(Budgets) if f.name != FEATURE_COSTS)
"""The names of the budgets."""

Arc = tuple[str, str]


# Blanks around the names are stripped afterwards: matched here, they would take cubic time.
_ARC = re.compile(r'(\s*"(?:[^"]|"")+"\s*|.*?)->(\s*"(?:[^"]|"")+"\s*|.*)', re.DOTALL)


def parse_arc(text: str) -> Arc:
    """Read ``A->B``; a name that contains ``->`` is in double quotes.

    Examples
    --------
    >>> parse_arc("age -> income")
    ('age', 'income')
    >>> parse_arc('"a->b" -> c')
    ('a->b', 'c')
    """
    match = _ARC.fullmatch(text)
    names = [name.strip() for name in match.groups()] if match else []
    if not (names and all(names)):
        raise ConstraintError(
            f"{text!r} is not an arc; write it as PARENT->CHILD, with a name that contains -> in "
            "double quotes"
        )
    parent, child = (
        name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name
        for name in names
    )
    return parent, child


@dataclass(frozen=True)
class Constraints:
    """Prior knowledge about the structure.

    Attributes
    ----------
    required, forbidden
        Arcs as (parent, child) names; ``"A->B"`` strings and lists are converted.
    tiers
        Groups of variables, earliest first: no arc goes from a later tier to an
        earlier one. Variables that are not mentioned are free.
    max_parents
        Parent limits of individual variables, including the class.
    max_arcs, max_features, max_parameters, max_cost, feature_costs
        Limits on the whole structure, see :class:`~milpbn.families.budgets.Budgets`.

    Examples
    --------
    >>> Constraints(required=[("class", "a")], forbidden=["a->b"]).forbidden
    (('a', 'b'),)
    """

    required: tuple[Arc, ...] = ()
    forbidden: tuple[Arc, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    max_parents: Mapping[str, int] = field(default_factory=dict)
    max_arcs: int | None = None
    max_features: int | None = None
    max_parameters: int | None = None
    max_cost: int | None = None
    feature_costs: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            object.__setattr__(self, name, _arcs(name, getattr(self, name)))
        object.__setattr__(self, "tiers", _tiers(self.tiers))
        if not isinstance(self.max_parents, Mapping):
            raise ConstraintError("max_parents must map variable names to limits")
        for variable, limit in self.max_parents.items():
            if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
                raise ConstraintError(
                    f"max_parents of {variable!r} must be a whole number >= 0, not {limit!r}"
                )
        _ = self.budgets
        self._check_consistency()

    def __bool__(self) -> bool:
        arcs = self.required or self.forbidden or self.tiers
        return bool(arcs or self.max_parents or self.budgets or self.feature_costs)

    @property
    def budgets(self) -> Budgets:
        """The limits on the whole structure."""
        return Budgets(**{name: getattr(self, name) for name in (*BUDGETS, FEATURE_COSTS)})

    @classmethod
    def from_file(cls, path: str | Path) -> Constraints:
        """Read a TOML or JSON file whose keys are the attributes."""
        path = Path(path)
        try:
            text = read_limited(path).decode("utf-8")
            data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        except OSError as error:
            reason = error.strerror or error
            raise ConstraintError(f"cannot read constraints from {path}: {reason}") from None
        except (ValueError, RecursionError) as error:
            kind = "JSON" if path.suffix == ".json" else "TOML"
            raise ConstraintError(f"{path} is not valid {kind}: {error}") from None
        if not isinstance(data, dict):
            raise ConstraintError(f"{path}: expected a table with the keys {', '.join(_KEYS)}")
        try:
            return cls.from_dict(data)
        except ConstraintError as error:
            raise ConstraintError(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Constraints:
        """The inverse of :meth:`to_dict`."""
        if unknown := sorted(set(data) - set(_KEYS)):
            raise ConstraintError(f"unknown key {unknown[0]!r}; known: {', '.join(_KEYS)}")
        return cls(**data)

    def to_dict(self) -> dict[str, Any]:
        """The constraints for model files."""
        return {
            "required": [list(a) for a in self.required],
            "forbidden": [list(a) for a in self.forbidden],
            "tiers": [list(t) for t in self.tiers],
            "max_parents": dict(self.max_parents),
            **{k: v for k in BUDGETS if (v := getattr(self, k)) is not None},
            **({FEATURE_COSTS: dict(self.feature_costs)} if self.feature_costs else {}),
        }

    def merged(self, required: Iterable[Arc], forbidden: Iterable[Arc]) -> Constraints:
        """These constraints with additional arcs."""
        return replace(
            self,
            required=(*self.required, *required),
            forbidden=(*self.forbidden, *forbidden),
        )

    def check_names(self, variables: Sequence[str], absent: Iterable[str] = ()) -> None:
        """Raise if a constraint names something that is not a variable of the data.

        `absent` are columns that exist in the data but are not in the model.
        """
        mentioned = {v for arc in (*self.required, *self.forbidden) for v in arc}
        mentioned |= {v for tier in self.tiers for v in tier} | set(self.max_parents)
        for name in sorted(mentioned - set(variables)):
            if name in set(absent):
                raise ConstraintError(
                    f"constraint on {name!r}: that column was left out of the model because it "
                    "is constant, or tells nothing about the class, in the training rows; remove "
                    "the constraint"
                )
            raise _no_variable("constraint on", name, variables)

    def check_costs(self, variables: Sequence[str]) -> None:
        """Raise if a cost is not that of a feature; the class comes first.

        These are the variables before encoding: a column that it leaves out costs nothing.
        """
        for name in sorted(self.feature_costs):
            if name == variables[0]:
                raise ConstraintError(f"{name!r} is the class; only features have costs")
            if name not in variables:
                raise _no_variable("cost of", name, variables)

    def allows(self, parent: str, child: str) -> bool:
        """Whether the arc parent -> child is permitted by forbidden arcs and tiers."""
        if (parent, child) in self.forbidden:
            return False
        tier = self._tier_of
        return not (parent in tier and child in tier and tier[parent] > tier[child])

    def required_parents(self, child: str) -> set[str]:
        """The parents that `child` must have."""
        return {p for p, c in self.required if c == child}

    @property
    def _tier_of(self) -> dict[str, int]:
        return {v: k for k, tier in enumerate(self.tiers) for v in tier}

    def _check_consistency(self) -> None:
        names = [v for tier in self.tiers for v in tier]
        if twice := sorted(v for v, times in Counter(names).items() if times > 1):
            raise ConstraintError(f"variable {twice[0]!r} is in two tiers")
        for parent, child in self.required:
            if not self.allows(parent, child):
                why = "forbidden" if (parent, child) in self.forbidden else "against the tiers"
                raise ConstraintError(f"arc {parent}->{child} is both required and {why}")
            limit = self.max_parents.get(child)
            count = len(self.required_parents(child))
            if limit is not None and count > limit:
                raise ConstraintError(
                    f"{child!r} has {count} required parents but max_parents {limit}"
                )
        graph: dict[str, set[str]] = {}
        for parent, child in self.required:
            graph.setdefault(child, set()).add(parent)
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            cycle = " -> ".join(error.args[1])
            raise ConstraintError(f"the required arcs form a cycle: {cycle}") from None


def _no_variable(what: str, name: str, variables: Sequence[str]) -> ConstraintError:
    near = get_close_matches(name, variables, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "check the spelling"
    return ConstraintError(f"{what} {name!r}: there is no such variable; {hint}")


_KEYS = tuple(f.name for f in fields(Constraints))


def _tiers(given: Any) -> tuple[tuple[str, ...], ...]:
    if _is_list(given) and all(_is_list(tier) for tier in given):
        tiers = tuple(tuple(tier) for tier in given)
        if all(isinstance(v, str) for tier in tiers for v in tier):
            return tiers
    raise ConstraintError("tiers must be lists of variable names, e.g. [['a'], ['b', 'c']]")


def _is_list(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str)


def _arcs(name: str, given: Iterable[Any]) -> tuple[Arc, ...]:
    if not _is_list(given):
        raise ConstraintError(f"{name} must be a list of arcs, not {given!r}")
    arcs: list[Arc] = []
    for item in given:
        arc = parse_arc(item) if isinstance(item, str) else tuple(item) if _is_list(item) else ()
        if len(arc) != 2 or not all(isinstance(v, str) for v in arc):
            raise ConstraintError(f"{name}: {item!r} is not a (parent, child) pair of names")
        if arc[0] == arc[1]:
            raise ConstraintError(f"{name}: {arc[0]}->{arc[1]} is a loop")
        arcs.append((arc[0], arc[1]))
    return tuple(dict.fromkeys(arcs))
