"""Tables in finer bins than those of the search.

A structure is searched in coarse bins: its score counts rows in cells, and few rows in many cells
are noise. Discriminative parameters have a prior that joins neighbouring bins
(:mod:`milpbn.parameters.priors`), and are better in fine ones. So they see the variables of a
family in a resolution that depends on how many features it has, the finest for one; as the search
did if it has many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from milpbn.encoding.columns import Variable
from milpbn.families.candidates import CLASS
from milpbn.structure import AnyStructure, ClassStructures, Structure

# Tables with more cells have the next coarser resolution: they take long, and need many rows.
_MOST_CELLS = 20_000


def refine(
    structure: AnyStructure, variables: Sequence[Variable], resolutions: Sequence[int]
) -> AnyStructure:
    """The structure with the resolutions of its tables.

    Parameters
    ----------
    structure
        A structure of the search, in the same variables.
    variables
        The variables; if the search sees all states of each, nothing changes.
    resolutions
        Those of tables with one feature, with two, ...; see :class:`~milpbn.parameters.Parameters`.

    Examples
    --------
    >>> from milpbn.encoding.columns import Coarsening
    >>> coarser = Coarsening(("low", "high"), (0, 0, 1, 1)), Coarsening(("all",), (0, 0, 0, 0))
    >>> x, y = (Variable(name, tuple("1234"), coarser, 4, 2) for name in "xy")
    >>> arcs = [("class", "x"), ("class", "y"), ("x", "y")]
    >>> found = Structure.from_arcs(["class", "x", "y"], arcs)
    >>> print(refine(found, [Variable("class", ("no", "yes")), x, y], (0, 1)))
    class
    x <- class
    y (resolution 1) <- class, x (resolution 1)
    """
    if not any(v.search for v in variables):
        return structure
    if isinstance(structure, ClassStructures):
        own = tuple(_refined(one, variables, resolutions) for one in structure.structures)
        return replace(structure, structures=own)
    return _refined(structure, variables, resolutions)


def _refined(
    structure: Structure, variables: Sequence[Variable], resolutions: Sequence[int]
) -> Structure:
    found = []
    for child in range(len(variables)):
        scope = [variables[v] for v in structure.scope(child)]
        n_features = sum(v != CLASS for v in structure.scope(child))
        coarsest = max(v.search for v in scope)
        level = resolutions[n_features - 1] if 0 < n_features <= len(resolutions) else coarsest
        while level < coarsest and _cells(scope, level) > _MOST_CELLS:
            level += 1
        found.append(tuple(min(level, v.search) for v in scope))
    return replace(structure, resolutions=tuple(found))


def _cells(scope: Sequence[Variable], level: int) -> int:
    return prod(v.resolution(min(level, v.search)).card for v in scope)
