"""The settings of a run for several class variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from milpbn.anytime import SolveOptions
from milpbn.errors import OptionError
from milpbn.families import Constraints
from milpbn.learning.methods import ENGINES
from milpbn.mdc.base_estimators import BASES, Base, Logistic, NamedOnly, make_base
from milpbn.mdc.features import MIXED, PARTITION
from milpbn.mdc.inference import LOSSES
from milpbn.structure import Structure

FOLDS = 5
"""Rows are held out in this many folds, if nothing else is said."""

# What model files call some settings.
_IN_FILES = {"start_source": "warm_start", "n_jobs": "jobs"}
# Not in model files: a structure to start from has its name there.
_NOT_IN_FILES = ("start",)


@dataclass(frozen=True)
class GBNCSettings:
    """Everything that determines a class network, given its rows.

    The fields are the parameters of :class:`~milpbn.GBNCClassifier`, which explains them, with
    ``base`` for its ``base_estimator`` and ``seed`` for its ``random_state``.

    Examples
    --------
    >>> GBNCSettings(make_base("gaussian-nb"), max_parents=2).to_dict()["base"]
    'gaussian-nb'
    """

    base: Base = field(default_factory=Logistic)
    validation: int | None = FOLDS
    max_parents: int | None = None
    mixed: str = PARTITION
    max_discrete_parents: int | None = 1
    loss: str = LOSSES[0]
    engine: str = "branch-and-cut"
    start: Structure | str | None = None
    start_source: str = "none"
    time_limit: float | None = None
    n_jobs: int | None = None
    seed: int | None = 0
    emit: str = SolveOptions.emit
    constraints: Constraints | None = None

    def __post_init__(self) -> None:
        for name, known in (("mixed", MIXED), ("loss", LOSSES), ("engine", tuple(ENGINES))):
            check_choice(name, getattr(self, name), known)
        folds = self.validation
        whole = isinstance(folds, int) and not isinstance(folds, bool)
        if folds is not None and not (whole and folds >= 2):
            raise OptionError(
                f"validation must be a number of folds, at least 2, or None, not {folds!r}"
            )
        for name in ("max_parents", "max_discrete_parents"):
            if (limit := getattr(self, name)) is not None and limit < 0:
                raise OptionError(f"{name} must not be negative: {limit}")

    @property
    def chooses(self) -> bool:
        """Whether validation chooses settings of the base models."""
        return len(self.base.candidates()) > 1

    @property
    def base_seed(self) -> int | None:
        """The seed of base models; held-out scores can only be checked with one."""
        return self.seed if self.validation is None else self.seed or 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        names = (name for name in self.__dataclass_fields__ if name not in _NOT_IN_FILES)
        told = {_IN_FILES.get(name, name): getattr(self, name) for name in names}
        rules = self.constraints
        return {**told, "base": str(self.base), "constraints": rules.to_dict() if rules else {}}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> GBNCSettings:
        """The settings that a model file names; those of a run that it lacks have their defaults.

        Files of version 0.2 have no ``validation``: rows were not held out.
        """
        back = {in_file: name for name, in_file in _IN_FILES.items()}
        given = {back.get(name, name): value for name, value in told.items()}
        known = {name: given[name] for name in cls.__dataclass_fields__ if name in given}
        base = str(given.get("base", Logistic.name))
        named = base.partition(":")[0] in BASES
        rules = given.get("constraints")
        return cls(
            **{
                "validation": None,
                **known,
                "base": make_base(base) if named else NamedOnly(base),
                "constraints": Constraints.from_dict(rules) if rules else None,
            }
        )


def read_number_of_folds(text: str) -> int | None:
    """Read a number of folds, or ``none``.

    Examples
    --------
    >>> read_number_of_folds("5"), read_number_of_folds("none")
    (5, None)
    """
    folds = None if text == "none" else int(text) if text.isascii() and text.isdigit() else text
    return GBNCSettings(validation=folds).validation  # type: ignore[arg-type]


def check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Raise an error if a setting is not one of the known words."""
    if value not in known:
        raise OptionError(f"{name} must be one of {', '.join(known)}, not {value!r}")
