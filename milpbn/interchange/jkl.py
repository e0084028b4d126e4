"""Local scores in the format of Jaakkola et al., which GOBNILP and similar tools use.

    3                    number of variables
    class 2              a variable, and how many parent sets it has
    -12.5 0              a score (larger is better), the number of parents,
    -11.25 1 a           and their names
    a 1
    ...

Scores have milpbn's sign and scale: natural logarithms, to be maximised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from milpbn.errors import DataError, MilpbnError
from milpbn.families.candidates import FamilySpace
from milpbn.families.parent_sets import ParentSet, ParentSets
from milpbn.files import read_limited
from milpbn.interchange.names import JKL, escape, unescape
from milpbn.scores.base import LinearObjective, Objective
from milpbn.scores.local import LocalScores
from milpbn.scores.pruning import prune_dominated

# Larger counts than this many digits are not in a file that fits into memory.
_DIGITS = 12


def write_jkl(objective: Objective) -> str:
    """The families of a decomposable score, with the best of each variable first.

    The format knows parent sets only: each has the score of its best resolutions.
    """
    space, weights = objective.space, objective.costs
    names = [escape(name, JKL) for name in space.names]
    lines = [str(space.n_variables)]
    for i in range(space.n_variables):
        best: dict[ParentSet, int] = {}
        for f in sorted(space.of(i), key=lambda f: -weights[f]):
            best.setdefault(space.parent_sets[f], f)
        families = best.values()
        lines.append(f"{names[i]} {len(families)}")
        for f in families:
            parents = space.parent_sets[f]
            words = [repr(float(weights[f])), str(len(parents)), *(names[p] for p in parents)]
            lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def read_jkl(path: str | Path) -> LocalScores:
    """Read local scores; `maximise` finds the best structure for them.

    Parent sets with a subset that scores at least as high are left out: no optimum needs them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from milpbn.clock import Clock
    >>> from milpbn.learning.maximise import maximise
    >>> from milpbn.learning.settings import Settings
    >>> text = "2\\na 2\\n-3.5 0\\n-2.0 1 b\\nb 2\\n-3.0 0\\n-2.5 1 a\\n"
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.jkl")
    ...     _ = file.write_text(text)
    ...     scores = read_jkl(file)
    >>> result = maximise(scores.given, Settings(score=scores), Clock())
    >>> str(result.status), result.objective
    ('optimal', -5.0)
    >>> print(result.structure)
    a <- b
    b
    """
    path = Path(path)
    try:
        text = read_limited(path).decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not a file of local scores: it is not text") from None
    try:
        return LocalScores(prune_dominated(parse_jkl(text)), str(path))
    except MilpbnError as error:
        raise DataError(f"{path}: {error}") from None


@dataclass
class _Block:
    """One variable: its line, and each parent set with its line and score."""

    name: str
    line: int
    sets: dict[frozenset[str], tuple[int, float]] = field(default_factory=dict)


def parse_jkl(text: str) -> LinearObjective:
    """Parse the text of a file of local scores; errors name the line."""
    lines = [
        (number, line.split())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise DataError("the file is empty; its first line should be the number of variables")
    (line, first), rest = lines[0], iter(lines[1:])
    n = _whole(first[0], line, "the number of variables") if len(first) == 1 else 0
    if n < 1:
        raise DataError(f"line {line}: expected the number of variables, found {' '.join(first)!r}")
    blocks: dict[str, _Block] = {}
    for line, words in rest:
        if len(blocks) == n:
            raise DataError(f"line {line}: the file declares {n} variables, but more lines follow")
        if len(words) != 2:
            raise DataError(
                f"line {line}: expected a variable and its number of parent sets, "
                f"found {' '.join(words)!r}"
            )
        block = _Block(unescape(words[0]), line)
        if block.name in blocks:
            raise DataError(f"line {line}: the variable {block.name!r} occurs twice")
        blocks[block.name] = block
        for k in range(_whole(words[1], line, "the number of parent sets")):
            found = next(rest, None)
            if found is None:
                raise DataError(
                    f"the file ends in {block.name!r}, after {k} of its {words[1]} parent sets"
                )
            _add_set(block, *found)
        if not block.sets:
            raise DataError(
                f"line {line}: {block.name!r} has no parent set; write 'SCORE 0' for the empty one"
            )
    if len(blocks) < n:
        raise DataError(f"the file ends after {len(blocks)} of its {n} variables")
    return _objective(list(blocks.values()))


def _add_set(block: _Block, line: int, words: list[str]) -> None:
    try:
        score = float(words[0])
    except ValueError:
        score = math.nan
    if not math.isfinite(score) or len(words) < 2:
        raise DataError(
            f"line {line}: expected a score, the number of parents and their names, "
            f"found {' '.join(words)!r}"
        )
    size = _whole(words[1], line, "the number of parents")
    parents = frozenset(map(unescape, words[2:]))
    if not len(parents) == len(words) - 2 == size:
        raise DataError(
            f"line {line}: expected {size} different parents, found {' '.join(words[2:])!r}"
        )
    if parents in block.sets:
        raise DataError(f"line {line}: a second score for this parent set of {block.name!r}")
    block.sets[parents] = line, score


def _objective(blocks: list[_Block]) -> LinearObjective:
    index = {block.name: i for i, block in enumerate(blocks)}
    parent_sets: list[tuple[int, ...]] = []
    weights: list[float] = []
    offsets = [0]
    for block in blocks:
        families = []
        for parents, (line, score) in block.sets.items():
            for name in parents:
                if name not in index:
                    raise DataError(f"line {line}: there is no variable {name!r}")
                if name == block.name:
                    raise DataError(f"line {line}: {name!r} is a parent of itself")
            families.append((tuple(sorted(index[p] for p in parents)), score))
        families.sort(key=lambda family: (len(family[0]), family[0]))
        parent_sets += [s for s, _ in families]
        weights += [w for _, w in families]
        offsets.append(len(parent_sets))
    # The file does not contain numbers of states, and local scores do not need them.
    space = FamilySpace(
        tuple(index), (0,) * len(index), ParentSets.of(parent_sets), np.array(offsets)
    )
    space.feasible_families()
    return LinearObjective(space, np.array(weights))


def _whole(text: str, line: int, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < _DIGITS):
        raise DataError(f"line {line}: {what} should be a whole number, not {text!r}")
    return int(text)
