"""Markdown of others as HTML that can stand in one of our pages.

Raw HTML is shown as the text that it is, links lead only where a browser may be sent, and pictures
of other hosts become links to them: a page of ours asks nobody else for anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from gateway.toolkit.anchors import SECTION, UniqueNames, anchor, stated

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markupsafe import Markup

MAX_CHARACTERS = 400_000
"""Characters of a text that are rendered: half a second of plain words on a slow machine."""
MAX_MARKS = 25_000
"""Line ends, signs of markup and cells that are rendered: a second on a slow machine at most."""
_LINE_END = re.compile(r"\r\n?")
_DELIMITERS = re.compile(r"[>\s|:-]*-[>\s|:-]*")
"""The line below a table's head, or another one that looks like it."""
_MARK = re.compile(r"[!\[\]*_~<>&`\\|]")
_DEEPEST_HEADING = 6
_ANCHORS = "anchors"
_OWN = "links"
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]{1,600})(?:\|([^\[\]\n]{0,300}))?\]\]")
_LEADS = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
"""Links that lead somewhere from a page of ours."""
_TAGS = re.compile(r"</?[a-z][^<>]{0,1000}>", re.IGNORECASE)


def markdown(
    text: str, *, anchors: bool = False, leads: Mapping[str, Markup] = MappingProxyType({})
) -> Markup:
    """A text in Markdown (CommonMark, with tables) as HTML; its headings begin below the page's.

    Of a text longer than :data:`MAX_CHARACTERS`, or with more signs of markup and cells of tables
    than :data:`MAX_MARKS`, the beginning is shown.

    Args:
        text: the text.
        anchors: whether addresses can lead to its headings, and its own links do; for one text of
            a page.
        leads: of the text's own links, wiki links among them, those that lead somewhere here: the
            attributes of each, by how it is written.
    """
    from markupsafe import Markup

    text = _LINE_END.sub("\n", text)
    shown = _beginning(text)
    if len(shown) < len(text):
        text = f"{shown}\n\n*It goes on; the rest is not shown here.*"
    env: dict[str, Any] = {_ANCHORS: UniqueNames()} if anchors else {}
    env[_OWN] = {unquote(written): each for written, each in leads.items()}
    return Markup(_parser().render(text, env))  # noqa: S704  (raw HTML is off, all else escaped)


def _beginning(text: str) -> str:
    """As much of a text as is rendered."""
    begins, left, columns = 0, MAX_MARKS, 0
    for line in text[:MAX_CHARACTERS].split("\n"):
        columns = _columns(line, columns)
        ends = begins + len(line)
        marks = [*(mark.start() for mark in _MARK.finditer(text, begins, ends)), ends]
        if len(marks) > left:
            return text[: marks[left]]
        # However little a row of a table says, it has a cell for each column.
        if columns > left:
            return text[:begins]
        begins, left = ends + 1, left - max(len(marks), columns)
    return text[:MAX_CHARACTERS]


def _columns(line: str, above: int) -> int:
    """The most columns that a table may have at a line, by those that it may have above it.

    In lists and quotations too, a table ends at an empty line at the latest.
    """
    if not line.strip():
        return 0
    return max(above, line.count("|") + 1) if _DELIMITERS.fullmatch(line) else above


def _leads(address: str, env: Any) -> str | None:
    """Where a link of the text leads from a page of ours; None for nowhere."""
    if address.startswith("#") and _ANCHORS in env:
        return f"#{SECTION}{address[1:]}"
    # What is relative to the text's own file is not below this page.
    return address if _LEADS.match(address) else None


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

    def image(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        leads, said = _leads(str(token.attrGet("src") or ""), env), token.content or "A picture"
        to = f' href="{escapeHtml(leads)}"' if leads else ""
        return f'<a{to} rel="noreferrer">{escapeHtml(said)}</a>'

    def heading(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        level = min(int(tokens[at].tag[1]) + 1, _DEEPEST_HEADING)
        if tokens[at].nesting != 1:
            return f"</h{level}>\n"
        said, _, id = stated(_said(tokens[at + 1]))
        _leave_out_attributes(tokens[at + 1])
        if _ANCHORS not in env:
            return f"<h{level}>"
        own = env[_ANCHORS].of(id or anchor(said))
        return f'<h{level} id="{SECTION}{escapeHtml(own)}">'

    def link(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
        token = tokens[at]
        if own := env[_OWN].get(unquote(str(token.attrGet("href") or ""))):
            return f"<a {own}>"
        if leads := _leads(str(token.attrGet("href") or ""), env):
            token.attrSet("href", leads)
        else:
            token.attrs.pop("href", None)
        token.attrSet("rel", "noreferrer")
        return str(self.renderToken(tokens, at, options, env))

    parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    parser.add_render_rule("wiki_link", _wiki_link_drawn)
    parser.add_render_rule("image", image)
    parser.add_render_rule("heading_open", heading)
    parser.add_render_rule("heading_close", heading)
    parser.add_render_rule("link_open", link)
    return parser


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Read a wiki link that leads somewhere here; any other stays as it is written."""
    if state.src[state.pos] not in "[!" or not (found := _WIKI.match(state.src, state.pos)):
        return False
    leads = state.env[_OWN].get(unquote(found[0].removeprefix("!")))
    if leads is None or found.end() > state.posMax:
        return False
    if not silent:
        token = state.push("wiki_link", "", 0)
        # A heading's name is that of its text as it is written, as whoever cites it reads it.
        token.content = found[0]
        token.meta = {"leads": leads, "said": (found[2] or found[1]).strip()}
    state.pos = found.end()
    return True


def _wiki_link_drawn(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    from markdown_it.common.utils import escapeHtml

    return f"<a {tokens[at].meta['leads']}>{escapeHtml(tokens[at].meta['said'])}</a>"


def _leave_out_attributes(heading: Token) -> None:
    """Take what stands in braces at the end of a heading from what is shown of it."""
    last = next(iter((heading.children or ())[-1:]), None)
    if last is not None and last.type == "text":
        last.content = stated(last.content)[0]


def _said(inline: Token) -> str:
    """What a heading says, without its marks and tags: these are shown, and are no name."""
    said = "".join(each.content or " " for each in inline.children or () if not each.nesting)
    return _TAGS.sub("", said)
