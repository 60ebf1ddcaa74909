"""The first page: what the portal offers to whoever looks at it, and how to connect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth.callers import Caller
from auth.portal_addresses import LOOPBACK
from auth.tiers import Tier
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.views import declared_view, is_view
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.snippets import snippets
from gateway.surfaces.pages.visitors import Visitor


@dataclass(frozen=True, slots=True)
class Line:
    """One tool or prompt as the page lists it."""

    name: str
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """What one tier brings.

    Attributes:
        tier: the tier.
        usable: whether the visitor may use it now.
        tools: its tools.
        prompts: its prompts; not told to a visitor below the tier.
        resources: how many resources it has; the same.
    """

    tier: Tier
    usable: bool
    tools: tuple[Line, ...]
    prompts: tuple[Line, ...] = ()
    resources: int = 0


def shelves(catalog: Catalog, caller: Caller) -> list[Shelf]:
    """What a visitor may use, by the tier that it asks for, and what higher tiers would add."""
    listed = {kind: catalog.listed(kind, caller) for kind in ("tool", "prompt", "resource")}
    listed["prompt"] += catalog.listed("family", caller)
    listed["resource"] = [item for item in listed["resource"] if not is_view(item)]
    beyond = catalog.beyond(caller)
    made = []
    for tier in Tier:
        of_tier = {
            kind: [item for item in items if catalog.requires(item) is tier]
            for kind, items in listed.items()
        }
        if any(of_tier.values()):
            tools, prompts = _lines(of_tier["tool"]), _lines(of_tier["prompt"])
            made.append(Shelf(tier, True, tools, prompts, len(of_tier["resource"])))
        if tier in beyond:
            made.append(Shelf(tier, False, _lines(beyond[tier])))
    return made


def listed_views(catalog: Catalog, caller: Caller) -> list[tuple[str, str]]:
    """The path and title of the views that the start page leads a visitor to."""
    return [
        (f"/{item.plugin}/{view.page}", view.title)
        for item in catalog.listed("resource", caller)
        if is_view(item) and (view := declared_view(item)).listed
    ]


def _lines(items: Iterable[Item]) -> tuple[Line, ...]:
    return tuple(
        Line(item.name, item.entry.get("title") or "", item.entry.get("description") or "")
        for item in items
    )


class Home:
    """The page at ``/``.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def routes(self) -> list[Route]:
        """The route of the page."""
        return [self._frame.page("/", self._show)]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        caller = await self._frame.visitors.caller(visitor)
        catalog = self._frame.parts.catalog
        local = urlsplit(visitor.base).hostname in LOOPBACK
        return self._frame.render(
            request,
            visitor,
            "home.html",
            caller=caller,
            shelves=shelves(catalog, caller),
            views=listed_views(catalog, caller),
            snippets=snippets(self._frame.parts.name, visitor.base, local=local),
            local=local,
        )
