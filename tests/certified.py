"""Random small problems with certificates, and what is true about them."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, replace

import numpy as np
import oracle
import pytest
from problems import encoded, named, random_case, random_weights

from milpbn.check import check_certificate
from milpbn.engines.enumeration import best_by_enumeration
from milpbn.errors import ConstraintError
from milpbn.learning.certification import certified_problem
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import make_settings
from milpbn.learning.structure import run_method
from milpbn.scores import applicable_settings

# One round of cuts per node, so that even small problems need a tree.
WEAK = {"_ROUNDS_AT_ROOT": 1, "_ROUNDS_PER_NODE": 1, "_ROUNDS_PER_PROBE": 1}


@dataclass(frozen=True)
class Certified:
    """A problem, the lines of its certificate, and the score of its best structure."""

    data: object
    settings: object
    result: object
    lines: list
    best: float

    def check(self, lines=None):
        """What some lines prove about the problem."""
        text = [json.dumps(line).encode() for line in (self.lines if lines is None else lines)]
        problem = certified_problem(self.data, self.settings)
        return check_certificate(text, problem, self.data.train(), self.data.train_weights())


def lines_of(path):
    with gzip.open(path) as file:
        return [json.loads(line) for line in file]


def certified(seed, path, **more):
    """Solve a random problem; every kind of score, space and validation occurs."""
    score = oracle.SCORES[seed % len(oracle.SCORES)]
    codes, cards, case, limits = random_case(seed // len(oracle.SCORES), score)
    if seed % 5 == 0:
        case["weights"] = random_weights(np.random.default_rng(seed), len(codes))
    data = encoded(codes, cards, case.get("weights"))
    own = applicable_settings(score, case)
    more = {"threads": 1 + seed % 2, "start": None if seed % 3 else "local-search", **more}
    try:
        settings = make_settings(
            structure_score=score,
            max_parents=case["max_parents"],
            class_parents=case["class_parents"],
            constraints=named(limits, data),
            **{**own, **more},
        )
        result = run_method(data, settings, certificate=path)
    except ConstraintError:
        pytest.skip("the constraints leave no structure")
    found = Certified(data, settings, result, lines_of(path), np.nan)
    if {"smoothing", "validation", "augmented"} & more.keys():
        # The oracle knows neither folds nor other smoothing.
        objective = build_objective(data, settings.score, settings.space, prune=False)
        return replace(found, best=best_by_enumeration(objective)[1])
    parents, values = oracle.scores_of_all(score, codes, cards, **case)
    allowed = [k for k, s in enumerate(parents) if oracle.satisfies(s, **limits)]
    return replace(found, best=float(max(values[allowed])))
