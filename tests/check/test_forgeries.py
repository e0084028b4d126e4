"""Forged certificates: one test for each way to make a checker accept what is not true."""

import gzip
import json
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from certified import WEAK, certified, certified_sights, lines_of
from problems import encoded

from milpbn.check import check_certificate, read_lines
from milpbn.check.bounds import ONE, Bounds, NodeBound
from milpbn.check.rows import read_row
from milpbn.check.tables import _log_of_sum
from milpbn.engines.branch_and_cut import node_processor as worker
from milpbn.errors import CertificateError
from milpbn.learning.certification import certified_problem
from milpbn.learning.settings import make_settings
from milpbn.learning.structure import run_method
from milpbn.verification.certificate_claims import named_families


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("forgeries")


def solve(make, seed, folder):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WEAK.items():
            patch.setattr(worker, name, value)
        return make(seed, folder / f"{make.__name__}-{seed}.gz")


@pytest.fixture(scope="module")
def margins(folder):
    """A margin score; the tree has cuts, clusters, pairs, removals, probes and branchings."""
    case = solve(certified, 116, folder)
    assert case.check().optimal
    return case


@pytest.fixture(scope="module")
def sights(folder):
    return solve(certified_sights, 3, folder)


@pytest.fixture(scope="module")
def pruned(folder):
    """Families that are left out, and a budget."""
    for seed in (28, 60, 78, 81, 84, 93):
        case = solve(certified, seed, folder)
        if any("dominated" in line for line in case.lines):
            return case
    raise AssertionError("no problem has dominated families")


def root_only(case, steps, bound):
    """A certificate with these steps between the header and a claim."""
    return [case.lines[0], *steps, {"end": True, "bound": bound, "objective": bound}]


def refused(case, lines, message):
    with pytest.raises(CertificateError, match=message):
        case.check(lines)


def first(lines, kind, /, **more):
    """The place of the first line of a kind with these entries."""
    for k, line in enumerate(lines):
        if next(iter(line)) == kind and all(line.get(n) == v for n, v in more.items()):
            return k
    raise AssertionError(f"no line {kind} {more}")


def changed(case, kind, change, **more):
    lines = deepcopy(case.lines)
    change(lines[first(lines, kind, **more)])
    return lines


def cluster(case, k=1):
    return {"row": 0, "kind": "cluster", "members": [0, 1], "k": k}


# Arithmetic: no number is infinite, missing, negative or of another type.


@pytest.mark.parametrize(
    "units",
    [10**308, 2**100 + 1, 10**400, 1e308, 1.0, 0.5, -1, 0, True, "1", None, [1]],
    ids=lambda v: str(v)[:8],
)
def test_a_multiplier_is_a_whole_number_within_its_range(units, margins):
    steps = [cluster(margins), {"close": 0, "by": "bound", "y": [[0, units]]}]
    refused(margins, root_only(margins, steps, margins.best - 1), "line 3")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1E400"])
def test_no_text_of_a_number_is_infinite(number, margins):
    problem = certified_problem(margins.data, margins.settings)
    header = json.dumps(margins.lines[0]).encode()
    for text in ('{"fix":0,"to":%s,"y":[]}', '{"end":true,"bound":%s,"objective":0}'):
        lines = [header, b'{"close":0,"by":"bound","y":[]}', (text % number).encode()]
        with pytest.raises(CertificateError, match="number"):
            check_certificate(lines[:1] + lines[2:], problem, margins.data.train())


def test_a_row_that_is_listed_twice_is_refused(margins):
    y = [[0, 2**100], [0, 2**100]]
    steps = [cluster(margins), {"close": 0, "by": "bound", "y": y}]
    refused(margins, root_only(margins, steps, margins.best - 1), "two multipliers")


