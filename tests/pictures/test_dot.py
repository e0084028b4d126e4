"""Graphviz text, read back by a small parser of its quoted strings."""

from __future__ import annotations

import re

from milpbn.pictures.dot import dot_text
from milpbn.structure import Structure

STRING = r'"((?:[^"\\]|\\.)*)"'


def unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def arcs_in(dot: str) -> set[tuple[str, str]]:
    found = re.findall(rf"^  {STRING} -> {STRING}", dot, flags=re.MULTILINE)
    return {(unquoted(u), unquoted(v)) for u, v in found}


def nodes_in(dot: str) -> list[str]:
    return [unquoted(v) for v in re.findall(rf"^  {STRING} \[", dot, flags=re.MULTILINE)]


def test_every_node_and_arc_is_written(structure: Structure) -> None:
    dot = dot_text(structure)
    assert arcs_in(dot) == set(structure.arcs)
    assert nodes_in(dot) == list(structure.variables)
    assert dot.startswith("digraph network {\n")
    assert dot.endswith("\n}")


def test_awkward_names_survive() -> None:
    names = ['say "hi"', "back\\slash", "trailing\\", "a -> b", "x;y [z]", "node", "1.5", "ü√"]
    structure = Structure.from_arcs(names, [(names[0], v) for v in names[1:]])
    dot = dot_text(structure, title='The "best"\\')
    assert nodes_in(dot) == names
    assert arcs_in(dot) == set(structure.arcs)
    assert re.search(rf"label={STRING}; labelloc=t;", dot)
