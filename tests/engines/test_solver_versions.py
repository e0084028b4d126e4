"""The versions whose behaviour was established, and none of those known to be wrong."""

from importlib.metadata import requires, version

import pytest
from packaging.requirements import Requirement


@pytest.fixture
def required():
    found = [Requirement(text) for text in requires("milpbn")]
    return {r.name: r for r in found if r.marker is None or r.marker.evaluate({"extra": ""})}


def test_the_highspy_with_wrong_optima_is_excluded(required):
    assert "1.14.0" not in required["highspy"].specifier
    assert version("highspy") in required["highspy"].specifier


def test_pulp_stays_below_the_version_with_another_interface(required):
    assert "4.0.0" not in required["pulp"].specifier
    assert version("pulp") in required["pulp"].specifier
    # The extra pulp[highs] would pin an old highspy.
    assert not required["pulp"].extras


def test_ortools_with_its_own_highs_is_no_requirement(required):
    assert "ortools" not in required
