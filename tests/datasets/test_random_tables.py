"""Random tables; ``bash scripts/fuzz tables 2000`` tries many more."""

import pytest
from random_tables import complaint


@pytest.mark.parametrize("seed", range(30))
def test_never_a_traceback_and_never_a_silent_loss(seed, tmp_path):
    assert not complaint(seed, tmp_path)
