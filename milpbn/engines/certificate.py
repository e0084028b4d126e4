"""Certificates: the proof of a bound as a file that a small program can check.

The format is described in the manual (explanation/certificates). A thread of its own names the
nodes and rows, and compresses and writes the lines: Ctrl-C reaches only the main thread, so it
cannot cut a line in two, and it leaves what is open to be closed by the proofs of the open nodes.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any, BinaryIO
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from milpbn.anytime import Progress
from milpbn.engines.cuts.clusters import Cluster
from milpbn.engines.cuts.concave import Hinge
from milpbn.engines.cuts.features import FeatureRow
from milpbn.engines.cuts.oracle import CutOracle
from milpbn.engines.proof import BOUND, EMPTY, Proof, ProofLog
from milpbn.engines.rows import Edge, Source
from milpbn.engines.tree import Node, Sight
from milpbn.families.candidates import FamilySpace, ParentSet
from milpbn.scores import MarginObjective

FORMAT = "milpbn-certificate"
VERSION = 1

# Significant digits of multipliers: any multipliers prove something, these save space.
_DIGITS = 12


class CertificateWriter(ProofLog):
    """Writes a proof while it is found; to be used as a context manager.

    Parameters
    ----------
    file
        Where to write the compressed lines.
    header
        What is maximised, and over what.
    space
        The candidate families; those that were pruned are written with what replaces them.
    """

    recording = True

    def __init__(self, file: BinaryIO, header: Mapping[str, Any], space: FamilySpace) -> None:
        self._lines = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
        self._header = {"format": FORMAT, "version": VERSION, **header}
        self._space = space
        self._oracle: CutOracle | None = None
        self._begun = False
        self._open: dict[int, tuple[str, Node]] = {}
        self._names: dict[int, int] = {}
        self._n_nodes = 0
        self._hinges: WeakKeyDictionary[Hinge, int] = WeakKeyDictionary()
        self._rows: dict[Source, int] = {}
        self._n_rows = 0
        self._error: BaseException | None = None
        self._steps: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> CertificateWriter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._steps.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    # Each step is one item of the queue, so that an interrupt leaves all of it or nothing.

    def begin(self, oracle: CutOracle, root: Node) -> None:
        """See :class:`~milpbn.engines.proof.ProofLog`."""
        self._steps.put((self._begin, oracle, root))

    def fix(self, node: Node, proof: Proof, limit: float) -> None:
        """See :class:`~milpbn.engines.proof.ProofLog`."""
        self._steps.put((self._fix, node, proof, limit))

    def branch(self, node: Node, children: list[Node]) -> None:
        """See :class:`~milpbn.engines.proof.ProofLog`."""
        self._steps.put((self._branch, node, tuple(children)))

    def close(self, node: Node) -> None:
        """See :class:`~milpbn.engines.proof.ProofLog`."""
        self._steps.put((self._close, node, node.proof))

    def probe(self, trial: Node, node: Node, parent: int) -> None:
        """See :class:`~milpbn.engines.proof.ProofLog`."""
        self._steps.put((self._probe, trial, node, parent))

    def finish_probe(self, trial: Node) -> None:
        """See :class:`~milpbn.engines.proof.ProofLog`."""
        self._steps.put((self._finish_probe, trial))

    def end(self, progress: Progress) -> None:
        """See :class:`~milpbn.engines.proof.ProofLog`."""
        self._steps.put((self._end, progress.bound, progress.value))

    # The rest runs in the thread.

    def _work(self) -> None:
        while (step := self._steps.get()) is not None:
            write: Callable[..., None] = step[0]
            try:
                if self._error is None:
                    write(*step[1:])
            except BaseException as error:
                self._error = error
        try:
            self._lines.close()
        except OSError as error:
            self._error = self._error or error

    def _write(self, **line: Any) -> None:
        self._lines.write(json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n")

    def _begin(self, oracle: CutOracle | None, root: Node | None) -> None:
        self._oracle, self._begun = oracle, True
        concave = None if oracle is None else oracle.concave
        groups = [] if concave is None else concave.first_row.tolist()
        self._write(**self._header, groups=groups)
        pruned = [
            [self._family(*family), self._family(*self._space.family(better))]
            for family, better in self._space.dominated.items()
        ]
        if pruned:
            self._write(dominated=pruned)
        if root is not None:
            self._name(root)

    def _name(self, node: Node, role: str = "node") -> int:
        number, self._n_nodes = self._n_nodes, self._n_nodes + 1
        self._names[id(node)] = number
        self._open[number] = (role, node)
        return number

    def _leave(self, node: Node) -> int:
        number = self._names.pop(id(node))
        del self._open[number]
        return number

    def _fix(self, node: Node, proof: Proof, limit: float) -> None:
        y = self._multipliers(proof)
        self._write(fix=self._names[id(node)], to=limit, y=y)

    def _branch(self, node: Node, children: tuple[Node, ...]) -> None:
        origin, own = children[0].origin, self._leave(node)
        candidate = None if origin is None else origin.candidate
        on: dict[str, Any] = {"on": "class"}
        if isinstance(candidate, tuple):
            on = {"on": "pair", "pair": candidate}
        elif isinstance(candidate, Sight):
            on = {"on": "sight", "child": candidate.variable, "view": candidate.view}
        elif candidate is not None:
            on = {"on": "family", "family": self._family(*self._space.family(candidate))}
        self._write(branch=own, **on, into=[self._name(child) for child in children])

    def _family(self, child: int, parents: ParentSet, seen: tuple[int, ...]) -> list[Any]:
        """A family as the view of its child and those of its parents."""
        first, seen = self._space.views.first, seen or (0,) * (len(parents) + 1)
        *above, own = (int(first[v]) + r for v, r in zip((*parents, child), seen, strict=True))
        return [own, above]

    def _close(self, node: Node, proof: Proof) -> None:
        if proof.kind in (BOUND, EMPTY):
            y = self._multipliers(proof)
            self._write(close=self._leave(node), by=proof.kind, y=y)
        else:
            self._write(close=self._leave(node), by=proof.kind)

    def _probe(self, trial: Node, node: Node, parent: int) -> None:
        own = self._names[id(node)]
        self._write(probe=self._name(trial, "probe"), of=own, parent=parent)

    def _finish_probe(self, trial: Node) -> None:
        self._write(finish=self._leave(trial))

    def _end(self, bound: float, objective: float) -> None:
        if not self._begun:
            # There was no search: the bound is the trivial one.
            self._begin(None, None)
            self._write(close=0, by=BOUND, y=[])
        for role, node in list(self._open.values()):
            if role == "node":
                self._close(node, node.proof)
        self._write(end=True, bound=bound, objective=objective)

    def _multipliers(self, proof: Proof) -> list[tuple[int, float]]:
        return [(self._row(s), float(f"{y:.{_DIGITS}g}")) for s, y in proof.multipliers]

    def _row(self, source: Source) -> int:
        """The number of a row, which is written when it is used for the first time."""
        known: Any = self._hinges if isinstance(source, Hinge) else self._rows
        if source not in known:
            known[source], self._n_rows = self._n_rows, self._n_rows + 1
            self._write(row=known[source], **self._described(source))
        return int(known[source])

    def _described(self, source: Source) -> dict[str, Any]:
        if isinstance(source, Hinge):
            return {"kind": "cut", "group": source.group, "against": self._against(source)}
        if isinstance(source, Cluster):
            return {"kind": "cluster", "members": sorted(source.members), "k": source.k}
        if isinstance(source, FeatureRow):
            return {"kind": "features", "witnesses": source.witnesses}
        if isinstance(source, str):
            return {"kind": "budget", "of": source}
        edge: Edge = source
        return {"kind": "pair", "pair": edge}

    def _against(self, hinge: Hinge) -> list[int]:
        """The class that each row of a group is compared with; tables of two classes need none."""
        assert self._oracle is not None
        objective = self._oracle.objective
        assert isinstance(objective, MarginObjective)
        concave = self._oracle.concave
        assert concave is not None
        below = hinge.against >= 0
        against: npt.NDArray[np.integer] = hinge.against
        if objective.binary:
            against = np.zeros_like(against)
        elif objective.space.n_classes == 2:
            own = slice(concave.first_row[hinge.group], concave.first_row[hinge.group + 1])
            against = 1 - objective.rows.labels[own]
        return list(map(int, np.where(below, against, -1)))
