"""The pictures of a model, as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milpbn.model_files import AnyModel


def plot_gap_of(model: AnyModel, file: str) -> None:
    """Plot objective and bound over time."""
    from milpbn.pictures import plot_gap

    plot_gap(model, file, title=model.data.get("name", ""))


def draw_network_of(model: AnyModel, file: str) -> Sequence[object]:
    """Draw the network, with arc margins if there are any; return the files."""
    from milpbn.pictures import draw_multinet, draw_network
    from milpbn.structure import Structure

    structure, name, single = model.result.structure, model.data.get("name", ""), model.single
    encoder = single.encoder if single else None
    if not isinstance(structure, Structure):
        return draw_multinet(structure, file, title=name, encoder=encoder)
    margins = single.arcs.of(structure) if single and single.arcs else None
    n = model.n_class_variables
    draw_network(structure, file, title=name, n_class_variables=n, margins=margins, encoder=encoder)
    return [file]
