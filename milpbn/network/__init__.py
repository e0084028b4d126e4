"""Networks: a structure with its parameters, inference, multinets."""

from milpbn.network.costs import Costs, read_costs
from milpbn.network.inference import log_posterior
from milpbn.network.multinet import Multinet
from milpbn.network.network import Network, fit_network

__all__ = ["Costs", "Multinet", "Network", "fit_network", "log_posterior", "read_costs"]
