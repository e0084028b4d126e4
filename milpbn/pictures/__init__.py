"""Pictures of what was learned: networks, the gap over time, and how well methods classify."""

from milpbn.pictures.effects import plot_effects
from milpbn.pictures.evaluation import plot_evaluation
from milpbn.pictures.gap import plot_gap
from milpbn.pictures.missing import plot_missing_curve
from milpbn.pictures.network import draw_multinet, draw_network, plot_network
from milpbn.pictures.path import plot_path
from milpbn.pictures.selection import plot_selection
from milpbn.pictures.waterfall import plot_waterfall

__all__ = [
    "draw_multinet",
    "draw_network",
    "plot_effects",
    "plot_evaluation",
    "plot_gap",
    "plot_missing_curve",
    "plot_network",
    "plot_path",
    "plot_selection",
    "plot_waterfall",
]
