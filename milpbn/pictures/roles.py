"""The role of each variable with respect to the class, and how a picture shows it.

The colours are those of Okabe and Ito, which can be distinguished with every common kind
of colour vision; light and dark fills and dashed outlines distinguish them in print too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from milpbn.structure import Structure


@dataclass(frozen=True)
class Look:
    """Colours of a node, and what the legend says about it."""

    meaning: str
    fill: str
    edge: str
    text: str
    dashed: bool = False


class Role(Enum):
    """Where a variable stands in the Markov blanket of the class."""

    CLASS = Look("class", "#0072B2", "#004C77", "#FFFFFF")
    CHILD = Look("has the class as parent", "#D5E8F4", "#0072B2", "#1A1A1A")
    PARENT = Look("parent of the class", "#FCE5C0", "#D55E00", "#1A1A1A")
    SPOUSE = Look("shares a child with the class", "#FFFFFF", "#0072B2", "#1A1A1A", dashed=True)
    PARTITION = Look(
        "feature that partitions the rows", "#FCE5C0", "#D55E00", "#1A1A1A", dashed=True
    )
    OUTSIDE = Look("not used if all other features are known", "#F3F3F3", "#B0B0B0", "#6A6A6A")


def roles(structure: Structure, n_class_variables: int = 1) -> list[Role]:
    """The role of each variable; the class is variable 0.

    With several class variables, which come first, the others are features that partition
    the rows of a class variable.

    Given its Markov blanket (parents, children, parents of children) the class does not
    depend on anything else. The other variables can change a prediction only if a feature of
    the blanket is missing, and not at all if they have no arcs.

    Examples
    --------
    >>> arcs = [("class", "a"), ("b", "a"), ("a", "c")]
    >>> [r.name for r in roles(Structure.from_arcs(["class", "a", "b", "c"], arcs))]
    ['CLASS', 'CHILD', 'SPOUSE', 'OUTSIDE']
    """
    if n_class_variables > 1:
        n_features = len(structure.variables) - n_class_variables
        return [Role.CLASS] * n_class_variables + [Role.PARTITION] * n_features
    found = [Role.OUTSIDE] * len(structure.variables)
    children = [v for v, parents in enumerate(structure.parents) if 0 in parents]
    for child in children:
        for spouse in structure.parents[child]:
            found[spouse] = Role.SPOUSE
    for child in children:
        found[child] = Role.CHILD
    for parent in structure.parents[0]:
        found[parent] = Role.PARENT
    found[0] = Role.CLASS
    return found
