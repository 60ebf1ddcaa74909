"""The tool that lists a repository's HTTP routes, with who requests them."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Listing, Page, Tier, Tool, ToolResult
from plugins.codegraph.languages.url_templates import url_template
from plugins.codegraph.model import Endpoint
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access, Opened
from plugins.codegraph.tools.base import READS, RESULTS, Branch, Repo
from plugins.codegraph.tools.http_routes import RouteTable
from plugins.codegraph.tools.notes import Note, noted
from plugins.codegraph.tools.result_models import Ref

MAX_REQUESTS = 20
"""The most requests that are listed with a route."""
_FEW = 3
_NOTE = (
    "A request counts where its path is written out, at least in part; one that is put together "
    "elsewhere is not among them, nor are clients that are not in these repositories."
)


class Requested(ToolResult):
    """A request that leads to a route."""

    repo: str
    name: str = Field(description="The function that makes it, or the file.")
    at: str = Field(description="Where: file:line.")
    method: str | None = Field(None, description="None: the code does not say.")
    host: str | None = Field(
        None, description="The host that it names: whether the route is there, nothing says."
    )


class Served(Ref):
    """A route, with the function or class that serves it."""

    method: str | None = Field(None, description="None: any, or the code does not say.")
    path: str = Field(
        description="* is a part that is filled in, ** any rest. A prefix that another file sets "
        "is not in it."
    )
    at: str = Field(description="Where it is declared: file:line.")
    request_count: int
    requests: list[Requested]


def _brief(item: Served) -> Served:
    return item.model_copy(update={"requests": item.requests[:_FEW]})


PAGE = Page(size=RESULTS, summarize=_brief, item=Served, note=Note)


def tools(access: Access) -> list[Tool]:
    """The tools of this group."""

    async def get_routes(
        path: Annotated[
            str | None,
            Field(description="Only routes whose path has this in it: /users, /users/{id}."),
        ] = None,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[Served]:
        """The HTTP routes that a repository serves: method, path, the function behind each, and
        the places that request it, in every repository that you may see. Use it before you change
        what an endpoint takes or answers, and to find what serves a URL."""
        opened = await access(caller, repo, branch)
        ends = await opened.graph.endpoints()
        wanted = "" if path is None else url_template(path).path.rstrip("/")
        served = [each for each in ends if each.serves and wanted in each.template]
        sent = await _requests(access, caller, opened, RouteTable(ends))
        handlers = await opened.graph.entities({each.entity for each in served})
        items = [
            _served(each, Ref.of(handlers[each.entity]), sent[each])
            for each in sorted(served, key=lambda each: (each.template, each.method, each.path))
            if each.entity in handlers
        ]
        note = noted(opened, note=_NOTE)
        return Listing(items, key=lambda item: f"{item.key} {item.method} {item.path}", note=note)

    return [
        Tool.of(get_routes, title="List HTTP routes", page=PAGE, tier=Tier.OPEN, annotations=READS)
    ]


async def _requests(
    access: Access, caller: Caller, opened: Opened, table: RouteTable
) -> dict[Endpoint, list[Requested]]:
    """By route, the requests that lead to it."""
    found: dict[Endpoint, list[Requested]] = defaultdict(list)
    for graph in await access.all_graphs(caller, opened):
        fits = [
            (request, route)
            for request in await graph.endpoints()
            if not request.serves
            for route in table.of(request)
        ]
        names = await _names(graph, {request.entity for request, _ in fits})
        for request, route in fits:
            found[route].append(_requested(graph, request, names.get(request.entity, "")))
    return found


async def _names(graph: Graph, keys: set[int]) -> dict[int, str]:
    return {key: each.qualified for key, each in (await graph.entities(keys)).items()}


def _requested(graph: Graph, request: Endpoint, name: str) -> Requested:
    return Requested(
        repo=graph.repo.name,
        name=name,
        at=f"{request.path}:{request.line}",
        method=request.method or None,
        host=request.host or None,
    )


def _served(route: Endpoint, handler: Ref, requests: list[Requested]) -> Served:
    return Served(
        **handler.model_dump(by_alias=False),
        method=route.method or None,
        path=route.template,
        at=f"{route.path}:{route.line}",
        request_count=len(requests),
        requests=requests[:MAX_REQUESTS],
    )
