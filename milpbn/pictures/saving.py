"""Saving a picture: the suffix determines the format, and no incomplete file is left behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milpbn.errors import OptionError
from milpbn.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
FONT = "DejaVu Sans"  # comes with matplotlib: the same widths on every machine
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
    "font.family": FONT,
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
        matplotlib.rcParams.update(_SETTINGS)
        figure = build()
        dpi = min(_DPI, _MOST_PIXELS / max(figure.get_size_inches()))
        figure.savefig(buffer, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
    write_whole(path, buffer.getvalue())
