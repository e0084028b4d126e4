"""Tables in finer bins than those of the search.

A structure is searched in coarse bins: its score counts rows in cells, and few rows in many cells
are noise. Discriminative parameters have a prior that joins neighbouring bins
(:mod:`milpbn.parameters.priors`), and are better in fine ones. So they see the variables of a
family in the finest resolution if it has one feature, in the next one if it has two, and as the
search did if it has more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from milpbn.encoding.columns import Variable
from milpbn.families.candidates import CLASS
from milpbn.structure import AnyStructure, ClassStructures, Structure

# Families with so many features are not refined.
_MOST_FINE = 3


def refine(
    structure: AnyStructure, variables: Sequence[Variable], *, fine: bool = True
) -> AnyStructure:
    """The structure with the resolutions of its tables.

    Parameters
    ----------
    structure
        A structure of the search, in the same variables.
    variables
        The variables; if the search sees all states of each, nothing changes.
    fine
        Whether the tables are finer than the search. If not, they are seen as the search did.

    Examples
    --------
    >>> from milpbn.encoding.columns import Coarsening
    >>> coarser = Coarsening(("low", "high"), (0, 0, 1, 1)), Coarsening(("all",), (0, 0, 0, 0))
    >>> x, y = (Variable(name, tuple("1234"), coarser, 4, 2) for name in "xy")
    >>> arcs = [("class", "x"), ("class", "y"), ("x", "y")]
    >>> found = Structure.from_arcs(["class", "x", "y"], arcs)
    >>> print(refine(found, [Variable("class", ("no", "yes")), x, y]))
    class
    x <- class
    y (resolution 1) <- class, x (resolution 1)
    """
    if not any(v.search for v in variables):
        return structure
    if isinstance(structure, ClassStructures):
        own = tuple(_refined(one, variables, fine=fine) for one in structure.structures)
        return replace(structure, structures=own)
    return _refined(structure, variables, fine=fine)


def _refined(structure: Structure, variables: Sequence[Variable], *, fine: bool) -> Structure:
    resolutions = []
    for child in range(len(variables)):
        scope = structure.scope(child)
        n_features = sum(v != CLASS for v in scope)
        finest = n_features - 1 if fine and n_features < _MOST_FINE else len(variables)
        resolutions.append(tuple(min(max(finest, 0), variables[v].search) for v in scope))
    return replace(structure, resolutions=tuple(resolutions))
