"""Reports in Markdown, and the pages of the manual that contain them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from milpbn.files import write_whole

DOCS = Path(__file__).resolve().parents[2] / "docs"


@dataclass
class Report:
    """What a table or figure shows: text, tables and pictures, in their order.

    Attributes
    ----------
    folder
        Where pictures are written.
    link
        How the text refers to this folder.
    """

    folder: Path
    link: str = ""
    blocks: list[str] = field(default_factory=list)

    def text(self, *sentences: str) -> None:
        """Add a paragraph."""
        self.blocks.append(" ".join(sentences))

    def table(self, frame: pd.DataFrame, title: str = "") -> None:
        """Add a table; all columns but the first are aligned to the right."""
        if frame.empty:
            return
        if title:
            self.blocks.append(f"**{title}**")
        header = [str(name) for name in frame.columns]
        lines = [header, ["---", *["--:"] * (len(header) - 1)]]
        lines += [[str(cell) for cell in line] for line in frame.itertuples(index=False)]
        self.blocks.append("\n".join("| " + " | ".join(line) + " |" for line in lines))

    def picture(self, name: str, alternative: str) -> Path:
        """Add a picture; return the path to write it to."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.blocks.append(f"![{alternative}]({self.link}{name})")
        return self.folder / name

    def __str__(self) -> str:
        return "\n\n".join(self.blocks) + "\n"


_MARK = re.compile(r"(<!-- results: ([\w-]+) -->\n).*?(<!-- end of results -->)", re.S)


def fill_page(page: Path, reports: dict[str, str]) -> None:
    """Replace the results of a page by the given ones; what is not given stays."""
    text = page.read_text(encoding="utf-8")
    filled = _MARK.sub(
        lambda m: f"{m[1]}\n{reports[m[2]]}\n{m[3]}" if m[2] in reports else m[0], text
    )
    if filled != text:
        write_whole(page, filled)


def tables_of(page: Path) -> list[str]:
    """The tables whose results a page contains."""
    return [m[2] for m in _MARK.finditer(page.read_text(encoding="utf-8"))]


def pages(names: Sequence[str] = ()) -> list[Path]:
    """The pages of the manual with results, or with those of some tables."""
    found = sorted((DOCS / "reproduction").glob("*.md"))
    return [p for p in found if not names or set(names) & set(tables_of(p))]
