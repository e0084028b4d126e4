"""The table of settings as text for the manual."""

from __future__ import annotations

from milpbn.cli.registries import help_text
from milpbn.settings import SETTINGS, OptionGroup, Setting


def settings_table() -> str:
    """All settings by their groups, so that the manual cannot disagree with the code."""
    lines: list[str] = []
    for group in OptionGroup:
        rows = [_row(one) for one in SETTINGS.values() if one.group is group]
        if rows:
            head = [
                "| setting | option | values | default | what it does |",
                "|---|---|---|---|---|",
            ]
            lines += [f"## {group.value}", "", *head, *rows, ""]
    return "\n".join(lines)


def _row(one: Setting) -> str:
    alias = one.of_estimator
    name = f"`{one.name}`" + (f" (`{alias}`)" if alias not in ("", one.name) else "")
    flag = f"`{one.flag}`" if one.flag else "–"
    default = one.shown or one.shown_default(one.default) or "–"
    text = help_text(one, lambda other: f"`{other.name}`")
    mark = " *" if one.selectable else ""
    cells = (name + mark, flag, one.metavar or one.values.what, default, text)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
