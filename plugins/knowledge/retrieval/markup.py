"""Markdown to plain prose: what an embedding model and a reader of excerpts should see.

Template marks (Liquid, Nunjucks, kramdown), HTML and Markdown's own signs carry no meaning for
retrieval and cost tokens. Headings survive as Markdown headings, because passages are cut there.
Code is what it says, to the letter: no sign in it is markup. Every pattern is bounded, and none
looks far ahead, so that a hostile page costs time in proportion to its length.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Set
from textwrap import dedent
from typing import TypeAlias

from plugins.knowledge.notes.between import Between
from plugins.knowledge.notes.comments import blanked
from plugins.knowledge.notes.fences import Fences, Line
from plugins.knowledge.retrieval.indented_code import IndentedCode

_LETTERS = re.compile(
    r"(?<!`)(`{1,3})(?!`)(?P<code>[^\n]{1,500}?)(?<!`)\1(?!`)"
    r"|<(?P<address>[a-z][a-z0-9+.-]{1,31}:[^\s<>]{0,2000}+"
    r"|[\w.!#$%&'*+/=?^`{|}~-]{1,100}+@[a-z0-9.-]{1,250})>"
    r"|(?<!\w)\{[a-z][\w:.+-]{0,60}\}`(?P<role>[^`<>\n]{1,300})(?:<[^`<>\n]{1,300}>)?`"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])",
    re.IGNORECASE,
)
"""What is shown to the letter: code within a line, an address that is its own text, what a role of
MyST says (``{ref}`Fees <fees>```), and a sign that a backslash makes text (``snake\\_case``)."""
# An address that links refer to by its label: nothing but it and a title stand on the line.
_DEFINITION = (
    r"^ {0,3}\[(?!\^)(?P<label>[^\[\]\n]{1,200})\]:[ \t]*+(?:\n[ \t]*+(?=[<\x03]))?"
    r"(?:<[^<>\n]{0,1000}>|[^<>\s]{1,1000})"
    r"(?:[ \t]+(?:\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'|\([^()\n]{0,500}\)))?[ \t]*$"
)
_DEFINED = re.compile(_DEFINITION, re.MULTILINE)
_REFERRING = re.compile(r"!?\[([^\[\]\n]{1,500})\]\[([^\[\]\n]{0,200})\]")
_SHORTCUT = re.compile(r"!?\[([^\[\]\n]{1,200})\](?![\[(:])")
"""A link that says no more than its label; only where that is defined, else it is text."""
_INCLUDED = re.compile(
    r"^[ \t]*+(?:\{(?P<sign>[!*])>?[ \t]*+[^{}\n]{1,300}?(?P=sign)\}"
    r"|-{1,9}8<-{1,9}[ \t]++\"[^\"\n]{1,300}\")"
    r"[ \t]*$\n?",
    re.MULTILINE,
)
"""A line in whose place MkDocs puts a file. What stands in the file is not known here."""
CONTENTS = re.compile(
    r"^[ \t]*+(?:\[toc\]|\[\[_{0,2}toc_{0,2}\]\])[ \t]*+$", re.MULTILINE | re.IGNORECASE
)
"""A line in whose place a table of contents is put, which is no link."""
_KEPT = re.compile("\x03(\\d+)\x03")
# A link's text may have pairs of brackets in it, and its address such of round ones. Each place is
# read once, so that neither needs a bound.
_LABEL = r"\[((?:[^\[\]]|\[[^\[\]]{0,200}+\]){0,500}+)\]"
_TARGET = r"\((?:[ \t]*+<[^<>\n]*+>)?+[^()\n]*+(?:\([^()\n]*+\)[^()\n]*+)*+\)"
# Attributes as CommonMark has them, and those of JSX and of templates in components. No sign "<" is
# in a tag: one that is none ends at the next, so that each place is read once.
_SPACE = r"(?:[ \t]|\n(?![ \t]*\n))"
_VALUE = (
    r"(?:\"(?:[^\"<\n]|\n(?![ \t]*\n))*+\"|'(?:[^'<\n]|\n(?![ \t]*\n))*+'"
    r"|\{(?:[^{}<\n]|\{[^{}<\n]*+\}|\n(?![ \t]*\n))*+\}|[^\s\"'=<>`]*+)"
)
# Not `?+`: before Python 3.11.5 such a group loses its place where it is missing (gh-106052).
_ATTRIBUTE = rf"[a-z_:@][\w.:@-]*+(?:{_SPACE}*+={_SPACE}*+{_VALUE})?|\{{[^{{}}<\n]*+\}}"
_ATTRIBUTES = rf"(?:{_SPACE}++(?:{_ATTRIBUTE}))*+{_SPACE}*+/?+>"
_TAG = r"[a-z][a-z0-9]*+(?:[-:][a-z0-9]++|\.[a-z0-9]++(?=[\s/>]))*+"


_Rule: TypeAlias = tuple[re.Pattern[str] | Between, str]
"""What is taken out of a text, and what stands in its place."""


def _rules(*rules: tuple[str, str]) -> tuple[_Rule, ...]:
    flags = re.MULTILINE | re.IGNORECASE
    return tuple((re.compile(pattern, flags), replacement) for pattern, replacement in rules)


SCRIPTS = tuple(
    Between(rf"<{name}{_ATTRIBUTES}", rf"</{name} *>", 20_000) for name in ("script", "style")
)
"""What is no text: programs and their like within a page."""
_BEFORE: tuple[_Rule, ...] = (
    (Between("<!--", "-->", 5000), ""),
    (Between(r"\{%-? *comment *-?%\}", r"\{%-? *endcomment *-?%\}", 5000), ""),
    (Between(r"\{\{", r"\}\}", 1000), ""),  # first, as Hugo has {{% one within the other %}}
    (Between(r"\{%", r"%\}", 1000), ""),
    (Between(r"\{/\*", r"\*/\}", 1000), ""),
    (CONTENTS, ""),
    *_rules(
        (r"\{#(?:[^#\n]|#(?!\})){0,500}#\}", ""),
        (_DEFINITION, ""),
        (r"^[ \t]*+<<<[ \t]*+[@./][^<>\n]{1,300}$", ""),  # VitePress puts a file there
        (r"\\$", ""),  # a line that ends here, in the same paragraph
    ),
    *((each, "") for each in SCRIPTS),
    *_rules(
        (rf"<h([1-6]){_ATTRIBUTES}", "\n\x02\\1\x02 "),
        (rf"</?(?:p|br|li|tr|div|section|h[1-6]|ul|ol|table|summary){_ATTRIBUTES}", "\n"),
        (rf"</?(?:td|th|dt|dd|option|label|button){_ATTRIBUTES}", " "),
        (rf"</?{_TAG}{_ATTRIBUTES}", ""),
        (r":(?:fontawesome|material|octicons|simple)-[a-z0-9-]{1,100}:", ""),  # icons of MkDocs
        (r"\{ ?[:.#][^{}\n]{0,200}\}", ""),
        (rf"!{_LABEL}{_TARGET}", r"\1"),
        (r"!?\[\[(?:[^\[\]|\n]{0,300}\|)?([^\[\]|\n]{1,300})\]\]", r"\1"),
        (rf"{_LABEL}{_TARGET}", r"\1"),
        (r"^ {0,3}\[\^[^\[\]\n]{1,100}\]:[ \t]*", r"\n"),
        (r"\[\^[^\[\]\n]{1,100}\]", ""),
    ),
)
_AFTER = _rules(
    # Directives of MyST, with their options: their titles are text.
    (
        r"^[ \t]{0,8}:{3,9}[ \t]{0,8}\{[a-z][\w:. -]{0,60}\}[ \t]{0,8}([^\n]{0,200})"
        r"(?:\n[ \t]{0,8}:[a-z-]{1,30}:[^\n]{0,200})*$",
        r"\1\n",
    ),
    # Admonitions and tabs of Docusaurus, Starlight and MkDocs: their titles are text.
    (
        r"^[ \t]{0,8}:{3,9}[ \t]{0,8}[a-z-]{0,30}"
        r"[ \t]{0,8}\[?([^\[\]{}\n]{0,200})\]?(?:\{[^{}\n]{0,200}\})?[ \t]{0,8}$",
        r"\1\n",
    ),
    (
        r"^[ \t]{0,8}(?:!!!|\?\?\?\+?|===)(?:[ \t]{1,8}[a-z-]{1,30})?"
        r"(?:[ \t]{1,8}\"([^\"\n]{1,200})\")?[ \t]{0,8}$",
        r"\1\n",
    ),
    (
        r"^[ \t]{0,16}/{3,9}[ \t]{0,8}(?:[a-z][\w-]{0,30})?[ \t]{0,8}"
        r"(?:\|[ \t]{0,8}([^\n]{0,200}))?$",
        r"\1\n",
    ),
    (r"^[ |:\-]{3,200}$", ""),
    (r"^((?! {0,3}#)[^\n]+)\n(?! *\n| {0,8}(?:[-*+]|\d{1,3}[.)])[ \t]| {0,3}[#>|<~`])", r"\1 "),
    (r"^ {0,8}(?:[-*+]|\d{1,3}[.)])[ \t]+", ""),
    (r"^ {0,3}>[ \t]?(?:\[![a-z]{1,20}\])?", ""),
    (r"\*\*|__|`+|~~~+", ""),
    (r"\|", " "),
    (r"(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)", ""),
    (r"[ \t\u00a0\u200b]+", " "),
    (r"^ | $", ""),
)
_MARKED = re.compile(r"[<>&*_`\\\[\]{}|#\n]|:[a-z]{1,20}-")
_HTML_HEADING = re.compile("\x02([1-6])\x02")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def runs(markdown: str) -> Iterator[tuple[str, bool]]:
    """A page in runs of text and of code, fenced or indented, each with whether it is code.

    Code comes without its fences, what all its lines are indented by, and the signs of a quotation
    around it. What stands in comments is neither.

    Args:
        markdown: the body of a document, without frontmatter.
    """
    text = blanked(_CONTROL.sub(" ", one_newline(markdown)))
    held: list[str] = []
    fences, indented, was_code = Fences(), IndentedCode(), False
    for line in text.split("\n"):
        found = fences.read(line)
        if held and found is not (Line.CODE if was_code else Line.TEXT):
            yield from _runs(held, indented, is_code=was_code)
            held = []
        if found in (Line.TEXT, Line.CODE):
            held.append(fences.code(line))
        was_code = found is Line.CODE
    yield from _runs(held, indented, is_code=was_code)


def _runs(lines: list[str], indented: IndentedCode, *, is_code: bool) -> Iterator[tuple[str, bool]]:
    text = _INCLUDED.sub("", "\n".join(lines))
    for part, has_code in [(text, True)] if is_code else indented.split(text):
        yield (dedent(part).strip("\n") if has_code else part), has_code


def labels(markdown: str) -> frozenset[str]:
    """The labels by which links in a page refer to addresses that stand elsewhere in it."""
    text = one_newline(markdown)
    return frozenset(_label(found["label"]) for found in _DEFINED.finditer(text))


def plain(markdown: str, defined: Set[str] | None = None) -> str:
    """Strip the signs of Markdown, templates and HTML from a page.

    Args:
        markdown: the body of a document, without frontmatter, or a part of it.
        defined: the labels of the document; None where they are not known, and each may be one.

    Returns:
        Prose with one block a line and ATX headings (``## Heading``) left as they are.
    """
    spans: list[str] = []

    def kept(match: re.Match[str]) -> str:
        said = match["code"] or match["address"] or match["role"] or match["escaped"]
        spans.append(said.strip() or said)
        return f"\x03{len(spans) - 1}\x03"

    text = _LETTERS.sub(kept, _CONTROL.sub(" ", one_newline(markdown)))
    for pattern, replacement in _BEFORE:
        text = pattern.sub(replacement, text)
    text = _REFERRING.sub(lambda match: _referring(match, defined), text)
    if defined:
        text = _SHORTCUT.sub(lambda match: _referring(match, defined), text)
    for pattern, replacement in _AFTER:
        text = pattern.sub(replacement, text)
    text = html.unescape(_HTML_HEADING.sub(lambda match: "#" * int(match[1]), text))
    return _KEPT.sub(lambda match: spans[int(match[1])], text)


def _referring(match: re.Match[str], defined: Set[str] | None) -> str:
    """What a link says, where it is one: ``A[i][j]`` refers to nothing."""
    known = defined is None or _label(match[match.lastindex or 1] or match[1]) in defined
    return match[1] if known else match[0]


def _label(written: str) -> str:
    return " ".join(written.split()).casefold()


def one_newline(text: str) -> str:
    """A text with the same sign at the end of each line."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def heading_text(heading: str, defined: Set[str]) -> str:
    """What a heading says, without markup, on one line; as it is written where that is nothing.

    Args:
        heading: with its marks, without those that make it a heading.
        defined: the labels of the document.
    """
    if not _MARKED.search(heading):
        return " ".join(_CONTROL.sub(" ", heading).split())
    # As a heading: what a line begins with may be a mark there, and is none here ("1. Terms").
    return " ".join(plain(f"# {heading} #", defined).split())[1:-1].strip() or heading


def one_line(title: str) -> str:
    """A title without markup, on one line."""
    if not _MARKED.search(title):
        return title
    return " ".join(plain(title).replace("#", " ").split()) or title
