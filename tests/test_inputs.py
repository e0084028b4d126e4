"""A few random and damaged inputs of every kind; ``bash scripts/fuzz inputs`` tries many more."""

import pytest
from hypothesis import given, settings
from inputs import TARGETS

FEW = {"claims": 3, "model": 5, "multinet": 3, "gbnc": 5, "skops": 3}


@pytest.mark.parametrize("kind", TARGETS)
def test_inputs_are_accepted_or_refused_and_nothing_else(kind):
    generate, use = TARGETS[kind]

    @settings(max_examples=FEW.get(kind, 20), derandomize=True)
    @given(generate())
    def check(content):
        use(content)

    check()
