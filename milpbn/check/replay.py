"""The replay of a certificate, line by line."""

from __future__ import annotations

import gzip
import json
import math
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.check.bounds import MULTIPLIERS, Bounds, Part
from milpbn.check.schema import COUNT, need, same, short, typed
from milpbn.check.space import Floats, Ints, Mask
from milpbn.errors import CertificateError

VERSION = 2
MEMORY_LIMIT = 4 * 2**30

# Bytes of a line, besides those for the problem and for one number of each row and class. Lists and
# objects in a line: a short text may describe many, and each takes a hundred bytes. No more of a
# line is read at once.
_LINE, _PER_NUMBER, _NESTED, _READ = 2**20, 8, 2**17, 2**26
# The text of a file may be this long, or this many times as long as the file.
_TEXT, _UNPACKED = 2**28, 200

# What lines with wrong or missing entries may raise.
_DAMAGE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)

_PAIR = (COUNT, COUNT)
_FAMILY = (COUNT, [COUNT])
_BRANCH = {"branch": COUNT, "on": str, "into": _PAIR}
_CLOSE = {"close": COUNT, "by": str}

# The shapes of the steps: by their first entry, and if there are several, by another entry.
_STEPS: Mapping[str, Any] = {
    "dominated": {"dominated": [(_FAMILY, _FAMILY)]},
    "known": {"known": COUNT, "y": MULTIPLIERS},
    "fix": {"fix": COUNT, "to": float, "y": MULTIPLIERS},
    "probe": {"probe": COUNT, "of": COUNT, "parent": COUNT},
    "finish": {"finish": COUNT},
    "end": {"end": bool, "bound": float, "objective": float},
}
_KINDS: Mapping[str, Any] = {
    "branch": (
        "on",
        {
            "pair": {**_BRANCH, "pair": _PAIR},
            "family": {**_BRANCH, "family": _FAMILY},
            "sight": {**_BRANCH, "child": COUNT, "view": COUNT},
            "class": _BRANCH,
        },
    ),
    "close": (
        "by",
        {
            "bound": {**_CLOSE, "y": MULTIPLIERS},
            "empty": {**_CLOSE, "y": MULTIPLIERS},
            "known": _CLOSE,
            "single": _CLOSE,
        },
    ),
}
_HEADER = (
    "format",
    "version",
    "milpbn",
    "data",
    "variables",
    "settings",
    "tolerance",
    "scale",
    "groups",
)


@dataclass(frozen=True)
class Proven:
    """What a certificate proves: no structure scores more than `bound`.

    Attributes
    ----------
    bound
        The bound that was proven.
    claim, objective
        The bound and the score that the run stated; nothing rests on them.
    nodes, rows
        The numbers of nodes and rows of the certificate.
    score
        The score of the structure that was given, as the checker computes it.
    optimal
        Whether the bound shows that no structure scores more than this one, at the tolerance of
        the problem.
    """

    bound: float
    claim: float
    objective: float
    nodes: int
    rows: int
    score: float | None = None
    optimal: bool = False


