"""Certificates in parts: written by several processes, or by one run after the other."""

import gzip
import shutil
import sys
from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from certified import (
    WEAK,
    Certified,
    certified,
    certified_resolutions,
    certified_sights,
    lines_of,
    solvable,
)
from here_cluster import connect_here
from problems import noise
from stopped_runs import Countdown, ctrl_c_in_the_tree, killed

from milpbn import learn_structure
from milpbn.engines.certificates.certificate_file import draft_of
from milpbn.engines.distributed import supervisor
from milpbn.engines.distributed.checkpoint import (
    describe_problem,
    read_checkpoint,
    write_checkpoint,
)
from milpbn.errors import CertificateError, ModelFileError, OptionError
from milpbn.learning.maximise import Shared
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import make_settings
from milpbn.learning.structure import run_method

NUMBERS = [*range(30), *(pytest.param(k, marks=pytest.mark.slow) for k in range(30, 300))]
SIGHTS = [*range(8), *(pytest.param(k, marks=pytest.mark.slow) for k in range(8, 100))]

# What an uninterrupted run on noise proves.
OPTIMUM = 87.03520889766565


@pytest.fixture
def weak(monkeypatch):
    for name, value in WEAK.items():
        monkeypatch.setattr(f"milpbn.engines.branch_and_cut.node_processor.{name}", value)


@pytest.fixture
def here(monkeypatch, weak):
    """A cluster whose workers get nodes as soon as there are any."""
    monkeypatch.setattr(supervisor, "_NODES_PER_WORKER", 0)
    return connect_here(monkeypatch)


def assert_proves(case):
    """What the result claims, and nothing below the best structure."""
    proven = case.check()
    assert proven.bound >= case.best - 1e-9 * max(1.0, abs(case.best))
    assert proven.bound <= case.result.bound + 1e-6 * max(1.0, abs(case.result.bound))
    assert (proven.claim, proven.objective) == (case.result.bound, case.result.objective)
    return proven


@pytest.mark.parametrize("number", NUMBERS)
def test_a_distributed_run_proves_the_optimum(number, here, tmp_path):
    here.loses = number % 2 == 0
    case = certified(solvable(number), tmp_path / "c.gz", scheduler="tcp://here")
    assert case.result.status == "optimal"
    assert_proves(case)


@pytest.mark.parametrize("seed", SIGHTS)
@pytest.mark.parametrize("solve", [certified_resolutions, certified_sights])
def test_a_distributed_run_with_resolutions_proves_the_optimum(solve, seed, here, tmp_path):
    here.loses = seed % 2 == 0
    case = solve(seed, tmp_path / "c.gz", scheduler="tcp://here")
    assert case.result.status == "optimal"
    assert_proves(case)


def noisy(path, clock=None, shared=None, **more):
    """A run on noise, whose tree has some dozens of nodes."""
    data, settings = noise(), make_settings(class_parents=False, start=None, **more)
    result = run_method(data, settings, certificate=path, clock=clock, shared=shared)
    return Certified(data, settings, result, lines_of(path), OPTIMUM)


def cuts_of(lines):
    return [(r["group"], tuple(r["against"])) for r in lines if r.get("kind") == "cut"]


@pytest.mark.parametrize("loses", [False, True])
def test_many_tasks_are_joined(loses, here, tmp_path):
    here.loses = loses
    case = noisy(tmp_path / "c.gz", scheduler="tcp://here")
    assert case.result.status == "optimal"
    assert here.tasks > 10
    proven = assert_proves(case)
    assert proven.nodes > 20
    # Tasks that use the same cut do not repeat it.
    cuts = cuts_of(case.lines)
    assert len(set(cuts)) == len(cuts) > 20


def test_a_distributed_run_that_was_stopped_proves_its_bound(here, tmp_path):
    for gap in (0.1, 0.03, 0.01):
        case = noisy(tmp_path / "c.gz", scheduler="tcp://here", gap=gap)
        assert case.result.status == "feasible"
        assert_proves(case)


