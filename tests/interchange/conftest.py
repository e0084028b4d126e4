"""Networks to write and read."""

import pytest
from interchange_tools import HOSTILE, make_network


@pytest.fixture
def plain():
    """Simple names; the class comes first only in the order of the file."""
    return make_network(
        ["target", "b", "a", "z1"],
        [["no", "yes"], ["s1", "s0", "s2"], ["hi", "lo"], ["0", "1", "10"]],
        [(), (0, 2), (0,), (0, 1)],
    )


@pytest.fixture
def hostile():
    """Every hard name as a variable and as a state."""
    n = len(HOSTILE)
    states = [[HOSTILE[(i + k) % n] for k in range(2 + i % 3)] for i in range(n)]
    parents = [() if i == 0 else (0, i - 1) if i > 1 else (0,) for i in range(n)]
    return make_network(HOSTILE, states, parents)
