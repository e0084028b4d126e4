"""Reading HTML that milpbn writes, and checking that it is well formed."""

from __future__ import annotations

from html.parser import HTMLParser

# Elements without an end.
VOID = {"meta", "link", "br", "img", "input", "hr"}


class HtmlPage(HTMLParser):
    """Tags, ids and addresses of a page; every element must be closed.

    Attributes
    ----------
    targets
        The ids that links and variables of a network refer to.
    addresses
        All other addresses.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.addresses: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name == "data-table" or (name == "href" and str(value).startswith("#")):
                self.targets.append(str(value).removeprefix("#"))
            elif name in ("href", "src"):
                self.addresses.append(str(value))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
