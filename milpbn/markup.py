"""Small pieces of HTML for notebooks; every text is escaped, and so are control characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from milpbn.words import visible


def html_table(
    rows: Iterable[Sequence[object]], head: Sequence[object] = (), caption: str = ""
) -> str:
    """A table whose first column names the rows.

    Examples
    --------
    >>> html_table([["<b>", 1]], head=["name", "n"])
    '<table><thead><tr><th>name</th><th>n</th></tr></thead><tbody><tr><th
     style="text-align:left">&lt;b&gt;</th><td style="text-align:left">1</td></tr></tbody></table>'
    """
    left = ' style="text-align:left"'
    parts = [f"<caption{left}>{_escape(caption)}</caption>"] if caption else []
    if head:
        parts.append(f"<thead><tr>{_cells(head, 'th')}</tr></thead>")
    lines = (f"<tr>{_cells(row[:1], 'th', left)}{_cells(row[1:], 'td', left)}</tr>" for row in rows)
    return f"<table>{''.join(parts)}<tbody>{''.join(lines)}</tbody></table>"


def folded(summary: str, content: str) -> str:
    """HTML that is shown when its summary is clicked."""
    return f"<details><summary>{_escape(summary)}</summary>{content}</details>"


def _escape(text: str) -> str:
    """A text as HTML, without characters that change the direction of what follows."""
    return escape(visible(text))


def _cells(values: Iterable[object], tag: str, style: str = "") -> str:
    return "".join(f"<{tag}{style}>{_escape(str(value))}</{tag}>" for value in values)
