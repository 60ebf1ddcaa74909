"""Views as items of the catalog: each is the resource that is its MCP App."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import mcp_types as mcp

from gateway.catalog.items import Item
from gateway.catalog.schemas import BadDeclaration
from gateway.contract import APP_MEDIA_TYPE, Tool, View

APP_META: Mapping[str, Any] = {
    "ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": False}
}
"""What a host is told of the document of an App: it talks to nobody (MCP Apps, "Security")."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_PATH = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")


def view_item(plugin: str, view: View, tools: Sequence[Tool]) -> Item:
    """Check a view and make it an item: the resource that is its App.

    Args:
        plugin: whose it is.
        view: the declaration.
        tools: the plugin's tools.

    Raises:
        BadDeclaration: it cannot be shown.
    """
    shown = next((tool for tool in tools if tool.name == view.tool), None)
    if not _NAME.fullmatch(view.name) or not _PATH.fullmatch(view.page):
        raise BadDeclaration("a view's name and path are small letters, digits and hyphens")
    if shown is None:
        raise BadDeclaration(f"it shows {view.tool!r}, which is no tool of the plugin")
    if shown.annotations is None or not shown.annotations.read_only_hint:
        raise BadDeclaration(f"it shows {view.tool!r}, which does not say that it only reads")
    if not view.template.is_file():
        raise BadDeclaration(f"its template {view.template} is not there")
    uri = f"ui://{plugin}/{view.name}"
    entry = mcp.Resource(
        uri=uri,
        name=view.name,
        title=view.title,
        description=f"Draws what {view.tool} answers.",
        mime_type=APP_MEDIA_TYPE,
        _meta=dict(APP_META),
    )
    shown_as = entry.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Item(plugin, "resource", uri, view, shown_as, dict)


def is_view(item: Item) -> bool:
    """Whether an item is the App of a view."""
    return isinstance(item.declared, View)


def declared_view(item: Item) -> View:
    """The declaration behind a view's item; raises ``TypeError`` for another kind of item."""
    if not isinstance(item.declared, View):
        raise TypeError(f"{item.key} is no view")
    return item.declared


class Views:
    """The views of the portal.

    Args:
        items: items of which some are views.

    Attributes:
        items: those that are.
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self.items = [item for item in items if is_view(item)]
        self._showing = {(item.plugin, declared_view(item).tool): item for item in self.items}
        self._pages = {f"/{item.plugin}/{declared_view(item).page}": item for item in self.items}

    def of(self, plugin: str) -> list[View]:
        """What a plugin declared."""
        return [declared_view(item) for item in self.items if item.plugin == plugin]

    def at(self, path: str) -> Item | None:
        """The view whose page is at a path below the portal's base, or None."""
        return self._pages.get(path)

    def showing(self, tool: Item | None) -> Item | None:
        """The view that shows a tool, or None."""
        return None if tool is None else self._showing.get((tool.plugin, tool.identity))