def in_pieces(data, settings, folder, steps, best, growth=1.5):
    """One run after the other, each a little longer; every one leaves a certificate."""
    settings = settings.for_variables(data.variables)
    objective = build_objective(data, settings.score, settings.space)
    tree, path, cases = folder / "tree", folder / "c.gz", []
    while not cases or cases[-1].result.status == "time_limit":
        files = {"checkpoint": str(tree), "resume": str(tree) if cases else None}
        own = replace(settings, options=replace(settings.options, **files))
        result = run_method(
            data, own, clock=Countdown(int(steps)), shared=Shared(objective), certificate=path
        )
        cases.append(Certified(data, own, result, lines_of(path), best))
        assert_proves(cases[-1])
        assert not draft_of(path).exists()
        steps *= growth
    return cases


@pytest.mark.parametrize("number", NUMBERS)
def test_a_run_in_pieces_proves_the_optimum(number, weak, tmp_path):
    whole = certified(solvable(number), tmp_path / "whole.gz", start=None)
    cases = in_pieces(whole.data, whole.settings, tmp_path, 3 + number % 5, whole.best)
    assert cases[-1].result.status == "optimal"


@pytest.mark.parametrize("seed", SIGHTS)
def test_a_run_with_resolutions_in_pieces_proves_the_optimum(seed, weak, tmp_path):
    whole = certified_sights(seed, tmp_path / "whole.gz")
    cases = in_pieces(whole.data, whole.settings, tmp_path, 8, whole.best)
    assert cases[-1].result.status == "optimal"


def test_many_pieces(tmp_path):
    data, settings = noise(), make_settings(class_parents=False, start=None)
    cases = in_pieces(data, settings, tmp_path, 40, OPTIMUM, 1.3)
    assert len(cases) > 2
    assert cases[-1].result.status == "optimal"
    # Each certificate begins with what the one before had at its end, before it was closed.
    for before, after in pairwise(cases):
        pairs = enumerate(zip(before.lines, after.lines, strict=False))
        same = next((k for k, (one, other) in pairs if one != other), len(before.lines))
        assert all("close" in line or "end" in line for line in before.lines[same:])


def test_a_distributed_run_goes_on_alone(here, tmp_path):
    """Nodes that were out are searched again; what was logged about them is cut off."""
    tree, path = str(tmp_path / "tree"), tmp_path / "c.gz"
    first = noisy(path, scheduler="tcp://here", gap=0.03, checkpoint=tree)
    assert_proves(first)
    last = noisy(path, resume=tree)
    assert last.result.status == "optimal"
    assert_proves(last)


@pytest.mark.parametrize("moment", [3, 100, 333, 666, 1000, 1333])
def test_ctrl_c_between_any_two_steps_of_the_tree(moment, tmp_path):
    """Where the tree is behind the log, the checkpoint has the nodes of the log."""
    tree, path = str(tmp_path / "tree"), tmp_path / "c.gz"
    with ctrl_c_in_the_tree(moment):
        stopped = noisy(path, checkpoint=tree)
    assert_proves(stopped)
    result = noisy(path, checkpoint=tree, resume=tree)
    assert result.result.status == "optimal"
    assert_proves(result)


def assert_survives_kills(folder, writes):
    tree, path = str(folder / "tree"), str(folder / "c.gz")
    for k, count in enumerate(writes):
        resume = tree if k else None
        killed(count, start=None, certificate=path, checkpoint=tree, resume=resume)
        assert draft_of(folder / "c.gz").exists()
        assert not (folder / "c.gz").exists()
    case = noisy(folder / "c.gz", resume=str(folder / "tree"))
    assert case.result.status == "optimal"
    assert_proves(case)
    assert not draft_of(folder / "c.gz").exists()


def test_sigkill_leaves_a_certificate_that_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(p for p in sys.path if p))
    assert_survives_kills(tmp_path, [3, 9])


@pytest.mark.slow
def test_many_sigkills(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(p for p in sys.path if p))
    rng = np.random.default_rng(3)
    for k in range(4):
        (tmp_path / str(k)).mkdir()
        assert_survives_kills(tmp_path / str(k), rng.integers(1, 8, 3).tolist())


