"""The pictures of a model for one class variable, as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milpbn.learning.model import Model


def plot_gap_of(model: Model, file: str) -> None:
    """Plot objective and bound over time."""
    from milpbn.pictures import plot_gap

    plot_gap(model, file, title=model.data.get("name", ""))


def draw_network_of(model: Model, file: str) -> Sequence[object]:
    """Draw the network, with arc margins if there are any; return the files."""
    from milpbn.pictures import draw_multinet, draw_network
    from milpbn.structure import Structure

    structure, name, encoder = model.result.structure, model.data.get("name", ""), model.encoder
    if not isinstance(structure, Structure):
        return draw_multinet(structure, file, title=name, encoder=encoder)
    margins = model.arcs.of(structure) if model.arcs else None
    draw_network(structure, file, title=name, margins=margins, encoder=encoder)
    return [file]
