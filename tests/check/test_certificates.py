"""Certificates of random problems: they are checked, and they prove what brute force finds."""

import numpy as np
import pytest
from certified import (
    CLL,
    WEAK,
    certified,
    certified_resolutions,
    certified_sights,
    lines_of,
    solvable,
)

from milpbn import learn_structure
from milpbn.engines.branch_and_cut.cuts.source import RowSource
from milpbn.engines.branch_and_cut.tree import Node, Origin
from milpbn.engines.certificates.proof_lines import ProofLines
from milpbn.errors import OptionError
from milpbn.families import candidate_families

NUMBERS = [*range(60), *(pytest.param(k, marks=pytest.mark.slow) for k in range(60, 500))]
SIGHTS = [*range(24), *(pytest.param(k, marks=pytest.mark.slow) for k in range(24, 200))]
RESOLVED = [*range(36), *(pytest.param(k, marks=pytest.mark.slow) for k in range(36, 300))]


def assert_proves_the_optimum(case):
    """The bound is not below the best score, and not above it by more than the tolerance."""
    proven = case.check()
    slack = 1e-6 * max(1.0, abs(case.best))
    assert proven.bound >= case.best - 1e-9 * max(1.0, abs(case.best))
    assert proven.bound <= case.result.bound + slack
    assert proven.claim == case.result.bound
    assert proven.objective == case.result.objective
    assert proven.score == pytest.approx(case.result.objective, rel=1e-9, abs=1e-9)
    assert case.result.status == "optimal"
    assert proven.optimal
    assert proven.bound <= case.best + 2.1 * slack
    return proven


def weaken(monkeypatch):
    for name, value in WEAK.items():
        monkeypatch.setattr(f"milpbn.engines.branch_and_cut.node_processor.{name}", value)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_certificate_proves_the_brute_force_optimum(number, tmp_path, monkeypatch):
    seed = solvable(number)
    if seed % 4:
        weaken(monkeypatch)
    if seed % 7 == 1:
        monkeypatch.setattr("milpbn.engines.branch_and_cut.engine._SHRINK", 1.0)
    if seed % 7 == 2:
        for name in ("_FEW_FAMILIES", "_FIRST_PER_VARIABLE", "_NEW_PER_VARIABLE"):
            monkeypatch.setattr(
                f"milpbn.engines.branch_and_cut.relaxation.{name}", name != "_FEW_FAMILIES"
            )
    assert_proves_the_optimum(certified(seed, tmp_path / "c.gz"))


@pytest.mark.parametrize("number", range(0, 60, 3))
def test_soft_cuts_are_certified(number, tmp_path, monkeypatch):
    weaken(monkeypatch)
    assert_proves_the_optimum(certified(CLL + solvable(number), tmp_path / "c.gz"))


@pytest.mark.parametrize("seed", RESOLVED)
def test_resolutions_are_certified(seed, tmp_path, monkeypatch):
    if seed % 4:
        weaken(monkeypatch)
    assert_proves_the_optimum(certified_resolutions(seed, tmp_path / "c.gz"))


@pytest.mark.parametrize("seed", SIGHTS)
def test_branchings_on_what_families_see_are_certified(seed, tmp_path, monkeypatch):
    weaken(monkeypatch)
    assert_proves_the_optimum(certified_sights(seed, tmp_path / "c.gz"))


@pytest.mark.parametrize("number", range(1, 40, 5))
@pytest.mark.parametrize(
    "more", [{"validation": 3}, {"smoothing": "epsilon:0.01"}, {"augmented": True}], ids=str
)
def test_folds_smoothing_and_augmented_families_are_certified(number, more, tmp_path):
    assert_proves_the_optimum(certified(solvable(number), tmp_path / "c.gz", **more))


def test_small_problems_need_every_kind_of_step(tmp_path, monkeypatch):
    """The tests above would say little if no certificate had branchings, probes and removals."""
    weaken(monkeypatch)
    seen = set()
    for seed in (28, 60, 78, 81, 84, 116):
        for line in certified(seed, tmp_path / "c.gz").lines[1:]:
            seen |= {next(iter(line)), line.get("kind"), line.get("on"), line.get("by")}
    for line in certified_sights(3, tmp_path / "c.gz").lines[1:]:
        seen.add(line.get("on"))
    assert seen >= {"row", "fix", "branch", "close", "probe", "finish", "end", "bound", "cut"}
    assert seen >= {"cluster", "pair", "family", "class", "budget", "dominated", "empty", "sight"}


def test_a_run_that_was_stopped_proves_its_open_bound(tmp_path):
    """At a gap that is reached at once, most of the tree is open."""
    case = certified(116, tmp_path / "c.gz", gap=0.5, start=None)
    proven = case.check()
    assert proven.bound >= case.best - 1e-9
    assert proven.bound <= case.result.bound + 1e-6 * max(1.0, abs(case.result.bound))


def test_an_interrupted_run_leaves_a_certificate(tmp_path, monkeypatch):
    """Ctrl-C at any moment, here at each of the first steps of the tree in turn."""
    from milpbn.engines.branch_and_cut.tree import Tree

    weaken(monkeypatch)
    checkpoint = Tree.checkpoint
    for last in range(1, 60, 7):
        left = [last]

        def interrupt(self, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            checkpoint(self)

        monkeypatch.setattr(Tree, "checkpoint", interrupt)
        case = certified(84, tmp_path / "c.gz", start=None)
        proven = case.check()
        assert proven.bound >= case.best - 1e-9
        assert proven.bound <= case.result.bound + 1e-6 * max(1.0, abs(case.result.bound))


@pytest.mark.parametrize(
    "settings", [{"method": "monolithic"}, {"method": "nb"}, {"host": "scip"}], ids=str
)
def test_other_engines_have_no_certificates(settings, tmp_path):
    from problems import encoded

    data = encoded(np.array([[0, 1], [1, 0], [1, 1]]), [2, 2])
    message = "certificate requires method='branch-and-cut' and host='highs'"
    with pytest.raises(OptionError, match=message):
        learn_structure(data, certificate=tmp_path / "c.gz", **settings)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    from problems import encoded

    data = encoded(np.array([[0, 1], [1, 0], [1, 1]]), [2, 2])
    with pytest.raises(OptionError, match="cannot write"):
        learn_structure(data, certificate=tmp_path / "no" / "c.gz")


def test_the_same_run_writes_the_same_certificate(tmp_path):
    one, other = (certified(84, tmp_path / name) for name in ("a.gz", "b.gz"))
    assert one.lines == other.lines == lines_of(tmp_path / "a.gz")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_kind_of_rows_must_have_a_line():
    class Unfinished(RowSource):
        def inequality(self, oracle):
            return np.zeros(len(oracle.space)), 0.0

    with pytest.raises(TypeError, match="line"):
        Unfinished()


def test_branchings_of_an_unknown_kind_are_errors():
    space = candidate_families(["class", "a"], [2, 2], max_parents=1)
    lines = []
    log = ProofLines(lines.append, space)
    root = Node(1.0, 0, np.ones(len(space), dtype=bool))
    log.begin(None, [root])
    children = [Node(1.0, k, root.allowed, origin=Origin("new", k, 0.5, 1.0)) for k in (0, 1)]
    with pytest.raises(TypeError, match="no line for branching on str"):
        log.branch(root, children)
    assert lines == []
