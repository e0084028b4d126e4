"""Corrupted certificates: none proves less than the best score, and few prove anything."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from certified import WEAK, certified, certified_resolutions, certified_sights
from here_cluster import connect_here

from milpbn.engines import supervisor, worker
from milpbn.errors import CertificateError

SEEDS = [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 200))]


def in_tasks(seed, path, **more):
    """A certificate with many bounds that are known from earlier lines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervisor, "_NODES_PER_WORKER", 0)
        connect_here(patch)
        return certified_sights(seed, path, scheduler="tcp://here", **more)


# Problems whose certificates have many lines of many kinds.
PROBLEMS = (
    *((certified, seed) for seed in (28, 60, 62, 78, 81, 84, 93, 116)),
    *((certified_sights, seed) for seed in (3, 7, 15, 25)),
    (certified_resolutions, 13),
    *((in_tasks, seed) for seed in (3, 7, 25)),
)


@lru_cache(maxsize=len(PROBLEMS))
def problem(solve, seed, folder):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WEAK.items():
            patch.setattr(worker, name, value)
        return solve(seed, folder / f"{solve.__name__}-{seed}.gz")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("certificates")


def of_kind(rng, lines, *kinds):
    """A random line of one of these kinds; None if there is none."""
    places = [k for k, line in enumerate(lines) if next(iter(line)) in kinds]
    return int(rng.choice(places)) if places else None


def multiplier(rng, lines):
    k = of_kind(rng, lines, "fix", "close", "known")
    y = lines[k].get("y")
    if y:
        entry = y[int(rng.integers(len(y)))]
        entry[1] = float(rng.choice([0.0, 2 * entry[1], 1e3 * entry[1], entry[1] + 1, 1e-3]))


def missing_multiplier(rng, lines):
    k = of_kind(rng, lines, "fix", "close", "known")
    if lines[k].get("y"):
        lines[k]["y"].pop(int(rng.integers(len(lines[k]["y"]))))


def missing_line(rng, lines):
    lines.pop(int(rng.integers(1, len(lines))))


def two_lines_swapped(rng, lines):
    i, j = rng.integers(1, len(lines), 2).tolist()
    lines[i], lines[j] = lines[j], lines[i]


def doubled_line(rng, lines):
    k = int(rng.integers(1, len(lines)))
    lines.insert(k, deepcopy(lines[k]))


def row(rng, lines):
    line = lines[of_kind(rng, lines, "row")]
    if line["kind"] == "cut":
        k = int(rng.integers(len(line["against"])))
        line["against"][k] = int(rng.integers(-1, 3))
    elif line["kind"] == "cluster":
        if rng.random() < 0.5:
            line["k"] += 1
        else:
            line["members"].pop()
    elif line["kind"] == "pair":
        line["pair"] = [0, 1]
    else:
        line["kind"] = "cluster"


def branching(rng, lines):
    k = of_kind(rng, lines, "branch")
    if k is None:
        lines[0]["groups"] = lines[0]["groups"][:-1]
        return
    line = lines[k]
    change = rng.integers(4)
    if change == 0:
        line["into"].reverse()
    elif change == 1:
        line["on"] = "class"
    elif change == 2 and "pair" in line:
        line["pair"] = [0, 1]
    elif change == 2 and "view" in line:
        line["view"] = (line["view"] + 1) % 8
    elif "family" in line:
        line["family"][1] = []
    else:
        line["into"].pop()


def removal(rng, lines):
    k = of_kind(rng, lines, "fix")
    if k is not None:
        lines[k]["to"] += float(rng.choice([1.0, 1e6]))


def closing(rng, lines):
    line = lines[of_kind(rng, lines, "close")]
    line["by"] = str(rng.choice(["empty", "single", "bound", "known", "nothing"]))
    line.setdefault("y", [])


def replacement(rng, lines):
    k = of_kind(rng, lines, "dominated")
    if k is not None:
        pair = lines[k]["dominated"][int(rng.integers(len(lines[k]["dominated"])))]
        if rng.random() < 0.5:
            pair.reverse()
        else:
            lines[k]["dominated"].append([pair[1], pair[1]])


def claim(rng, lines):
    lines[-1]["bound"] -= float(rng.choice([1e-4, 1.0])) * max(1.0, abs(lines[-1]["bound"]))


def header(rng, lines):
    own = lines[0]["settings"]
    own["max_parents"] = 1 if own["max_parents"] > 1 else 2


def groups(rng, lines):
    found = lines[0]["groups"]
    if len(found) > 1:
        found.pop(int(rng.integers(len(found))))


CHANGES = (
    *(multiplier, missing_multiplier, missing_line, two_lines_swapped, doubled_line, row),
    *(branching, removal, closing, replacement, claim, header, groups),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_corrupted_certificate_is_rejected_or_still_true(seed, folder):
    case = problem(*PROBLEMS[seed % len(PROBLEMS)], folder)
    rng = np.random.default_rng(seed)
    rejected = 0
    for change in CHANGES:
        lines = deepcopy(case.lines)
        change(rng, lines)
        try:
            proven = case.check(lines)
        except CertificateError:
            rejected += 1
            continue
        assert change not in (claim, header)
        assert proven.bound >= case.best - 1e-9 * max(1.0, abs(case.best))
        assert proven.bound <= proven.claim + 1e-6 * max(1.0, abs(proven.claim))
    assert rejected >= 4


@pytest.mark.parametrize(("solve", "seed"), PROBLEMS)
def test_no_node_can_be_left_out(solve, seed, folder):
    """Without the line that closes a node, or the one that creates it, nothing is proven."""
    case = problem(solve, seed, folder)
    for k, line in enumerate(case.lines):
        if next(iter(line)) in ("close", "branch") and not _is_probe(case.lines, line):
            with pytest.raises(CertificateError):
                case.check([*case.lines[:k], *case.lines[k + 1 :]])


def _is_probe(lines, line):
    return line.get("close") in {other["probe"] for other in lines if "probe" in other}


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b'{"row": NaN}', b'{"end": true}', b'{"fix": 0, "to": 1e400}'],
)
def test_nonsense_is_rejected_with_its_line(text, folder):
    from milpbn.check import check_certificate
    from milpbn.learning.certification import certified_problem

    case = problem(*PROBLEMS[0], folder)
    lines = [json.dumps(case.lines[0]).encode(), text]
    told = certified_problem(case.data, case.settings)
    with pytest.raises(CertificateError, match="line 2"):
        check_certificate(lines, told, case.data.train(), case.data.train_weights())


def test_other_rows_are_found_by_what_they_score(folder):
    """The same header, but the class of every row is that of another one."""
    case = problem(certified, 116, folder)
    codes = case.data.codes.copy()
    codes[:, 0] = codes[::-1, 0]
    with pytest.raises(CertificateError):
        replace(case, data=replace(case.data, codes=codes)).check()
