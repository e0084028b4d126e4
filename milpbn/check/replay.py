"""The replay of a certificate, line by line."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from milpbn.check.bounds import Bounds, Part
from milpbn.check.space import Floats, Mask, need
from milpbn.errors import CertificateError

# Bytes of a line.
_LONGEST = 2**28

# What lines with wrong or missing entries may raise.
_DAMAGE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Proven:
    """What a certificate proves: no structure scores more than `bound`.

    `claim` and `objective` are the bound and the score that the run stated; `nodes` and `rows` are
    the numbers of nodes and rows of the certificate.
    """

    bound: float
    claim: float
    objective: float
    nodes: int
    rows: int


def check_certificate(
    lines: Iterable[bytes],
    problem: Mapping[str, Any],
    codes: npt.NDArray[np.integer],
    weights: Floats | None = None,
) -> Proven:
    """Replay a certificate; raise :class:`CertificateError` at the first line that is wrong.

    Parameters
    ----------
    lines
        The lines of the certificate, see :func:`read_lines`.
    problem
        What the header must say: `variables`, `settings`, `tolerance` and, if wanted, more.
    codes, weights
        The training rows as codes of states, the class first; without weights each counts as one.
    """
    number, replay = 0, None
    try:
        for text in lines:
            number += 1
            line = json.loads(text, parse_constant=_no_number)
            if replay is None:
                _check_header(line, problem)
                replay = Replay(Bounds(line, np.asarray(codes, dtype=np.int64), weights))
            else:
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
    """The lines of a compressed certificate."""
    with gzip.open(path) as file:
        while line := file.readline(_LONGEST):
            yield line


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def _check_header(header: Mapping[str, Any], problem: Mapping[str, Any]) -> None:
    need(header["format"] == "milpbn-certificate", "this is not a certificate")
    need(header["version"] == 1, "the version of the format is not 1")
    for name, value in problem.items():
        told = header[name]
        if isinstance(value, dict) and isinstance(told, dict) and told.keys() == value.keys():
            for key in value:
                need(told[key] == value[key], f"{name}.{key} is {told[key]!r}, not {value[key]!r}")
        need(told == value, f"{name} is {told!r}, not {value!r}")


class Replay:
    """The open nodes of a certificate, and the bound on everything that was discarded."""

    def __init__(self, problem: Bounds):
        self.problem, self.space = problem, problem.space
        self.nodes = {0: Part(np.ones(len(self.space.families), dtype=bool))}
        self.n_nodes, self.begun = 1, False
        self.highest, self.lost = -math.inf, 0.0
        self.result: Proven | None = None

    def step(self, line: Mapping[str, Any]) -> None:
        """Replay one line."""
        need(self.result is None, "there is more after the end")
        kinds = ("dominated", "row", "known", "fix", "branch", "close", "probe", "finish", "end")
        kind = [k for k in kinds if k in line]
        need(len(kind) == 1, "this is not a step of a proof")
        getattr(self, f"_{kind[0]}")(line)
        self.begun = True

    def _raise(self, bound: float) -> None:
        need(not math.isnan(bound), "a bound is not a number")
        self.highest = max(self.highest, bound)

    def _dominated(self, line: Mapping[str, Any]) -> None:
        """Families that are left out, each with one that scores as well in every structure.

        It has the same parents or a subset of them, and no more parameters, if these are limited.
        """
        need(not self.begun, "families are left out after the proof has begun")
        root, loss = self.nodes[0], np.zeros(self.space.n)
        space, size = self.space, self.space.use["parameters"]
        pairs = [(self._family(f), self._family(g)) for f, g in line["dominated"]]
        root.allowed[[f for f, _ in pairs]] = False
        for f, g in pairs:
            fits = space.limits["parameters"] is None or size[g] <= size[f]
            fits &= space.child[f] == space.child[g] and bool(root.allowed[g])
            fits &= not (space.contains[g] & ~space.contains[f]).any()
            need(bool(fits), "a family cannot replace another")
            loss[space.child[f]] = max(loss[space.child[f]], self.problem.gain(f, g))
        self.lost = float(loss.sum())

    def _family(self, named: Sequence[Any]) -> int:
        """The number of a family from its views."""
        child, parents = named
        return self.space.index[child, tuple(parents)]

    def _row(self, line: Mapping[str, Any]) -> None:
        self.problem.define(line["row"], line)

    def _known(self, line: Mapping[str, Any]) -> None:
        """L(y) bounds a node, and from now on all that becomes of it."""
        node = self.nodes[line["known"]]
        node.bound = min(node.bound, self.problem.bound(node, line["y"], 1.0).upper)

    def _fix(self, line: Mapping[str, Any]) -> None:
        """Remove the families whose choice lowers L(y) to a limit."""
        node, limit = self.nodes[line["fix"]], float(line["to"])
        bound = self.problem.bound(node, line["y"], 1.0)
        if bound.value == -math.inf:
            return
        forced = bound.upper - (bound.best[self.space.child] - bound.reduced)
        removed = node.allowed & (forced <= limit)
        if removed.any():
            self._raise(float(forced[removed].max()))
            node.allowed = node.allowed & ~removed

    def _branch(self, line: Mapping[str, Any]) -> None:
        """Replace a node by two that cover it: with something, and without it."""
        node = self.nodes.pop(line["branch"])
        need(node.of is None, "a probe cannot branch")
        with_it, without = line["into"]
        if line["on"] == "pair":
            i, j = line["pair"]
            chosen = self.problem.joining((i, j))
            self._open(with_it, replace(node, pairs=node.pairs | {(i, j)}))
        else:
            chosen = self._choice(line)
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
            chosen[self._family(line["family"])] = True
        return chosen

    def _open(self, number: int, node: Part) -> None:
        need(number == self.n_nodes, f"the next node is {self.n_nodes}, not {number}")
        self.nodes[number], self.n_nodes = node, self.n_nodes + 1

    def _close(self, line: Mapping[str, Any]) -> None:
        """Discard a node; its bound holds for all of its structures."""
        node = self.nodes.pop(line["close"])
        if line["by"] == "bound":
            self._raise(min(node.bound, self.problem.bound(node, line["y"], 1.0).upper))
        elif line["by"] == "known":
            self._raise(node.bound)
        elif line["by"] == "empty":
            empty = self.problem.bound(node, line["y"], 0.0).upper < 0
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
                self._raise(self.problem.value(chosen))

    def _probe(self, line: Mapping[str, Any]) -> None:
        """Begin with the part of a node in which the class has a parent."""
        of, parent = self.nodes[line["of"]], line["parent"]
        need(of.of is None and 0 < parent < self.space.n, "this is not a part of a node")
        is_class = self.space.child == 0
        families = is_class & self.space.contains[:, parent]
        part = of.allowed & (families | ~is_class)
        self._open(line["probe"], Part(part, of.pairs, of.bound, of, families))

    def _finish(self, line: Mapping[str, Any]) -> None:
        """Remove the families of the class that a probe has removed from its node."""
        probe = self.nodes.pop(line["finish"])
        if probe.of is None or probe.families is None:
            raise CertificateError("only probes finish")
        probe.of.allowed = probe.of.allowed & ~(probe.families & ~probe.allowed)

    def _end(self, line: Mapping[str, Any]) -> None:
        """Compare what was proven with what was claimed."""
        left = [k for k, node in self.nodes.items() if node.of is None]
        need(not left, f"node {left[0] if left else ''} is still open")
        bound, claim = float(self.highest + self.lost), float(line["bound"])
        slack = self.problem.tolerance * max(1.0, abs(claim))
        shown = f"{bound:.9g} is proven, which is more than the bound {claim:.9g}"
        need(bound <= claim + slack, shown)
        objective = float(line["objective"])
        self.result = Proven(bound, claim, objective, self.n_nodes, self.problem.n_rows)
