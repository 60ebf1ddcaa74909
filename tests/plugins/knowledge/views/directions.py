"""Which texts of a page that read from the right are marked, so that a browser orders them."""

from __future__ import annotations

from html.parser import HTMLParser


class Reader(HTMLParser):
    """What stands in the main part of a page and reads from the right: marked, and not."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.marked: list[str] = []
        self.unmarked: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(page.partition("<main")[2].partition(">")[2].partition("</main>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        own = tag == "bdi" or values.get("dir") == "auto"
        if tag == "input":
            self._note(values.get("value") or "", own or values.get("type") == "hidden")
        elif tag not in ("br", "hr", "img"):
            # A picture places its words itself.
            self._open.append((tag, own or tag == "svg" or self._is_marked()))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """What holds nothing, as in pictures, opens nothing."""

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self._note(data, self._is_marked())

    def _is_marked(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def _note(self, text: str, marked: bool) -> None:
        if any("\u0590" <= letter <= "\u06ff" for letter in text):
            (self.marked if marked else self.unmarked).append(text.strip())
