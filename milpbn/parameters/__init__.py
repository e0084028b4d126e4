"""Parameters for a given structure: maximum likelihood, conditional likelihood, margin.

The learners are in ``PARAMETERS``, by name. The score of a structure always refers to its
maximum-likelihood parameters, regardless of the parameters of the final classifier.
"""

from milpbn.parameters.base import Parameters
from milpbn.parameters.registry import PARAMETERS, make_parameters

__all__ = ["PARAMETERS", "Parameters", "make_parameters"]
