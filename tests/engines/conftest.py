"""Problems that a solver cannot finish during a test, and Ctrl-C at a chosen moment."""

import os
import signal
import threading
from contextlib import contextmanager

import numpy as np
import problems
import pulp
import pytest

from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace
from milpbn.scores import SoftMargin


@pytest.fixture(scope="session")
def noise():
    """(objective, score) on pure noise: events come at once, a proof takes many minutes."""
    score = SoftMargin(p=0.9)
    return build_objective(problems.noise(12, 90), score, SearchSpace(2, False)), score


@pytest.fixture
def knapsack():
    """A knapsack with ``n`` items and ``m`` limits as (problem, variables)."""

    def make(n=30, m=5, sense=pulp.LpMaximize):
        rng = np.random.default_rng(0)
        problem = pulp.LpProblem("knapsack", sense)
        # Names in descending order, which is not the order PuLP sorts them into.
        x = [problem.add_variable(f"x{n - k:03d}", 0, 1, "Integer") for k in range(n)]
        problem.setObjective(
            pulp.lpSum(float(c) * v for c, v in zip(weights(rng, n), x, strict=True))
        )
        for r in range(m):
            row = pulp.lpSum(float(c) * v for c, v in zip(weights(rng, n), x, strict=True))
            problem += row <= 8 * n, f"limit{r}"
        return problem, x

    def weights(rng, n):
        return rng.integers(5, 50, n)

    return make


@pytest.fixture
def market_split():
    """Equations that hardly any 0/1 point fulfils: no incumbent for a long time."""
    rng = np.random.default_rng(1)
    problem = pulp.LpProblem("market_split", pulp.LpMaximize)
    x = [problem.add_variable(f"x{k:02d}", 0, 1, "Integer") for k in range(50)]
    problem.setObjective(pulp.lpSum(x))
    for r in range(6):
        a = rng.integers(1, 100, 50)
        row = pulp.lpSum(float(c) * v for c, v in zip(a, x, strict=True))
        problem += row == int(a.sum() // 2), f"market{r}"
    return problem


@pytest.fixture
def ctrl_c():
    """``with ctrl_c() as press:`` where press(seconds) sends a real SIGINT from another thread."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are handled in the main thread only")

    @contextmanager
    def armed():
        awaited, timers = True, []

        def handle(signum, frame):
            # Late signals must not end the test run itself.
            if awaited:
                raise KeyboardInterrupt

        def press(seconds=0.0):
            timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
            timers[-1].start()

        before = signal.signal(signal.SIGINT, handle)
        try:
            yield press
        except KeyboardInterrupt:
            pytest.fail("KeyboardInterrupt came through")
        finally:
            awaited = False
            for timer in timers:
                timer.cancel()
                timer.join()
            signal.signal(signal.SIGINT, before)

    return armed
