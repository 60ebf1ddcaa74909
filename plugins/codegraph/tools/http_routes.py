"""Which requests lead to which routes, in one repository and over several."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from gateway.contract import Caller
from plugins.codegraph.languages.url_templates import ANY, REST, matched
from plugins.codegraph.model import CONFIDENCE, EdgeKind, Endpoint, Entity, Strategy
from plugins.codegraph.store.graph import Reached
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access, Opened
from plugins.codegraph.tools.through import Through


class RouteTable:
    """The routes of one repository, to find those that a request leads to.

    Args:
        routes: its routes; requests among them are left out.
    """

    def __init__(self, routes: Collection[Endpoint]) -> None:
        self._by_end: dict[str, list[Endpoint]] = defaultdict(list)
        for each in routes:
            if each.serves:
                self._by_end[_end(each.template)].append(each)

    def of(self, request: Endpoint) -> Sequence[Endpoint]:
        """The routes that a request fits best: those that account for most parts of its path, and
        of these the ones that write out most."""
        fits = [
            ((parts, -route.template.count(ANY)), route)
            for route in self._candidates(request.template)
            if _same_method(route.method, request.method)
            and (parts := matched(route.template, request.template))
        ]
        best = max((score for score, _ in fits), default=None)
        return [route for score, route in fits if score == best]

    def _candidates(self, template: str) -> Iterator[Endpoint]:
        for end in dict.fromkeys((_end(template), ANY, REST)):
            yield from self._by_end.get(end, ())


def _end(template: str) -> str:
    return template.rpartition("/")[2]


def _same_method(route: str, request: str) -> bool:
    return not route or not request or route == request or (route, request) == ("GET", "HEAD")


def shown(endpoint: Endpoint) -> str:
    """A route or request as people write it: ``GET /users/*``."""
    host = f"//{endpoint.host}" if endpoint.host else ""
    return f"{endpoint.method} {host}{endpoint.template}".strip()


async def requesters(
    access: Access, caller: Caller, opened: Opened, keys: Collection[int]
) -> list[Through]:
    """Who requests the routes that some entities serve, in every repository that the caller may
    see. Requests that name another host are left out: nothing says what answers there."""
    graph = opened.graph
    if not any(each.serves for each in await graph.endpoints(keys)):
        return []
    table = RouteTable(await graph.endpoints())
    found = []
    for one in await access.all_graphs(caller, opened):
        for request in await one.endpoints():
            if request.serves or request.host:
                continue
            found += [
                (one, request, request.entity, shown(route))
                for route in table.of(request)
                if route.entity in keys
            ]
    return await _through(found)


async def requested(
    access: Access, caller: Caller, opened: Opened, keys: Collection[int]
) -> list[Through]:
    """What serves the routes that some entities request, likewise."""
    sent = [
        each for each in await opened.graph.endpoints(keys) if not each.serves and not each.host
    ]
    if not sent:
        return []
    found = []
    for one in await access.all_graphs(caller, opened):
        table = RouteTable(await one.endpoints())
        for request in sent:
            found += [(one, request, route.entity, shown(route)) for route in table.of(request)]
    return await _through(found)


async def _through(found: Sequence[tuple[Graph, Endpoint, int, str]]) -> list[Through]:
    """The entities at the other end, each with the request that leads to it."""
    made = []
    for graph, request, key, by in found:
        entity = (await graph.entities([key])).get(key)
        if entity is not None:
            made.append(Through(_reached(entity, request), by, graph))
    return made


def _reached(entity: Entity, request: Endpoint) -> Reached:
    return Reached(
        entity=entity,
        depth=1,
        via=request.entity,
        path=request.path,
        line=request.line,
        strategy=Strategy.URL,
        confidence=CONFIDENCE[Strategy.URL],
        sites=1,
        kind=EdgeKind.CALLS,
    )
