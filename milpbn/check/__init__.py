"""A checker of certificates: what a run of branch-and-cut has proven, from the data alone.

This room stands alone. It uses numpy and the standard library, and nothing of milpbn but the type
of its errors: candidate families, tables, scores, rows and bounds are written again from their
definitions (see the manual, explanation/certificates, which also has the format and the proofs).

A node is a set of allowed families and a set of pairs of variables that must be joined. The lines
of a certificate are replayed from the root, which allows everything. For multipliers y >= 0 of
valid rows, with one family per variable and T[g] <= gamma w(g),

    L(y) = y . rhs + sum_i max_{f of i, allowed} (c - A'y)[f] + sum_g (1 - y(g)) gamma w(g)

bounds every structure of a node. All sums are in double precision; :meth:`Bounds.error` bounds what
rounding can do, and is added to every bound. So the result holds in exact arithmetic, for counts
as computed, provided that logarithms are accurate to 4 units in the last place.
"""

from milpbn.check.replay import MEMORY_LIMIT, Proven, check_certificate, read_lines

__all__ = ["MEMORY_LIMIT", "Proven", "check_certificate", "read_lines"]
