"""Verification: the claims of a model file, checked against its data.

Nothing that the learner computed is trusted: the data are read and encoded again, the
score is computed from its definition, a bound is derived again, and if the space is small
enough, every structure is enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from milpbn._types import FloatArray
from milpbn.anytime import Run, SolveOptions
from milpbn.anytime.progress import allowed_gap
from milpbn.clock import Clock, OutOfTime
from milpbn.datasets.table import Table
from milpbn.encoding import EncodedData, Encoder
from milpbn.engines.branch_and_cut import root_bound
from milpbn.engines.enumeration import best_by_enumeration, n_choices
from milpbn.errors import ModelFileError
from milpbn.families import Constraints, parse_smoothing
from milpbn.learning.model import Model
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace, Settings
from milpbn.learning.structure_claims import alternative_errors, arc_errors
from milpbn.network.multinet import Classifier, Multinet, fit_classifier
from milpbn.result import Result, Status
from milpbn.scores import Objective, Score, make_score
from milpbn.scores.rescore import rescore
from milpbn.search import run_learner
from milpbn.search.local_search import LocalSearch
from milpbn.structure import ClassStructures, Structure

ENUMERABLE = 300_000
"""The largest number of choices of families that is enumerated."""

# The share of the time for the search for a counterexample, and its limit on unsuccessful kicks.
_SEARCH_SHARE = 0.3
_SEARCH_PATIENCE = 300


@dataclass(frozen=True)
class Check:
    """One claim of a model file: whether it holds, and what was found.

    `holds` is None if the claim could neither be confirmed nor refuted. If the check proved
    the bound again, `proves` says how.
    """

    claim: str
    holds: bool | None
    seen: str
    proves: str = ""


@dataclass(frozen=True)
class Verification:
    """All checks of one model."""

    checks: tuple[Check, ...]

    @property
    def agrees(self) -> bool:
        """Whether nothing disagreed."""
        return all(check.holds is not False for check in self.checks)

    @property
    def proofs(self) -> tuple[str, ...]:
        """How the bound was proven again; empty if it depends on the search tree of the run."""
        return tuple(check.proves for check in self.checks if check.holds and check.proves)


def verify_model(
    model: Model, table: Table, *, time_limit: float | None = None, seed: int = 1
) -> Verification:
    """Check a model against the table that it was learned from.

    Parameters
    ----------
    model
        The model.
    table
        Its data, read again (with the same rows held out).
    time_limit
        Seconds for bounds and enumeration; the rest is fast.
    seed
        Random seed for the search for a counterexample; by default not that of the learner.

    Examples
    --------
    >>> import pathlib, subprocess, sys, tempfile
    >>> from milpbn import load_dataset
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> command = [sys.executable, "-m", "milpbn", "solve", "--dataset", "iris", "--out", file]
    >>> _ = subprocess.run(command, check=True, capture_output=True)
    >>> verification = verify_model(Model.load(file), load_dataset("iris"))
    >>> verification.agrees
    True
    >>> verification.checks[-1].claim
    'no structure scores higher than the bound'
    """
    return Verification(tuple(_checks(model, table, Clock(time_limit), seed)))


def _checks(model: Model, table: Table, clock: Clock, seed: int) -> Iterator[Check]:
    yield check_source(model.data, table)
    encoder_check, data = _read_again(model, table)
    yield encoder_check
    if encoder_check.holds is False:
        return
    settings = _settings(model)
    yield _parameters(model, data)
    structure_check = _structure(model, settings.space, [v.card for v in data.variables])
    yield structure_check
    if structure_check.holds is False:
        return
    # The score that the result names is checked, not the one in the settings.
    score = make_score(model.result.score, **model.result.score_parameters)
    yield _objective(model, score, data)
    yield from _sets(model, score, data)
    if model.result.bound is not None:
        objective = build_objective(data, score, settings.space, clock=clock)
        yield from _bounds(model, objective, score, clock, seed)


def _settings(model: Model) -> Settings:
    """The settings of the run; those that verification needs must be in the file."""
    for name in ("score", "smoothing"):
        if name not in model.settings:
            raise ModelFileError(f"settings: {name!r} is missing, so the score cannot be checked")
    return Settings.from_dict(model.settings)


def check_source(told: Mapping[str, Any], table: Table) -> Check:
    """Check that a table is the one that a model file names."""
    claim = "the data are those that the model was learned from"
    expected, found = told.get("sha256"), table.source.get("sha256")
    if expected is None:
        return Check(claim, None, "generated data have no checksum")
    seen = f"sha256 {str(found)[:12]}"
    if expected != found:
        seen += f", the model says {str(expected)[:12]}"
    return Check(claim, expected == found, seen)


def check_status(result: Result) -> Check:
    """Check that status, objective and bound of a result are consistent."""
    assert result.bound is not None
    slack = allowed_gap(result.objective)
    gap = result.bound - result.objective
    fits = gap >= -slack and (result.status is Status.OPTIMAL) == (gap <= slack)
    claim = f"the status {result.status} fits objective and bound"
    return Check(claim, fits, f"gap {gap:.6f}, tolerance {slack:.2g}")


def _read_again(model: Model, table: Table) -> tuple[Check, EncodedData]:
    encoder = Encoder.fit(table)
    data = encoder.encode(table)
    n = len(data.train())
    same = encoder.to_dict() == model.encoder.to_dict() and n == model.data.get("n_rows", n)
    claim = "fitting the encoder again gives the same states and cuts"
    return Check(claim, same, f"{len(encoder.columns)} features, {n} training rows"), data


def _parameters(model: Model, data: EncodedData) -> Check:
    """Counted parameters are counted again; learned ones must at least add up to 1."""
    tables = _tables(model.network)
    smoothing = parse_smoothing(model.settings["smoothing"])
    again = fit_classifier(
        model.network.structure, data.variables, data.train(), smoothing, data.train_weights()
    )
    if not _same_counts(model.network, again):
        return Check("counting again gives the same counts", False, "the counts differ")
    if model.settings.get("parameters", "ml") != "ml":
        worst = max(float(np.abs(np.exp(cpt).sum(axis=-1) - 1).max()) for cpt in tables)
        return Check("the probabilities add up to 1", worst < 1e-9, f"within {worst:.1g}")
    pairs = zip(_tables(again), tables, strict=True)
    far = max(float(np.abs(a - b).max()) for a, b in pairs)
    claim = "counting again gives the same probabilities"
    return Check(claim, far < 1e-9, f"logarithms differ by {far:.1g}")


def _same_counts(told: Classifier, again: Classifier) -> bool:
    """Whether the counts of a model, if it has any, are those of its data."""
    if not told.has_counts:
        return True
    names = [v.name for v in told.variables]
    pairs = ((told.table(n, counts=True), again.table(n, counts=True)) for n in names)
    return all(np.allclose(mine, theirs, rtol=1e-9, atol=1e-9) for mine, theirs in pairs)


def _tables(network: Classifier) -> list[FloatArray]:
    """All tables; for a multinet, the class prior and the tables of every class."""
    if isinstance(network, Multinet):
        own = [cpt for part in network.networks for cpt in part.log_cpts[1:]]
        return [network.log_prior, *own]
    return list(network.log_cpts)


def _structure(model: Model, space: SearchSpace, cards: Sequence[int]) -> Check:
    structure = model.result.structure
    parts = structure.structures if isinstance(structure, ClassStructures) else (structure,)
    broken = [rule for part in parts for rule in _broken_rules(part, space, cards)]
    if structure != model.network.structure:
        broken.append("the result and the network have different structures")
    return Check(
        "the structure is acyclic and satisfies limits and constraints",
        not broken,
        "; ".join(broken) or f"{sum(len(part.arcs) for part in parts)} arcs",
    )


def _broken_rules(structure: Structure, space: SearchSpace, cards: Sequence[int]) -> Iterator[str]:
    constraints = space.constraints or Constraints()
    if not nx.is_directed_acyclic_graph(structure.to_networkx()):
        yield "there is a cycle"
    arcs = set(structure.arcs)
    for name, parents in structure.to_dict().items():
        limit = min(space.max_parents, constraints.max_parents.get(name, space.max_parents))
        if len(parents) > limit:
            yield f"{name} has {len(parents)} parents, {limit} are allowed"
        for parent in constraints.required_parents(name):
            if (parent, name) not in arcs:
                yield f"{parent}->{name} is required"
        if space.augmented and parents and structure.variables[0] not in (name, *parents):
            yield f"{name} has parents, but not the class"
    for parent, child in sorted(arcs):
        if not constraints.allows(parent, child):
            yield f"{parent}->{child} is forbidden"
        if child == structure.variables[0] and not space.class_parents:
            yield f"{parent}->{child} is not allowed: the class must be a root"
    yield from constraints.budgets.broken_by(structure, cards)


def _objective(model: Model, score: Score, data: EncodedData) -> Check:
    claim = "the structure has the stated score, by the score's definition"
    structure, weights = model.result.structure, data.train_weights()
    value = rescore(score, structure, data.variables, data.train(), weights)
    told = model.result.objective
    return Check(
        claim, abs(value - told) <= allowed_gap(told), f"{value:.6f}, the model says {told:.6f}"
    )


def _sets(model: Model, score: Score, data: EncodedData) -> Iterator[Check]:
    """Check the structures behind arc margins and alternatives; their bounds are not repeated."""
    if model.arcs is not None:
        claim = (
            "the structures behind the arc margins satisfy their conditions and have their scores"
        )
        errors = list(arc_errors(model, score, data))
        seen = f"{len(model.arcs.answers)} answers; bounds are not derived again"
        yield Check(claim, not errors, "; ".join(errors[:3]) or seen)
    if model.alternatives is not None:
        errors = list(alternative_errors(model, score, data))
        seen = f"{len(model.alternatives.structures)} structures; completeness is not proven again"
        yield Check("the alternatives have their scores", not errors, "; ".join(errors[:3]) or seen)


def _bounds(
    model: Model, objective: Objective, score: Score, clock: Clock, seed: int
) -> Iterator[Check]:
    """Check the bound against a new root bound, a new search and, if possible, enumeration."""
    result = model.result
    assert result.bound is not None
    if not isinstance(result.structure, Structure):
        yield Check("a bound is stated for one structure", False, "the model is a multinet")
        return
    slack = allowed_gap(result.objective)
    closed = result.bound - result.objective <= slack
    yield check_status(result)
    families = objective.space.families(result.structure)
    if score.exact:
        yield _root(result.bound, result.objective, root_bound(objective, families, clock), slack)
    found = run_learner(
        LocalSearch(patience=_SEARCH_PATIENCE),
        objective,
        score,
        Run(
            clock=clock.until(clock.elapsed + min(10.0, _SEARCH_SHARE * clock.remaining)),
            options=SolveOptions(seed=seed),
        ),
    ).objective
    yield Check(
        "a new search finds nothing above the bound",
        found <= result.bound + slack,
        f"best found {found:.6f}",
    )
    yield _enumeration(result.bound, result.objective, closed, objective, clock, slack)


def _root(told: float, value: float, bound: float, slack: float) -> Check:
    """A root bound must lie above the score; if it lies below the stated bound, it proves it."""
    claim = "a root bound, derived again, lies above the score of the structure"
    proves = "the root bound" if bound <= told + slack else ""
    return Check(claim, bound >= value - slack, f"{bound:.6f}, the model says {told:.6f}", proves)


def _enumeration(
    told: float, value: float, closed: bool, objective: Objective, clock: Clock, slack: float
) -> Check:
    claim = "no structure scores higher than the bound"
    n = n_choices(objective.space)
    if n > ENUMERABLE:
        return Check(claim, None, f"{n:.3g} choices of families are too many to enumerate")
    try:
        _, best = best_by_enumeration(objective, clock.checkpoint)
    except OutOfTime:
        return Check(claim, None, f"the time limit was reached before all {n} choices were tried")
    right = best <= told + slack and (not closed or abs(best - value) <= slack)
    seen = f"the best of all {n} choices of families scores {best:.6f}"
    return Check(claim, right, seen, "enumeration")
