"""A few random and damaged inputs of every kind; ``bash scripts/fuzz inputs`` tries many more."""

import click
import pytest
from hypothesis import given, settings
from inputs import PARSERS, TARGETS

from milpbn.cli import params
from milpbn.settings import SETTINGS
from milpbn.settings.values import Parsed

FEW = {"claims": 3, "model": 5, "multinet": 3, "gbnc": 5, "skops": 3}


@pytest.mark.parametrize("kind", TARGETS)
def test_inputs_are_accepted_or_refused_and_nothing_else(kind):
    generate, use = TARGETS[kind]

    @settings(max_examples=FEW.get(kind, 20), derandomize=True)
    @given(generate())
    def check(content):
        use(content)

    check()


def test_every_type_of_option_is_tried():
    def is_type(value):
        kind = value if isinstance(value, type) else type(value)
        return issubclass(kind, click.ParamType) and kind.__module__ == params.__name__

    known = {name for name, value in vars(params).items() if is_type(value)}
    # Output files are not read, and "Parsed" is for the settings that have a reader of their own.
    public = {name for name in known if not name.startswith("_")} - {"OutputFile", "Parsed"}
    read = {name for name, setting in SETTINGS.items() if isinstance(setting.values, Parsed)}
    assert public | read == set(PARSERS)
