"""How a picture shows the resolutions that families use."""

from __future__ import annotations

from milpbn.explanation.resolutions import SeenResolutions
from milpbn.pictures.labels import labels
from milpbn.structure import Structure


def node_labels(structure: Structure, seen: SeenResolutions | None) -> list[str]:
    """The labels of the variables; below a name, what the family of the variable sees.

    That is the resolution of the variable itself and, if it is only one, that of its parent.
    """
    names = labels(structure.variables)
    if seen is None:
        return names
    return [
        f"{name}\n{told}" if (told := _family_label(structure, v, seen)) else name
        for v, name in enumerate(names)
    ]


def _family_label(structure: Structure, variable: int, seen: SeenResolutions) -> str:
    above = _parent_labels(structure, variable, seen)
    given = f"given {next(iter(above.values()))}" if len(above) == 1 else ""
    return f"{seen.own(structure, variable)} {given}".strip()


def resolution_notes(structure: Structure, seen: SeenResolutions | None) -> list[str]:
    """The resolutions of parents that do not fit into the box of their child."""
    told = []
    for v, name in enumerate(structure.variables if seen else ()):
        assert seen is not None
        above = _parent_labels(structure, v, seen)
        if len(above) > 1:
            listed = (f"{structure.variables[p]} in {label}" for p, label in above.items())
            told.append(f"{name} sees {' and '.join(listed)}")
    return ["; ".join(told)] if told else []


def _parent_labels(structure: Structure, child: int, seen: SeenResolutions) -> dict[int, str]:
    """What a family sees of those parents that have several resolutions."""
    found = ((p, seen.of_arc(structure, p, child)) for p in structure.parents[child])
    return {p: label for p, label in found if label}
