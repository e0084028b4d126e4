"""Corrupted certificates: none proves less than the best score, and few prove anything."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from certified import CLL, WEAK, certified, certified_resolutions, certified_sights
from forged import CHANGES, changed, claim, header, written
from here_cluster import connect_here

from milpbn.engines.branch_and_cut import node_processor as worker
from milpbn.engines.distributed import supervisor
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
    *((certified, CLL + seed) for seed in (14, 23, 28, 42, 45)),
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


@pytest.mark.parametrize("seed", SEEDS)
def test_a_corrupted_certificate_is_rejected_or_still_true(seed, folder):
    case = problem(*PROBLEMS[seed % len(PROBLEMS)], folder)
    rng = np.random.default_rng(seed)
    rejected = 0
    for change in CHANGES:
        lines = deepcopy(case.lines)
        change(rng, lines)
        try:
            proven = case.check(lines, alone=True)
        except CertificateError:
            rejected += 1
            continue
        assert change not in (claim, header)
        assert proven.bound >= case.best - 1e-9 * max(1.0, abs(case.best))
        assert proven.bound <= proven.claim + 1e-6 * max(1.0, abs(proven.claim))
    assert rejected >= 4


@pytest.mark.parametrize(("solve", "seed"), PROBLEMS)
def test_no_forgery_proves_less_than_brute_force(solve, seed, folder):
    """See scripts/fuzz_certificates.py for many more."""
    case, rng, accepted = problem(solve, seed, folder), np.random.default_rng(seed), 0
    for k in range(60):
        lines = changed(rng, case) if k % 2 else written(rng, case)
        try:
            proven = case.check(lines, alone=True)
        except CertificateError:
            continue
        accepted += 1
        assert proven.bound >= case.best - 1e-9 * max(1.0, abs(case.best))
    assert accepted


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row["margins"].pop(), "other rows"),
        (lambda row: row["margins"].append(0), "other rows"),
        (lambda row: row["margins"].__setitem__(0, 2**15), "margins"),
        (lambda row: row["margins"].__setitem__(0, 0.5), "margins"),
        (lambda row: row.update(group=10**6), "group"),
        (
            lambda row: row.update(kind="cut", against=row.pop("margins")),
            "another score|other rows",
        ),
        (lambda row: row.update(entropy=0.0), "entropy"),
    ],
)
def test_a_soft_cut_that_is_none_is_refused(change, message, folder):
    case = problem(certified, CLL + 28, folder)
    lines = deepcopy(case.lines)
    change(next(line for line in lines if line.get("kind") == "soft"))
    with pytest.raises(CertificateError, match=message):
        case.check(lines, alone=True)
