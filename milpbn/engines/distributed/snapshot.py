"""The state of a branch-and-cut run as plain data, so that it can be saved, sent and continued.

A node is self-contained: the families that are still allowed, the pairs that must be joined, its
bound and where it came from. Cuts are stored as what they are made from, such as the class that
each row of a group is compared with. Their coefficients are computed again from the data. This
takes a few bytes per row instead of a number per family, and a cut is valid whatever was stored.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from milpbn._types import BoolArray, Families, IntArray
from milpbn.engines.branch_and_cut.cuts.clusters import Cluster
from milpbn.engines.branch_and_cut.cuts.oracle import CutOracle
from milpbn.engines.branch_and_cut.proof import LOGGED, CertificateMark
from milpbn.engines.branch_and_cut.pseudo_costs import SavedCosts
from milpbn.engines.branch_and_cut.rows import Edge, Pool
from milpbn.engines.branch_and_cut.tree import Candidate, Node, Origin, Sight, TreeRecord
from milpbn.families.candidates import FamilySpace
from milpbn.families.feasibility import Feasibility
from milpbn.scores import Objective

if TYPE_CHECKING:
    from milpbn.anytime import Progress
    from milpbn.engines.branch_and_cut.engine import BranchAndCut

# How the numbers of rows are stored.
_ROWS = np.dtype("<i2")
# Scores may differ by this fraction between two machines.
_ROUNDING = 1e-9


class SavedNode(msgspec.Struct, frozen=True, array_like=True):
    """A node; its allowed families are packed bits."""

    bound: float
    allowed: bytes
    edges: tuple[Edge, ...] = ()
    origin: Origin | None = None


class SavedCut(msgspec.Struct, frozen=True, array_like=True):
    """A concave cut: its group, and what it takes from the rows, in numbers of 16 bits."""

    group: int
    rows: bytes


class SavedCuts(msgspec.Struct, frozen=True):
    """The rows of a relaxation and its working set.

    Rows on the number of features are not among them: they are soon found again.

    Attributes
    ----------
    cuts, clusters
        The concave cuts and the clusters.
    kept, working
        The families that have columns, and those in the working set, as packed bits.
    """

    cuts: tuple[SavedCut, ...]
    clusters: tuple[tuple[tuple[int, ...], int], ...]
    kept: bytes
    working: bytes


class Incumbent(msgspec.Struct, frozen=True):
    """The best structure, as families; its score, and what found it."""

    families: tuple[int, ...]
    value: float
    source: str


class Snapshot(msgspec.Struct, frozen=True):
    """A run at one moment.

    Attributes
    ----------
    incumbent
        The best structure.
    nodes
        All open nodes, in no particular order.
    root_is_open
        Whether the first node is the root, still being processed.
    record
        What the tree has done so far.
    cuts
        The rows of the relaxation; None if there was none.
    costs
        The pseudo-costs by candidate.
    certificate
        Where the certificate was, if there is one.
    """

    incumbent: Incumbent
    nodes: tuple[SavedNode, ...]
    root_is_open: bool
    record: TreeRecord
    cuts: SavedCuts | None = None
    costs: tuple[tuple[Candidate, SavedCosts], ...] = ()
    certificate: CertificateMark | None = None


def pack_snapshot(snapshot: Snapshot) -> bytes:
    """A snapshot as compressed bytes, for a file or another process."""
    return zlib.compress(msgspec.msgpack.encode(snapshot), level=1)


def incumbent_of(progress: Progress) -> Incumbent:
    """The best structure of a run."""
    assert progress.families is not None
    families = tuple(progress.families.tolist())
    return Incumbent(families, progress.objective.value(families), progress.source)


def load_incumbent(saved: Incumbent, objective: Objective) -> Families:
    """The families of a saved structure; raises if they are no structure with the saved score."""
    space, families = objective.space, np.array(saved.families, dtype=np.int64)
    own = len(families) == space.n_variables and 0 <= families.min() <= families.max() < len(space)
    own = own and bool((space.child[families] == np.arange(len(families))).all())
    _require(own and Feasibility(space).is_feasible(families), "a structure")
    value = objective.value(families)
    if not abs(value - saved.value) <= _ROUNDING * max(1.0, abs(value)):
        raise ValueError(f"its structure scores {value!r} on these rows, not {saved.value!r}")
    return families


def snapshot_without_tree(
    progress: Progress, *, closed: bool, certificate: CertificateMark | None = None
) -> Snapshot:
    """The state of a run that ended before there was a tree: with the root open, or with nothing.

    The root allows all families.
    """
    n = len(progress.objective.space)
    root = SavedNode(progress.bound, pack_families(np.ones(n, dtype=bool)))
    nodes = () if closed else (root,)
    settled = progress.bound if closed else -np.inf
    record = TreeRecord(settled=settled)
    return Snapshot(incumbent_of(progress), nodes, not closed, record, certificate=certificate)


def take_snapshot(
    search: BranchAndCut, nodes: Sequence[Node] = (), certificate: CertificateMark | None = None
) -> Snapshot:
    """The state of a run with these open nodes; the root comes first, if it is one of them."""
    tree = search.tree
    root_is_open = tree.root_is_open and bool(nodes) and nodes[0] is tree.root
    return Snapshot(
        incumbent_of(search.progress),
        tuple(map(save_node, nodes)),
        root_is_open,
        tree.record,
        save_cuts(search),
        tuple(search.brancher.costs.saved()),
        certificate,
    )


def restore(search: BranchAndCut, snapshot: Snapshot) -> list[Node]:
    """Continue with a saved run, whose best structure `search` has already been given.

    Returns the open nodes, in the order of the snapshot.
    """
    restore_cuts(search, snapshot)
    space = search.objective.space
    nodes = [load_node(node, space) for node in snapshot.nodes]
    gone = ~_mask(search.oracle.families, len(space))
    _require(not any((node.allowed & gone).any() for node in nodes), "a node")
    _require(bool(nodes) or not snapshot.root_is_open, "the root")
    root = nodes[0] if snapshot.root_is_open else None
    search.tree.restore(nodes, snapshot.record, root)
    return nodes


def restore_cuts(search: BranchAndCut, snapshot: Snapshot) -> None:
    """Continue with the cuts and the pseudo-costs of another run."""
    for candidate, costs in snapshot.costs:
        _check_candidate(candidate, search.objective.space)
        _require(len(costs.falls) == len(costs.counts) == 2, "a pseudo-cost")
        search.brancher.costs.load(candidate, costs)
    if snapshot.cuts is not None:
        kept = np.flatnonzero(unpack_families(snapshot.cuts.kept, len(search.objective.space)))
        search.oracle.keep(kept)
        search.replace_program(load_cuts(snapshot.cuts, search.oracle))


def save_node(node: Node) -> SavedNode:
    """A node as plain data."""
    edges = tuple(sorted(node.edges))
    return SavedNode(node.bound, pack_families(node.allowed), edges, node.origin)


def load_node(saved: SavedNode, space: FamilySpace) -> Node:
    """The node of plain data; raises if it is not one of this space."""
    allowed = unpack_families(saved.allowed, len(space))
    for edge in saved.edges:
        _check_candidate(edge, space)
    if saved.origin is not None:
        _check_candidate(saved.origin.candidate, space)
        _require(saved.origin.side in (0, 1) and saved.origin.distance > 0, "an origin")
    _require(saved.bound < np.inf, "a bound")  # not a NaN either
    return Node(saved.bound, 0, allowed, frozenset(saved.edges), saved.origin, LOGGED)


def save_cuts(search: BranchAndCut) -> SavedCuts:
    """The rows of the leading worker's relaxation."""
    n, pool = len(search.objective.space), search.processor.relaxation.pool()
    return SavedCuts(
        tuple(SavedCut(cut.group, cut.rows.astype(_ROWS).tobytes()) for cut in pool.cuts),
        tuple((tuple(sorted(c.members)), c.k) for c in pool.clusters),
        pack_families(_mask(search.oracle.families, n)),
        pack_families(_mask(pool.families, n)),
    )


