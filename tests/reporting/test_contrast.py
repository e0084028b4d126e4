"""Texts and lines of a report can be read in both schemes (WCAG 2.2, level AA)."""

from __future__ import annotations

import re
from importlib import resources

import pytest

CSS = resources.files("milpbn.reporting").joinpath("templates/report.css").read_text("utf-8")
SCHEMES = [
    dict(re.findall(r"--([\w-]+): (#\w+);", block))
    for block in re.findall(r":root \{(.*?)\}", CSS, re.S)
]


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark"])
@pytest.mark.parametrize(
    ("name", "least"),
    [
        *(("ink", 7.0), ("soft", 4.5), ("link", 4.5), ("red", 4.5)),
        *(("blue", 3.0), ("arc", 3.0), ("class-arc", 3.0)),
    ],
)
def test_colours_stand_out_from_the_paper(scheme, name, least) -> None:
    assert contrast(scheme[name], scheme["paper"]) >= least