def check_certificate(
    lines: Iterable[bytes],
    problem: Mapping[str, Any],
    codes: npt.NDArray[np.integer],
    weights: Floats | None = None,
    *,
    structure: Sequence[Any] | None = None,
    memory_limit: int = MEMORY_LIMIT,
    time_limit: float | None = None,
) -> Proven:
    """Replay a certificate; raise :class:`CertificateError` at the first line that is wrong.

    Parameters
    ----------
    lines
        The lines of the certificate, see :func:`read_lines`.
    problem
        What the header must say: `variables`, `settings`, `tolerance` and, if wanted, more. The
        checker uses these values, not those of the header.
    codes, weights
        The training rows as codes of states, the class first; without weights each counts as one.
    structure
        The family of each variable, as certificates write it. It must be in the search space, and
        cannot score more than the bound.
    memory_limit
        Bytes for the tables, and eight times the bytes for the rows and open nodes of the proof.
    time_limit
        Seconds after which the replay is given up.
    """
    number, replay = 0, None
    rows: Ints = np.asarray(codes, dtype=np.int64)
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    try:
        longest = _longest(problem, len(rows))
        with np.errstate(all="raise"):
            for text in lines:
                number += 1
                need(len(text) <= longest, f"the line has more than {longest:,} bytes")
                nested = text.count(b"[") + text.count(b"{")
                need(nested <= _NESTED, f"the line has more than {_NESTED:,} lists")
                line = typed(json.loads(text), dict, "the line")
                if replay is None:
                    groups = _groups(line, problem)
                    bounds = Bounds(problem, groups, rows, weights, memory_limit, end)
                    replay = Replay(bounds, structure)
                else:
                    bounds.hurry()
                    replay.step(line)
        if replay is None or replay.result is None:
            raise CertificateError("the end is missing")
        return replay.result
    except CertificateError as error:
        raise CertificateError(f"line {number}: {error}") from None
    except _DAMAGE as error:
        raise CertificateError(f"line {number}: {type(error).__name__}: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise CertificateError(f"after line {number}: {error}") from None


def read_lines(path: Any) -> Iterator[bytes]:
    """The lines of a compressed certificate; what unpacks to too much is refused."""
    most = max(_TEXT, _UNPACKED * os.path.getsize(path))
    with gzip.open(path) as file:
        while line := file.readline(_READ + 1):
            most -= len(line)
            need(most >= 0, f"it unpacks to more than {_UNPACKED} times its size")
            yield line


def _longest(problem: Mapping[str, Any], n_rows: int) -> int:
    """The largest length of a line: a header repeats the problem, a cut has numbers of rows."""
    numbers = n_rows * max(int(card) for _, card, *_ in problem["variables"])
    return min(_LINE + len(json.dumps(problem)) + _PER_NUMBER * numbers, _READ)


def _groups(header: Mapping[str, Any], problem: Mapping[str, Any]) -> list[int]:
    """The groups of a header that is about the problem: nothing else of it is used."""
    need(same(header.get("format"), "milpbn-certificate"), "this is not a certificate")
    version = header.get("version")
    need(same(version, VERSION), f"the version of the format is {short(version)}, not {VERSION}")
    need(header.keys() == set(_HEADER), "the header has other entries")
    for name, value in problem.items():
        told = header[name]
        if isinstance(value, dict) and isinstance(told, dict) and told.keys() == value.keys():
            for key in value:
                equal = same(told[key], value[key])
                need(equal, f"{name}.{key} is {short(told[key])}, not {short(value[key])}")
        need(same(told, value), f"{name} is {short(told)}, not {short(value)}")
    return list(typed(header["groups"], [COUNT], "groups"))


class Replay:
    """The open nodes of a certificate, and the bound on everything that was discarded."""

    def __init__(self, problem: Bounds, structure: Sequence[Any] | None):
        self.problem, self.space = problem, problem.space
        self.structure = None if structure is None else problem.chosen(structure)
        self.nodes: dict[int, Part] = {}
        self.n_nodes = 0
        self._open(0, Part(np.ones(len(self.space.families), dtype=bool)))
        # Families that replace others must stay; each variable loses at most so much by that.
        self.stays = np.zeros(len(self.space.families), dtype=bool)
        self.loss = np.zeros(self.space.n)
        self.begun = False
        self.highest = -math.inf
        self.result: Proven | None = None

    def step(self, line: Mapping[str, Any]) -> None:
        """Replay one line."""
        need(self.result is None, "there is more after the end")
        kind = next(iter(line), "")
        if kind == "row":
            self.problem.define(line)
        elif kind in _STEPS or kind in _KINDS:
            shape = _STEPS.get(kind)
            if shape is None:
                by, shapes = _KINDS[kind]
                shape = shapes[typed(line.get(by), frozenset(shapes), by)]
            getattr(self, f"_{kind}")(typed(line, shape, f"the step {kind}"))
        else:
            raise CertificateError("this is not a step of a proof")
        self.begun |= kind != "dominated"

    def _raise(self, bound: float) -> None:
        need(bound < math.inf, "a node is discarded without a bound")
        self.highest = max(self.highest, bound)

    def _node(self, number: int) -> Part:
        need(number in self.nodes, f"node {number} is not open")
        return self.nodes[number]

    def _take(self, number: int) -> Part:
        """A node that is no longer open."""
        node = self._node(number)
        del self.nodes[number]
        self.problem.memory.take(-node.size)
        return node

    def _open(self, number: int, node: Part) -> None:
        need(number == self.n_nodes, f"the next node is {self.n_nodes}, not {number}")
        self.problem.memory.take(node.size)
        self.nodes[number], self.n_nodes = node, self.n_nodes + 1

    def _dominated(self, line: Mapping[str, Any]) -> None:
        """Families that are left out, each with one that scores as well in every structure.

        It has the same parents or a subset of them, and no more parameters, if these are limited.
        """
        need(not self.begun, "families are left out after the proof has begun")
        root, space, size = self.nodes[0], self.space, self.space.use["parameters"]
        pairs = [(space.family(list(f)), space.family(list(g))) for f, g in line["dominated"]]
        gone = [f for f, _ in pairs]
        twice = len(set(gone)) < len(gone) or not root.allowed[gone].all()
        need(not twice, "a family is left out twice")
        root.allowed[gone] = False
        self.stays[[g for _, g in pairs]] = True
        need(not (self.stays & ~root.allowed).any(), "a family that replaces another is left out")
        for f, g in pairs:
            fits = space.limits["parameters"] is None or size[g] <= size[f]
            fits &= space.child[f] == space.child[g]
            fits &= not (space.contains[g] & ~space.contains[f]).any()
            need(bool(fits), "a family cannot replace another")
            i = space.child[f]
            self.loss[i] = max(self.loss[i], self.problem.gain(f, g))

    def _known(self, line: Mapping[str, Any]) -> None:
        """L(y) bounds a node, and from now on all that becomes of it."""
        node = self._node(line["known"])
        node.bound = min(node.bound, self.problem.bound(node, line["y"]).upper)

    def _fix(self, line: Mapping[str, Any]) -> None:
        """Remove the families whose choice lowers L(y) to a limit."""
        node = self._node(line["fix"])
        bound = self.problem.bound(node, line["y"])
        if bound.upper == -math.inf:
            return
        forced = bound.upper - (bound.best[self.space.child] - bound.reduced)
        removed = node.allowed & (forced <= line["to"])
        if removed.any():
            self._raise(float(forced[removed].max()))
            node.allowed = node.allowed & ~removed

    def _branch(self, line: Mapping[str, Any]) -> None:
        """Replace a node by two that cover it: with something, and without it."""
        node = self._take(line["branch"])
        need(node.of is None, "a probe cannot branch")
        with_it, without = line["into"]
        if line["on"] == "pair":
            chosen = self.space.joining(line["pair"])
            self._open(with_it, replace(node, pairs=node.pairs | {line["pair"]}))
        else:
            chosen = self._choice(line)
            need(bool(chosen.any()), "a branching is about no family")
            own = self.space.child == self.space.child[np.flatnonzero(chosen)[0]]
            self._open(with_it, replace(node, allowed=node.allowed & (chosen | ~own)))
        self._open(without, replace(node, allowed=node.allowed & ~chosen))

    def _choice(self, line: Mapping[str, Any]) -> Mask:
        """The families of a variable that a branching is about."""
        chosen: Mask = (self.space.child == 0) & self.space.contains.any(axis=1)
        if line["on"] == "class":
            return chosen
        chosen[:] = False
        if line["on"] == "sight":
            for f in np.flatnonzero(self.space.child == line["child"]):
                child, parents = self.space.families[f]
                chosen[f] = line["view"] in (child, *parents)
        else:
            chosen[self.space.family(list(line["family"]))] = True
        return chosen

    def _close(self, line: Mapping[str, Any]) -> None:
        """Discard a node; its bound holds for all of its structures."""
        node = self._take(line["close"])
        if line["by"] == "bound":
            self._raise(min(node.bound, self.problem.bound(node, line["y"]).upper))
        elif line["by"] == "known":
            self._raise(node.bound)
        elif line["by"] == "empty":
            empty = self.problem.bound(node, line["y"], costs=False).upper < 0
            need(empty, "the multipliers do not show that the node is empty")
        else:
            self._single(node)
        if node.of is not None and node.families is not None:
            node.of.allowed = node.of.allowed & ~node.families

    def _single(self, node: Part) -> None:
        """Discard a node with at most one choice of families."""
        left = [np.flatnonzero(node.allowed & (self.space.child == i)) for i in range(self.space.n)]
        need(all(len(own) <= 1 for own in left), "more than one choice is left")
        if all(len(own) for own in left):
            chosen = [int(own[0]) for own in left]
            if self.space.is_structure(chosen, node.pairs):
                self._raise(self.problem.value(chosen)[1])

    def _probe(self, line: Mapping[str, Any]) -> None:
        """Begin with the part of a node in which the class has a parent."""
        of, parent = self._node(line["of"]), line["parent"]
        need(of.of is None and 0 < parent < self.space.n, "this is not a part of a node")
        is_class = self.space.child == 0
        families = is_class & self.space.contains[:, parent]
        part = of.allowed & (families | ~is_class)
        self._open(line["probe"], Part(part, of.pairs, of.bound, of, families))

    def _finish(self, line: Mapping[str, Any]) -> None:
        """Remove the families of the class that a probe has removed from its node."""
        probe = self._take(line["finish"])
        if probe.of is None or probe.families is None:
            raise CertificateError("only probes finish")
        probe.of.allowed = probe.of.allowed & ~(probe.families & ~probe.allowed)

    def _end(self, line: Mapping[str, Any]) -> None:
        """Compare what was proven with what was claimed, and with the score of the structure."""
        left = [k for k, node in self.nodes.items() if node.of is None]
        need(not left, f"node {left[0] if left else ''} is still open")
        need(line["end"] and self.highest > -math.inf, "this proves that there is no structure")
        bound, claim = float(self.highest + self.loss.sum()), line["bound"]
        shown = f"{bound:.9g} is proven, which is more than the bound {claim:.9g}"
        need(bound <= claim + self._slack(claim), shown)
        score, optimal = None, False
        if self.structure is not None:
            least, most = self.problem.value(self.structure)
            score = (least + most) / 2
            shown = f"a bound of {bound:.9g} cannot hold: the structure scores {score:.9g}"
            need(bound >= least, shown)
            # The bound exceeds that of the run by rounding, which is counted in most - least, and
            # which must be small.
            slack = self._slack(score)
            optimal = bound - most <= slack and most - least <= slack
        self.result = Proven(
            bound, claim, line["objective"], self.n_nodes, self.problem.n_rows, score, optimal
        )

    def _slack(self, value: float) -> float:
        return self.problem.tolerance * max(self.problem.scale, abs(value))
