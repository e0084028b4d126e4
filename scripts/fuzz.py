"""Compare the engines with enumeration and with each other on random problems.

Runs for the given time and prints a reproducer at the first disagreement. Small problems are
enumerated, and the best structures are listed; on problems too large for enumeration, the engines
and hosts are compared. One run is distributed, in tasks of one node, of which every third is lost.
In some problems variables have several resolutions.

``exact`` runs branch-and-cut alone, on small problems of all scores, with weights of all sizes:
many problems in little time.
"""

import math
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
import oracle
import pytest
from here_cluster import connect_here
from problems import (
    encoded,
    named,
    random_budgets,
    random_codes,
    random_constraints,
    random_maps,
    random_weights,
)

from milpbn import learn_alternatives, learn_structure
from milpbn.anytime import SolveOptions
from milpbn.errors import ConstraintError
from milpbn.scores import applicable_settings, make_score

SMALL = [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2)]
LARGE = [(7, 2), (8, 2), (6, 3), (10, 1)]
RESOLVED = [(3, 1), (3, 2), (4, 1)]
SCORES = ("sm", "sbm", "cll", "mdl", "bdeu")
SCALES = (1e-4, 1.0, 1.0, 1.0, 1e3, 1e7)


def case_of(seed, exact=False):
    rng = np.random.default_rng(seed)
    small, resolved = exact or rng.random() < 0.8, rng.random() < 0.3
    shapes = (RESOLVED if resolved else SMALL) if small else LARGE
    n, max_parents = shapes[int(rng.integers(len(shapes)))]
    codes, cards = random_codes(rng, n, int(rng.integers(2, 5)))
    maps = random_maps(rng, cards, 1 if n > 3 else 2) if resolved else None
    p = float(rng.choice([0.501, 0.6, 0.8, 0.9, 0.99, 0.999]))
    limits = random_constraints(rng, n) if rng.random() < 0.5 else {}
    if rng.random() < 0.3:
        limits |= {"budgets": random_budgets(rng, cards), "cards": cards}
    score = str(rng.choice([s for s in SCORES if not resolved or s != "bdeu"]))
    weights = random_weights(rng, len(codes)) if rng.random() < 0.3 else None
    if exact and weights is not None and score != "bdeu":  # its oracle counts up to the weight
        weights = weights * rng.choice(SCALES)
    return {
        "small": small,
        "codes": codes,
        "cards": cards,
        "maps": maps,
        "score": score,
        "gamma": math.log(p / (1 - p)),
        "ess": float(rng.choice([0.5, 1.0, 10.0])),
        "penalty": float(rng.choice([0.0, 0.0, 0.02, 0.1, 0.3, 1.0])),
        "validation": "loo" if rng.random() < 0.3 else None,
        "weights": weights,
        "space": {"max_parents": max_parents, "class_parents": bool(rng.random() < 0.6)},
        "limits": limits,
        "start": None if rng.random() < 0.5 else "local-search",
        "emit": str(rng.choice(["pulp", "highspy"])),
        "best": int(rng.integers(1, 12)),
    }


CONTESTANTS = {
    "branch-and-cut": ("branch-and-cut", {}),
    "in tasks": ("branch-and-cut", {"scheduler": "tcp://here"}),
    "scip": ("branch-and-cut", {"host": "scip"}),
    "monolithic": ("monolithic", {}),
}


def settings(case, contestant):
    engine, how = CONTESTANTS[contestant]
    data = encoded(case["codes"], case["cards"], case["weights"], case["maps"])
    return {
        "data": data,
        "method": engine,
        "score": make_score(case["score"], **applicable_settings(case["score"], case)),
        "constraints": named(case["limits"], data),
        "start": case["start"],
        "options": SolveOptions(emit=case["emit"], **how),
        **case["space"],
    }


def learn(case, contestant):
    try:
        return learn_structure(**settings(case, contestant))
    except ConstraintError:
        return None


