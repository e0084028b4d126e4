"""Forged certificates: changes of true ones, and proofs that are written from nothing."""

from copy import deepcopy

import numpy as np

from milpbn.check import MEMORY_LIMIT
from milpbn.check.bounds import ONE, Bounds
from milpbn.learning.certification import certified_problem


def of_kind(rng, lines, *kinds):
    """A random line of one of these kinds; None if there is none."""
    places = [k for k, line in enumerate(lines) if next(iter(line)) in kinds]
    return int(rng.choice(places)) if places else None


def multiplier(rng, lines):
    k = of_kind(rng, lines, "fix", "close", "known")
    y = lines[k].get("y")
    if y:
        entry = y[int(rng.integers(len(y)))]
        others = [0, 1, 2 * entry[1], 1000 * entry[1], entry[1] + 2**40, 2**100, -entry[1]]
        entry[1] = others[int(rng.integers(len(others)))]


def missing_multiplier(rng, lines):
    k = of_kind(rng, lines, "fix", "close", "known")
    if lines[k].get("y"):
        lines[k]["y"].pop(int(rng.integers(len(lines[k]["y"]))))


def missing_line(rng, lines):
    lines.pop(int(rng.integers(1, len(lines))))


def two_lines_swapped(rng, lines):
    i, j = rng.integers(1, len(lines), 2).tolist()
    lines[i], lines[j] = lines[j], lines[i]


def doubled_line(rng, lines):
    k = int(rng.integers(1, len(lines)))
    lines.insert(k, deepcopy(lines[k]))


def row(rng, lines):
    line = lines[of_kind(rng, lines, "row")]
    if line["kind"] == "cut":
        k = int(rng.integers(len(line["against"])))
        line["against"][k] = int(rng.integers(-1, 3))
    elif line["kind"] == "soft":
        k = int(rng.integers(len(line["margins"])))
        line["margins"][k] = int(rng.integers(-40_000, 40_000))
    elif line["kind"] == "cluster":
        if rng.random() < 0.5:
            line["k"] += 1
        else:
            line["members"].pop()
    elif line["kind"] == "pair":
        line["pair"] = [0, 1]
    else:
        line["kind"] = "cluster"


def branching(rng, lines):
    k = of_kind(rng, lines, "branch")
    if k is None:
        lines[0]["groups"] = lines[0]["groups"][:-1]
        return
    line = lines[k]
    change = rng.integers(4)
    if change == 0:
        line["into"].reverse()
    elif change == 1:
        line["on"] = "class"
    elif change == 2 and "pair" in line:
        line["pair"] = [0, 1]
    elif change == 2 and "view" in line:
        line["view"] = (line["view"] + 1) % 8
    elif "family" in line:
        line["family"][1] = []
    else:
        line["into"].pop()


def removal(rng, lines):
    k = of_kind(rng, lines, "fix")
    if k is not None:
        lines[k]["to"] += float(rng.choice([1.0, 1e6]))


def closing(rng, lines):
    line = lines[of_kind(rng, lines, "close")]
    line["by"] = str(rng.choice(["empty", "single", "bound", "known", "nothing"]))
    line.setdefault("y", [])


def replacement(rng, lines):
    k = of_kind(rng, lines, "dominated")
    if k is not None:
        pair = lines[k]["dominated"][int(rng.integers(len(lines[k]["dominated"])))]
        if rng.random() < 0.5:
            pair.reverse()
        else:
            lines[k]["dominated"].append([pair[1], pair[1]])


def claim(rng, lines):
    lines[-1]["bound"] -= float(rng.choice([1e-4, 1.0])) * max(1.0, abs(lines[-1]["bound"]))


def header(rng, lines):
    own = lines[0]["settings"]
    own["max_parents"] = 1 if own["max_parents"] > 1 else 2


def groups(rng, lines):
    found = lines[0]["groups"]
    if len(found) > 1:
        found.pop(int(rng.integers(len(found))))


CHANGES = (
    *(multiplier, missing_multiplier, missing_line, two_lines_swapped, doubled_line, row),
    *(branching, removal, closing, replacement, claim, header, groups),
)


def changed(rng, case):
    """A certificate with one to four changes."""
    lines = deepcopy(case.lines)
    for change in rng.choice(len(CHANGES), int(rng.integers(1, 5))):
        try:
            CHANGES[change](rng, lines)
        except (LookupError, TypeError, ValueError):
            continue  # an earlier change has left nothing to change
    if rng.random() < 0.3 and "bound" in lines[-1]:
        lines[-1]["bound"] = 1e9  # any bound may be claimed; the proven one counts
    return lines


def written(rng, case):
    """A proof from nothing that aims at a low bound."""
    return _Forger(rng, case).lines()


