"""Results as a person likes to read them.

Structured content of any shape is shown by a few rules: a list of objects as numbered cards
with a title, a line of short facts and indented text; everything else as labelled lines, which
stand above the lists where they tell of one thing, and below them else.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

_TITLES = ("title", "name", "term", "label", "group", "release", "id", "uri")
_PLAIN = frozenset({"contentType", "type", "kind", "id", "date", "status", "newest"})
"""Facts that explain themselves, so that they are shown without their name."""
_TEXTS = frozenset({"passage", "description", "definition", "summary", "text", "content", "body"})
_MAX_INLINE_CHARACTERS = 48
_MAX_COLUMNS = 96
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T\d\d:\d\d.*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _wrapped(text: str, columns: int, space: str = "") -> list[str]:
    """A line folded between words; an address is copied whole, so it is never broken in two."""
    return textwrap.wrap(
        text,
        columns,
        initial_indent=space,
        subsequent_indent=space,
        break_on_hyphens=False,
        break_long_words=False,
    )


def show_result(result: Mapping[str, Any]) -> None:
    """Print a tool's result.

    Args:
        result: a ``CallToolResult`` as JSON values.
    """
    structured = result.get("structuredContent")
    if structured is None:
        for block in result["content"]:
            click.echo(clean(_block(block)))
    else:
        for line in lines(structured):
            click.echo(line)


def _block(block: Mapping[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    resource = block.get("resource", {})
    if "text" in resource:
        return str(resource["text"])
    kind = block.get("mimeType") or resource.get("mimeType") or "unknown type"
    return f"[{block['type']}: {block.get('uri') or resource.get('uri') or kind}]"


def lines(value: Any) -> Iterator[str]:
    """A JSON value as lines for a person.

    Args:
        value: an object or a list, usually a tool's structured content.
    """
    if not isinstance(value, Mapping):
        yield from _field("result", value)
        return
    if any(isinstance(value.get(key), str) for key in _TITLES):
        # One thing: what it is comes before the lists in it.
        for key, each in sorted(value.items(), key=lambda field: _is_cards(field[1])):
            yield from _field(key, each)
        return
    cards = {key: each for key, each in value.items() if _is_cards(each)}
    others = {key: each for key, each in value.items() if key not in cards}
    for key, each in cards.items():
        if not each and value.get("note"):
            continue  # the note says why, and that there may be more in a moment
        if len(cards) > 1:
            yield style(named(key), bold=True)
        yield from _cards(each)
    for key, each in others.items():
        yield from _field(key, each)


def _is_cards(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


def _cards(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not items:
        yield "Nothing found."
    for number, item in enumerate(items, start=1):
        yield from _card(number, item)
        yield ""


def _card(number: int, item: Mapping[str, Any]) -> Iterator[str]:
    title_key = next((key for key in _TITLES if isinstance(item.get(key), str)), None)
    title = clean(str(item[title_key])) if title_key else ""
    yield f"{number:>2}. {style(title, bold=True)}".rstrip()
    facts = []
    for key, value in item.items():
        if key != title_key and (fact := _fact(key, value)):
            facts.append(fact)
    for line in _wrapped(" · ".join(facts), _width() - 4):
        yield "    " + style(line, fg="cyan")
    for key, value in item.items():
        if key != title_key and value not in (None, {}) and not _fact(key, value):
            yield from _indented(_field(key, value), "    ")


def _fact(key: str, value: Any) -> str:
    """A short value as one fact of a card's second line; empty where it is no such value."""
    if key in _TEXTS or isinstance(value, Mapping) or value is None:
        return ""
    if isinstance(value, list) and any(isinstance(each, list | Mapping) for each in value):
        return ""
    text = _word(value)
    if len(text) > _MAX_INLINE_CHARACTERS or "\n" in text:
        return ""
    if text.startswith(f"{key}_"):
        return named(text)  # "seems seems_to_replace" says it twice
    return text if key in _PLAIN else f"{named(key)} {text}" if text else ""


def _field(key: str, value: Any) -> Iterator[str]:
    if value is None or value == "":
        return
    if isinstance(value, Mapping) and value:
        yield style(f"{named(key)}:", bold=True)
        yield from _indented(lines(value), "  ")
    elif _is_cards(value) and value:
        yield style(f"{named(key)}:", bold=True)
        yield from _indented(_cards(value), "  ")
    elif key in _TEXTS:
        yield from _paragraphs(str(value))
    else:
        yield from _paragraphs(f"{named(key)}: {_word(value)}")


def _paragraphs(text: str) -> Iterator[str]:
    """A text folded to the width of the terminal, its own line breaks kept."""
    for line in clean(text).strip().splitlines():
        yield from _wrapped(line, _width() - 4) or [""]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, list | Mapping):
        return ", ".join(_word(each) for each in value) or "none"
    text = clean(str(value))
    stamp = _STAMP.fullmatch(text)
    return stamp[1] if stamp else text


def named(key: str) -> str:
    """``rerankScore`` and ``rerank_score`` as ``rerank score``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", clean(key)).replace("_", " ").lower()


def folded(text: str, indent: int) -> list[str]:
    """One paragraph as lines that fit the terminal, each after some spaces."""
    return _wrapped(text, _width(), " " * indent)


def _indented(below: Iterator[str], indent: str) -> Iterator[str]:
    for line in below:
        yield indent + line if line else line


def clean(text: str) -> str:
    """The text without control characters, which could change what a terminal shows."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\t", "    "))


def style(text: str, **how: Any) -> str:
    """The text in bold or colour, where a person watches."""
    return click.style(text, **how) if text and sys.stdout.isatty() else text


def _width() -> int:
    return min(_MAX_COLUMNS, shutil.get_terminal_size((_MAX_COLUMNS, 24)).columns)
