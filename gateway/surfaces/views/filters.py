"""The filters that templates of views know."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gateway.surfaces.views.markdown import markdown
from gateway.toolkit import frontmatter
from gateway.toolkit.yaml_lines import Broken

if TYPE_CHECKING:
    from markupsafe import Markup

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD = re.compile(r"\w{3,}")


def _text(value: Any) -> str:
    """A value as text; "" where a template asks for what an answer has not."""
    return value if isinstance(value, str) else ""


def day(value: Any) -> str:
    """The day of a point in time as JSON has it: ``2026-11-26T10:00:00Z`` is ``2026-11-26``."""
    found = _DAY.match(_text(value))
    return found[0] if found else ""


def marked(value: Any, query: Any) -> Markup:
    """A text with the words of a query marked."""
    from markupsafe import Markup, escape

    text = _text(value)
    words = {word.casefold() for word in _WORD.findall(_text(query))}
    if not words:
        return escape(text)
    pieces = re.split(r"(\w+)", text)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if piece.casefold() in words else escape(piece)
        for piece in pieces
    )


def _markdown(value: Any) -> Markup:
    return markdown(_text(value))


def body(value: Any) -> str:
    """A text without the frontmatter before it."""
    text = _text(value)
    try:
        return frontmatter.split(text).body
    except Broken:
        return text


FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"body": body, "day": day, "marked": marked, "markdown": _markdown}
)
