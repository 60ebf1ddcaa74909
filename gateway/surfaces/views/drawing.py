"""Draws a tool's result by the template of its view."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from auth import Caller
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.views import declared_view
from gateway.pipeline.json_text import UNSENDABLE, sendable
from gateway.surfaces.views.filters import FILTERS
from gateway.surfaces.views.graphs.picture import figure, own_style
from gateway.surfaces.views.links import Links
from gateway.surfaces.views.writes import Goal, Mark, WriteForms

if TYPE_CHECKING:
    from jinja2 import Environment, Template
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


def shared_template(name: str) -> Template:
    """One of the templates that the portal's own views are drawn by."""
    return environment(_SHARED).get_template(name)


class Drawing:
    """Draws views for one caller at one address of the portal.

    Args:
        catalog: knows the views, and what the portal calls their tools.
        base: the portal's address as the caller sees it.
        caller: who looks.
        mark: proves that a form is one of a page's; None for an App, whose forms are calls.
    """

    def __init__(
        self, catalog: Catalog, base: str, caller: Caller, mark: Mark | None = None
    ) -> None:
        self._catalog = catalog
        self._base = base
        self._caller = caller
        self._mark = mark

    def draw(
        self, item: Item, arguments: Mapping[str, Any], value: Any = None, *, glance: bool = False
    ) -> str:
        """A view as HTML, to stand in a page.

        Args:
            item: the view's item.
            arguments: what the tool was called with.
            value: what the tool returned; None where it was not called.
            glance: whether it stands among other things, with a heading of its own above it.
        """
        view = declared_view(item)
        template = environment(view.template.parent).get_template(view.template.name)
        links = self._links(item)
        forms = WriteForms(view, links, Goal(view.tool, dict(arguments)), self._mark)
        shown = {} if value is None else {"result": plain(value)}

        def picture() -> Markup:
            return self._picture(item, arguments, shown.get("result"))

        return template.render(
            view=view,
            arguments=dict(arguments),
            link=links.link,
            form=links.form,
            picture=picture,
            may=links.may,
            write=forms.write,
            then=forms.then,
            glance=glance,
            heading="h3" if glance else "h2",
            **shown,
        )

    def file(self, item: Item, arguments: Mapping[str, Any], value: Any) -> str:
        """The graph of a view as SVG, to stand alone.

        Args:
            item: the view's item; the view has a graph.
            arguments: what the tool was called with.
            value: what the tool returned.
        """
        view = declared_view(item)
        if view.graph is None:
            raise ValueError(f"{item.key} has no graph")
        drawn = figure(view.graph(plain(value), arguments), self._links(item).link, "")
        return shared_template("graph.svg").render(style=own_style(), **drawn)

    def _picture(self, item: Item, arguments: Mapping[str, Any], result: Any) -> Markup:
        from markupsafe import Markup

        view, links = declared_view(item), self._links(item)
        if view.graph is None or result is None:
            return Markup("")
        drawn = figure(view.graph(result, arguments), links.link, links.file(view.tool, arguments))
        return Markup(shared_template("picture.html").render(**drawn))  # noqa: S704  (it escapes everything)

    def address(self, item: Item, arguments: Mapping[str, Any]) -> str:
        """The address of a view's page for some arguments."""
        return self._links(item).address(declared_view(item).tool, **arguments)

    def _links(self, item: Item) -> Links:
        return Links(self._catalog, item.plugin, self._base, self._caller)


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
