"""Saving a picture: the suffix determines the format, and no incomplete file is left behind."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milpbn.errors import FontWarning, OptionError
from milpbn.files import write_whole
from milpbn.words import quoted, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
_FONT = "DejaVu Sans"  # comes with matplotlib: the same widths on every machine
# For characters that it does not have, the first of these that is installed.
_OTHER_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP", "Source Han Sans SC"),
    *("WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic"),
    *("PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Arial Unicode MS", "Noto Sans"),
    *("Noto Emoji", "Segoe UI Symbol", "Symbola", "Unifont"),
)
_NO_GLYPH = re.compile(r"Glyph (\d+) .*missing from")
_DPI = 150
_MOST_PIXELS = 12_000  # per side; with more, viewers fail and memory may run out
# A date in the file would make two pictures of the same network differ.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
# Text becomes outlines or an embedded font, so that labels stay inside their boxes.
_SETTINGS: Any = {
    "svg.fonttype": "path",
    "svg.hashsalt": "milpbn",
    "pdf.fonttype": 42,
    "text.usetex": False,
    "text.parse_math": False,
}


def picture_path(path: str | Path, known: Sequence[str]) -> Path:
    """The path, after checking that its suffix is one of `known`."""
    path = Path(path)
    if path.suffix.lower() not in known:
        kind = f"suffix {path.suffix!r}" if path.suffix else "no suffix"
        raise OptionError(f"{path}: unknown picture format ({kind}); use one of {', '.join(known)}")
    return path


def save_figure(build: Callable[[], Figure], path: Path) -> None:
    """Build and render a figure with milpbn's settings, not the user's, then write it."""
    import matplotlib

    suffix = path.suffix.lower()
    buffer = BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_SETTINGS, "font.family": font_families()})
        with _noting_missing_characters(path):
            figure = build()
            dpi = min(_DPI, _MOST_PIXELS / max(figure.get_size_inches()))
            figure.savefig(buffer, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
    content = buffer.getvalue()
    if suffix == ".svg":  # it repeats texts in comments, and XML has no control characters
        content = visible(content.decode()).encode()
    write_whole(path, content)


@lru_cache(maxsize=1)
def font_families() -> list[str]:
    """The font of all pictures, and installed fonts for the characters that it does not have."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return [_FONT, *(name for name in _OTHER_FONTS if name in installed)]


@contextmanager
def _noting_missing_characters(path: Path) -> Iterator[None]:
    """Turn matplotlib's warnings about single characters into one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing: dict[str, None] = {}
    for warning in caught:
        if match := _NO_GLYPH.match(str(warning.message)):
            missing[chr(int(match[1]))] = None
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        warnings.warn(
            f"{path}: no installed font has {quoted(missing, limit=10)}, drawn as boxes; install a "
            "font that has them, such as Noto Sans CJK",
            FontWarning,
            stacklevel=2,
        )
