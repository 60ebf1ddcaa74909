"""HTML as Markdown: what a page says, without what stands around it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from bs4 import BeautifulSoup, Tag
from bs4.element import ProcessingInstruction
from markdownify import ATX, MarkdownConverter

from plugins.knowledge.notes.converter.properties import Properties

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NO_TEXT = ("script", "style", "template", "noscript", "head", "title", "nav", "rt", "rp", "rtc")
"""Elements that hold no text of a page; how a word is read stands above it, and not within it."""
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_FILE = re.compile(r"\w:\\.*|\S*\.(?:png|jpe?g|gif|bmp|[ew]mf|tiff?|svg|webp)", re.IGNORECASE)
"""What programs write of a picture of which nobody says what it shows."""
_PERMALINKS = frozenset({"", "#", "¶", "§", "🔗", "\u200b"})
_LABEL = re.compile(r"[\[(]?(\w{1,4}|[*†‡§]{1,3}|\w+ \d{1,4})[\])]?")
"""What refers to a footnote."""
_NO_DATA = frozenset({"presentation", "none"})
_CELLS = ("td", "th")
_SCHEMES = frozenset({"", "http", "https", "file"})


class _Markdown(MarkdownConverter):
    """Links that lead nowhere for a reader, and pictures within the page, are their text alone."""

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        address = str(el.get("href") or "")
        if address.startswith("#"):
            return _within(el, text)
        return str(super().convert_a(el, text, parent_tags)) if _leads(address) else text  # type: ignore[misc]

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        if el.get("src") and _leads(el.get("src")):
            return str(super().convert_img(el, text, parent_tags))  # type: ignore[misc]
        said = str(el.get("alt") or "").strip()
        return "" if not said or _FILE.fullmatch(said) else f" {said} "


def convert(data: bytes) -> str:
    """Make Markdown of a page."""
    soup = parsed(data)
    title, language = _title_of(soup), soup.html.get("lang") if soup.html else ""
    root = _content(soup)
    clean(root)
    text = markdown(root)
    if title and root.find("h1") is None:
        text = f"# {title}\n\n{text}"
    return Properties(language=str(language or "")).with_text(text)


def parsed(data: bytes | str) -> BeautifulSoup:
    """The tree of a page, in UTF-8 or in the encoding that it seems to have."""
    encoding = None if isinstance(data, str) else "utf-8"
    return BeautifulSoup(data, "html.parser", from_encoding=encoding)


def label_of(link: Tag) -> str:
    """The number or sign by which a link refers to a footnote; an empty text where it is none."""
    text = link.get_text(strip=True)
    found = _LABEL.fullmatch(text)
    is_note = text[:1] in "[(" or link.find_parent("sup") or link.find("sup")
    return found[1] if found and is_note else ""


def clean(root: Tag) -> None:
    """Take out what no reader sees, and the signs beside headings that link to them.

    Args:
        root: what is changed.
    """
    for found in [*root(_NO_TEXT), *root(_is_hidden)]:
        if not found.decomposed:
            found.decompose()
    for instruction in root(string=_is_instruction):
        instruction.extract()
    for heading in root(HEADINGS):
        for link in heading("a"):
            classes = link.get_attribute_list("class")
            if link.get_text(strip=True) in _PERMALINKS or "headerlink" in classes:
                link.decompose()


def markdown(root: Tag) -> str:
    """A tree as Markdown, or its text alone where it is nested too deep."""
    options: dict[str, Any] = {
        "heading_style": ATX,
        "table_infer_header": True,
        "code_language_callback": _language,
    }
    try:
        _unwrap_layout(root)
        return str(_Markdown(**options).convert_soup(root)).strip()
    except RecursionError:
        return root.get_text("\n", strip=True)


def _within(link: Tag, text: str) -> str:
    """A link within a page, which Markdown has no place for: a footnote's mark, or its text."""
    if label := label_of(link):
        return f"[^{label}]"
    said = link.get_text(strip=True)
    return text if not said or any(map(str.isalnum, said)) else ""  # it leads back from a note


def _unwrap_layout(root: Tag) -> None:
    """Make blocks of tables that hold no data: of one column, or around other tables."""
    for table in root("table"):
        rows = [row for row in table("tr") if row.find_parent("table") is table]
        cells = [row(_CELLS, recursive=False) for row in rows]
        is_wide = any(len(each) > 1 for each in cells)
        if is_wide and table.find("table") is None and table.get("role") not in _NO_DATA:
            continue
        for each in (table, *rows, *(cell for row in cells for cell in row)):
            each.name = "div"


def _title_of(soup: BeautifulSoup) -> str:
    return " ".join(soup.title.get_text().split()) if soup.title else ""


def _content(soup: BeautifulSoup) -> Tag:
    """The part of a page that is its content: the one that it names, or all but its frame."""
    articles = soup("article")
    named = soup.find("main") or soup.find(role="main") or (articles[0] if articles else None)
    alone = named is not None and (named.name != "article" or len(articles) == 1)
    if isinstance(named, Tag) and alone and named.get_text(strip=True):
        _drop_frame(named, ("header", "footer"))
        return named
    root = soup.body or soup
    _drop_frame(root, ("header", "footer", "aside"))
    return root


def _drop_frame(root: Tag, names: tuple[str, ...]) -> None:
    """Take out a frame's parts; one with a heading belongs to the text, as a quoted source does."""
    for part in root(names):
        keeps = part.name == "header" and part.find(HEADINGS) is not None
        if not (keeps or part.decomposed or part.find_parent("blockquote")):
            part.decompose()


def _is_hidden(tag: Tag) -> bool:
    """Whether readers do not see an element; the tabs that are not chosen are seen in turn."""
    if tag.get("role") == "tabpanel":
        return False
    said = tag.get("hidden") is not None or tag.get("aria-hidden") == "true"
    return said or _HIDDEN.search(str(tag.get("style") or "")) is not None


def _is_instruction(text: object) -> bool:
    return isinstance(text, ProcessingInstruction)


def _leads(address: object) -> bool:
    try:
        return urlsplit(str(address or "")).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _language(block: Tag) -> str:
    """The language of a block of code, by the class that highlighters go by."""
    code = block.find("code")
    classes = [*block.get_attribute_list("class")]
    classes += code.get_attribute_list("class") if isinstance(code, Tag) else []
    named = (str(one).partition("language-")[2] for one in classes if one)
    return next(filter(None, named), "")
