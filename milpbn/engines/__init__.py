"""Exact engines; all are any-time and return the same type of result."""

from milpbn.engines.monolithic import solve_monolithic
from milpbn.engines.pulp_highs import AnytimeHiGHS

__all__ = ["AnytimeHiGHS", "solve_monolithic"]
