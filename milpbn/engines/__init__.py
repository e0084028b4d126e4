"""Exact engines; all are any-time and return the same type of result."""

from typing import TYPE_CHECKING

from milpbn.lazy import lazy_names

if TYPE_CHECKING:
    from milpbn.engines.monolithic.engine import solve_monolithic
    from milpbn.engines.monolithic.pulp_highs import AnytimeHiGHS

__all__ = ["AnytimeHiGHS", "solve_monolithic"]

# PuLP is slow to import, and the process in which HiGHS runs needs neither.
__getattr__ = lazy_names(
    __name__,
    {
        "AnytimeHiGHS": "milpbn.engines.monolithic.pulp_highs",
        "solve_monolithic": "milpbn.engines.monolithic.engine",
    },
)
