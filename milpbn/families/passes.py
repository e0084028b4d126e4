"""Compiled passes over the rows, divided among threads by families.

A compiled loop takes one family after the other and releases the interpreter lock. Each family is
summed by one thread in the order of the rows, so that sums are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

# Families times rows; a shorter pass takes less than a millisecond and is not divided.
_SHORT = 2**19


def divided(n_families: int, n_rows: int, threads: int, work: Callable[[slice], object]) -> None:
    """Call `work` for all families, in parts if it pays.

    Examples
    --------
    >>> parts = []
    >>> divided(5, 2**20, 2, parts.append)
    >>> sorted(parts, key=lambda part: part.start)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    if not is_divided(n_families, n_rows, threads):
        work(slice(0, n_families))
        return
    parts = min(threads, n_families)
    ends = [n_families * k // parts for k in range(parts + 1)]
    list(_pool(threads).map(work, map(slice, ends[:-1], ends[1:])))


def is_divided(n_families: int, n_rows: int, threads: int) -> bool:
    """Whether it pays to divide a pass."""
    return min(threads, n_families) > 1 and n_families * n_rows >= _SHORT


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="milpbn-pass")
