"""A few random and damaged inputs of every kind; ``bash scripts/fuzz inputs`` tries many more."""

import pytest
from hypothesis import given, settings
from inputs import TARGETS

FEW = {"claims": 5, "model": 8, "multinet": 5, "gbnc": 8, "skops": 5}


@pytest.mark.parametrize("kind", TARGETS)
def test_inputs_are_accepted_or_refused_and_nothing_else(kind):
    generate, use = TARGETS[kind]

    @settings(max_examples=FEW.get(kind, 30), derandomize=True)
    @given(generate())
    def check(content):
        use(content)

    check()