def all_by_enumeration(case):
    """The scores of all structures, the best first."""
    names = ("gamma", "ess", "penalty", "validation", "weights")
    how, limits = {k: case[k] for k in names} | case["space"], case["limits"]
    if case["maps"] is None:
        found = oracle.scores_of_all(case["score"], case["codes"], case["cards"], **how)
        values = [v for s, v in zip(*found, strict=True) if oracle.satisfies(s, **limits)]
        return sorted(values, reverse=True)
    found = oracle.scores_of_all_resolutions(
        case["score"], case["codes"], case["cards"], case["maps"], **how
    )
    budgets = dict(limits.get("budgets", {}))
    most = budgets.pop("max_parameters", math.inf)
    values = [
        value
        for parents, _, value, size in found
        if size <= most and oracle.satisfies(parents, **(limits | {"budgets": budgets}))
    ]
    return sorted(values, reverse=True)


def wrong_list(case, truth, scale):
    """What is wrong with the list of the best structures, or None."""
    found = learn_alternatives(best=case["best"], **settings(case, "branch-and-cut"))
    if not found.complete:
        return "the list of the best structures is not complete"
    if len({s.structure for s in found.structures}) < len(found.structures):
        return "a structure is listed twice"
    scores, wanted = [s.score for s in found.structures], truth[: case["best"]]
    slack = 2e-6 * max(scale, abs(truth[0]))
    if len(scores) != len(wanted) or not np.allclose(scores, wanted, rtol=0, atol=slack):
        return f"best structures: scores {scores}, truth {wanted}"
    return None


def contestants(case, exact):
    """Those that can maximise the score."""
    if exact:
        return ["branch-and-cut"]
    return [name for name in CONTESTANTS if name != "monolithic" or case["score"] != "cll"]


def disagreement(case, exact=False):
    """What is wrong, or None."""
    results = {name: learn(case, name) for name in contestants(case, exact)}
    every = all_by_enumeration(case) if case["small"] else []
    truth = every[0] if every else None
    if case["small"] and truth is None:
        bad = [e for e, r in results.items() if r is not None]
        return f"{bad} found a structure, but the constraints allow none" if bad else None
    if any(r is None for r in results.values()):
        same = all(r is None for r in results.values())
        return None if same and not case["small"] else f"constraint errors (None) in {results}"
    if truth is None:
        truth = max(r.objective for r in results.values())
    for engine, result in results.items():
        # HiGHS may end at 1e-6 from a point that violates rows by 1e-6; then the monolithic engine
        # does not claim an optimum, but its bound is close.
        own = engine == "monolithic" and result.status == "feasible"
        slack = (5e-6 if own else 2e-6) * max(result.scale, abs(truth))
        least = (5e-6 if own else 2e-6) * max(1.0, abs(truth))
        if result.status != "optimal" and not own:
            return f"{engine} ended with status {result.status}"
        if (
            abs(result.objective - truth) > slack
            or not truth - least <= result.bound <= truth + slack
        ):
            return (
                f"{engine}: objective {result.objective!r}, bound {result.bound!r}, truth {truth!r}"
            )
    if not every or case["maps"] is not None:
        return None
    return wrong_list(case, every, results["branch-and-cut"].scale)


def main(amount=1.0, seed=None, exact=False):
    """Try problems for so many minutes or, with ``exact``, so many problems."""
    seed = int(time.time()) if seed is None else seed
    if not exact:
        connect_here(pytest.MonkeyPatch(), searching=True).loses = True
    end, count = time.monotonic() + 60 * amount, 0
    while count < amount if exact else time.monotonic() < end:
        case = case_of(seed + count, exact)
        wrong = disagreement(case, exact)
        if wrong is not None:
            again = f"exact 1 {seed + count}" if exact else f"0.001 {seed + count}"
            print(f"seed {seed + count}: {wrong}\nreproduce: bash scripts/fuzz {again}")
            lists = {k: v.tolist() for k, v in case.items() if isinstance(v, np.ndarray)}
            print({**case, **lists})
            return 1
        count += 1
        if count % 200 == 0:
            print(f"{count} problems agree", flush=True)
    print(f"{count} problems agree (seeds {seed} to {seed + count - 1})")
    return 0


if __name__ == "__main__":
    given = sys.argv[1:]
    exact = given[:1] == ["exact"]
    numbers = given[exact:]
    amount = float(numbers[0]) if numbers else 1000 if exact else 1.0
    sys.exit(main(amount, int(numbers[1]) if len(numbers) > 1 else None, exact))