class _Forger:
    """Writes valid lines without regard to what they prove."""

    def __init__(self, rng, case):
        self.rng, self.header = rng, deepcopy(case.lines[0])
        problem = certified_problem(case.data, case.settings)
        codes, weights = case.data.train().astype(np.int64), case.data.train_weights()
        self.groups = self.header["groups"] = self._groups(case)
        self.bounds = Bounds(problem, self.groups, codes, weights, MEMORY_LIMIT)
        self.space, self.best = self.bounds.space, case.best
        self.rows, self.nodes, self.n_nodes, self.out = [], {0: False}, 1, []

    def _groups(self, case):
        """Those of the run, all rows together, or each alone."""
        own = case.lines[0]["groups"]
        return [own, own, [own[0], own[-1]] if own else own][int(self.rng.integers(3))]

    def lines(self):
        """The lines of a certificate in which every node is closed."""
        if self.rng.random() < 0.3:
            self._left_out()
        for _ in range(int(self.rng.integers(1, 8))):
            self._row()
        steps = (self._branch, self._fix, self._known, self._probe, self._fix)
        for _ in range(int(self.rng.integers(0, 12))):
            steps[int(self.rng.integers(len(steps)))]()
        for node in list(self.nodes):
            self._close(node)
        claim = float(self.rng.choice([self.best - 1.0, self.best, 1e9]))
        return [self.header, *self.out, {"end": True, "bound": claim, "objective": claim}]

    def _pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def _family(self):
        child, parents = self._pick(self.space.families)
        return [child, list(parents)]

    def _left_out(self):
        """Families for others of the same variable, mostly for ones with fewer parents."""
        pairs = [[self._family(), self._family()] for _ in range(30)]
        variable = self.space.variable
        pairs = [(f, g) for f, g in pairs if variable[f[0]] == variable[g[0]] and f != g]
        better = [(f, g) for f, g in pairs if set(g[1]) <= set(f[1]) or self.rng.random() < 0.05]
        gone = [f for f, _ in better]
        better = [(f, g) for f, g in better if g not in gone or self.rng.random() < 0.05]
        if better:
            self.out.append({"dominated": better})

    def _row(self):
        n, rng = self.space.n, self.rng
        kind = self._pick(["cut", "cut", "cut", "cluster", "cluster", "pair", "budget", "features"])
        row = {"row": len(self.rows), "kind": kind}
        if kind == "cut":
            if not len(self.bounds.score.codes):
                return
            g = int(rng.integers(len(self.bounds.group_weight)))
            labels = self.bounds.score.codes[self.bounds.first_row[g] :, 0]
            labels = labels[: self.bounds.first_row[g + 1] - self.bounds.first_row[g]]
            if self.bounds.score.soft:
                size = len(labels) * (self.bounds.score.n_classes - 1)
                spread = int(rng.choice([0, 3_000, 2**15 - 1]))
                margins = rng.integers(-spread, spread + 1, size).tolist()
                row |= {"kind": "soft", "group": g, "margins": margins}
                self.rows.append(row)
                self.out.append(row)
                return
            other = (labels + rng.integers(1, self.bounds.score.n_classes, len(labels))) % (
                self.bounds.score.n_classes
            )
            if self.bounds.score.binary:
                other = np.zeros_like(labels)
            beyond = rng.random(len(labels)) < rng.random()
            row |= {"group": g, "against": np.where(beyond, -1, other).tolist()}
        elif kind == "cluster":
            size = int(rng.integers(1, n + 1))
            members = sorted(rng.choice(n, size, replace=False).tolist())
            row |= {"members": members, "k": int(rng.integers(1, size + 1 + (rng.random() < 0.02)))}
        elif kind == "pair":
            row["pair"] = sorted(rng.choice(n, 2, replace=False).tolist())
        elif kind == "budget":
            limited = [k for k in ("arcs", "parameters") if self.space.limits[k] is not None]
            if not limited:
                return
            row["of"] = self._pick(limited)
        else:
            if self.space.limits["features"] is None:
                return
            row["witnesses"] = rng.integers(0, n, n - 1).tolist()
        self.rows.append(row)
        self.out.append(row)

    def _y(self):
        """Multipliers: the extremes, and sums of cuts that are just allowed, or just not."""
        some = [r for r in self.rows if self.rng.random() < 0.7]
        left, out = {}, []
        for row in some:
            most = 2 ** int(self.rng.integers(0, 101))
            if row["kind"] in ("cut", "soft"):
                rest = left.get(row["group"], ONE)
                most = rest + (self.rng.random() < 0.01)
                share = self.rng.choice([1.0, self.rng.random()])
                most = max(1, int(most * share))
                left[row["group"]] = rest - most
                if rest <= 0:
                    continue
            out.append([row["row"], most])
        if out and self.rng.random() < 0.02:
            out.append(self._pick(out))
        return out

    def _node(self, probes=False):
        return self._pick([k for k, probe in self.nodes.items() if probes or not probe])

    def _fix(self):
        limit = float(self.rng.choice([self.best - 1e-3, self.best, self.best + 1.0, 1e12, 1e300]))
        self.out.append({"fix": self._node(probes=True), "to": limit, "y": self._y()})

    def _known(self):
        self.out.append({"known": self._node(probes=True), "y": self._y()})

    def _branch(self):
        node = self._node()
        on = self._pick(["pair", "family", "sight", "class"])
        more = {}
        if on == "pair":
            more["pair"] = sorted(self.rng.choice(self.space.n, 2, replace=False).tolist())
        elif on == "family":
            more["family"] = self._family()
        elif on == "sight":
            child, parents = self._family()
            more = {"child": int(self.space.variable[child]), "view": self._pick([child, *parents])}
        into = [self.n_nodes, self.n_nodes + 1]
        self.out.append({"branch": node, "on": on, **more, "into": into})
        del self.nodes[node]
        self.nodes |= dict.fromkeys(into, False)
        self.n_nodes += 2

    def _probe(self):
        parent = int(self.rng.integers(1, self.space.n))
        self.out.append({"probe": self.n_nodes, "of": self._node(), "parent": parent})
        self.nodes[self.n_nodes] = True
        self.n_nodes += 1

    def _close(self, node):
        by = self._pick(["bound", "bound", "bound", "known", "empty", "single"])
        y = {"y": self._y()} if by in ("bound", "empty") else {}
        if self.nodes[node] and self.rng.random() < 0.5:
            self.out.append({"finish": node})
        else:
            self.out.append({"close": node, "by": by, **y})
