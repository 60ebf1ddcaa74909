"""Views as items of the catalog: each is the resource that is its MCP App."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from gateway.catalog.apps import APPROVAL_APP, app_item
from gateway.catalog.items import Item
from gateway.catalog.schemas import BadDeclaration, schema_of
from gateway.contract import Tool, View, Write

FORM_ID = "form-id"
"""The field that tells one form of a page from the same one of another page."""
FORM_FIELDS = frozenset({"csrf", "request", FORM_ID})
"""What the forms of pages carry beside a tool's arguments."""
PICTURE_SUFFIX = ".svg"
"""What follows the path of a page where its picture is to be had as a file."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_PATH = re.compile(r"[a-z0-9-]+(/[a-z0-9-]+)*")
_FORM_ID_BYTES = 9


def new_form_id() -> str:
    """The value of :data:`FORM_ID` for a form that is shown now."""
    return secrets.token_urlsafe(_FORM_ID_BYTES)


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
    if view.asks and view.asks not in _arguments(shown):
        raise BadDeclaration(f"it asks by {view.asks!r}, which is no argument of {view.tool!r}")
    for each in view.writes:
        _check_write(each, next((tool for tool in tools if tool.name == each.tool), None))
    return app_item(plugin, view, f"Draws what {view.tool} answers.")


def _check_write(write: Write, tool: Tool | None) -> None:
    """Refuse a form that calls no tool of the plugin, or one that only reads and is not shown."""
    name = write.tool
    if tool is None:
        raise BadDeclaration(f"it writes by {name!r}, which is no tool of the plugin")
    only_reads = tool.annotations is not None and bool(tool.annotations.read_only_hint)
    if only_reads and not write.shows:
        raise BadDeclaration(f"it writes by {name!r}, which only reads: link to it, or say shows")
    if write.shows and not only_reads:
        raise BadDeclaration(f"it shows {name!r} by a form, which does not say that it only reads")
    if taken := FORM_FIELDS & _arguments(tool).keys():
        raise BadDeclaration(
            f"it writes by {name!r}, whose argument {min(taken)!r} is a form's own"
        )


def _arguments(tool: Tool) -> Mapping[str, Any]:
    schema = schema_of(tool.args, tool.input_schema) or {}
    found: Mapping[str, Any] = schema.get("properties", {})
    return found


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
        self._pages |= {
            path + PICTURE_SUFFIX: item
            for path, item in self._pages.items()
            if declared_view(item).graph is not None
        }

    def of(self, plugin: str) -> list[View]:
        """What a plugin declared."""
        return [declared_view(item) for item in self.items if item.plugin == plugin]

    def at(self, path: str) -> Item | None:
        """The view whose page, or whose picture as a file, is at a path below the portal's base."""
        return self._pages.get(path)

    def __contains__(self, path: object) -> bool:
        """Whether there is a view at a path below the portal's base."""
        return path in self._pages

    def showing(self, tool: Item | None) -> Item | None:
        """The view that shows a tool, or None."""
        return None if tool is None else self._showing.get((tool.plugin, tool.identity))

    def app(self, tool: Item | None, waiting: Collection[str]) -> Item | None:
        """The App of a tool: that of its view, or of calls that wait.

        Args:
            tool: the tool.
            waiting: the keys of the tools that wait for a yes.
        """
        waits = tool is not None and tool.key in waiting
        return self.showing(tool) or (APPROVAL_APP if waits else None)
