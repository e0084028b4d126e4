"""The suffix of a picture chooses its format."""

from __future__ import annotations

from pathlib import Path

import pytest

from milpbn.errors import OptionError
from milpbn.pictures.saving import picture_path


@pytest.mark.parametrize(("name", "what"), [("a.jpg", r"'\.jpg'"), ("a", "no suffix")])
def test_an_unknown_suffix_names_the_known_ones(name: str, what: str) -> None:
    with pytest.raises(OptionError, match=rf"{what}.*\.png, \.svg"):
        picture_path(name, (".png", ".svg"))


def test_suffixes_may_be_upper_case() -> None:
    assert picture_path("A.PNG", (".png",)) == Path("A.PNG")
