"""What closes a node, in terms that do not depend on the program of a solver.

A :class:`Proof` holds the multipliers of a bound L(y)
(:mod:`milpbn.engines.branch_and_cut.relaxation`), each with what its row was made from. A
:class:`ProofLog` receives everything that the bound of the tree rests on. This one forgets it, that
of :mod:`milpbn.engines.certificates.certificate` writes it down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from milpbn.engines.branch_and_cut.cuts.source import RowSource

if TYPE_CHECKING:
    from milpbn.anytime import Progress
    from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
    from milpbn.engines.branch_and_cut.tree import Node

BOUND, EMPTY, SINGLE, KNOWN = "bound", "empty", "single", "known"


@dataclass(frozen=True)
class Proof:
    """Why no structure of a node scores more than its bound.

    Attributes
    ----------
    multipliers
        Rows, by what they are made from, and their multipliers.
    kind
        ``"bound"``: L(y) is the bound. ``"empty"``: L(y) is negative with all costs 0, so that the
        node contains no structure. ``"single"``: one choice of families is left. ``"known"``: the
        bound was logged before, for this node or for one that it is a part of.
    """

    multipliers: tuple[tuple[RowSource, float], ...] = ()
    kind: str = BOUND


TRIVIAL = Proof()
"""All multipliers are 0: every row is at its hinge, every variable has its best family."""

LOGGED = Proof(kind=KNOWN)
"""The proof of a node that comes from another process, or from an earlier run: it is there."""


class CertificateMark(msgspec.Struct, frozen=True):
    """A moment of a run at which its certificate can be continued.

    Attributes
    ----------
    length, sha256
        The bytes of the certificate so far, and their checksum.
    nodes
        The numbers of the open nodes.
    n_nodes, n_rows
        How many nodes and rows the certificate has.
    """

    length: int
    sha256: str
    nodes: tuple[int, ...]
    n_nodes: int
    n_rows: int


class SubtreeLog(msgspec.Struct, frozen=True):
    """What another process has logged about some nodes.

    Attributes
    ----------
    lines
        Compressed lines of a certificate. Numbers of nodes begin with those that were given.
    left
        The numbers of the nodes that are open at the end.
    """

    lines: bytes
    left: tuple[int, ...]


class ProofLog:
    """Receives the steps of a proof.

    A step is logged before the tree relies on it, so that an interrupted run has a proof of its
    last bound.
    """

    recording = False
    """Whether proofs are needed; otherwise nothing has to remember them."""

    def resume(self, mark: CertificateMark | None) -> None:
        """The run continues an earlier one at a mark; raises if that has no proof to continue."""

    def begin(self, oracle: CutOracle, nodes: Sequence[Node]) -> None:
        """The search begins with these open nodes: the root, or those of the earlier run."""

    def fix(self, node: Node, proof: Proof, limit: float) -> None:
        """Families whose choice lowers the bound to `limit` are removed from a node."""

    def branch(self, node: Node, children: list[Node]) -> None:
        """A node is replaced by its children."""

    def close(self, node: Node) -> None:
        """A node is discarded; its bound rests on its proof."""

    def probe(self, trial: Node, node: Node, parent: int) -> None:
        """A trial begins: the part of a node in which the class has this parent."""

    def finish_probe(self, trial: Node) -> None:
        """The families of the class that a trial has removed are removed from its node."""

    def lend(self, nodes: Sequence[Node]) -> None:
        """Another process gets these nodes, without their proofs."""

    def join(self, nodes: Sequence[Node], log: SubtreeLog | None, left: Sequence[Node]) -> None:
        """Another process has worked on these nodes; `left` are open."""

    def mark(self, nodes: list[Node]) -> tuple[list[Node], CertificateMark | None]:
        """The open nodes, for a run that continues this one, and where its certificate is.

        After an interrupt, the nodes of the tree, which are given, may be behind those of the log.
        """
        return nodes, None

    def end(self, progress: Progress) -> None:
        """The search is over, perhaps with open nodes."""