def test_the_largest_multipliers_prove_no_less(margins):
    """A product of large numbers and zeros is no proof."""
    kinds = [{"row": 0, "kind": "pair", "pair": [0, 1]}, {**cluster(margins), "row": 1}]
    kinds.append({"row": 2, "kind": "cluster", "members": list(range(3)), "k": 2})
    y = [[k, 2**100] for k in range(3)]
    for step in (
        {"close": 0, "by": "bound", "y": y},
        {"close": 0, "by": "empty", "y": y},
        {"known": 0, "y": y},
        {"fix": 0, "to": 1e300, "y": y},
    ):
        more = [] if "close" in step else [{"close": 0, "by": "known"}]
        lines = root_only(margins, [*kinds, step, *more], margins.best - 1)
        refused(margins, lines, "is proven|not show|without a bound")


def test_the_cuts_of_a_group_weigh_at_most_one(margins):
    def heavier(line):
        for entry in line["y"]:
            if margins.lines[first(margins.lines, "row", row=entry[0])]["kind"] == "cut":
                entry[1] += ONE
                return
        raise AssertionError("no cut")

    refused(margins, changed(margins, "fix", heavier), "weigh more than 1")


def test_cuts_do_not_show_that_a_node_is_empty(margins):
    cut = deepcopy(margins.lines[first(margins.lines, "row", kind="cut")]) | {"row": 0}
    steps = [cut, {"close": 0, "by": "empty", "y": [[0, 1]]}]
    refused(margins, root_only(margins, steps, margins.best - 1), "cannot show")


def test_a_bound_below_the_score_of_the_structure_is_an_error(margins, monkeypatch):
    """Even if a bound of a node was wrong, it would contradict the structure."""
    wrong = NodeBound(margins.best - 1.0, np.zeros(1), np.zeros(1))
    monkeypatch.setattr(Bounds, "bound", lambda *_: wrong)
    lines = root_only(margins, [{"close": 0, "by": "bound", "y": []}], margins.best)
    refused(margins, lines, "cannot hold: the structure scores")


# The header is compared, types included, and not used.


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_parents", 2.0),
        ("max_parents", True),
        ("class_parents", 1),
        ("gamma", float("1e300")),
        ("smoothing", "laplace:2"),
        ("score", "sbm"),
        ("augmented", 0),
        ("constraints", {}),
    ],
)
def test_other_settings_are_refused(name, value, margins):
    lines = deepcopy(margins.lines)
    assert lines[0]["settings"][name] is not value
    lines[0]["settings"][name] = value
    refused(margins, lines, f"settings.{name} is")


def test_a_number_of_folds_of_another_type_is_refused(folder):
    case = certified(116, folder / "folds.gz", validation=2)
    lines = deepcopy(case.lines)
    assert lines[0]["settings"]["validation"] == 2
    lines[0]["settings"]["validation"] = 2.0
    refused(case, lines, r"settings.validation is 2.0, not 2")
    # The caller's settings have types, too.
    problem = certified_problem(case.data, case.settings)
    for wrong in (2.0, True, "2", 1, 0, -1):
        told = deepcopy(problem)
        told["settings"]["validation"] = wrong
        text = [json.dumps({**lines[0], **told}).encode()]
        text += [json.dumps(line).encode() for line in lines[1:]]
        with pytest.raises(CertificateError, match="validation"):
            check_certificate(text, told, case.data.train())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(version=1), "version of the format is 1, not 2"),
        (lambda h: h.update(version=2.0), "version"),
        (lambda h: h.update(tolerance=1.0), "tolerance is 1.0"),
        (lambda h: h.update(tolerance=True), "tolerance is True"),
        (lambda h: h.update(more=1), "other entries"),
        (lambda h: h.pop("milpbn"), "other entries"),
        (lambda h: h["data"].update(n_rows=1), "data.n_rows"),
        (lambda h: h["variables"][0].__setitem__(1, 2.0), "variables is"),
        (lambda h: h["variables"].reverse(), "variables is"),
        (lambda h: h.update(groups=[0]), "not a partition"),
        (lambda h: h.update(groups=[0, 1]), "not a partition"),
        (lambda h: h.update(groups=[1, *h["groups"][1:]]), "not a partition"),
        (lambda h: h.update(groups=[0, *h["groups"]]), "not a partition"),
        (lambda h: h.update(groups=[-1, *h["groups"]]), "cannot be"),
        (lambda h: h.update(groups=[float(g) for g in h["groups"]]), "not a whole number"),
        (lambda h: h.update(groups=[False, *h["groups"][1:]]), "not a whole number"),
    ],
)
def test_another_header_is_refused(change, message, margins):
    lines = deepcopy(margins.lines)
    change(lines[0])
    refused(margins, lines, message)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", float("nan")),
        ("gamma", float("inf")),
        ("gamma", -1.0),
        ("gamma", True),
        ("penalty", -1.0),
        ("penalty", "aic"),
        ("penalty", float("inf")),
        ("smoothing", "laplace:nan"),
        ("smoothing", "laplace:0"),
        ("smoothing", "epsilon:-1"),
        ("smoothing", "other:1"),
        ("max_parents", None),
        ("max_parents", -1),
        ("class_parents", None),
        ("constraints", None),
        ("constraints", {"required": [["a"]], "forbidden": [], "tiers": [], "max_parents": {}}),
        ("constraints", {"required": [], "forbidden": [], "tiers": [], "max_parents": {"a": 1.5}}),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused_even_if_the_header_has_them(name, value, margins):
    problem = certified_problem(margins.data, margins.settings)
    problem["settings"][name] = value
    with pytest.raises(CertificateError):
        Bounds(problem, [], margins.data.train().astype(np.int64), None, 2**30)


