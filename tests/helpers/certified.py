"""Random small problems with certificates, and what is true about them."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import oracle
import pytest
from problems import (
    encoded,
    named,
    random_case,
    random_weights,
    resolved_case,
    resolved_truth,
)

from milpbn.check import check_certificate
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.errors import ConstraintError
from milpbn.learning.certification import certified_problem
from milpbn.learning.objective import build_objective, family_space
from milpbn.learning.settings import make_settings
from milpbn.learning.structure import run_method
from milpbn.scores import applicable_settings
from milpbn.verification.certificate_claims import named_families

# One round of cuts per node, so that even small problems need a tree.
_SCORES = ("sm", "sbm", "mdl", "bdeu")
CLL = 10_000
"""Seeds from here on are problems of the conditional log-likelihood."""
WEAK = {"_ROUNDS_AT_ROOT": 1, "_ROUNDS_PER_NODE": 1, "_ROUNDS_PER_PROBE": 1}


@dataclass(frozen=True)
class Certified:
    """A problem, the lines of its certificate, and the score of its best structure."""

    data: object
    settings: object
    result: object
    lines: list
    best: float

    def check(self, lines=None, *, alone=False):
        """What some lines prove about the problem, and about the structure of the result.

        If they are alone, the structure cannot contradict them.
        """
        text = [json.dumps(line).encode() for line in (self.lines if lines is None else lines)]
        problem = certified_problem(self.data, self.settings)
        rows = self.data.train(), self.data.train_weights()
        structure = named_families(self.result.structure, self.data.variables)
        return check_certificate(text, problem, *rows, structure=None if alone else structure)


def lines_of(path):
    with gzip.open(path) as file:
        return [json.loads(line) for line in file]


def _problem(seed):
    """A random problem; every kind of score, space and validation occurs."""
    score = "cll" if seed >= CLL else _SCORES[seed % len(_SCORES)]
    codes, cards, case, limits = random_case(seed % CLL // len(_SCORES), score)
    if seed % 5 == 0:
        case["weights"] = random_weights(np.random.default_rng(seed), len(codes))
    return score, codes, cards, case, limits


def _settings(score, case, constraints, **more):
    own = {**applicable_settings(score, case), **more}
    if score in oracle.MARGINS:
        own["validation"] = own.get("validation") or "none"
    return make_settings(
        score=score,
        max_parents=case["max_parents"],
        class_parents=case["class_parents"],
        constraints=constraints,
        **own,
    )


@lru_cache(maxsize=1)
def _drawn():
    return []


def solvable(k):
    """The seed of the k-th problem whose constraints leave a structure."""
    found = _drawn()
    seed = found[-1] + 1 if found else 0
    while len(found) <= k:
        score, codes, cards, case, limits = _problem(seed)
        data = encoded(codes, cards)
        try:
            settings = _settings(score, case, named(limits, data))
            family_space(data, settings.score, settings.space)
            found.append(seed)
        except ConstraintError:
            pass
        seed += 1
    return found[k]


def certified(seed, path, **more):
    """Solve a random problem."""
    score, codes, cards, case, limits = _problem(seed)
    data = encoded(codes, cards, case.get("weights"))
    more = {"start": None if seed % 3 else "local-search", **more}
    settings = _settings(score, case, named(limits, data), **more)
    result = run_method(data, settings, certificate=path)
    found = Certified(data, settings, result, lines_of(path), np.nan)
    if {"smoothing", "validation", "augmented"} & more.keys():
        # The oracle knows neither folds nor other smoothing.
        objective = build_objective(data, settings.score, settings.space, prune=False)
        return replace(found, best=best_by_enumeration(objective)[1])
    parents, values = oracle.scores_of_all(score, codes, cards, **case)
    allowed = [k for k, s in enumerate(parents) if oracle.satisfies(s, **limits)]
    return replace(found, best=float(max(values[allowed])))


def certified_resolutions(seed, path, **more):
    """Solve a random problem whose families choose resolutions."""
    score = ("sm", "sbm", "mdl")[seed % 3]
    codes, cards, maps, case, limits, budgets = resolved_case(seed // 3, score)
    scores = resolved_truth(score, codes, cards, maps, case, limits, budgets)
    if not scores:
        pytest.skip("the constraints leave no structure")
    data = encoded(codes, cards, case["weights"], maps)
    more = {"start": None if seed % 5 else "local-search", **more}
    settings = _settings(score, case, named({**limits, "budgets": budgets}, data), **more)
    result = run_method(data, settings, certificate=path)
    return Certified(data, settings, result, lines_of(path), max(scores.values()))


def certified_sights(seed, path, **more):
    """Solve noise in three resolutions, for which trees branch on what families see."""
    rng = np.random.default_rng(seed)
    classes, m = 2 + seed % 2, int(rng.integers(8, 30))
    codes = np.column_stack([rng.integers(0, classes, m), rng.integers(0, 4, (m, 3))])
    codes[:2, 0] = 0, 1
    maps = [[], *[[[0, 0, 1, 1], [0, 1, 1, 1]]] * 3]
    data = encoded(codes, [classes, 4, 4, 4], None, maps)
    score, penalty = ("sm", "sm", "sbm")[seed % 3], (0.0, 0.02)[seed % 5 == 0]
    settings = make_settings(
        score=score, validation="loo", penalty=penalty, class_parents=False,
        **{"start": None, **more},
    )  # fmt: skip
    result = run_method(data, settings, certificate=path)
    objective = build_objective(data, settings.score, settings.space, prune=False)
    best = best_by_enumeration(objective)[1]
    return Certified(data, settings, result, lines_of(path), best)
