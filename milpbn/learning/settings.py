"""The settings of a run: score, search space, method, parameters and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Unpack

from milpbn.encoding.columns import Variable
from milpbn.errors import ModelFileError, OptionError
from milpbn.families import Constraints
from milpbn.families.constraints import Arc
from milpbn.families.smoothing import Laplace, Smoothing, parse_smoothing
from milpbn.families.views import other_resolutions
from milpbn.learning.methods import Method, check_method, has_tree, method_name, require
from milpbn.messages import Message, option
from milpbn.parameters import Parameters, make_parameters
from milpbn.parameters.ml import MaximumLikelihood
from milpbn.scores import Score, SoftMargin, applicable_settings, make_score
from milpbn.scores.definition import LOO
from milpbn.scores.rows import NO_VALIDATION
from milpbn.search import LEARNERS, Learner
from milpbn.search.multinet import MULTINETS
from milpbn.settings import (
    BudgetNames,
    MethodNames,
    ScoreNames,
    SettingNames,
    SmoothingNames,
    SolveOptions,
    StateNames,
    TreeNames,
    check_settings,
    chosen_states,
    declared,
    renamed,
)
from milpbn.structure import Structure


@dataclass(frozen=True)
class SearchSpace:
    """Which structures are considered.

    Parameters
    ----------
    max_parents
        Maximum number of parents per variable, including the class.
    class_parents
        Whether features may be parents of the class.
    constraints
        Required and forbidden arcs, tiers, parent limits, budgets.
    augmented
        Whether a feature with parents must have the class among them. For margin scores this
        loses nothing and always holds; for generative scores it is a choice.
    smoothing
        How counts become the probabilities whose effects are monotone, if some must be.
    """

    max_parents: int = 2
    class_parents: bool = True
    constraints: Constraints | None = None
    augmented: bool = False
    smoothing: Smoothing = field(default_factory=Laplace)


@dataclass(frozen=True)
class Settings:
    """Everything that a run depends on, except the data.

    Most callers build it with :func:`make_settings`.

    Attributes
    ----------
    score
        What the structure maximises.
    space
        Which structures are considered.
    method
        An engine, a heuristic or a multinet learner by name; a heuristic with its own
        settings; or a structure, for which only the score and the parameters are computed.
    start
        A structure to start from, or the name of the heuristic that looks for one in a small
        share of the time, or None. Engines use either, heuristics use a structure.
    start_source
        Where a given structure came from, for the report.
    parameters, smoothing
        How the parameters of the classifier are learned.
    options
        Gap, threads, seed, memory limit.
    time_limit
        Seconds for everything, or None.
    states
        Which states the columns of a table become; what is not given is as the table says.
    choose_validation
        Whether the validation of the score was not given, so that :meth:`for_variables` may set
        it.
    """

    score: Score = field(default_factory=SoftMargin)
    space: SearchSpace = field(default_factory=SearchSpace)
    method: Method = "branch-and-cut"
    start: Structure | str | None = "local-search"
    start_source: str = "warm-start"
    parameters: Parameters = field(default_factory=MaximumLikelihood)
    smoothing: Smoothing = field(default_factory=Laplace)
    options: SolveOptions = field(default_factory=SolveOptions)
    time_limit: float | None = None
    states: StateNames = field(default_factory=lambda: StateNames())
    choose_validation: bool = False

    def __post_init__(self) -> None:
        check_method(self.method, self.score)
        for name, setting in declared(TreeNames).items():
            if getattr(self.options, name):
                require(setting.needs, setting.spelling, self.method, self.options.host)

    @property
    def has_tree(self) -> bool:
        """Whether the run has a tree of its own, which it can save and give to others."""
        return has_tree(self.method, self.options.host)

    def with_learner(self, learner: Learner, **changes: Any) -> Settings:
        """The settings with a heuristic as the method; options of a tree have no meaning then."""
        of_tree: dict[str, Any] = {name: one.default for name, one in declared(TreeNames).items()}
        options = replace(self.options, **of_tree)
        return replace(self, method=learner, options=options, **changes)

    def for_variables(self, variables: Sequence[Variable]) -> Settings:
        """The settings for given variables.

        With several resolutions, the finest states win on the rows that the parameters are
        learned from. So each row is scored without itself (``validation="loo"``), unless the
        validation was given. If tables have finer bins than the search, the class is a parent of
        every feature, unless constraints prevent this: what is useless in coarse bins may be
        useful in fine ones. With monotone effects, what cannot keep them is refused.
        """
        self._check_monotone([v.name for v in variables if v.monotone])
        if self.parameters.resolutions and any(v.search for v in variables):
            arcs = _arcs_from_class(self.space.constraints or Constraints(), variables)
            if arcs:
                wanted = (self.space.constraints or Constraints()).merged(arcs, ())
                return replace(self, space=replace(self.space, constraints=wanted))
        if not (self.choose_validation and _several_resolutions(variables)):
            return self
        score = self.score.with_settings(validation=LOO)
        return replace(self, score=score, choose_validation=False)

    def _check_monotone(self, names: Sequence[str]) -> None:
        if not names:
            return
        told = f"monotone effects ({', '.join(names)}) "
        if not self.parameters.counted:
            told += f"are not kept by the parameters {self.parameters}; use "
            more = ", and no others in a selection"
            raise OptionError(Message(told, option("parameters", "ml"), more))
        if isinstance(self.method, str) and self.method in MULTINETS:
            raise OptionError(f"{told}need one structure for all classes, not {self.method}")

    def notes(self, variables: Sequence[Variable]) -> list[str]:
        """What a user should know about these settings for given variables."""
        score, own = self.for_variables(variables).score, option("validation", LOO)
        if not _several_resolutions(variables) or not score.by_rows:
            return []
        what = "Variables have several resolutions"
        if self.choose_validation:
            return [Message(f"{what}: each row is scored without itself (", own, ").")]
        if score.validation is None and not score.penalty:
            told = f"{what}, and rows are scored with parameters learned from them"
            return [
                Message(f"{told}: the finest states win; ", own, " or a penalty prevents this.")
            ]
        return []

    def to_dict(self) -> dict[str, Any]:
        """Plain data for reports and model files."""
        start = self.start_source if isinstance(self.start, Structure) else self.start
        return {
            "score": self.score.name,
            **self.score.settings(),
            **{f.name: getattr(self.space, f.name) for f in fields(SearchSpace)},
            "constraints": (self.space.constraints or Constraints()).to_dict(),
            "method": method_name(self.method),
            "start": start,
            "parameters": str(self.parameters),
            "smoothing": str(self.smoothing),
            "time_limit": self.time_limit,
            **{k: v for k, v in asdict(self.options).items() if k not in declared(TreeNames)},
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Settings:
        """The settings in a model file, for verification and for learning again.

        A structure that was given as a start or as the method is not in the file; the default
        is used instead.
        """
        names: Any = {k: v for k, v in content.items() if k in declared(SettingNames)}
        if "folds" in content:  # the name of the setting in older files
            names["validation"] = content["folds"]
        if "score" not in content:
            raise ModelFileError("settings: 'score' is missing")
        names.setdefault("validation", NO_VALIDATION)
        names["constraints"] = Constraints.from_dict(content.get("constraints", {}))
        if names.get("p") is not None:
            names.pop("gamma", None)
        if names.get("start") not in (None, *LEARNERS):
            del names["start"]
        if names.get("method") == "given structure":
            del names["method"]
        return make_settings(**names)


def make_settings(**names: Unpack[SettingNames]) -> Settings:
    """Build settings from plain names and values; the others take their defaults.

    Settings that the score does not have are ignored if other scores have them and estimators pass
    them on (`p`, `gamma`, `penalty`, `smoothing`, `validation`), so that the same names work for
    every score. Without `validation`, or with None, it is chosen when the variables are known, see
    :meth:`Settings.for_variables`; ``"none"`` stands for no validation. The budgets `max_arcs`,
    `max_features`, `max_parameters`, and `max_cost` with its `feature_costs`, replace those of the
    constraints.

    Examples
    --------
    >>> settings = make_settings(score="sm", p=0.8, max_parents=1, method="nb", seed=3)
    >>> settings.score.p, settings.space.max_parents, settings.options.seed
    (0.8, 1, 3)
    """
    given = renamed(names)
    if unknown := sorted(set(given) - set(SettingNames.__annotations__)):
        raise OptionError(
            f"unknown setting {unknown[0]!r}; the settings are {', '.join(declared(SettingNames))}"
        )
    check_settings(given)
    score = given.get("score", SoftMargin.name)
    of_scores = declared(ScoreNames, SmoothingNames)
    common = {name: given.get(name) for name, one in of_scores.items() if one.of_estimator}
    own = {name: given.get(name) for name, one in of_scores.items() if not one.of_estimator}
    made = make_score(score, **applicable_settings(score, common), **own)
    by_name = isinstance(score, str) and given.get("validation") is None
    options = given.get("options") or SolveOptions()
    smoothing = parse_smoothing(given.get("smoothing", Laplace()))
    if budgets := {
        name: given[name] for name in declared(BudgetNames) if given.get(name) is not None
    }:
        given["constraints"] = replace(given.get("constraints") or Constraints(), **budgets)
    plain = ("time_limit", *declared(MethodNames))
    return Settings(
        score=made,
        space=SearchSpace(**{**_fields(SearchSpace, given), "smoothing": smoothing}),
        parameters=make_parameters(given.get("parameters", MaximumLikelihood.name)),
        smoothing=smoothing,
        options=replace(options, **_fields(SolveOptions, given)),
        states=chosen_states(given),
        choose_validation=by_name and "validation" in made.parameter_names(),
        **{name: given[name] for name in plain if name in given},
    )


def settings_for_codes(**names: Unpack[SettingNames]) -> Settings:
    """Settings for encoded rows: which states columns become can no longer be chosen."""
    made = make_settings(**names)
    for name in made.states:
        raise OptionError(f"{name} cannot be set for encoded rows; encode a table with it")
    return made


def _fields(kind: type, given: Mapping[str, Any]) -> dict[str, Any]:
    return {f.name: given[f.name] for f in fields(kind) if f.name in given}


def _arcs_from_class(constraints: Constraints, variables: Sequence[Variable]) -> list[Arc]:
    """The arcs from the class to features that can be required in addition."""
    target, *features = (v.name for v in variables)
    if constraints.budgets or constraints.required_parents(target):
        return []
    arcs = []
    for name in features:
        present = constraints.required_parents(name)
        room = constraints.max_parents.get(name, len(variables)) > len(present)
        if target not in present and room and constraints.allows(target, name):
            arcs.append((target, name))
    return arcs


def _several_resolutions(variables: Sequence[Variable]) -> bool:
    """Whether the search chooses between resolutions of a variable."""
    return bool(other_resolutions([v.searched() for v in variables]))