def load_cuts(saved: SavedCuts, oracle: CutOracle) -> Pool:
    """The cuts; raises if they do not fit the problem."""
    variables = set(range(oracle.space.n_variables))
    fit = (set(members) <= variables and 1 <= k < len(members) for members, k in saved.clusters)
    _require(all(fit), "a cluster")
    clusters = [Cluster(frozenset(members), k) for members, k in saved.clusters]
    cuts = []
    for cut in saved.cuts:
        _require(oracle.concave is not None, "a cut")
        assert oracle.concave is not None
        rows = np.frombuffer(cut.rows, _ROWS).astype(np.int16)
        cuts.append(oracle.concave.cut(cut.group, rows))
    return Pool(cuts, clusters, np.flatnonzero(unpack_families(saved.working, len(oracle.space))))


def _mask(families: IntArray, n: int) -> BoolArray:
    out = np.zeros(n, dtype=bool)
    out[families] = True
    return out


def pack_families(mask: BoolArray) -> bytes:
    """A mask as bits."""
    return np.packbits(mask).tobytes()


def unpack_families(bits: bytes, n: int) -> BoolArray:
    """The mask of n bits."""
    _require(len(bits) == -(-n // 8), "a set of families")
    return np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=n).astype(bool)


def _check_candidate(candidate: Candidate, space: FamilySpace) -> None:
    if isinstance(candidate, tuple):
        _require(0 <= candidate[0] < candidate[1] < space.n_variables, "a pair of variables")
    elif isinstance(candidate, Sight):
        known = 0 <= candidate.variable < space.n_variables
        _require(known and 0 <= candidate.view < len(space.views.cards), "what a family sees")
    else:
        _require(0 <= candidate < len(space), "a family")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} does not fit the problem")
