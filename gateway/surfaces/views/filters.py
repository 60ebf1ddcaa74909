"""The filters that templates of views know."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gateway.surfaces.views.markdown import markdown
from gateway.toolkit import frontmatter
from gateway.toolkit.counts import counted
from gateway.toolkit.words import terms
from gateway.toolkit.yaml_lines import Broken

if TYPE_CHECKING:
    from markupsafe import Markup

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD = re.compile(r"(\w+)")


def _text(value: Any) -> str:
    """A value as text; "" where a template asks for what an answer has not."""
    return value if isinstance(value, str) else ""


def day(value: Any) -> str:
    """The day of a point in time as JSON has it: ``2026-11-26T10:00:00Z`` is ``2026-11-26``."""
    found = _DAY.match(_text(value))
    return found[0] if found else ""


def marked(value: Any, query: Any) -> Markup:
    """A text with the words of a query marked, in any of their forms."""
    from markupsafe import Markup, escape

    text, wanted = _text(value), set(terms(_text(query)))
    if not wanted:
        return escape(text)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if wanted & set(terms(piece)) else escape(piece)
        for piece in _WORD.split(text)
    )


def _markdown(
    value: Any,
    anchors: bool = False,
    links: Any = None,
    **to: Any,
) -> Markup:
    """Markdown as HTML; ``links`` are those of its own links that lead to what a tool shows.

    Each has what is ``written`` in the text, and the tool's arguments. ``to`` are the ``tool`` and
    the template's ``link``.
    """
    leads: dict[str, Markup] = {}
    for each in links or ():
        arguments = {name: one for name, one in each.items() if name != "written"}
        leads[each["written"]] = to["link"](to["tool"], **arguments)
    return markdown(_text(value), anchors=anchors, leads=leads)


def body(value: Any) -> str:
    """A text without the frontmatter before it."""
    text = _text(value)
    try:
        return frontmatter.split(text).body
    except Broken:
        return text


def shell(value: Any) -> str:
    """A text as one word of a shell's command, whatever it holds."""
    return shlex.quote(_text(value))


FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "body": body,
        "counted": counted,
        "day": day,
        "marked": marked,
        "markdown": _markdown,
        "shell": shell,
    }
)
