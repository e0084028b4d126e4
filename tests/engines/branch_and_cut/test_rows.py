"""The rows of a relaxation against a plain list of them."""

import numpy as np
import pytest

from milpbn.engines.branch_and_cut.cuts.clusters import Cluster
from milpbn.engines.branch_and_cut.cuts.hinge import Hinge
from milpbn.engines.branch_and_cut.rows import RelaxationRows, joining
from milpbn.families.candidates import candidate_families

N_FAMILIES, N_GROUPS = 5, 3


def made(n):
    """`n` rows of all kinds in turn, and the same as (coefficients, rhs, source)."""
    rng = np.random.default_rng(3)
    rows, plain = RelaxationRows(N_FAMILIES, N_GROUPS), []
    for r in range(n):
        hinge = Hinge(r % N_GROUPS, np.zeros(2, dtype=np.int16), 0.5 * r)
        sources = ["arcs", hinge, Cluster(frozenset({r, r + 1})), (r, r + 1)]
        plain.append((rng.normal(size=N_FAMILIES), float(rng.normal()), sources[r % 4]))
        rows.append(*plain[-1])
    return rows, plain


def assert_same(rows, plain):
    assert len(rows) == len(plain)
    hinges = [(a, s) for a, _, s in plain if isinstance(s, Hinge)]
    cuts = rows.cuts()
    assert [c.source for c in cuts] == [s for _, s in hinges]
    assert all(np.array_equal(c.coefficients, -a) for c, (a, _) in zip(cuts, hinges, strict=True))
    assert rows.clusters() == [s for _, _, s in plain if isinstance(s, Cluster)]
    for r, (_, _, source) in enumerate(plain):
        if isinstance(source, Cluster | tuple):
            assert source in rows
            assert rows.index(source) == r
    y = np.random.default_rng(1).random(len(plain)) * (np.arange(len(plain)) % 3 > 0)
    for most in (0.0, 1.0, 1e9):
        assert_combined(rows, plain, y, most)


def assert_combined(rows, plain, y, most):
    on_eta, on_heights, rhs = rows.combine(y, most)
    for group in range(N_GROUPS):
        cuts = [r for r, (_, _, s) in enumerate(plain) if isinstance(s, Hinge) and s.group == group]
        y = y.copy()
        y[cuts] *= most / max(y[cuts].sum(), most, 1e-300)
    assert on_eta == pytest.approx(sum(t * a for t, (a, _, _) in zip(y, plain, strict=True)))
    assert rhs == pytest.approx(sum(t * b for t, (_, b, _) in zip(y, plain, strict=True)))
    heights = np.zeros(N_GROUPS)
    for t, (_, _, source) in zip(y, plain, strict=True):
        if isinstance(source, Hinge):
            heights[source.group] += t
    assert on_heights == pytest.approx(heights)


def test_rows_outgrow_their_first_space():
    assert_same(*made(300))


def test_deleted_rows_are_gone_and_the_others_keep_their_order():
    rows, plain = made(150)
    drop = np.array([0, 2, 3, 77, 78, 149])
    rows.delete(drop)
    assert plain[2][2] not in rows
    assert plain[3][2] not in rows
    plain = [row for r, row in enumerate(plain) if r not in drop]
    assert_same(rows, plain)
    rows.append(*made(3)[1][2])
    assert_same(rows, [*plain, made(3)[1][2]])


def test_only_rows_that_stay_slack_become_stale():
    rows, plain = RelaxationRows(N_FAMILIES, N_GROUPS), made(8)[1]
    for k, row in enumerate(plain):
        rows.append(*row)
        if k == 0:
            rows.keep()
    rhs = np.array([b for _, b, _ in plain])
    tight_once = rhs - 1.0
    tight_once[[1, 2]] = rhs[[1, 2]]
    for activity in (rhs - 1.0, tight_once, rhs - 1.0):
        rows.note_slack(activity, np.ones(8))
    # Row 0 is permanent, row 7 is a required edge.
    assert rows.stale(2, frozenset([(7, 8)])).tolist() == [3, 4, 5, 6]
    assert rows.stale(0, frozenset()).tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert len(rows.stale(3, frozenset())) == 0


def test_joining_families_contain_an_arc_in_either_direction():
    space = candidate_families(["class", "a", "b", "c"], [2] * 4, max_parents=2, generative=True)
    found = set(joining(space, (1, 2)).tolist())
    for f, parents in enumerate(space.parent_sets):
        arcs = {(p, int(space.child[f])) for p in parents}
        assert (f in found) == bool(arcs & {(1, 2), (2, 1)})
