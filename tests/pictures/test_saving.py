"""The suffix of a picture chooses its format."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from milpbn.errors import FontWarning, OptionError
from milpbn.pictures import draw_network
from milpbn.pictures.saving import picture_path, save_figure
from milpbn.structure import Structure


@pytest.mark.parametrize(("name", "what"), [("a.jpg", r"'\.jpg'"), ("a", "no suffix")])
def test_an_unknown_suffix_names_the_known_ones(name: str, what: str) -> None:
    with pytest.raises(OptionError, match=rf"{what}.*\.png, \.svg"):
        picture_path(name, (".png", ".svg"))


def test_suffixes_may_be_upper_case() -> None:
    assert picture_path("A.PNG", (".png",)) == Path("A.PNG")


def test_characters_without_a_font_are_one_warning(tmp_path, recwarn):
    odd = ["class", "\U00012000 a", "\U00012001\U00012000", "\x1b[31mred", "two\nlines"]
    draw_network(
        Structure.from_arcs(odd, [("class", name) for name in odd[1:]]), tmp_path / "n.png"
    )
    (warning,) = recwarn
    assert warning.category is FontWarning
    told = "n.png: no installed font has '\U00012000', '\U00012001', drawn as boxes"
    assert told in str(warning.message)


def test_other_warnings_are_kept(tmp_path):
    def build():
        warnings.warn("something else", RuntimeWarning, stacklevel=1)
        return Figure()

    with pytest.warns(RuntimeWarning, match="something else"):
        save_figure(build, tmp_path / "n.png")
