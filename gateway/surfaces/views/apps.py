"""MCP Apps: a view as a document that a client shows beside the tool's answer.

The document is the same for everybody and holds no data: the drawing comes with the tool's result,
in ``_meta``, to clients that said that they show Apps (``io.modelcontextprotocol/ui``, revision
2026-01-26). All others are answered as if there were no views.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mcp_types as mcp
from markupsafe import Markup, escape
from pydantic_core import from_json, to_json

from gateway.catalog.apps import APP_META
from gateway.contract import APP_MEDIA_TYPE

EXTENSION = "io.modelcontextprotocol/ui"
APPS: Mapping[str, Any] = {"extensions": {EXTENSION: {"mimeTypes": [APP_MEDIA_TYPE]}}}
"""What a client declares that shows Apps."""
DRAWING_META_KEY = "porch/view"
"""Where in a result's ``_meta`` its drawing is."""
MAX_DRAWING_BYTES = 400_000
"""A larger drawing is left out: the App then says where the page is."""
_SHEETS = ("tokens.css", "porch.css", "views.css", "graphs.css")
_SCRIPTS = ("pictures.js", "views.js")
_STATIC = Path(__file__).parent.parent / "pages" / "static"


def shows_apps(capabilities: Mapping[str, Any]) -> bool:
    """Whether a client shows Apps, by the capabilities that it declared."""
    for group in ("extensions", "experimental"):
        declared = capabilities.get(group)
        settings = declared.get(EXTENSION) if isinstance(declared, Mapping) else None
        if isinstance(settings, Mapping):
            kinds = settings.get("mimeTypes")
            return not isinstance(kinds, list) or APP_MEDIA_TYPE in kinds
    return False


def with_app(entry: Mapping[str, Any], uri: str) -> Mapping[str, Any]:
    """A tool's entry in a list, with the App that shows it."""
    return {**entry, "_meta": {**entry.get("_meta", {}), "ui": {"resourceUri": uri}}}


def with_drawing(result: bytes, drawing: str, address: str) -> bytes:
    """A tool's result with its drawing, or the address of its page where that is too large."""
    value = from_json(result)
    large = len(drawing.encode()) > MAX_DRAWING_BYTES
    shown = {"address": address} | ({} if large else {"html": drawing})
    value["_meta"] = {**value.get("_meta", {}), DRAWING_META_KEY: shown}
    return to_json(value)


def document(uri: str, title: str) -> mcp.ReadResourceResult:
    """The document of an App, as its resource is read."""
    content = mcp.TextResourceContents(
        uri=uri, mime_type=APP_MEDIA_TYPE, text=_html(title), _meta=dict(APP_META)
    )
    return mcp.ReadResourceResult(contents=[content])


@cache
def _html(title: str) -> str:
    frame = Markup(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        "<title>{title}</title><style>{style}</style></head>"
        '<body class="app compact" data-app="{version}"><main id="main" aria-live="polite">'
        "<p>Waiting for the answer.</p></main>"
        "{scripts}</body></html>"
    )
    style = "\n".join(_file(name) for name in _SHEETS)
    # Both files are ours, and neither contains what would end its element.
    return str(
        frame.format(
            title=escape(title),
            style=Markup(style),  # noqa: S704
            scripts=Markup("").join(_script(_file(name)) for name in _SCRIPTS),
            version=version("porch"),
        )
    )


def _script(text: str) -> Markup:
    return Markup('<script type="module">{}</script>').format(Markup(text))  # noqa: S704


def _file(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")