# Rows


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "cluster", "members": [0, 1], "k": 3},
        {"kind": "cluster", "members": [0, 0], "k": 1},
        {"kind": "cluster", "members": [0, 1], "k": True},
        {"kind": "cluster", "members": [0, 1], "k": 1.0},
        {"kind": "cluster", "members": [], "k": 1},
        {"kind": "cluster", "members": [0, 10**6], "k": 1},
        {"kind": "cluster", "members": "01", "k": 1},
        {"kind": "cluster", "members": [0, 1], "k": 1, "rhs": -1},
        {"kind": "pair", "pair": [1, 1]},
        {"kind": "pair", "pair": [0, 1, 2]},
        {"kind": "pair", "pair": [False, True]},
        {"kind": "budget", "of": "arcs"},
        {"kind": "budget", "of": "features"},
        {"kind": "features", "witnesses": [0]},
        {"kind": "cut", "group": 10**6, "against": []},
        {"kind": "cut", "group": False, "against": [-1]},
        {"kind": "cut", "group": 0, "against": [-2]},
        {"kind": "cut", "group": 0, "against": [-1.0]},
        {"kind": "cut", "group": 0, "against": []},
        {"kind": "soft"},
        {"kind": "soft", "group": 0, "margins": [0]},
        {"kind": ["cut"]},
        {},
    ],
    ids=str,
)
def test_a_row_that_does_not_hold_is_refused_where_it_is_defined(row, margins):
    steps = [{"row": 0, **row}, {"close": 0, "by": "bound", "y": [[0, 1]]}]
    refused(margins, root_only(margins, steps, margins.best - 1), "line 2")


def test_a_row_is_not_compared_with_its_own_class(margins):
    rows = np.unique(margins.data.train(), axis=0)
    size = margins.lines[0]["groups"][1]
    own = [int(c) for c in rows[:size, 0]]
    steps = [{"row": 0, "kind": "cut", "group": 0, "against": own}]
    refused(margins, root_only(margins, steps, margins.best - 1), "not another")


@pytest.mark.parametrize("number", [1, -1, 0.0, True, "0"])
def test_rows_are_numbered_in_their_order(number, margins):
    steps = [{**cluster(margins), "row": number}]
    refused(margins, root_only(margins, steps, margins.best - 1), "line 2")


def test_no_row_is_defined_again(margins):
    steps = [cluster(margins), cluster(margins)]
    refused(margins, root_only(margins, steps, margins.best - 1), "the next row is 1, not 0")


def test_rows_are_defined_before_they_are_used(margins):
    steps = [{"close": 0, "by": "bound", "y": [[0, 1]]}, cluster(margins)]
    refused(margins, root_only(margins, steps, margins.best - 1), "has not been defined")


