"""BIF, the interchange format of the network repositories.

Implemented here because the libraries that know the format are toolkits as large as milpbn,
reorder variables, and differ in the names they can read. All of them can read what is written
here: bare words (see :mod:`milpbn.interchange.names`), one row of numbers for each configuration
of the parents, 17 digits.

References
----------
Cozman (1998), The interchange format for Bayesian networks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from milpbn._types import FloatArray
from milpbn.encoding.columns import Variable
from milpbn.errors import ModelFileError
from milpbn.interchange.document import Document, probabilities
from milpbn.interchange.names import WORD, WORD_OR_NUMBER, escape, state_of, state_word, unescape
from milpbn.network.network import Network

_KEYWORDS = frozenset(
    ("network", "variable", "probability", "property", "type", "discrete", "table", "default")
)
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<open>/\*)|"(?P<text>[^"]*)\""""
    r"""|(?P<mark>[{}()\[\],;|])|(?P<word>[^\s{}()\[\],;|"]+)|(?P<bad>.)""",
    re.DOTALL,
)


def write_bif(network: Network, name: str = "milpbn") -> str:
    """The network as BIF."""
    variables = network.variables
    names = [_word(v.name) for v in variables]
    states = [[state_word(s, WORD_OR_NUMBER, _KEYWORDS) for s in v.states] for v in variables]
    lines = [f"network {_word(name)} {{", "}"]
    for i, own in enumerate(states):
        lines += [
            f"variable {names[i]} {{",
            f"  type discrete [ {len(own)} ] {{ {', '.join(own)} }};",
            "}",
        ]
    for i, parents in enumerate(network.structure.parents):
        given = f" | {', '.join(names[p] for p in parents)}" if parents else ""
        lines.append(f"probability ( {names[i]}{given} ) {{")
        rows = probabilities(network, i).reshape(-1, variables[i].card)
        for configuration, row in zip(product(*(states[p] for p in parents)), rows, strict=True):
            head = f"( {', '.join(configuration)} )" if parents else "table"
            lines.append(f"  {head} {', '.join(map(repr, row.tolist()))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def is_bif(text: str) -> bool:
    """Whether a text begins like BIF: with a block of a network or a variable."""
    tokens = _tokens(text)
    try:
        first = next(tokens)
        if first.kind != "word" or first.text not in ("network", "variable"):
            return False
        after = next(t for t in tokens if t.kind != "word" or t.line > first.line)
    except ModelFileError:
        return False
    return after.text == "{"


def parse_bif(text: str) -> Document:
    """Parse the text of a BIF file; errors name the line."""
    reader = _Reader(text)
    while reader.token.kind != "end":
        reader.block()
    return Document(tuple(reader.variables.values()), reader.parents, reader.tables)


def _word(name: str) -> str:
    return escape(name, WORD, _KEYWORDS)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "open":
            raise ModelFileError(f"line {line}: the comment is not closed")
        if kind == "bad":
            raise ModelFileError(f"line {line}: unmatched quotation mark")
        if kind != "skip":
            yield _Token("word" if kind == "text" else kind, match[kind], line)
        line += match[0].count("\n")
    yield _Token("end", "the end of the file", line)


class _Reader:
    """A recursive-descent reader of the three kinds of blocks."""

    def __init__(self, text: str) -> None:
        self.stream = _tokens(text)
        self.token = next(self.stream)
        self.variables: dict[str, Variable] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, FloatArray] = {}

    def fail(self, expected: str) -> ModelFileError:
        return ModelFileError(
            f"line {self.token.line}: expected {expected}, found {self.token.text!r}"
        )

    def take(self, mark: str) -> None:
        if self.token.text != mark:
            raise self.fail(repr(mark))
        self.token = next(self.stream)

    def word(self, what: str) -> str:
        if self.token.kind != "word":
            raise self.fail(what)
        text = self.token.text
        self.token = next(self.stream)
        return text

    def words_until(self, *ends: str) -> list[str]:
        """Words up to a mark; in files of some tools, a name can have several words."""
        out = []
        while self.token.text not in ends:
            out.append(self.word(f"a name or {' or '.join(map(repr, ends))}"))
        return out

    def states_until(self, end: str) -> tuple[list[str], list[str]]:
        """States up to a mark, once separated by commas and once separated by blanks."""
        return self.names_until(end, state_of)

    def names_until(
        self, end: str, read: Callable[[str], str] = unescape
    ) -> tuple[list[str], list[str]]:
        """Names up to a mark, once separated by commas and once separated by blanks."""
        groups = [self.words_until(",", end)]
        while self.token.text == ",":
            self.take(",")
            groups.append(self.words_until(",", end))
        by_comma = [read(" ".join(group)) for group in groups if group]
        return by_comma, [read(word) for group in groups for word in group]

    def block(self) -> None:
        kind = self.word("network, variable or probability")
        if kind == "variable":
            self.variable()
        elif kind == "probability":
            self.probability()
        elif kind == "network":
            self.words_until("{")
            self.take("{")
            while self.token.text != "}":
                self.skip_statement()
            self.take("}")
        else:
            raise ModelFileError(
                f"line {self.token.line}: expected network, variable or probability, found {kind!r}"
            )

    def skip_statement(self) -> None:
        while self.token.text != ";":
            if self.token.kind == "end":
                raise self.fail("';'")
            self.token = next(self.stream)
        self.take(";")

    def variable(self) -> None:
        name = unescape(" ".join(self.words_until("{")))
        if name in self.variables:
            raise ModelFileError(f"line {self.token.line}: {name!r} is declared twice")
        states: list[str] | None = None
        self.take("{")
        while self.token.text != "}":
            if self.token.text != "type":
                self.skip_statement()
                continue
            self.take("type")
            if self.word("discrete") != "discrete":
                raise ModelFileError(f"line {self.token.line}: {name!r} is not discrete")
            self.take("[")
            count, line = self.word("a number"), self.token.line
            self.take("]")
            self.take("{")
            by_comma, by_blank = self.states_until("}")
            states = by_comma if str(len(by_comma)) == count else by_blank
            if str(len(states)) != count:
                raise ModelFileError(
                    f"line {line}: {name!r} should have {count} states, but {len(by_comma)} are "
                    "listed"
                )
            self.take("}")
            self.take(";")
        self.take("}")
        if not states:
            raise ModelFileError(f"line {self.token.line}: {name!r} has no states")
        self.variables[name] = Variable(name, tuple(states))

    def probability(self) -> None:
        self.take("(")
        names = [unescape(" ".join(self.words_until("|", ",", ")")))]
        if self.token.text in ("|", ","):
            self.take(self.token.text)
            names += self.names_until(")")[0]
        known = self.variables
        if names[0] not in known and " " in names[0]:
            names = names[0].split()  # an older form: the child, then its parents
        for name in names:
            if name not in known:
                raise ModelFileError(
                    f"line {self.token.line}: {name!r} has not been declared as a variable"
                )
        child, line = names[0], self.token.line
        if child in self.parents:
            raise ModelFileError(f"line {line}: a second table for {child!r}")
        self.take(")")
        self.parents[child] = tuple(names[1:])
        self.table([known[n] for n in names[1:]], known[child])

    def table(self, parents: list[Variable], child: Variable) -> None:
        shape = tuple(v.card for v in (*parents, child))
        table = np.full(shape, np.nan)
        seen = False
        self.take("{")
        while self.token.text != "}":
            line, mark = self.token.line, self.token.text
            if mark == "(":
                self.take("(")
                states, _ = self.states_until(")")
                self.take(")")
                table[self.place(states, parents, line)] = self.numbers(child.card)
            elif mark == "default":
                self.take("default")
                empty = np.isnan(table).all(axis=-1)
                table[empty] = self.numbers(child.card)
            elif mark == "table":
                self.take("table")
                # The child comes first here, and the last parent changes fastest.
                values = self.numbers(prod(shape)).reshape(shape[-1], *shape[:-1])
                table = np.moveaxis(values, 0, -1)
            else:
                self.skip_statement()
                continue
            seen = True
        self.take("}")
        if seen:
            self.tables[child.name] = table

    def place(self, states: list[str], parents: list[Variable], line: int) -> tuple[int, ...]:
        if len(states) != len(parents):
            raise ModelFileError(
                f"line {line}: a row needs one state for each of {len(parents)} parents, "
                f"not {len(states)}"
            )
        for state, parent in zip(states, parents, strict=True):
            if state not in parent.states:
                raise ModelFileError(f"line {line}: {parent.name!r} has no state {state!r}")
        return tuple(p.states.index(s) for s, p in zip(states, parents, strict=True))

    def numbers(self, count: int) -> FloatArray:
        line = self.token.line
        words = []
        while self.token.text != ";":
            if self.token.text == ",":
                self.take(",")
            else:
                words.append(self.word("a number or ';'"))
        self.take(";")
        try:
            values = np.array([float(w) for w in words])
        except ValueError as error:
            raise ModelFileError(f"line {line}: {error}") from None
        if len(values) != count:
            raise ModelFileError(f"line {line}: expected {count} numbers, found {len(values)}")
        return values
