"""Checkpoints: a run that is stopped at any moment and continued proves the same optimum."""

import hashlib
import sys
import zlib
from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from problems import all_rows, noise, small_problem
from stopped_runs import Countdown, ctrl_c_in_the_tree, killed

from milpbn import learn_structure
from milpbn.anytime import Run, SolveOptions
from milpbn.clock import Clock
from milpbn.engines.branch_and_cut.engine import solve_branch_and_cut
from milpbn.engines.branch_and_cut.tree import TreeRecord
from milpbn.engines.distributed import checkpoint
from milpbn.engines.distributed.checkpoint import (
    describe_problem,
    read_checkpoint,
    write_checkpoint,
)
from milpbn.engines.distributed.snapshot import SavedCut, SavedNode
from milpbn.errors import BudgetError, ModelFileError, OptionError, OutputWarning
from milpbn.files import reserved
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import make_score

SM = make_score("sm", p=0.9)
# What an uninterrupted run proves, in 30 nodes.
OPTIMUM = 87.03520889766565


@pytest.fixture(scope="module")
def objective():
    return build_objective(noise(), SM, SearchSpace(class_parents=False))


def solve(objective, file, score=SM, steps=10**9, resume=True, **options):
    """Run for some steps, after those of an earlier run if there is a file."""
    given = str(file) if resume and file.exists() else None
    options = SolveOptions(checkpoint=str(file), resume=given, **options)
    return solve_branch_and_cut(objective, score, Run(clock=Countdown(steps), options=options))


def solve_in_pieces(objective, file, steps, score=SM, **options):
    """The results of one run after the other, each a little longer, until the last is done."""
    results = []
    while not results or results[-1].status == "time_limit":
        results.append(solve(objective, file, score, int(steps), **options))
        steps *= 1.4
    return results


def assert_never_worse(results):
    for before, after in pairwise(results):
        assert after.objective >= before.objective
        assert after.bound <= before.bound
        assert after.nodes >= before.nodes


@pytest.mark.parametrize("score", ["sm", "sbm", "cll", "mdl", "bdeu"])
@pytest.mark.parametrize("seed", range(6))
def test_any_run_in_pieces_proves_what_enumeration_finds(score, seed, tmp_path):
    """The seeds include constraints, budgets, penalties and leave-one-out."""
    objective, _, values = small_problem(seed, score)
    results = solve_in_pieces(objective, tmp_path / "tree", 5, make_score(score))
    assert results[-1].status == "optimal"
    assert results[-1].objective == pytest.approx(values.max())
    assert_never_worse(results)


@pytest.mark.parametrize(("steps", "penalty"), [(40, 0.0), (80, 0.5), (200, 0.0)])
def test_a_large_tree_in_pieces(steps, penalty, tmp_path):
    score = make_score("sm", p=0.9, penalty=penalty)
    data = all_rows("glass") if penalty else noise()
    objective = build_objective(data, score, SearchSpace(3 if penalty else 2, class_parents=False))
    whole = solve_branch_and_cut(objective, score)
    results = solve_in_pieces(objective, tmp_path / "tree", steps, score)
    assert len(results) > 2
    assert results[-1].status == whole.status == "optimal"
    assert results[-1].objective == pytest.approx(whole.objective, rel=1e-9)
    assert_never_worse(results)


def test_a_finished_run_has_nothing_left_to_do(objective, tmp_path):
    first = solve(objective, tmp_path / "tree")
    again = solve(objective, tmp_path / "tree", steps=0)
    assert (again.status, again.nodes, again.source) == ("optimal", first.nodes, first.source)
    assert again.structure == first.structure
    assert [(t.objective, t.bound) for t in again.trace[:1]] == [(first.objective, first.bound)]


def test_a_run_that_stops_at_a_gap_can_go_on_to_the_proof(objective, tmp_path):
    rough = solve(objective, tmp_path / "tree", gap=0.02)
    assert rough.status == "feasible"
    result = solve(objective, tmp_path / "tree")
    assert result.status == "optimal"
    assert result.objective == pytest.approx(OPTIMUM)
    assert result.nodes > rough.nodes


@pytest.mark.parametrize("moment", [3, 100, 333, 666, 1000, 1333])
def test_ctrl_c_between_any_two_steps_of_the_tree_loses_no_node(objective, moment, tmp_path):
    """KeyboardInterrupt after a number of lines inside the methods that move nodes."""
    with ctrl_c_in_the_tree(moment) as lines:
        stopped = solve(objective, tmp_path / "tree")
    assert lines[0] > moment or stopped.status == "optimal"
    result = solve(objective, tmp_path / "tree")
    assert result.status == "optimal"
    assert result.objective == pytest.approx(OPTIMUM)
    assert_never_worse([stopped, result])