# Branchings and coverage


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"branch": 0, "on": "pair", "pair": [0, 1], "into": [2, 1]}, "next node is 1"),
        ({"branch": 0, "on": "pair", "pair": [0, 1], "into": [1, 1]}, "next node is 2"),
        ({"branch": 0, "on": "pair", "pair": [0, 1], "into": [1]}, "has 1 entries"),
        ({"branch": 0, "on": "pair", "pair": [0, 1], "into": [1, 2, 3]}, "has 3 entries"),
        ({"branch": 0, "on": "pair", "pair": [1, 0], "into": [1, 2]}, "not a pair"),
        ({"branch": 0, "on": "pair", "pair": [0, 99], "into": [1, 2]}, "not a pair"),
        ({"branch": 0, "on": "sight", "child": 1, "view": 99, "into": [1, 2]}, "no family"),
        ({"branch": 0, "on": "sight", "child": 99, "view": 0, "into": [1, 2]}, "no family"),
        ({"branch": 0, "on": "family", "family": [1, [1]], "into": [1, 2]}, "not a candidate"),
        ({"branch": 0, "on": "family", "family": [1, [9]], "into": [1, 2]}, "not a candidate"),
        ({"branch": 0, "on": "family", "family": [-1, []], "into": [1, 2]}, "cannot be"),
        ({"branch": 0, "on": "nothing", "into": [1, 2]}, "unknown"),
        ({"branch": 0, "on": "class", "pair": [0, 1], "into": [1, 2]}, "unknown entries"),
        ({"branch": 1, "on": "class", "into": [1, 2]}, "not open"),
        ({"branch": False, "on": "class", "into": [1, 2]}, "cannot be"),
    ],
)
def test_a_branching_covers_its_node(step, message, margins):
    refused(margins, root_only(margins, [step], margins.best - 1), message)


