"""The parts of the checker, each against other code or exact arithmetic."""

from decimal import Decimal, getcontext

import numpy as np
import oracle
import pytest
from problems import encoded, named, random_case, random_maps, random_weights

from milpbn.check import MEMORY_LIMIT
from milpbn.check.bounds import ONE, Bounds, Part
from milpbn.check.space import Space
from milpbn.errors import CertificateError, ConstraintError
from milpbn.families import candidate_families
from milpbn.families.views import other_resolutions
from milpbn.learning.certification import certified_problem
from milpbn.learning.settings import make_settings
from milpbn.scores import applicable_settings
from milpbn.scores.rescore import rescore
from milpbn.structure import Structure


def problem(seed, score, **more):
    """Random rows and settings, and the checker's view of them."""
    codes, cards, case, limits = random_case(seed, score)
    weights = random_weights(np.random.default_rng(seed), len(codes)) if seed % 3 == 0 else None
    maps = None
    if seed % 4 == 1 and score != "bdeu":
        maps = random_maps(np.random.default_rng(seed), cards)
    data = encoded(codes, cards, weights, maps)
    try:
        settings = make_settings(
            score=score,
            max_parents=case["max_parents"],
            class_parents=case["class_parents"],
            constraints=named(limits, data),
            **{**applicable_settings(score, case), **more},
        ).for_variables(data.variables)
        told, codes = certified_problem(data, settings), data.train().astype(np.int64)
        return data, settings, Bounds(told, [], codes, weights, MEMORY_LIMIT)
    except (ConstraintError, CertificateError):
        pytest.skip("the constraints leave no structure")


def random_structures(rng, space, n):
    for _ in range(n):
        chosen = [int(rng.choice(np.flatnonzero(space.child == i))) for i in range(space.n)]
        if space.is_structure(chosen, ()):
            yield chosen


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("score", ["sm", "mdl"])
def test_the_families_are_those_of_the_search_space(seed, score):
    data, settings, bounds = problem(seed, score)
    try:
        space = candidate_families(
            [v.name for v in data.variables],
            [v.card for v in data.variables],
            max_parents=settings.space.max_parents,
            class_parents=settings.space.class_parents,
            generative=score == "mdl",
            constraints=settings.space.constraints,
            coarsenings=other_resolutions(data.variables),
        )
    except ConstraintError:
        pytest.skip("the constraints leave no structure")
    views = zip(space.child_view.tolist(), space.parent_views.tolist(), strict=True)
    theirs = {(view, tuple(v for v in above if v >= 0)) for view, above in views}
    assert set(bounds.space.families) == theirs
    assert len(bounds.space.families) == len(space)


def structure_of(space, names, chosen):
    """The structure of some families, which name the views of their variables."""
    found = [(*space.families[f][1], space.families[f][0]) for f in chosen]
    seen = tuple(tuple(v - space.finest[space.variable[v]] for v in own) for own in found)
    parents = tuple(tuple(space.variable[list(own[:-1])].tolist()) for own in found)
    return Structure(names, parents, seen if any(map(any, seen)) else ())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("score", oracle.SCORES)
@pytest.mark.parametrize("more", [{}, {"smoothing": "epsilon:0.01"}, {"validation": 3}], ids=str)
def test_a_structure_has_the_score_of_its_definition(seed, score, more):
    data, settings, bounds = problem(seed, score, **more)
    names = tuple(v.name for v in data.variables)
    for chosen in random_structures(np.random.default_rng(seed), bounds.space, 5):
        structure = structure_of(bounds.space, names, chosen)
        weights = data.train_weights()
        told = rescore(settings.score, structure, data.variables, data.train(), weights)
        assert sum(bounds.value(chosen)) / 2 == pytest.approx(told, rel=1e-9, abs=1e-9)


def exact_margin(codes, cards, families, u, c):
    """The margin of row u against class c in exact arithmetic, but for 50 digits of logarithms."""
    total = Decimal(0)
    for child, parents in families:
        for sign, label in ((1, codes[u][0]), (-1, c)):
            row = [label, *codes[u][1:]]
            n_h = sum(all(r[p] == row[p] for p in parents) for r in codes)
            n = sum(all(r[v] == row[v] for v in (*parents, child)) for r in codes)
            total += sign * (Decimal(n + 1) / Decimal(n_h + cards[child])).ln()
    return total


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 7, 8])
def test_rounding_stays_within_its_bound(seed):
    getcontext().prec = 50
    data, settings, bounds = problem(seed, "sm", validation="none", penalty=0.0)
    codes = bounds.space.codes(data.train()).tolist()
    cards = bounds.space.cards
    gamma = Decimal(settings.score.hinge)
    for chosen in random_structures(np.random.default_rng(seed), bounds.space, 4):
        families = [bounds.space.families[f] for f in chosen]
        exact = sum(
            min(
                gamma,
                *(
                    exact_margin(codes, cards, families, u, c)
                    for c in range(cards[0])
                    if c != row[0]
                ),
            )
            for u, row in enumerate(codes)
        )
        lower, upper = map(Decimal, bounds.value(chosen))
        error = Decimal(bounds.error(0, 0.0))
        assert exact - 2 * error <= lower <= exact <= upper <= exact + 2 * error
        assert error < Decimal("1e-9")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("score", oracle.SCORES)
