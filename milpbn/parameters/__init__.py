"""Parameters for a given structure: maximum likelihood, conditional likelihood, margin.

Learners are found by name in ``PARAMETERS``. The score of a structure is always that of
its maximum-likelihood parameters, whatever parameters the classifier ends up with.
"""

from milpbn.parameters.base import Parameters
from milpbn.parameters.registry import PARAMETERS, make_parameters

__all__ = ["PARAMETERS", "Parameters", "make_parameters"]