def test_a_part_is_not_closed_instead_of_the_whole(margins):
    """Only the part without arcs is closed, by its own bound."""
    branch = {"branch": 0, "on": "pair", "pair": [0, 1], "into": [1, 2]}
    close = {"close": 2, "by": "bound", "y": []}
    refused(margins, root_only(margins, [branch, close], 1e6), "node 1 is still open")
    refused(margins, root_only(margins, [branch, close, close], 1e6), "node 2 is not open")
    whole = {"close": 0, "by": "bound", "y": []}
    refused(margins, root_only(margins, [branch, close, whole], 1e6), "node 0 is not open")


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ({"by": "known"}, "without a bound"),
        ({"by": "single"}, "more than one choice"),
        ({"by": "empty", "y": []}, "do not show that the node is empty"),
        ({"by": "bound"}, "y missing"),
        ({"by": "known", "y": []}, "unknown entries"),
        ({"by": "faith"}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_a_node_is_not_closed_without_a_reason(by, message, margins):
    refused(margins, root_only(margins, [{"close": 0, **by}], margins.best - 1), message)


def test_a_probe_is_not_the_node(margins):
    """A probe says nothing about the families without its parent."""
    probe = {"probe": 1, "of": 0, "parent": 1}
    close = {"close": 1, "by": "bound", "y": []}
    refused(margins, root_only(margins, [probe, close], 1e6), "node 0 is still open")
    branch = {"branch": 1, "on": "class", "into": [2, 3]}
    refused(margins, root_only(margins, [probe, branch], 1e6), "a probe cannot branch")
    again = {"probe": 2, "of": 1, "parent": 1}
    refused(margins, root_only(margins, [probe, again], 1e6), "not a part of a node")
    refused(margins, root_only(margins, [{"finish": 0}], 1e6), "only probes finish")
    for parent in (0, 99, True):
        refused(margins, root_only(margins, [{**probe, "parent": parent}], 1e6), "line 2")


def test_an_end_is_an_end(margins):
    lines = margins.lines
    refused(margins, [*lines, lines[-1]], "more after the end")
    refused(margins, lines[:-1], "the end is missing")
    refused(margins, [lines[0], lines[-1]], "node 0 is still open")
    refused(margins, [*lines[:-1], {**lines[-1], "end": False}], "no structure")
    refused(margins, [*lines[:-1], {**lines[-1], "end": 1}], "not of the type bool")


@pytest.mark.parametrize(
    "step",
    [
        {"close": 0, "by": "bound", "y": [], "bound": -1e9},
        {"y": [], "close": 0, "by": "bound"},
        {"close": 0, "fix": 0, "to": 1.0, "by": "bound", "y": []},
        {"__init__": 0},
        {"raise": -1e9},
        {"": 0},
        {},
    ],
    ids=str,
)
def test_steps_have_their_own_entries_and_no_others(step, margins):
    refused(margins, root_only(margins, [step], 1e6), "line 2")


# Families


def test_families_are_left_out_for_better_ones_only(pruned):
    k = first(pruned.lines, "dominated")
    pairs = pruned.lines[k]["dominated"]
    f, g = pairs[0]

    def told(*own, before=()):
        return root_only(pruned, [*before, {"dominated": list(own)}], 1e6)

    refused(pruned, told([f, f]), "replaces another is left out")
    refused(pruned, told([f, g], [g, f]), "replaces another is left out")
    refused(pruned, told([g, f]), "cannot replace|is proven|still open")
    other = next(p for p in pairs if p[0][0] != f[0]) if len({p[0][0] for p in pairs}) > 1 else None
    if other is not None:
        refused(pruned, told([f, other[1]]), "cannot replace")
    refused(pruned, told([f, [f[0], [99]]]), "not a candidate")
    late = {"branch": 0, "on": "pair", "pair": [0, 1], "into": [1, 2]}
    refused(pruned, told([f, g], before=[late]), "after the proof has begun")
    # In two lines: the second leaves out what the first relies on.
    twice = [{"dominated": [[f, g]]}, {"dominated": [[g, f]]}]
    refused(pruned, root_only(pruned, twice, 1e6), "replaces another is left out")


@pytest.mark.parametrize(
    "pair",
    [
        ([1, [0]], [2, []]),
        ([1, [0, 2]], [1, [0, 3]]),
        ([1, [0]], [1, [0, 2]]),
    ],
    ids=["of another variable", "with other parents", "with more parents"],
)
def test_a_family_replaces_one_of_its_variable_with_its_parents_only(pair, margins):
    lines = root_only(margins, [{"dominated": [pair]}], 1e6)
    refused(margins, lines, "a family cannot replace another")


def test_a_family_with_more_parameters_replaces_none_if_they_are_limited(margins):
    """The finest states have the same parents, but take more of the budget."""
    told = certified_problem(margins.data, margins.settings)
    told["variables"] = [["class", 3], ["x1", 4, [0, 0, 1, 1]]]
    rows = np.array([[0, 0], [1, 1], [2, 3], [0, 2]])
    for most, message in ((None, "still open"), (20, "cannot replace another")):
        told["settings"]["constraints"]["max_parameters"] = most
        header = {**margins.lines[0], **told, "groups": [0, 4]}
        pair = [[2, [0]], [1, [0]]]
        lines = [header, {"dominated": [pair]}, {"end": True, "bound": 0, "objective": 0}]
        text = [json.dumps(line).encode() for line in lines]
        with pytest.raises(CertificateError, match=message):
            check_certificate(text, told, rows)


def test_a_family_that_scores_more_is_not_left_out_for_free(margins):
    """Every family but the smallest of each variable is left out."""
    space = Bounds(
        certified_problem(margins.data, margins.settings),
        [],
        margins.data.train().astype(np.int64),
        margins.data.train_weights(),
        2**30,
    ).space
    named = [[child, list(parents)] for child, parents in space.families]
    least = {int(space.child[f]): named[f] for f in reversed(range(len(named)))}
    pairs = [
        [named[f], least[int(space.child[f])]]
        for f in range(len(named))
        if named[f] != least[int(space.child[f])]
        and set(least[int(space.child[f])][1]) <= set(named[f][1])
    ]
    steps = [{"dominated": pairs}, {"close": 0, "by": "single"}]
    refused(margins, root_only(margins, steps, margins.best - 1e-3), "is proven|more than one")


# The structure is one of the search space.


def structure_of(case):
    return named_families(case.result.structure, case.data.variables)


def prove(case, structure, problem=None, weights=None):
    text = [json.dumps(line).encode() for line in case.lines]
    told = problem or certified_problem(case.data, case.settings)
    rows = case.data.train(), case.data.train_weights() if weights is None else weights
    return check_certificate(text, told, *rows, structure=structure)


@pytest.fixture(scope="module")
def limited(folder):
    """Constraints of every kind, two parents, the class a root."""
    rng = np.random.default_rng(5)
    data = encoded(rng.integers(0, 2, (40, 5)), [2] * 5)
    names = [v.name for v in data.variables]
    from milpbn.families import Constraints

    limits = Constraints(
        required=((names[1], names[2]),), forbidden=((names[3], names[4]),), max_arcs=6
    )
    settings = make_settings(max_parents=2, class_parents=False, constraints=limits)
    path = folder / "limited.gz"
    result = run_method(data, settings, certificate=path)
    from certified import Certified

    case = Certified(data, settings, result, lines_of(path), result.objective)
    assert case.check().optimal
    return case


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ([[0, []], [1, [0]], [2, [0, 1]], [3, [0]], [4, [0, 1, 2]]], "not a candidate"),
        ([[0, [1]], [1, []], [2, [0, 1]], [3, []], [4, []]], "not a candidate"),
        ([[0, []], [1, [0]], [2, [0]], [3, []], [4, []]], "not a candidate"),
        ([[0, []], [1, [0]], [2, [0, 1]], [3, []], [4, [0, 3]]], "not a candidate"),
        ([[0, []], [1, []], [2, [1, 0]], [3, []], [4, []]], "not a candidate"),
        ([[0, []], [1, [0, 2]], [2, [0, 1]], [3, []], [4, []]], "cycle"),
        ([[0, []], [1, [0]], [2, [0, 1]], [3, [0, 1]], [4, [0, 1]]], "budget"),
        ([[0, []], [1, [0]], [2, [0, 1]], [3, []]], "no family, or two"),
        ([[0, []], [1, [0]], [1, []], [2, [0, 1]], [3, []], [4, []]], "no family, or two"),
        ([[0, []], [1.0, [0]], [2, [0, 1]], [3, []], [4, []]], "cannot be"),
    ],
)
def test_a_structure_outside_of_the_space_is_refused(structure, message, limited):
    with pytest.raises(CertificateError, match=message):
        prove(limited, structure)


