"""Links and forms of views: a page to go to, and for an App the call to make."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.catalog.views import PICTURE_SUFFIX
from gateway.errors import PortalError
from gateway.surfaces.views.address import Schema, kinds_of, query_of

if TYPE_CHECKING:
    from markupsafe import Markup


class Links:
    """Links to what a plugin's tools show.

    Args:
        catalog: knows their views.
        plugin: the plugin.
        base: the portal's address.
        caller: who follows them.
    """

    def __init__(self, catalog: Catalog, plugin: str, base: str, caller: Caller) -> None:
        self._catalog = catalog
        self._plugin = plugin
        self._base = base
        self._caller = caller

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        views = self._catalog.views.of(self._plugin)
        return {each.tool: f"/{self._plugin}/{each.page}" for each in views}

    def path(self, tool: str) -> str:
        """The path of the page that shows a tool's answer, below the portal's base, or ""."""
        return self._paths.get(tool, "")

    def page(self, tool: str) -> str:
        """The address of that page, or ""."""
        path = self.path(tool)
        return path and self._base + path

    def address(self, tool: str, /, **arguments: Any) -> str:
        """The address of the page that shows a tool's answer to some arguments, or ""."""
        return _with_query(self.page(tool), arguments)

    def file(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The address of the picture, as a file, of a tool's answer to some arguments."""
        return _with_query(self.page(tool) + PICTURE_SUFFIX, arguments)

    def link(self, tool: str, /, **arguments: Any) -> Markup:
        """The attributes of a link: a page to go to, and for an App the call to make."""
        from markupsafe import Markup

        given = there(arguments)
        address = self.address(tool, **given)
        href = Markup('href="{}" ').format(address) if address else Markup("")
        call = Markup('data-tool="{}" data-arguments="{}"')
        return href + call.format(self.called(tool), json.dumps(given, ensure_ascii=False))

    def form(self, tool: str) -> Markup:
        """The attributes of a form whose fields are arguments of a tool."""
        from markupsafe import Markup

        action = Markup('method="get" action="{}" data-form="{}" data-types="{}"')
        return action.format(self.address(tool), self.called(tool), self.kinds(tool))

    def may(self, tool: str) -> bool:
        """Whether the caller may use a tool of the plugin."""
        return self._catalog.allows(self._plugin, tool, self._caller)

    def called(self, tool: str) -> str:
        """What the portal calls a tool of the plugin."""
        return self._catalog.called(self._plugin, tool) or tool

    def schema(self, tool: str) -> Schema:
        """The schema of a tool's arguments; an empty one for who may not use it."""
        with suppress(PortalError):  # they are told so when they try
            item = self._catalog.tool(self.called(tool), self._caller, self._plugin)
            found: Schema = item.entry["inputSchema"]
            return found
        return {}

    def kinds(self, tool: str) -> str:
        """Which fields of a form for a tool are no texts, as JSON: an App's call has types."""
        return json.dumps(kinds_of(self.schema(tool)), separators=(",", ":"))


def _with_query(page: str, arguments: Mapping[str, Any]) -> str:
    query = query_of(arguments)
    return f"{page}?{query}" if page and query else page


def there(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are there: a template names what an answer may have left out."""
    from jinja2 import Undefined

    missing = (Undefined, type(None))
    return {name: each for name, each in arguments.items() if not isinstance(each, missing)}
