"""The steps of a proof as lines of a certificate.

The format is described in the manual (explanation/certificates). This module gives numbers to nodes
and rows. A distributed run has such lines in every process; those of the others are joined with new
numbers. So a certificate does not show who has found which part of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.cuts.source import Line, RowSource
from milpbn.engines.branch_and_cut.proof import BOUND, EMPTY, KNOWN, Proof, ProofLog, SubtreeLog
from milpbn.engines.branch_and_cut.tree import Candidate, Node, Sight
from milpbn.families.candidates import FamilySpace, ParentSet

# Multipliers are written as whole numbers of units: this many are 1.
_ONE = 2**40
# More than 1 by more than rounding.
_MORE = 1 + 1e-13
# Families that are left out, per line.
_PER_LINE = 1000


class ProofLines(ProofLog):
    """Writes the steps of a proof as lines.

    Parameters
    ----------
    write
        Takes a line.
    space
        The candidate families.
    """

    recording = True

    def __init__(self, write: Callable[[Line], None], space: FamilySpace) -> None:
        self._write = write
        self._space = space
        self._oracle: CutOracle | None = None
        self.continue_with((), 0, 0)

    def continue_with(self, nodes: Sequence[int], n_nodes: int, n_rows: int) -> None:
        """Continue after lines with so many nodes and rows; `nodes` are the numbers of open ones.

        These wait for :meth:`begin`.
        """
        self._waiting, self.n_nodes, self.n_rows = nodes, n_nodes, n_rows
        self._open: dict[int, Node] = {}
        self._probes: dict[int, Node] = {}
        self._names: dict[int, int] = {}
        self._logged: dict[int, Proof | None] = {}
        self._rows: WeakKeyDictionary[RowSource, int] = WeakKeyDictionary()
        self._by_content: dict[bytes, int] = {}

    def write_dominated(self) -> None:
        """Write the families that were pruned, with what replaces them."""
        space = self._space
        pairs = ((f, space.family(better)) for f, better in space.dominated.items())
        named = [[self._family(*f), self._family(*better)] for f, better in pairs]
        for at in range(0, len(named), _PER_LINE):
            self._write({"dominated": named[at : at + _PER_LINE]})

    def begin(self, oracle: CutOracle, nodes: Sequence[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._oracle = oracle
        numbers = self._waiting or [self._next() for _ in nodes]
        for node, number in zip(nodes, numbers, strict=True):
            self._name(node, number)
        self._waiting = ()

    def _next(self) -> int:
        number, self.n_nodes = self.n_nodes, self.n_nodes + 1
        return number

    def _name(self, node: Node, number: int, logged: Proof | None = None) -> int:
        self._names[id(node)], self._open[number] = number, node
        self._logged[number] = logged
        return number

    def _leave(self, node: Node) -> int:
        number = self._names.pop(id(node))
        del self._open[number], self._logged[number]
        self._probes.pop(number, None)
        return number

    def fix(self, node: Node, proof: Proof, limit: float) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        y = self._multipliers(proof)
        self._write({"fix": self._names[id(node)], "to": limit, "y": y})

    def branch(self, node: Node, children: Sequence[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        origin, number = children[0].origin, self._names[id(node)]
        logged = self._logged[number]
        self._leave(node)
        on = self._branched(None if origin is None else origin.candidate)
        into = [self._name(child, self._next(), logged) for child in children]
        self._write({"branch": number, **on, "into": into})

    def _branched(self, candidate: Candidate | None) -> Line:
        if candidate is None:
            return {"on": "class"}
        if isinstance(candidate, tuple):
            return {"on": "pair", "pair": candidate}
        if isinstance(candidate, Sight):
            return {"on": "sight", "child": candidate.variable, "view": candidate.view}
        if isinstance(candidate, int | np.integer):
            return {"on": "family", "family": self._family(*self._space.family(int(candidate)))}
        raise TypeError(f"certificates have no line for branching on {type(candidate).__name__}")

    def _family(self, child: int, parents: ParentSet, seen: tuple[int, ...]) -> list[Any]:
        """A family as the view of its child and those of its parents."""
        first, seen = self._space.views.first, seen or (0,) * (len(parents) + 1)
        *above, own = (int(first[v]) + r for v, r in zip((*parents, child), seen, strict=True))
        return [own, above]

    def close(self, node: Node) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        number, proof = self._names[id(node)], node.proof
        kind = KNOWN if proof is self._logged[number] else proof.kind
        y = {"y": self._multipliers(proof)} if kind in (BOUND, EMPTY) else {}
        self._write({"close": number, "by": kind, **y})
        self._leave(node)

    def probe(self, trial: Node, node: Node, parent: int) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        of = self._names[id(node)]
        number = self._name(trial, self._next(), self._logged[of])
        self._probes[number] = trial
        self._write({"probe": number, "of": of, "parent": parent})

    def finish_probe(self, trial: Node) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._write({"finish": self._leave(trial)})

    def lend(self, nodes: Sequence[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        for node in nodes:
            number = self._names[id(node)]
            if node.proof.kind == BOUND and node.proof is not self._logged[number]:
                self._write({KNOWN: number, "y": self._multipliers(node.proof)})
                self._logged[number] = node.proof

    def lend_all(self) -> tuple[list[Node], tuple[int, ...]]:
        """The open nodes and their numbers; the bounds of all of them are known."""
        nodes = [node for number, node in self._open.items() if number not in self._probes]
        for node in nodes:
            if node.proof.kind not in (BOUND, KNOWN):
                self.close(node)  # it was about to be
        nodes = [node for node in nodes if id(node) in self._names]
        self.lend(nodes)
        return nodes, tuple(self._names[id(node)] for node in nodes)

    def join(self, nodes: Sequence[Node], log: SubtreeLog | None, left: Sequence[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        assert log is not None
        numbers = {k: self._leave(node) for k, node in enumerate(nodes)}
        rows: dict[int, int] = {}
        for text in zlib.decompress(log.lines).splitlines():
            line = msgspec.json.decode(text)
            kind = next(iter(line))
            if kind == "row":
                number = line.pop("row")
                rows[number] = self._define(line)
                continue
            line[kind] = numbers[line[kind]]
            if "into" in line:
                numbers.update({k: self._next() for k in line["into"]})
                line["into"] = [numbers[k] for k in line["into"]]
            if "y" in line:
                line["y"] = [(rows[r], y) for r, y in line["y"]]
            self._write(line)
        for node, k in zip(left, log.left, strict=True):
            self._name(node, numbers[k])

    def close_all(self) -> None:
        """Close what is open by the bounds that are known."""
        for number in self._waiting:
            self._write({"close": number, "by": KNOWN})
        for number, node in list(self._open.items()):
            if number not in self._probes:
                self.close(node)

    def _multipliers(self, proof: Proof) -> list[tuple[int, int]]:
        """Rows and their multipliers, rounded down: the cuts of a group weigh at most 1 together.

        The heights of groups count nothing where a node is shown to be empty, nor do their cuts.
        """
        weighs: dict[int, float] = {}
        for source, y in proof.multipliers:
            if source.height >= 0:
                weighs[source.height] = weighs.get(source.height, 0.0) + y
        out = []
        for source, y in proof.multipliers:
            if source.height >= 0:
                y = 0.0 if proof.kind == EMPTY else y / max(1.0, weighs[source.height] * _MORE)
            if (units := int(y * _ONE)) > 0:
                out.append((self._row(source), units))
        return out

    def _row(self, source: RowSource) -> int:
        """The number of a row, which is written when it is used for the first time."""
        if source not in self._rows:
            assert self._oracle is not None
            self._rows[source] = self._define(source.line(self._oracle))
        return self._rows[source]

    def _define(self, row: Line) -> int:
        key = blake2b(msgspec.json.encode(row), digest_size=16).digest()
        if key not in self._by_content:
            self._by_content[key], self.n_rows = self.n_rows, self.n_rows + 1
            self._write({"row": self._by_content[key], **row})
        return self._by_content[key]


class SubtreeLines(ProofLines):
    """The lines of one task in a worker process; each task begins with new numbers."""

    def __init__(self, space: FamilySpace) -> None:
        self._lines: list[bytes] = []
        super().__init__(lambda line: self._lines.append(msgspec.json.encode(line)), space)

    def begin(self, oracle: CutOracle, nodes: Sequence[Node]) -> None:
        """See :class:`~milpbn.engines.branch_and_cut.proof.ProofLog`."""
        self._lines.clear()
        self.continue_with((), 0, 0)
        super().begin(oracle, nodes)

    def hand_back(self) -> tuple[list[Node], SubtreeLog]:
        """The open nodes, and what was logged."""
        nodes, numbers = self.lend_all()
        return nodes, SubtreeLog(zlib.compress(b"\n".join(self._lines), level=1), numbers)
