"""Where the programs of open nodes begin: the rows that mattered at their parents, and the basis.

Between the branching of a node and the processing of its children, many others are processed, and
rows that are slack in their solves leave the program. A child gets the rows of its parent that were
in use back, with the basis. So its first solve begins at the parent's solution, which takes fewer
iterations, and fewer rounds of cuts.

A start only saves time: a node without one begins at the root's solution, with the root's rows.
Hence starts are neither saved nor sent, and the oldest are dropped if they take too much memory, as
are those of nodes that are processed elsewhere, or discarded before it is their turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from milpbn._types import BoolArray, IntArray
from milpbn.engines.branch_and_cut.rows import Edge, RowStore

Restriction = tuple[BoolArray, frozenset[Edge]]
"""What a node is: its allowed families, and the pairs that it must join."""
NodeKey = tuple[bytes, frozenset[Edge]]
"""The same, with the families as bits."""

# The key of the root's start, which is never taken: no node is without families.
_ROOT: NodeKey = (b"", frozenset())


def node_key(allowed: BoolArray, edges: frozenset[Edge]) -> NodeKey:
    """The key of a node; that of a node that was sent away and came back is the same."""
    return np.packbits(allowed).tobytes(), edges


@dataclass(frozen=True, eq=False)
class Start:
    """A program and its basis.

    Attributes
    ----------
    basis
        HiGHS's basis of exactly these columns and rows.
    rows, row_idle
        The numbers of its rows, and the solves since each was last tight.
    columns, column_idle
        The working set of families, and the solves since each last had weight.
    """

    basis: Any
    rows: IntArray
    row_idle: IntArray
    columns: IntArray
    column_idle: IntArray

    @property
    def nbytes(self) -> int:
        """How much memory it takes, without the rows; the basis takes a byte per entry."""
        arrays = (self.rows, self.row_idle, self.columns, self.column_idle)
        return sum(a.nbytes for a in arrays) + len(self.rows) + len(self.columns)


class Starts:
    """The starts of the latest nodes; their rows stay in the store.

    Parameters
    ----------
    limit
        Memory limit in bytes, for the starts and for all rows of the store.
    store
        The rows.
    """

    def __init__(self, limit: int, store: RowStore) -> None:
        self.limit = limit
        self._store = store
        self._row_bytes: int = store.coefficients[0].nbytes
        self._own_bytes = 0
        self._starts: OrderedDict[NodeKey, Start] = OrderedDict()

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def bytes(self) -> int:
        """How much memory the starts and all rows take."""
        return self._own_bytes + len(self._store) * self._row_bytes

    def add(self, keys: Iterable[NodeKey], start: Start) -> None:
        """Keep the start of some nodes."""
        for key in keys:
            self._store.use(start.rows)
            self._own_bytes += start.nbytes + len(key[0])
            if key in self._starts:
                self._forget(key, self._starts.pop(key))
            self._starts[key] = start
        if _ROOT in self._starts:
            self._starts.move_to_end(_ROOT)  # the last to be dropped
        while self._starts and self.bytes > self.limit:
            self._forget(*self._starts.popitem(last=False))

    def set_root(self, start: Start) -> None:
        """Keep a start for the nodes that have none of their own."""
        self.add([_ROOT], start)

    def find(self, key: NodeKey) -> Start | None:
        """The start of a node, or else of the root; or None."""
        return self._starts.get(key) or self._starts.get(_ROOT)

    def drop(self, key: NodeKey) -> None:
        """Forget the start of a node, if there is one."""
        if key in self._starts:
            self._forget(key, self._starts.pop(key))

    def root_rows(self) -> IntArray:
        """The rows of the root's start."""
        start = self._starts.get(_ROOT)
        return np.empty(0, dtype=np.int64) if start is None else start.rows

    def _forget(self, key: NodeKey, start: Start) -> None:
        self._own_bytes -= start.nbytes + len(key[0])
        self._store.release(start.rows)
