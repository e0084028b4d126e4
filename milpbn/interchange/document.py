"""The content of a network file, before it becomes a structure or a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from milpbn._types import FloatArray
from milpbn.encoding.columns import Variable
from milpbn.errors import ModelFileError
from milpbn.files import read_limited
from milpbn.network.network import Network
from milpbn.structure import Structure

# Other tools round their numbers: a row may differ from 1 by this much and is then normalised.
_ROUNDING = 0.01


@dataclass(frozen=True)
class Document:
    """Variables, parents and tables as a file gives them.

    Attributes
    ----------
    variables
        Names and states in the order of the file.
    parents
        The parents of each variable, in the order of the table's axes.
    tables
        Probabilities: one axis per parent, the variable's own states last. A variable
        without an entry has no table in the file.
    """

    variables: tuple[Variable, ...]
    parents: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = Counter(v.name for v in self.variables)
        if not names:
            raise ModelFileError("there are no variables")
        if twice := sorted(n for n, times in names.items() if times > 1):
            raise ModelFileError(f"the variable {twice[0]!r} is declared twice")
        for v in self.variables:
            if len(set(v.states)) < len(v.states):
                raise ModelFileError(f"the variable {v.name!r} has the same state twice")
        for child, parents in self.parents.items():
            for name in (child, *parents):
                if name not in names:
                    raise ModelFileError(
                        f"the table of {child!r} names {name!r}, which is not a variable"
                    )
            if len(set(parents)) < len(parents):
                raise ModelFileError(f"the table of {child!r} names a parent twice")

    def structure(self, target: str | None = None) -> Structure:
        """The graph, with `target` (by default the first variable) as the class."""
        names = [v.name for v in self._ordered(target)]
        return Structure.from_dict({n: list(self.parents.get(n, ())) for n in names})

    def network(self, target: str | None = None) -> Network:
        """The network, with `target` (by default the first variable) as the class."""
        variables = self._ordered(target)
        structure = self.structure(target)
        logs = []
        for v, parents in zip(variables, structure.parents, strict=True):
            given = self.parents.get(v.name, ())
            order = [given.index(variables[p].name) for p in parents]
            table = np.transpose(self._probabilities(v.name), (*order, len(given)))
            with np.errstate(divide="ignore"):
                logs.append(np.log(table))
        return Network(structure, variables, tuple(logs))

    def _ordered(self, target: str | None) -> tuple[Variable, ...]:
        if target is None:
            return self.variables
        first = [v for v in self.variables if v.name == target]
        if not first:
            known = ", ".join(v.name for v in self.variables)
            raise ModelFileError(f"there is no variable {target!r}; the variables are {known}")
        return (*first, *(v for v in self.variables if v.name != target))

    def _probabilities(self, name: str) -> FloatArray:
        states = {v.name: v.card for v in self.variables}
        shape = tuple(states[n] for n in (*self.parents.get(name, ()), name))
        table = self.tables.get(name)
        if table is None:
            raise ModelFileError(f"the variable {name!r} has no table of probabilities")
        if table.shape != shape:
            raise ModelFileError(f"the table of {name!r} has shape {table.shape}, not {shape}")
        sums = table.sum(axis=-1, keepdims=True)
        # Not "any(... > ...)": NaN must not pass.
        if not ((table >= 0).all() and (abs(sums - 1) <= _ROUNDING).all()):
            raise ModelFileError(
                f"the table of {name!r} does not contain probabilities: the numbers in each row "
                "must be at least 0 and sum to 1"
            )
        out: FloatArray = table / sums
        return out


def probabilities(network: Network, variable: int) -> FloatArray:
    """The table of a variable, with rows that sum to 1 as exactly as possible.

    It is the table over the finest states: other tools have one resolution.
    """
    table = np.exp(network.finest.log_cpts[variable])
    out: FloatArray = table / table.sum(axis=-1, keepdims=True)
    return out


def read_text(path: str | Path) -> str:
    """Read the text of a file; errors name the file."""
    path = Path(path)
    try:
        return read_limited(path).decode("utf-8-sig")
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ModelFileError(f"{path} is not a network or structure file: it is not text") from None
