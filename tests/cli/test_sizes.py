"""Sizes as options: what is read, and what is refused."""

import click
import pytest

from milpbn.cli.params import Size


def test_a_size_has_a_number_and_a_unit():
    assert Size().convert("1.5 kb", None, None) == 1500
    assert Size().convert("2GiB", None, None) == 2 * 2**30


@pytest.mark.parametrize("text", ["9" * 400 + "GB", "9" * 16 + "MB", "-1GB", "5", "1e3MB"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(click.BadParameter, match="is not a size; write 500MB or 4GB"):
        Size().convert(text, None, None)
