"""Checkpoint files: a branch-and-cut run that can be stopped and continued.

A file has a line with its format, a line of JSON that describes the problem, and the compressed
:class:`~milpbn.engines.distributed.snapshot.Snapshot`. It is replaced as a whole, so that
a process that is killed while it writes leaves the previous one.

The description contains everything that families, rows and scores depend on. A run continues only
from a file whose description is its own; limits, threads and seeds may differ. A damaged file is
recognised by its checksum. The open nodes of an intact file are believed: whoever can write it can
claim that a part of the tree has been searched. If the run has a certificate, the file says how
much of it had been written; a run that continues with both cuts off the rest.
"""

from __future__ import annotations

import hashlib
import time
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

import milpbn
from milpbn.engines.branch_and_cut.proof import TRIVIAL, ProofLog
from milpbn.engines.distributed.snapshot import (
    Snapshot,
    load_incumbent,
    load_node,
    pack_snapshot,
    restore,
    snapshot_without_tree,
    take_snapshot,
)
from milpbn.errors import ModelFileError, OptionError, OutputError, OutputWarning
from milpbn.files import MAX_TEXT, naming_damage, read_limited, write_whole
from milpbn.scores import Objective, ScoreReport

if TYPE_CHECKING:
    from milpbn.anytime import Progress
    from milpbn.engines.branch_and_cut.engine import BranchAndCut
    from milpbn.engines.branch_and_cut.tree import Node

_FAMILIES = "candidate families (max_parents, class_parents, constraints)"

_FIRST_LINE = b"milpbn checkpoint 1\n"
# Largest size of a decompressed state, in bytes.
_LARGEST = 2**32

# Seconds between two files, and the share of the time that writing them may take. The first one
# does not wait if the root is done: its cuts and heuristics are the longest step of most runs.
_EVERY = 5.0
_SHARE = 0.02


class _Header(msgspec.Struct):
    """What a checkpoint is about, and how to recognise a damaged one."""

    milpbn: str
    problem: dict[str, str]
    sha256: str


def describe_problem(objective: Objective, score: ScoreReport) -> dict[str, str]:
    """What a run maximises, as a name and a text for everything that may differ."""
    space = objective.space
    # A file of local scores may have been moved.
    settings = {k: str(v) for k, v in score.settings().items() if k != "source"}
    described = {"score": score.name, **settings}
    variables = (repr(x).encode() for x in (space.names, space.cards, space.coarsenings))
    described["variables"] = f"{space.n_variables} ({_digest(variables)})"
    if (rows := objective.rows) is not None:
        content = (rows.codes.tobytes(), rows.weights.tobytes())
        described["training rows"] = f"{len(rows)} distinct rows ({_digest(content)})"
    else:
        described["local scores"] = _digest([objective.costs.tobytes()])
    for name, limit in vars(space.budgets).items():
        described[name] = str(limit)
    members = space.parent_sets.members
    resolutions = members[:0] if space.resolutions is None else space.resolutions
    families = (np.ascontiguousarray(a).tobytes() for a in (members, space.offsets, resolutions))
    described[_FAMILIES] = f"{len(space)} ({_digest(families)})"
    return described