def test_a_worse_structure_is_not_optimal(limited):
    proven = prove(limited, [[0, []], [1, []], [2, [0, 1]], [3, []], [4, []]])
    assert proven.score < limited.best - 1e-3
    assert not proven.optimal


# Weights


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0, 1e300])
def test_weights_are_in_range(weight, margins):
    weights = np.ones(len(margins.data.train()))
    weights[0] = weight
    with pytest.raises(CertificateError, match="weight"):
        prove(margins, None, weights=weights)
    with pytest.raises(CertificateError, match="one weight for each row"):
        prove(margins, None, weights=np.ones(3))


def test_weights_are_part_of_the_problem(margins):
    weights = 1.0 + np.arange(len(margins.data.train())) % 3
    with pytest.raises(CertificateError, match="is proven, which is more"):
        prove(margins, None, weights=weights)


# Tolerance


def test_a_claim_is_at_most_a_tolerance_below_the_proof(margins):
    lines = deepcopy(margins.lines)
    bound = margins.check().bound
    lines[-1]["bound"] = bound - 1.5e-6 * max(1.0, abs(bound))
    refused(margins, lines, "is proven, which is more than the bound")


# Pieces of other runs


def test_a_piece_of_another_proof_is_refused(margins, sights):
    refused(margins, [*margins.lines[:-1], *sights.lines[1:]], "line")
    refused(margins, [*margins.lines[:-1], *margins.lines], "not a step of a proof")
    refused(margins, [*margins.lines[:9], *margins.lines[5:]], "line")