def assert_survives_kills(file, writes, objective):
    told = []
    for k, count in enumerate(writes):
        told += killed(count, checkpoint=str(file), resume=str(file) if k else None)
        saved = read_checkpoint(file, describe_problem(objective, SM))
        assert saved.incumbent.value >= told[-1][0]
        assert max(saved.incumbent.value, *(n.bound for n in saved.nodes)) <= told[-1][1]
    values, bounds = zip(*told, strict=True)
    assert list(values) == sorted(values)
    assert list(bounds) == sorted(bounds, reverse=True)
    result = solve(objective, file)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(OPTIMUM)
    assert result.bound <= bounds[-1]


def test_sigkill_costs_only_what_came_after_the_last_checkpoint(objective, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(p for p in sys.path if p))
    assert_survives_kills(tmp_path / "tree", [3, 12], objective)


@pytest.mark.slow
def test_many_sigkills(objective, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(p for p in sys.path if p))
    rng = np.random.default_rng(5)
    for k in range(4):
        writes = rng.integers(1, 12, 5).tolist()
        assert_survives_kills(tmp_path / f"tree{k}", writes, objective)


def test_the_tree_is_saved_from_time_to_time(objective, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "_EVERY", 0.0)
    file, kept = tmp_path / "tree", []
    write = write_checkpoint

    def counted(*arguments):
        kept.append(arguments)
        write(*arguments)

    monkeypatch.setattr(checkpoint, "write_checkpoint", counted)
    monkeypatch.setattr(checkpoint, "_SHARE", 1.0)
    solve(objective, file)
    assert len(kept) > 10


def test_the_first_file_is_written_when_the_root_is_done(objective, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "_EVERY", 1e9)
    nodes, write = [], write_checkpoint

    def counted(path, problem, snapshot):
        nodes.append(snapshot.record.count)
        write(path, problem, snapshot)

    monkeypatch.setattr(checkpoint, "write_checkpoint", counted)
    result = solve(objective, tmp_path / "tree")
    assert len(nodes) == 2
    assert nodes[0] < nodes[1] == result.nodes


@pytest.mark.parametrize("name", ["checkpoint", "certificate"])
def test_two_runs_do_not_write_the_same_file(name, tmp_path):
    path = tmp_path / "file"
    with reserved(path), pytest.raises(OptionError, match="file is in use by another run"):
        learn_structure(noise(), class_parents=False, **{name: str(path)})
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_does_not_end_the_run(objective, tmp_path):
    folder = tmp_path / "gone"
    with pytest.warns(OutputWarning, match="cannot write .*tree"):
        result = solve(objective, folder / "tree")
    assert result.status == "optimal"


@pytest.fixture(scope="module")
def saved(objective, tmp_path_factory):
    """The bytes of a checkpoint in the middle of a run."""
    file = tmp_path_factory.mktemp("saved") / "tree"
    result = solve(objective, file, steps=60)
    assert result.status == "time_limit"
    return file.read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b"", "is not a milpbn checkpoint"),
        (lambda b: b"a,b\n1,2\n", "is not a milpbn checkpoint"),
        (lambda b: b.replace(b"checkpoint 1", b"checkpoint 7", 1), "of another version of milpbn"),
        (lambda b: b[:-20], "is a damaged checkpoint: its content does not match its checksum"),
        (lambda b: b[:-30] + b"x" + b[-29:], "is a damaged checkpoint"),
        (lambda b: b[:60], "is a damaged checkpoint"),
    ],
)
def test_a_damaged_or_foreign_file_is_recognised(objective, saved, change, message, tmp_path):
    (tmp_path / "tree").write_bytes(change(saved))
    with pytest.raises(ModelFileError, match=message):
        solve(objective, tmp_path / "tree")