def _digest(parts: Iterator[bytes] | tuple[bytes, ...] | list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return f"sha256 {digest.hexdigest()[:16]}"


def write_checkpoint(path: str | Path, problem: dict[str, str], snapshot: Snapshot) -> None:
    """Write a checkpoint, replacing an earlier one."""
    body = pack_snapshot(snapshot)
    header = _Header(milpbn.__version__, problem, hashlib.sha256(body).hexdigest())
    content = _FIRST_LINE + msgspec.json.encode(header) + b"\n" + body
    if len(content) > MAX_TEXT:
        raise OutputError(f"cannot write {path}: the open nodes take {len(content):,} bytes")
    write_whole(path, content)


def read_checkpoint(path: str | Path, problem: dict[str, str]) -> Snapshot:
    """Read a checkpoint of this problem; raises if it is damaged or of another problem."""
    try:
        content = read_limited(path)
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from None
    first, _, rest = content.partition(b"\n")
    if first + b"\n" != _FIRST_LINE:
        expected = _FIRST_LINE.rstrip(b" 1\n")
        what = (
            "a checkpoint of another version of milpbn"
            if first.startswith(expected)
            else ("not a milpbn checkpoint")
        )
        raise ModelFileError(f"{path} is {what}")
    line, _, body = rest.partition(b"\n")
    with naming_damage(path, "checkpoint"):
        header = msgspec.json.decode(line, type=_Header)
        if hashlib.sha256(body).hexdigest() != header.sha256:
            raise ValueError("its content does not match its checksum")
    if header.problem != problem:
        raise OptionError(f"{path} {_difference(header.problem, problem)}")
    with naming_damage(path, "checkpoint"):
        return msgspec.msgpack.decode(_decompressed(body), type=Snapshot)


def _difference(then: dict[str, str], now: dict[str, str]) -> str:
    names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    differences = (f"{n}: {then.get(n, 'none')} there, {now.get(n, 'none')} now" for n in names)
    return (
        f"is the checkpoint of another problem ({'; '.join(differences)}); use the data, the "
        "score and the search space of the run that wrote it"
    )


def _decompressed(body: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    state = decompressor.decompress(body, _LARGEST)
    if decompressor.unconsumed_tail or not decompressor.eof:
        raise ValueError("it is truncated, or larger than the limit")
    return state


class Checkpoints:
    """The checkpoint that a run continues from, and those that it writes.

    Parameters
    ----------
    write_to, read_from
        The files, or None.
    objective, score
        The problem.
    log
        The proof; it goes on where that of the earlier run was.
    """

    def __init__(
        self,
        write_to: str | None,
        read_from: str | None,
        objective: Objective,
        score: ScoreReport,
        log: ProofLog,
    ) -> None:
        self._path = write_to
        self._from = read_from
        self._objective = objective
        self._problem = describe_problem(objective, score) if write_to or read_from else {}
        self._saved = read_checkpoint(read_from, self._problem) if read_from else None
        self._log = log
        if self._saved is not None:
            mark = self._saved.certificate
            if mark is not None and mark.length and len(mark.nodes) != len(self._saved.nodes):
                raise ModelFileError(
                    f"{read_from} is a damaged checkpoint: it has other nodes than its certificate"
                )
            log.resume(mark)
        self._due, self._has_written = time.perf_counter() + _EVERY, False
        self._search: BranchAndCut | None = None

    def resume(self, progress: Progress) -> None:
        """Begin with the best structure of the earlier run and with its bound."""
        if self._saved is None:
            return
        assert self._from is not None
        incumbent, record = self._saved.incumbent, self._saved.record
        with naming_damage(self._from, "checkpoint"):
            families = load_incumbent(incumbent, self._objective)
            bounds = [load_node(n, self._objective.space).bound for n in self._saved.nodes]
        bound = max(incumbent.value, record.settled, *bounds)
        progress.begin_with(families, incumbent.source, bound, record.count)

    def attach(self, search: BranchAndCut) -> list[Node]:
        """Continue with the tree of the earlier run, and save that of this one.

        Returns the open nodes.
        """
        nodes = [search.tree.root]
        if self._saved is not None:
            assert self._from is not None
            with naming_damage(self._from, "checkpoint"):
                nodes = restore(search, self._saved)
            mark = self._saved.certificate
            if mark is not None and not mark.length:
                # There was no tree: nothing was logged, and the root has the trivial bound.
                search.tree.root.proof = TRIVIAL
        self._search = search
        search.tree.after_report.append(self._when_due)
        return nodes

    def _when_due(self) -> None:
        assert self._search is not None
        if self._path is None:
            return
        began, tree = time.perf_counter(), self._search.tree
        first = not self._has_written and all(n is not tree.root for n in tree.open_nodes)
        if first or began >= self._due:
            self._save(self._search)
            self._has_written = True
            ended = time.perf_counter()
            self._due = ended + max(_EVERY, (ended - began) / _SHARE)

    def finish(self, progress: Progress, *, closed: bool) -> None:
        """Write the last file, if there is one to write; `closed` if the gap is."""
        if self._path is None:
            return
        if self._search is not None:
            self._save(self._search)
        elif self._saved is not None:
            self._write(self._saved)
        else:
            _, mark = self._log.mark([])
            self._write(snapshot_without_tree(progress, closed=closed, certificate=mark))

    def _save(self, search: BranchAndCut) -> None:
        self._write(take_snapshot(search, *self._log.mark(search.tree.open_nodes)))

    def _write(self, snapshot: Snapshot) -> None:
        """Write a file; an error must not end the run."""
        assert self._path is not None
        try:
            write_checkpoint(self._path, self._problem, snapshot)
        except OutputError as error:
            warnings.warn(f"{error}; the run goes on", OutputWarning, stacklevel=2)