@pytest.fixture
def stopped(tmp_path):
    """A run that was stopped at a gap, its checkpoint and its certificate."""
    noisy(tmp_path / "c.gz", checkpoint=str(tmp_path / "tree"), gap=0.03)
    return tmp_path


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:100]),
        lambda path: path.write_bytes(b"x" + path.read_bytes()[1:]),
        lambda path: path.write_bytes(gzip.compress(b"another certificate\n" * 10**4)),
    ],
)
def test_a_certificate_that_does_not_match_is_named(damage, stopped):
    path, tree = stopped / "c.gz", str(stopped / "tree")
    damage(path)
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(OptionError, match=r"neither .*c.gz nor .*c.gz.part begins with") as info:
        noisy(path, resume=tree)
    assert "--certificate" in info.value.on_command_line()
    assert not draft_of(path).exists()
    assert (path.read_bytes() if path.exists() else None) == before
    # The run itself can go on.
    result = learn_structure(noise(), class_parents=False, start=None, resume=tree)
    assert result.objective == pytest.approx(OPTIMUM)


def test_a_run_without_a_certificate_cannot_go_on_with_one(tmp_path):
    tree = str(tmp_path / "tree")
    learn_structure(noise(), class_parents=False, checkpoint=tree, gap=0.03)
    with pytest.raises(OptionError, match="the run that is continued had no certificate"):
        noisy(tmp_path / "c.gz", resume=tree)
    assert [file.name for file in tmp_path.iterdir()] == ["tree"]


def test_a_certificate_may_be_moved(stopped):
    moved = stopped / "moved.gz"
    shutil.move(stopped / "c.gz", moved)
    case = noisy(moved, resume=str(stopped / "tree"))
    assert case.result.status == "optimal"
    assert_proves(case)


def test_a_finished_run_has_nothing_left_to_prove(tmp_path):
    tree, path = str(tmp_path / "tree"), tmp_path / "c.gz"
    first = noisy(path, checkpoint=tree)
    again = noisy(path, checkpoint=tree, resume=tree)
    assert again.result.status == "optimal"
    assert assert_proves(again).bound == assert_proves(first).bound


def test_a_run_without_a_tree_can_go_on(tmp_path):
    tree, path = str(tmp_path / "tree"), tmp_path / "c.gz"
    for resume in (None, tree):
        late = noisy(path, checkpoint=tree, resume=resume, time_limit=0)
        assert late.result.status == "time_limit"
        assert_proves(late)
    # Until the root has a bound of its own, that of the run is the trivial one.
    for steps in range(8):
        assert_proves(noisy(path, Countdown(steps), resume=tree))
    assert noisy(path, resume=tree).result.status == "optimal"


def test_a_certificate_without_a_part_proves_nothing(stopped):
    """A resumed certificate is one proof: none of its steps can be left out."""
    case = noisy(stopped / "c.gz", resume=str(stopped / "tree"))
    for kind in ("known", "branch", "close"):
        places = [k for k, line in enumerate(case.lines) if kind in line]
        assert places
        for k in places:
            lines = [*case.lines[:k], *case.lines[k + 1 :]]
            try:
                proven = case.check(lines)
            except CertificateError:
                continue
            assert kind == "known"  # another bound of the node was enough
            assert proven.bound >= OPTIMUM - 1e-6


def test_a_checkpoint_with_other_nodes_is_damaged(stopped):
    settings = make_settings(class_parents=False)
    objective = build_objective(noise(), settings.score, settings.space)
    problem = describe_problem(objective, settings.score)
    saved = read_checkpoint(stopped / "tree", problem)
    mark = msgspec.structs.replace(saved.certificate, nodes=saved.certificate.nodes[1:])
    changed = msgspec.structs.replace(saved, certificate=mark)
    write_checkpoint(stopped / "tree", problem, changed)
    with pytest.raises(ModelFileError, match="is a damaged checkpoint"):
        noisy(stopped / "c.gz", resume=str(stopped / "tree"))
