"""What closes a node, in terms that do not depend on the program of a solver.

A :class:`Proof` holds the multipliers of a bound L(y) (:mod:`milpbn.engines.relaxation`), each with
what its row was made from. A :class:`ProofLog` is notified of everything that the bound of the tree
rests on. This one forgets it, that of :mod:`milpbn.engines.certificate` writes it down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from milpbn.engines.rows import Source

if TYPE_CHECKING:
    from milpbn.anytime import Progress
    from milpbn.engines.cuts.oracle import CutOracle
    from milpbn.engines.tree import Node

BOUND, EMPTY, SINGLE = "bound", "empty", "single"


@dataclass(frozen=True)
class Proof:
    """Why no structure of a node scores more than its bound.

    Attributes
    ----------
    multipliers
        Rows, by what they are made from, and their multipliers.
    kind
        ``"bound"``: L(y) is the bound. ``"empty"``: L(y) is negative with all costs 0, so that the
        node contains no structure. ``"single"``: one choice of families is left.
    """

    multipliers: tuple[tuple[Source, float], ...] = ()
    kind: str = BOUND


TRIVIAL = Proof()
"""All multipliers are 0: every row is at its hinge, every variable has its best family."""


class ProofLog:
    """Is notified of the steps of a proof.

    A step is logged before the tree relies on it, so that an interrupted run has a proof of its
    last bound.
    """

    recording = False
    """Whether proofs are needed; otherwise nothing has to remember them."""

    def begin(self, oracle: CutOracle, root: Node) -> None:
        """The search begins."""

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

    def end(self, progress: Progress) -> None:
        """The search is over, perhaps with open nodes."""