def test_random_multipliers_bound_every_structure(seed, score):
    """L(y) holds for any multipliers, and for any families that are allowed."""
    _, _, bounds = problem(seed, score)
    space, rng = bounds.space, np.random.default_rng(seed)
    rows = [{"kind": "cluster", "members": [0, k], "k": 1} for k in range(1, space.n)]
    rows += [{"kind": "cluster", "members": list(range(space.n)), "k": k} for k in (1, 2)]
    for name in ("arcs", "parameters"):
        if space.limits[name] is not None:
            rows.append({"kind": "budget", "of": name})
    if space.limits["features"] is not None:
        witnesses = rng.integers(0, space.n, space.n - 1).tolist()
        rows.append({"kind": "features", "witnesses": witnesses})
    if score == "cll":
        for _ in range(3):
            size = len(bounds.score.codes) * (bounds.score.n_classes - 1)
            margins = rng.integers(-4000, 4000, size).tolist()
            rows.append({"kind": "soft", "group": 0, "margins": margins})
    elif score in oracle.MARGINS:
        for _ in range(3):
            size = len(bounds.score.codes)
            other = (bounds.score.codes[:, 0] + 1) % bounds.score.n_classes
            against = np.where(rng.random(size) < 0.5, 0 if bounds.score.binary else other, -1)
            rows.append({"kind": "cut", "group": 0, "against": against.tolist()})
    for k, row in enumerate(rows):
        bounds.define({"row": k, **row})
    node = Part(np.ones(len(space.families), dtype=bool))
    structures = list(random_structures(rng, space, 20))
    for _ in range(5):
        # There may be three cuts, which weigh at most 1 together.
        y = [(k, 1 + int(t * ONE / 3)) for k, t in enumerate(rng.random(size=len(rows)))]
        bound = bounds.bound(node, y)
        for chosen in structures:
            value = bounds.score.value(chosen)
            assert value <= bound.upper
            for f in chosen:
                forced = bound.upper - bound.best[space.child[f]] + bound.reduced[f]
                assert value <= forced + 1e-9


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "cluster", "members": [0, 1], "k": 3},
        {"kind": "cluster", "members": [0, 1], "k": 0},
        {"kind": "cluster", "members": [-1, 1], "k": 1},
        {"kind": "cluster", "members": [0, 99], "k": 1},
        {"kind": "budget", "of": "arcs"},
        {"kind": "features", "witnesses": [0]},
        {"kind": "cut", "group": -1, "against": []},
        {"kind": "cut", "group": 1, "against": []},
        {"kind": "cut", "group": 0, "against": [0]},
        {"kind": "pair", "pair": [1, 0]},
        {"kind": "other"},
    ],
    ids=str,
)
def test_rows_that_do_not_hold_are_refused(row):
    _, _, bounds = problem(2, "sm")
    assert bounds.space.limits == {"arcs": None, "features": None, "parameters": None}
    with pytest.raises(CertificateError):
        bounds.define({"row": 0, **row})


def test_a_row_is_not_compared_with_its_own_class():
    _, _, bounds = problem(2, "sm")
    row = {"row": 0, "kind": "cut", "group": 0, "against": bounds.score.codes[:, 0].tolist()}
    with pytest.raises(CertificateError, match="compared with a class that is not another"):
        bounds.define(row)


def test_constraints_that_leave_a_variable_without_families_are_refused():
    settings = {
        "score": "sm", "max_parents": 1, "class_parents": True, "augmented": False,
        "constraints": {
            "required": [["a", "b"]], "forbidden": [], "tiers": [], "max_parents": {},
        },
    }  # fmt: skip
    with pytest.raises(CertificateError, match="no candidate parent set"):
        Space([["class", 2], ["a", 2], ["b", 2]], settings, MEMORY_LIMIT)
