"""Draws a tool's result by the template of its view."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.views import declared_view
from gateway.pipeline.json_text import UNSENDABLE, sendable
from gateway.surfaces.views.address import query_of
from gateway.surfaces.views.filters import FILTERS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_SHARED = Path(__file__).parent / "templates"


@lru_cache(maxsize=64)
def environment(folder: Path) -> Environment:
    """The templates of a folder and the shared ones, which escape everything."""
    from jinja2 import ChainableUndefined, Environment, FileSystemLoader

    made = Environment(
        loader=FileSystemLoader([folder, _SHARED]),
        autoescape=True,
        undefined=ChainableUndefined,  # an answer leaves out what it has not
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(FILTERS)
    return made


class Drawing:
    """Draws views for one caller at one address of the portal.

    Args:
        catalog: knows the views, and what the portal calls their tools.
        base: the portal's address as the caller sees it.
    """

    def __init__(self, catalog: Catalog, base: str) -> None:
        self._catalog = catalog
        self._base = base

    def draw(self, item: Item, arguments: Mapping[str, Any], value: Any = None) -> str:
        """A view as HTML, to stand in a page.

        Args:
            item: the view's item.
            arguments: what the tool was called with.
            value: what the tool returned; None where it was not called.
        """
        view = declared_view(item)
        template = environment(view.template.parent).get_template(view.template.name)
        links = Links(self._catalog, item.plugin, self._base)
        shown = {} if value is None else {"result": plain(value)}
        return template.render(
            view=view, arguments=dict(arguments), link=links.link, form=links.form, **shown
        )

    def address(self, item: Item, arguments: Mapping[str, Any]) -> str:
        """The address of a view's page for some arguments."""
        return Links(self._catalog, item.plugin, self._base).address(
            declared_view(item).tool, **arguments
        )


class Links:
    """Links to what a plugin's tools show.

    Args:
        catalog: knows their views.
        plugin: the plugin.
        base: the portal's address.
    """

    def __init__(self, catalog: Catalog, plugin: str, base: str) -> None:
        self._catalog = catalog
        self._plugin = plugin
        self._base = base

    @cached_property
    def _pages(self) -> Mapping[str, str]:
        views = self._catalog.views.of(self._plugin)
        return {each.tool: f"{self._base}/{self._plugin}/{each.page}" for each in views}

    def address(self, tool: str, /, **arguments: Any) -> str:
        """The address of the page that shows a tool's answer to some arguments, or ""."""
        page, query = self._pages.get(tool, ""), query_of(arguments)
        return f"{page}?{query}" if page and query else page

    def link(self, tool: str, /, **arguments: Any) -> Markup:
        """The attributes of a link: a page to go to, and for an App the call to make."""
        from jinja2 import Undefined
        from markupsafe import Markup

        missing = (Undefined, type(None))  # a template names what an answer may have left out
        given = {name: each for name, each in arguments.items() if not isinstance(each, missing)}
        address = self.address(tool, **given)
        href = Markup('href="{}" ').format(address) if address else Markup("")
        call = Markup('data-tool="{}" data-arguments="{}"')
        return href + call.format(self._called(tool), json.dumps(given, ensure_ascii=False))

    def form(self, tool: str) -> Markup:
        """The attributes of a form whose fields are arguments of a tool."""
        from markupsafe import Markup

        action = Markup('method="get" action="{}" data-form="{}"')
        return action.format(self.address(tool), self._called(tool))

    def _called(self, tool: str) -> str:
        return self._catalog.called(self._plugin, tool) or tool


def plain(value: Any) -> Any:
    """What a tool returned, as the JSON values of its answer."""
    if isinstance(value, str):
        return {"text": value}
    try:
        return _values(value)
    except UNSENDABLE:
        return _values(sendable(value))


def _values(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return to_jsonable_python(value, by_alias=True)
