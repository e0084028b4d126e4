"""Where the programs of open nodes begin: the rows that mattered at their parents, and the basis.

Between the branching of a node and the processing of its children, many others are processed, and
rows that are slack in their solves leave the program. A child gets the tight rows of its parent
back, with the basis in which they were tight. So its first solve begins at the parent's solution,
which takes fewer iterations, and fewer rounds of cuts.

A start only saves time: a node without one begins at the root's solution, with the root's rows.
Hence starts are neither saved nor sent, and the oldest are dropped if they take too much memory, as
are those of nodes that are processed elsewhere, or discarded before it is their turn.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from milpbn._types import BoolArray, IntArray
from milpbn.engines.branch_and_cut.program import Basis
from milpbn.engines.branch_and_cut.rows import Edge, RelaxationRows, Row, Source

Restriction = tuple[BoolArray, frozenset[Edge]]
"""What a node is: its allowed families, and the pairs that it must join."""
NodeKey = tuple[bytes, frozenset[Edge]]
"""The same, with the families as bits."""

# The key of the root's start, which is never taken: no node is without families.
_ROOT: NodeKey = (b"", frozenset())
# Bytes per entry of a start: a number and two references.
_ENTRY = 32


def node_key(allowed: BoolArray, edges: frozenset[Edge]) -> NodeKey:
    """The key of a node; that of a node that was sent away and came back is the same."""
    return np.packbits(allowed).tobytes(), edges


@dataclass(frozen=True, eq=False)
class Start:
    """The basis of a program, and what its rows are made from.

    Attributes
    ----------
    basis
        The basis.
    tight
        The sources of its tight rows, in their order.
    sources
        These, and the sources of other rows in use, each with the solves since it was last tight.
    columns, idle
        The working set of families, and the solves since each last had weight.
    """

    basis: Basis
    tight: tuple[Source, ...]
    sources: dict[Source, int]
    columns: IntArray
    idle: IntArray

    @property
    def nbytes(self) -> int:
        """About how much memory it takes, without the rows."""
        entries = len(self.basis) + len(self.tight) + len(self.sources)
        return _ENTRY * entries + self.columns.nbytes + self.idle.nbytes


class Starts:
    """The starts of the latest nodes, and the rows that they need.

    Parameters
    ----------
    limit
        Memory limit in bytes. A row that several starts need is stored once.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bytes = 0
        self._starts: OrderedDict[NodeKey, Start] = OrderedDict()
        self._rows: dict[Source, Row] = {}
        self._uses: Counter[Source] = Counter()

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, keys: Iterable[NodeKey], start: Start, rows: RelaxationRows) -> None:
        """Keep the start of some nodes.

        Its rows are those of the program, or of another start; without all of them it is useless.
        """
        if not all(source in self._rows or source in rows for source in start.sources):
            return
        for key in keys:
            self._keep(key, start, rows)
        if _ROOT in self._starts:
            self._starts.move_to_end(_ROOT)  # the last to be dropped
        while self.bytes > self.limit and self._starts:
            self._forget(*self._starts.popitem(last=False))

    def set_root(self, start: Start, rows: RelaxationRows) -> None:
        """Keep a start for the nodes that have none of their own."""
        self.add([_ROOT], start, rows)

    def _keep(self, key: NodeKey, start: Start, rows: RelaxationRows) -> None:
        for source in start.sources:
            if source not in self._rows:
                self._rows[source] = row = rows.row(source)
                self.bytes += row[0].nbytes
        self._uses.update(start.sources.keys())
        self.bytes += start.nbytes + len(key[0])
        if key in self._starts:  # after the rows that both need have been counted twice
            self._forget(key, self._starts.pop(key))
        self._starts[key] = start

    def take(self, key: NodeKey) -> tuple[Start, dict[Source, Row]] | None:
        """The start of a node, which is then forgotten, or of the root, with its rows; or None."""
        start = self._starts.get(key) or self._starts.get(_ROOT)
        if start is None:
            return None
        _, edges = key
        rows = {source: self._row(source, edges) for source in start.sources}
        if key in self._starts:
            self._forget(key, self._starts.pop(key))
        return start, rows

    def root_rows(self) -> dict[Source, Row]:
        """The rows of the root's start."""
        start = self._starts.get(_ROOT)
        return {} if start is None else {s: self._rows[s] for s in start.sources}

    def _row(self, source: Source, edges: frozenset[Edge]) -> Row:
        coefficients, rhs = self._rows[source]
        if isinstance(source, tuple):
            # The row of a pair is shared by nodes that require it and nodes that do not.
            rhs = -1.0 if source in edges else 0.0
        return coefficients, rhs

    def _forget(self, key: NodeKey, start: Start) -> None:
        """Drop the rows that only this start has needed."""
        self.bytes -= start.nbytes + len(key[0])
        self._uses.subtract(start.sources.keys())
        for source in start.sources:
            if self._uses[source] <= 0:
                del self._uses[source]
                self.bytes -= self._rows.pop(source)[0].nbytes
