"""``/admin``: why somebody may use something, what other tier rules would change, which tools are.

For admins, and for the portal's own user over its local socket, through which `porch explain`,
`porch tiers diff` and `porch token create` come.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from auth import Caller
from auth.resolver import Resolver
from auth.rules.verdict import Resolution, Verdict, lines
from auth.stores import Person, Stores
from gateway.catalog.catalog import Catalog, Explanation
from gateway.catalog.items import Item
from gateway.catalog.missing_items import Absences, Explained
from gateway.config.tiers_file import Tiers, parse_tiers
from gateway.contract import Absent
from gateway.contract.suggestions import near
from gateway.errors import ConfigError, NotFound, PortalError, wire
from gateway.identity.person_lookup import PersonLookup
from gateway.surfaces.admin import tiers_diff
from gateway.surfaces.http.body import BodyRefused, ClientLeft, read_body
from gateway.surfaces.http.request_context import context_of

MAX_TIERS_BYTES = 1024 * 1024
"""Bytes that a ``tiers.yaml`` may have here."""

MAX_CONCURRENT_JUDGEMENTS = 100
"""People who are judged at the same time."""

Answer = Callable[[Request], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Admin:
    """What the admin surface needs.

    Attributes:
        catalog: the items and what is decided for them.
        absences: what callers do not see, and why.
        resolver: judges people.
        stores: the people.
        closed: names the plugins that are not open, whose tools nobody knows now.
    """

    catalog: Catalog
    absences: Absences
    resolver: Resolver
    stores: Stores
    closed: Callable[[], Sequence[str]] = tuple

    async def tools(self, request: Request) -> Any:
        """Answer ``GET /admin/tools?name=NAME&name=...``: which are none, and what comes near."""
        there = {item.name for item in self.catalog.items() if item.kind == "tool"}
        asked = dict.fromkeys(request.query_params.getlist("name"))
        return {
            "unknown": [
                {"name": name, "near": near(name, there)} for name in asked if name not in there
            ],
            "closed": list(self.closed()),
        }

    async def explain(self, request: Request) -> Any:
        """Answer ``GET /admin/explain?as=WHO&item=NAME``."""
        whoever = PersonLookup(self.stores, self.resolver)
        caller, resolution = await whoever.caller(request.query_params.get("as", "anonymous"))
        name = request.query_params.get("item")
        items = self.catalog.named(name) if name else []
        explained = [_explained(i.key, i.kind, self.catalog.explain(i, caller)) for i in items]
        if name and (row := self.catalog.explain_row(name, caller)):
            explained.append(_explained(name, "row", row))
        absent = await self.absences.about(name, caller) if name else []
        if name and not explained and not absent:
            raise NotFound(await self._unknown(name, caller))
        return _caller(caller) | {
            "rules": _rules(resolution),
            "items": explained,
            "absent": [_absent(each) for each in absent],
        }

    async def _unknown(self, name: str, caller: Caller) -> str:
        items: list[Item | Absent] = [*self.catalog.items()]
        items += [each.absent for each in await self.absences.explained(caller)]
        names = {each.key for each in items} if "/" in name else {each.name for each in items}
        if found := near(name, names):
            return f"Nothing here is called {name}. Near it: {', '.join(found)}."
        return f"Nothing here is called {name}; `porch tools --all` lists what there is."

    async def diff(self, request: Request) -> Any:
        """Answer ``POST /admin/tiers-diff``, whose body is a ``tiers.yaml``."""
        raw = await read_body(request.receive, context_of(request.scope).headers, MAX_TIERS_BYTES)
        tiers = parse_tiers(raw, request.query_params.get("file", "tiers.yaml"))
        before, after = self.catalog.decisions(), self.catalog.decisions(tiers.items)
        people = [change async for change in self._people(tiers)]
        return {
            "items": [
                asdict(change) | {"gains": change.gains, "loses": change.loses}
                for change in tiers_diff.item_changes(before, after)
            ],
            "people": [asdict(change) for change in people],
        }

    async def _people(self, tiers: Tiers) -> AsyncIterator[tiers_diff.PersonChange]:
        now = tiers_diff.Rules(self.resolver, self.catalog.decisions())
        then = tiers_diff.Rules(
            self.resolver.under(tiers.access), self.catalog.decisions(tiers.items)
        )
        async for people in _together(self.stores.people.everyone()):
            judged = (tiers_diff.person_change(person, now, then) for person in people)
            for change in await asyncio.gather(*judged):
                if change is not None:
                    yield change


async def _together(people: AsyncIterator[Person]) -> AsyncIterator[list[Person]]:
    """People in groups, so that what a group asks of a source goes there in one request."""
    group: list[Person] = []
    async for person in people:
        group.append(person)
        if len(group) == MAX_CONCURRENT_JUDGEMENTS:
            yield group
            group = []
    yield group


def admin_routes(admin: Admin, status: Answer, tool_costs: Answer) -> list[Route]:
    """The routes below ``/admin``.

    Args:
        admin: answers about items and people.
        status: says what the portal does now.
        tool_costs: says what tools cost a client.
    """
    return [
        Route("/admin/status", endpoint=_for_admins(status)),
        Route("/admin/tools", endpoint=_for_admins(admin.tools)),
        Route("/admin/tool-costs", endpoint=_for_admins(tool_costs)),
        Route("/admin/explain", endpoint=_for_admins(admin.explain)),
        Route("/admin/tiers-diff", endpoint=_for_admins(admin.diff), methods=["POST"]),
    ]


def _for_admins(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    async def guarded(request: Request) -> Response:
        context = context_of(request.scope)
        headers = {"cache-control": "no-store"}
        if not context.local and not context.caller.admin:
            body = wire("not_allowed", "This is for the portal's admins.", {}, context.request_id)
            return JSONResponse(body, 403, headers)
        try:
            return JSONResponse(await answer(request), headers=headers)
        except PortalError as error:
            body = wire(error.code, error.message, error.details, context.request_id)
            return JSONResponse(body, error.status, headers)
        except ConfigError as error:
            body = wire("bad_tiers", str(error), {}, context.request_id)
            return JSONResponse(body, 422, headers)
        except (BodyRefused, ClientLeft) as error:
            body = wire("bad_body", str(error), {}, context.request_id)
            return JSONResponse(body, 400, headers)

    return guarded


def _explained(key: str, kind: str, why: Explanation) -> dict[str, Any]:
    return {
        "item": key,
        "kind": kind,
        "requires": why.decision.tier,
        "hidden": why.decision.hidden,
        "decided_by": why.decision.because,
        "allowed": why.allowed,
        "known": why.known,
        "because": why.because,
    }


def _absent(each: Explained) -> dict[str, Any]:
    absent = each.absent
    return {
        "item": absent.key,
        "name": absent.name,
        "kind": absent.kind,
        "why": absent.why,
        "reason": absent.reason,
        "detail": absent.detail,
        "link": absent.link,
        "known": each.is_told,
    }


def _caller(caller: Caller) -> dict[str, Any]:
    return {
        "who": caller.person or "anonymous",
        "name": caller.name,
        "tier": caller.tier,
        "admin": caller.admin,
        "degraded": caller.degraded,
        "sign_in_again": caller.sign_in_again,
        "reasons": caller.reasons,
        "groups": sorted(caller.groups),
    }


def _rules(resolution: Resolution | None) -> dict[str, list[dict[str, Any]]]:
    if resolution is None or resolution.granted is not None:
        return {}
    judged = {
        "public": resolution.public,
        "members": resolution.members,
        "admins": resolution.admins,
    }
    return {name: [_line(*line) for line in lines(verdict)] for name, verdict in judged.items()}


def _line(depth: int, verdict: Verdict) -> dict[str, Any]:
    return {
        "depth": depth,
        "rule": verdict.rule,
        "holds": verdict.holds,
        "because": verdict.because,
    }
