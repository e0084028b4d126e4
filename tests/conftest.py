"""Makes the helpers of the tests importable, Ctrl-C testable, and time a matter of the test."""

import itertools
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS / "helpers"), str(TESTS)]

# A shell starts background jobs with SIGINT ignored, and children inherit that: without this
# the tests of Ctrl-C would fail wherever the suite runs in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# By default Hypothesis fails a test whose examples take longer than 200 ms on this machine, and
# draws other examples in every run. New examples are for searches (--hypothesis-profile=search).
_any_machine = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", _any_machine, max_examples=1000)
settings.register_profile("any-machine", _any_machine, derandomize=True)
settings.load_profile("any-machine")


@pytest.fixture
def now(monkeypatch):
    """Time that stands still until the test moves it: ``now[0] += 10``."""
    at = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: at[0])
    return at


@pytest.fixture(scope="session")
def compiled():
    """Numba's work is done: half a minute on a fresh checkout, which a limit would count."""
    from milpbn import Encoder, learn_parameters, learn_structure, load_dataset

    table = load_dataset("iris")
    data = Encoder.fit(table).encode(table)
    for method in ("branch-and-cut", "hc"):
        structure = learn_structure(data, method=method).structure
    learn_parameters(data, structure, parameters="cl:penalty=1")


@pytest.fixture
def ticking(monkeypatch):
    """Time that passes by one millisecond whenever it is read, on any machine."""
    ticks = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) / 1000)
