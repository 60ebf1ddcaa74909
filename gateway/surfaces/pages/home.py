"""The first page: how to connect, and for who is connected what is here for them and new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.callers import Caller
from auth.portal_addresses import LOOPBACK
from auth.stores import Person
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.views import declared_view, is_view
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.glances import Glance, Glances
from gateway.surfaces.pages.search import searched
from gateway.surfaces.pages.shelves import shelves
from gateway.surfaces.pages.snippets import snippets
from gateway.surfaces.pages.visitors import Visitor

MOST_CLIENTS = 3
"""Clients that the page names as connected."""


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """Something that has called the portal for a person.

    Attributes:
        name: what it calls itself, or what its token is called.
        used: when it was last heard of, as far as is kept.
    """

    name: str
    used: datetime


def listed_views(views: Sequence[Item]) -> list[tuple[str, str]]:
    """The path and title of the views that the start page leads a visitor to."""
    return [
        (f"/{item.plugin}/{view.page}", view.title)
        for item in views
        if (view := declared_view(item)).listed
    ]


def views_for(catalog: Catalog, caller: Caller) -> list[Item]:
    """The views that a caller may see."""
    return [item for item in catalog.listed("resource", caller) if is_view(item)]


class Home:
    """The page at ``/``.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._glances = Glances(frame)

    def routes(self) -> list[Route]:
        """The route of the page."""
        return [self._frame.page("/", self._show)]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        parts = self._frame.parts
        caller = await self._frame.visitors.caller(visitor)
        views = views_for(parts.catalog, caller)
        local = urlsplit(visitor.base).hostname in LOOPBACK
        offered = shelves(parts.catalog, caller)
        closed = [shelf for shelf in offered if not shelf.usable]
        return self._frame.render(
            request,
            visitor,
            "home.html",
            caller=caller,
            clients=await self._clients(visitor.person),
            shelves=offered,
            ways=[parts.catalog.how_to_rise(caller, shelf.tier) for shelf in closed],
            views=listed_views(views),
            searches=bool(searched(parts.catalog, caller)),
            new=await self._new(request, visitor, views),
            snippets=snippets(parts.name, visitor.base, local=local),
            local=local,
        )

    async def _new(self, request: Request, visitor: Visitor, views: Sequence[Item]) -> list[Glance]:
        """What views show of what is new, or where the visitor was; what fails is left out."""
        wanted = [
            (item, given) for item in views if (given := declared_view(item).glance) is not None
        ]
        if not wanted:
            return []
        context = await self._frame.calls.context(request, visitor)
        shown = await self._glances.of(visitor, context, wanted)
        return [each for each in shown if each.html]

    async def _clients(self, person: Person | None) -> list[ConnectedClient]:
        """What has called for a person and still may, the last one first."""
        if person is None:
            return []
        parts = self._frame.parts
        grants = await parts.stores.grants.of(person.id)
        found = [ConnectedClient(each.client_name, each.used) for each in grants if each.used]
        tokens = await parts.tokens.of(person.id)
        found += [ConnectedClient(each.name, each.used) for each in tokens if each.used]
        return sorted(found, key=lambda each: each.used, reverse=True)[:MOST_CLIENTS]
