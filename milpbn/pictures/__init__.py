"""Pictures of what was learned: the network, the gap over time, accuracy with missing features."""

from milpbn.pictures.gap import plot_gap
from milpbn.pictures.missing import plot_missing_curve
from milpbn.pictures.network import draw_multinet, draw_network
from milpbn.pictures.selection import plot_selection

__all__ = ["draw_multinet", "draw_network", "plot_gap", "plot_missing_curve", "plot_selection"]