def test_a_known_bound_belongs_to_its_node(margins):
    """The bound of a part is not one of its sibling, nor of a node that is opened later."""
    branch = {"branch": 0, "on": "class", "into": [1, 2]}
    steps = [branch, {"known": 1, "y": []}, {"close": 2, "by": "known"}]
    refused(margins, root_only(margins, steps, 1e6), "without a bound")
    steps = [branch, {"known": 0, "y": []}]
    refused(margins, root_only(margins, steps, 1e6), "node 0 is not open")


# Memory


def test_a_file_that_unpacks_to_too_much_is_refused(margins, tmp_path, monkeypatch):
    monkeypatch.setattr("milpbn.check.replay._TEXT", 2**20)
    header = json.dumps(margins.lines[0]).encode() + b"\n"
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(header + (b" " * 1000 + b"\n") * 10_000))
    with pytest.raises(CertificateError, match="unpacks to more than 200 times"):
        list(read_lines(path))


def test_a_line_has_a_largest_length(margins, monkeypatch):
    monkeypatch.setattr("milpbn.check.replay._LINE", 2**10)
    line = {"known": 0, "y": [[0, 1]] * 10_000}
    refused(margins, root_only(margins, [line], 1e6), "line 2: the line has more than")


def many_nodes(case, count):
    steps = [
        {"branch": 2 * k, "on": "pair", "pair": [0, 1], "into": [2 * k + 1, 2 * k + 2]}
        for k in range(count)
    ]
    return root_only(case, steps, 1e6)


def test_open_nodes_and_rows_have_a_largest_size(margins):
    problem = certified_problem(margins.data, margins.settings)
    rows = [{**cluster(margins), "row": k} for k in range(3000)]
    for lines in (many_nodes(margins, 3000), root_only(margins, rows, 1e6)):
        text = [json.dumps(line).encode() for line in lines]
        with pytest.raises(CertificateError, match="rows and open nodes need more than 1 MiB"):
            check_certificate(text, problem, margins.data.train(), memory_limit=2**23)


def test_a_space_without_end_is_refused(margins):
    """Forty variables with up to thirty parents have more families than fit into any memory."""
    problem = certified_problem(margins.data, margins.settings)
    problem["variables"] = [[f"x{k}", 2] for k in range(40)]
    problem["settings"] |= {"max_parents": 30}
    problem["settings"]["constraints"] = {
        "required": [], "forbidden": [], "tiers": [], "max_parents": {},
    }  # fmt: skip
    with pytest.raises(CertificateError, match="candidate families, which need more than"):
        Bounds(problem, [], np.zeros((2, 40), dtype=np.int64), None, 2**24)


def test_tables_have_a_largest_size():
    data = encoded(np.array([[0, 1, 1], [1, 0, 0]]), [2, 3000, 3000])
    problem = certified_problem(data, make_settings(max_parents=2))
    with pytest.raises(CertificateError, match="tables need more than"):
        Bounds(problem, [], data.train().astype(np.int64), None, 2**24)


def test_a_line_has_a_largest_number_of_lists(margins):
    """A short line may describe many lists, each of which takes a hundred bytes."""
    line = {"known": 0, "y": [[]] * 2**17}
    refused(margins, root_only(margins, [line], 1e6), "line 2: the line has more than 131,072 list")


def test_a_message_is_short(margins):
    for change in ({"version": "x" * 10**6}, {"groups": ["x"] * 10**5}, {"tolerance": "x" * 10**6}):
        with pytest.raises(CertificateError) as error:
            margins.check([margins.lines[0] | change])
        assert len(str(error.value)) < 300


def test_the_witnesses_of_a_row_count_as_memory(margins):
    """A thousand witnesses are more than a row of two numbers."""
    row = {"row": 0, "kind": "features", "witnesses": [1] * 2000}
    told = SimpleNamespace(space=SimpleNamespace(n=2001, limits={"features": 3}))
    assert read_row(row, told).size >= 4 * 2000
    row = {"row": 0, "kind": "cluster", "members": list(range(2000)), "k": 1}
    assert read_row(row, told).size >= 4 * 2000


def test_every_feature_has_a_witness_that_exists():
    told = SimpleNamespace(space=SimpleNamespace(n=3, limits={"features": 1}))
    for witnesses, message in (
        ([], "no witness"),
        ([0, 1, 2], "no witness"),
        ([0, 3], "not exist"),
    ):
        row = {"row": 0, "kind": "features", "witnesses": witnesses}
        with pytest.raises(CertificateError, match=message):
            read_row(row, told)


