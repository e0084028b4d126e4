"""Pictures of what was learned: the network, and the gap over time."""

from milpbn.pictures.gap import plot_gap
from milpbn.pictures.network import draw_multinet, draw_network

__all__ = ["draw_multinet", "draw_network", "plot_gap"]
