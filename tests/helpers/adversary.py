"""An adversary who sees inside the checker: it keeps every step that is accepted.

It draws rows, nodes, removals and replacements at random, asks the checker for the coefficients
that it computes, and takes the multipliers that prove the lowest bound from a linear program. So a
row or a step that the checker accepts although it does not hold is soon part of a wrong proof.
"""

import math
from copy import copy

import numpy as np
from scipy.optimize import linprog

from milpbn.check import MEMORY_LIMIT
from milpbn.check.bounds import ONE, Bounds, Memory
from milpbn.check.replay import Replay
from milpbn.check.rows import KINDS
from milpbn.check.schema import typed
from milpbn.errors import CertificateError
from milpbn.learning.certification import certified_problem

# Multipliers of rows other than cuts, in linear programs that would otherwise be unbounded.
_MOST = 2.0**30


class Adversary:
    """Attacks one problem, again and again; the tables are computed once."""

    def __init__(self, case, rng):
        self.rng, self.best = rng, case.best
        problem = certified_problem(case.data, case.settings)
        rows = case.data.train().astype(np.int64), case.data.train_weights()
        own = case.lines[0]["groups"]
        groups = [own, [own[0], own[-1]] if own else own]
        self._problems = [Bounds(problem, g, *rows, MEMORY_LIMIT) for g in groups]
        self._known = [line for line in case.lines if next(iter(line)) == "row"]

    def attack(self):
        """What one attack proves, and its steps; None instead of a bound if it was refused."""
        self.steps = []
        bounds = copy(self._problems[int(self.rng.integers(2))])
        bounds._rows, bounds._coefficients, bounds.memory = [], {}, Memory(2**30)
        self.bounds, self.space = bounds, bounds.space
        with np.errstate(all="raise"):
            self.replay = Replay(bounds, None)
            try:
                self._play()
            except CertificateError:
                return None, self.steps
        return self.replay.result.bound, self.steps

    def _step(self, line):
        self.steps.append(line)
        self.replay.step(line)

    def _play(self):
        rng = self.rng
        if rng.random() < 0.3:
            self._leave_out()
        for _ in range(int(rng.integers(2, 12))):
            self._row()
        moves = (self._branch, self._fix, self._fix, self._known_bound, self._probe)
        for _ in range(int(rng.integers(0, 7))):
            moves[int(rng.integers(len(moves)))]()
        for number in list(self.replay.nodes):
            if number in self.replay.nodes:
                self._close(number)
        self._step({"end": True, "bound": 1e12, "objective": 0.0})

    def _pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def _node(self, probes=True):
        nodes = self.replay.nodes.items()
        return self._pick([k for k, node in nodes if probes or node.of is None])

    def _family(self):
        child, parents = self._pick(self.space.families)
        return [child, list(parents)]

    # Rows: mostly of the right shape, and some with entries that do not belong together.

    def _row(self):
        n, rng = self.space.n, self.rng
        kind = self._pick(list(KINDS))
        line = {"row": self.bounds.n_rows, "kind": kind}
        if kind == "cluster":
            members = rng.choice(n, int(rng.integers(1, n + 1)), replace=rng.random() < 0.02)
            line |= {"members": members.tolist(), "k": self._off(rng.integers(1, len(members) + 1))}
        elif kind == "pair":
            line["pair"] = sorted(rng.choice(n, 2, replace=rng.random() < 0.02).tolist())
        elif kind == "budget":
            line["of"] = self._pick(["arcs", "parameters"])
        elif kind == "features":
            line["witnesses"] = rng.integers(0, n + (rng.random() < 0.02), n - 1).tolist()
        else:
            line |= self._cut(kind)
        try:
            KINDS[kind](
                typed(line, {"row": range(10**6), "kind": str, **KINDS[kind].shape}, ""),
                self.bounds,
            )
        except (CertificateError, LookupError, ValueError):
            return  # a row that is refused; others are tried
        self._step(line)

    def _off(self, number):
        """A number, which is now and then wrong by one."""
        return int(number) + int(self.rng.choice([-1, 0, 1], p=[0.02, 0.96, 0.02]))

    def _cut(self, kind):
        """One that holds tightly where a random structure is, or at random."""
        rng, score = self.rng, self.bounds.score
        first = self.bounds.first_row
        g = int(rng.integers(len(first) - 1))
        rows = np.arange(first[g], first[min(g + (rng.random() < 0.02), len(first) - 2) + 1])
        if not len(score.codes):
            return {"group": g, "against" if kind == "cut" else "margins": []}
        labels = score.codes[rows, 0]
        if kind == "soft":
            size = (len(rows), score.n_classes - 1)
            scale = 2.0 ** rng.integers(0, 15)
            return {
                "group": g,
                "margins": rng.normal(0, scale, size)
                .astype(int)
                .clip(-32767, 32767)
                .ravel()
                .tolist(),
            }
        other = (labels + rng.integers(1, score.n_classes, len(labels))) % score.n_classes
        against = np.zeros_like(labels) if score.binary else other
        if rng.random() < 0.02:
            against[int(rng.integers(len(rows)))] = rng.integers(-2, score.n_classes + 2)
        beyond = rng.random(len(rows)) < self._pick([0.0, 0.5, rng.random()])
        return {"group": g, "against": np.where(beyond, -1, against).tolist()}

    # Multipliers: those that are best for the attack, by a linear program.

    def _y(self, number, *, costs=True):
        """The multipliers that minimise L(y) for a node, and now and then larger ones."""
        bounds, node = self.bounds, self.replay.nodes[number]
        rows = [r for r in range(bounds.n_rows) if costs or bounds._rows[r].group is None]
        allowed = np.flatnonzero(node.allowed)
        if not rows or not len(allowed):
            return []
        a = np.array([bounds._row(r)[0] for r in rows])[:, allowed]
        rhs = np.array([bounds._rows[r].rhs(bounds, node.pairs) for r in rows])
        groups = [bounds._rows[r].group for r in rows]
        # max over families: z[i] >= (c - A'y)[f]
        of = np.eye(self.space.n)[self.space.child[allowed]]
        a_ub, b_ub = [np.hstack([-a.T, -of])], [-costs * bounds.score.costs[allowed]]
        price = rhs.copy()
        for g in set(groups) - {None}:
            of_group = np.array([own == g for own in groups], dtype=float)
            a_ub.append(np.hstack([of_group, np.zeros(self.space.n)])[None, :])
            b_ub.append(np.ones(1))
            price -= of_group * bounds.score.gamma * bounds.group_weight[g]
        found = linprog(
            np.concatenate([price, np.ones(self.space.n)]),
            A_ub=np.vstack(a_ub),
            b_ub=np.concatenate(b_ub),
            bounds=[(0, _MOST)] * len(rows) + [(None, None)] * self.space.n,
        )
        if found.x is None:
            return []
        units = {r: int(x * ONE) for r, x in zip(rows, found.x, strict=False) if x * ONE >= 1}
        return self._within(units)

    def _within(self, units):
        """Whole units: the sum of a group is at most one, but now and then more."""
        total = {}
        for r in units:
            if (g := self.bounds._rows[r].group) is not None:
                units[r] = max(0, min(units[r], ONE - total.get(g, 0)))
                total[g] = total.get(g, 0) + units[r]
        out = [[r, k] for r, k in units.items() if k > 0]
        if out and self.rng.random() < 0.02:
            entry = self._pick(out)
            self._pick(
                [lambda: out.append(list(entry)), lambda: entry.__setitem__(1, 2 * entry[1])]
            )()
        return out

    # Steps

    def _leave_out(self):
        """Families for others of the same variable, which mostly have fewer parents."""
        space, chosen, stays = self.space, {}, set()
        for _ in range(20):
            f, g = self.rng.integers(len(space.families), size=2).tolist()
            fewer = not (space.contains[g] & ~space.contains[f]).any()
            right = (
                f != g and space.child[f] == space.child[g] and (fewer or self.rng.random() < 0.02)
            )
            if right and f not in stays and g not in chosen and f not in chosen:
                chosen[f] = g
                stays.add(g)
        named = [
            [[c, list(p)] for c, p in (space.families[f], space.families[g])]
            for f, g in chosen.items()
        ]
        if named:
            self._step({"dominated": named})

    def _fix(self):
        slack = 10.0 ** self.rng.integers(-7, 1)
        limit = self._pick([self.best - slack, self.best - slack, self.best, math.inf])
        number = self._node()
        self._step({"fix": number, "to": float(min(limit, 1e300)), "y": self._y(number)})

    def _known_bound(self):
        number = self._node()
        self._step({"known": number, "y": self._y(number)})

    def _branch(self):
        on, more = self._pick(["pair", "family", "sight", "class"]), {}
        if on == "pair":
            more["pair"] = sorted(self.rng.choice(self.space.n, 2, replace=False).tolist())
        elif on == "family":
            more["family"] = self._family()
        elif on == "sight":
            child, parents = self._family()
            view = self._pick([child, *parents])
            more = {"child": int(self.space.variable[child]), "view": view}
        elif not self.space.contains[self.space.child == 0].any():
            return
        n = self.replay.n_nodes
        self._step({"branch": self._node(probes=False), "on": on, **more, "into": [n, n + 1]})

    def _probe(self):
        parent = int(self.rng.integers(1, self.space.n)) if self.space.n > 1 else 0
        number, of = self.replay.n_nodes, self._node(probes=self.rng.random() < 0.02)
        self._step({"probe": number, "of": of, "parent": parent})
        self._step({"fix": number, "to": self.best - 1e-6, "y": self._y(number)})
        ending = self.rng.random()
        if ending < 0.5:
            self._step({"finish": number})
        elif ending < 0.8:
            self._close(number)

    def _close(self, number):
        """By the reason that proves the least, if there is one."""
        node = self.replay.nodes[number]
        y = self._y(number, costs=False)
        if self.bounds.bound(node, self._without_cuts(y), costs=False).upper < 0:
            self._step({"close": number, "by": "empty", "y": self._without_cuts(y)})
        elif all((node.allowed & (self.space.child == i)).sum() <= 1 for i in range(self.space.n)):
            self._step({"close": number, "by": "single"})
        elif math.isfinite(node.bound) and self.rng.random() < 0.3:
            self._step({"close": number, "by": "known"})
        else:
            self._step({"close": number, "by": "bound", "y": self._y(number)})

    def _without_cuts(self, y):
        found = {r: k for r, k in y if self.bounds._rows[r].group is None}
        return [[r, k] for r, k in found.items()]