def test_a_soft_cut_is_none_of_a_hinge(margins):
    """The entropy of even shares is no part of a soft margin."""
    size = margins.lines[0]["groups"][1] * (margins.data.variables[0].card - 1)
    row = {"row": 0, "kind": "soft", "group": 0, "margins": [0] * size}
    close = {"close": 0, "by": "bound", "y": [[0, ONE]]}
    refused(margins, root_only(margins, [row, close], 1e6), "that of another score")


def test_a_family_is_left_out_once(pruned):
    pair = pruned.lines[first(pruned.lines, "dominated")]["dominated"][0]
    for steps in ([{"dominated": [pair] * 2}], [{"dominated": [pair]}] * 2):
        refused(pruned, root_only(pruned, steps, 1e6), "left out twice")


def test_required_parents_in_many_resolutions_are_refused_before_they_are_listed(margins):
    """One parent set of fifteen features in four resolutions is four billion families."""
    problem = certified_problem(margins.data, margins.settings)
    names = [f"x{k}" for k in range(17)]
    coarse = [[0, 0, 1], [0, 1, 1], [0, 1, 0]]
    problem["variables"] = [["class", 2], *([name, 3, *coarse] for name in names[1:])]
    problem["settings"] |= {"max_parents": 20}
    problem["settings"]["constraints"] = {
        "required": [[p, "x1"] for p in names[2:]], "forbidden": [], "tiers": [], "max_parents": {},
    }  # fmt: skip
    with pytest.raises(CertificateError, match="candidate families, which need more than"):
        Bounds(problem, [], np.zeros((2, 17), dtype=np.int64), None, 2**24)


def test_any_number_of_folds_fits_into_memory(margins):
    """Two billion folds are no more than the units of weight that are divided."""
    problem = certified_problem(margins.data, margins.settings)
    problem["settings"] |= {"validation": 2**31 - 1, "fold_seed": 0}
    with pytest.raises(CertificateError, match="tables need more than"):
        Bounds(problem, [], margins.data.train().astype(np.int64), None, 2**24)


def test_a_replay_has_a_time_limit(margins):
    text = [json.dumps(line).encode() for line in margins.lines]
    problem = certified_problem(margins.data, margins.settings)
    rows = margins.data.train(), margins.data.train_weights()
    assert check_certificate(text, problem, *rows, time_limit=1e6).bound < 0
    with pytest.raises(CertificateError, match="the time limit was reached before the end"):
        check_certificate(text, problem, *rows, time_limit=-1.0)


# Rounding


def test_a_bound_that_rounding_makes_uncertain_is_not_optimal():
    """With a prior of 1e15 rows, the logarithms of gamma functions have no digit of the score."""
    data = encoded(np.random.default_rng(7).integers(0, 2, (30, 2)), [2] * 2)
    told = certified_problem(data, make_settings(score="bdeu", ess=1e15))
    told["settings"]["class_parents"] = False
    bounds = Bounds(told, [], data.train().astype(np.int64), None, 2**30)
    both = [[0, []], [1, []]], [[0, []], [1, [0]]]
    best = max(both, key=lambda s: bounds.value(bounds.chosen(s)))
    header = {"format": "milpbn-certificate", "version": 2, "milpbn": "", "groups": [], **told}
    end = {"end": True, "bound": 1e9, "objective": 0}
    lines = [header, {"close": 0, "by": "bound", "y": []}, end]
    text = [json.dumps(line).encode() for line in lines]
    proven = check_certificate(text, told, data.train(), structure=best)
    assert not proven.optimal
    assert proven.bound - proven.score > 1.0


def test_margins_of_any_size_are_scored():
    """exp(-800) vanishes beside 1; it is no reason to refuse a proof."""
    one = np.zeros(1)
    with np.errstate(all="raise"):
        assert _log_of_sum(one, one - 800.0) == 0.0
        assert _log_of_sum(one - 1e6, one) == 0.0
