"""Engines: exact solvers of an objective, all any-time, all with one result type."""

from milpbn.engines.monolithic import solve_monolithic
from milpbn.engines.pulp_highs import AnytimeHiGHS

__all__ = ["AnytimeHiGHS", "solve_monolithic"]
