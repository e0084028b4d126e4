"""A network as Graphviz text: every arc, quoted names, and roles shown by colours."""

from __future__ import annotations

from milpbn.explanation.resolutions import SeenResolutions
from milpbn.pictures.roles import Role, roles
from milpbn.pictures.strength import ArcLook, Arcs, arc_looks
from milpbn.structure import Structure

CLASS_ARC = "#8DB9D9"
FEATURE_ARC = "#333333"


def dot_text(
    structure: Structure,
    title: str | None = None,
    n_class_variables: int = 1,
    margins: Arcs | None = None,
    seen: SeenResolutions | None = None,
) -> str:
    r"""The Graphviz source of the network; `margins` are shown by the width of arcs.

    Nodes and arcs are labelled with the resolutions that are `seen`.

    Examples
    --------
    >>> print(dot_text(Structure.from_arcs(["class", 'say "hi"'], [("class", 'say "hi"')])))
    digraph network {
      node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=10];
      edge [color="#333333", arrowsize=0.7];
      "class" [fillcolor="#0072B2", color="#004C77", fontcolor="#FFFFFF", peripheries=2];
      "say \"hi\"" [fillcolor="#D5E8F4", color="#0072B2", fontcolor="#1A1A1A"];
      "class" -> "say \"hi\"" [color="#8DB9D9"];
    }
    """
    lines = ["digraph network {"]
    if title is not None:
        lines.append(f"  label={dot_quoted(title)}; labelloc=t;")
    lines.append('  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=10];')
    lines.append(f'  edge [color="{FEATURE_ARC}", arrowsize=0.7];')
    names = [dot_quoted(name) for name in structure.variables]
    for v, role in enumerate(roles(structure, n_class_variables)):
        name, look = names[v], role.value
        own = seen.own(structure, v) if seen else ""
        style = f", label={dot_quoted(structure.variables[v], own)}" if own else ""
        style += ', style="rounded,filled,dashed"' if look.dashed else ""
        if role is Role.CLASS:
            style += ", peripheries=2"
        lines.append(
            f'  {name} [fillcolor="{look.fill}", color="{look.edge}", '
            f'fontcolor="{look.text}"{style}];'
        )
    looks = arc_looks(margins or {})
    for child, parents in enumerate(structure.parents):
        for parent in parents:
            arc = structure.variables[parent], structure.variables[child]
            usual = CLASS_ARC if parent == 0 and n_class_variables == 1 else None
            label = seen.of_arc(structure, parent, child) if seen else ""
            style = _arc_style(looks.get(arc), usual, label)
            lines.append(f"  {names[parent]} -> {names[child]}{style};")
    return "\n".join([*lines, "}"])


def _arc_style(look: ArcLook | None, color: str | None, label: str) -> str:
    entries = [f'label={dot_quoted(label)}, fontname="Helvetica", fontsize=8'] if label else []
    if look is not None:
        color = look.color or color
        entries.append(f"penwidth={look.width:.2f}")
        entries += ["style=dashed"] if look.color else []
    if color is not None:
        entries.insert(0, f'color="{color}"')
    return f" [{', '.join(entries)}]" if entries else ""


def dot_quoted(*lines: str) -> str:
    r"""Quote a name, or the lines of a label, as a Graphviz string.

    A backslash is doubled: alone it would escape the closing quote or, in a label,
    stand for the node's name (``\N``) or a line break (``\n``).

    Examples
    --------
    >>> print(dot_quoted('C:\\new "x"'))
    "C:\\new \"x\""
    """
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + r"\n".join(escaped) + '"'