def forged(file, objective, saved, **changes):
    """A checkpoint with a correct checksum and other content."""
    file.write_bytes(saved)
    problem = describe_problem(objective, SM)
    snapshot = read_checkpoint(file, problem)
    write_checkpoint(file, problem, msgspec.structs.replace(snapshot, **changes))
    return snapshot


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (lambda s: {"nodes": (SavedNode(999.0, b"x"),)}, "a set of families does not fit"),
        (lambda s: {"nodes": (SavedNode(float("nan"), s.nodes[0].allowed),)}, "a bound"),
        (lambda s: {"nodes": (SavedNode(999.0, s.nodes[0].allowed, ((2, 1),)),)}, "a pair"),
        (lambda s: {"nodes": (SavedNode(999.0, s.nodes[0].allowed, ((1, 99),)),)}, "a pair"),
        (lambda s: {"nodes": (), "root_is_open": True, "record": TreeRecord(0, 999.0)}, "the root"),
        (lambda s: {"incumbent": other(s.incumbent, families=(10**6,) * 9)}, "a structure"),
        (lambda s: {"incumbent": other(s.incumbent, families=(0,) * 9)}, "a structure"),
        (lambda s: {"incumbent": other(s.incumbent, value=999.0)}, "its structure scores"),
        (lambda s: {"cuts": other(s.cuts, cuts=(SavedCut(10**6, b""),))}, "no group"),
        (
            lambda s: {"cuts": other(s.cuts, cuts=(SavedCut(0, b"\x63\0"),))},
            "does not fit the rows",
        ),
        (lambda s: {"cuts": other(s.cuts, clusters=(((1, 99), 1),))}, "a cluster"),
        (lambda s: {"cuts": other(s.cuts, kept=bytes(len(s.cuts.kept)))}, "a node"),
    ],
)
def test_content_that_does_not_fit_is_refused(objective, saved, changes, message, tmp_path):
    file = tmp_path / "tree"
    snapshot = forged(file, objective, saved)
    forged(file, objective, saved, **changes(snapshot))
    with pytest.raises(ModelFileError, match=f"is a damaged checkpoint: .*{message}"):
        solve(objective, file)


def other(struct, **changes):
    return msgspec.structs.replace(struct, **changes)


def test_a_file_that_grows_when_it_is_read_is_refused(objective, saved, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "_LARGEST", 2**20)
    first, header, _ = saved.split(b"\n", 2)
    body = zlib.compress(bytes(2**24))
    content = msgspec.json.decode(header)
    content["sha256"] = hashlib.sha256(body).hexdigest()
    (tmp_path / "tree").write_bytes(b"\n".join([first, msgspec.json.encode(content), body]))
    with pytest.raises(ModelFileError, match="truncated, or larger than the limit"):
        solve(objective, tmp_path / "tree")


def test_another_problem_is_refused_with_what_differs(objective, saved, tmp_path):
    file = tmp_path / "tree"
    file.write_bytes(saved)
    other_p = make_score("sm", p=0.8)
    data = noise()
    with pytest.raises(OptionError, match=r"\(p: 0.9 there, 0.8 now; gamma: "):
        learn_structure(data, p=0.8, class_parents=False, resume=str(file))
    with pytest.raises(OptionError, match=r"\(candidate families \(max_parents, .*73 .*109 "):
        learn_structure(data, resume=str(file))
    with pytest.raises(OptionError, match="score: sm there, mdl now"):
        learn_structure(data, score="mdl", class_parents=False, resume=str(file))
    with pytest.raises(OptionError, match=r"training rows: .*max_arcs: None there, 9 now"):
        learn_structure(
            replace(data, weights=np.full(len(data.codes), 2.0)), class_parents=False,
            max_arcs=9, resume=str(file),
        )  # fmt: skip
    # Limits, threads and seeds may differ.
    options = SolveOptions(resume=str(file), threads=2, seed=3, gap=0.01)
    result = solve_branch_and_cut(objective, SM, Run(clock=Clock(60), options=options))
    assert result.objective <= OPTIMUM + 1e-6 <= result.bound + 2e-6
    assert describe_problem(objective, SM) != describe_problem(objective, other_p)


def test_only_a_run_with_a_tree_can_be_saved(tmp_path):
    data, file = all_rows("iris"), str(tmp_path / "tree")
    for settings in ({"method": "nb"}, {"method": "monolithic"}, {"host": "scip"}):
        with pytest.raises(OptionError, match="checkpoint requires method='branch-and-cut'"):
            learn_structure(data, checkpoint=file, **settings)
    with pytest.raises(BudgetError, match="the tree does not fit into the memory limit"):
        learn_structure(noise(), checkpoint=file, memory_limit=2 * 10**5)
    with pytest.raises(ModelFileError, match=r"cannot read .*: No such file"):
        learn_structure(data, resume=file)


def test_a_run_without_a_tree_leaves_a_file_too(tmp_path):
    """Its time was over before the root, or the first structure was as good as any."""
    file = tmp_path / "tree"
    data = noise()
    for _ in range(2):
        late = learn_structure(data, class_parents=False, checkpoint=str(file), time_limit=0)
        assert late.status == "time_limit"
    result = learn_structure(data, class_parents=False, resume=str(file), checkpoint=str(file))
    assert result.objective == pytest.approx(OPTIMUM)
    assert "checkpoint" not in result.to_dict()
