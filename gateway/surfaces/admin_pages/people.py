"""``/admin/people``: who has signed in, with which accounts, at which tier, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth import Caller
from auth.resolver import Resolver
from auth.stores import Person, Stores, utc_now
from gateway.catalog.catalog import Catalog
from gateway.identity.person_lookup import signed_in
from gateway.surfaces.admin.tiers_lines import TiersLines, condition
from gateway.surfaces.admin_pages.door import Door, asked, query
from gateway.surfaces.admin_pages.explain import facts
from gateway.surfaces.pages.visitors import Visitor

PEOPLE_PER_PAGE = 25
"""People on one page; each is judged anew."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Somebody, and who they would be if they called now."""

    person: Person
    caller: Caller


class PeoplePage:
    """The people, and each one's page.

    Args:
        door: lets admins in.
        stores: the people and what acts for them.
        resolver: judges them.
        catalog: what they may use.
        lines: finds lines of ``tiers.yaml``.
    """

    def __init__(
        self, door: Door, stores: Stores, resolver: Resolver, catalog: Catalog, lines: TiersLines
    ) -> None:
        self._door, self._stores, self._resolver = door, stores, resolver
        self._catalog, self._lines = catalog, lines

    def routes(self) -> list[Route]:
        """The routes of the list and of a person."""
        return [
            self._door.page("/admin/people", self._list),
            self._door.page("/admin/people/{person}", self._one),
        ]

    async def _list(self, request: Request, visitor: Visitor) -> Response:
        text, after = asked(request, "text"), asked(request, "after")
        last = await self._stores.people.get(after) if after else None
        found = await self._stores.people.matching(text, after=last, limit=PEOPLE_PER_PAGE + 1)
        shown, more = found[:PEOPLE_PER_PAGE], len(found) > PEOPLE_PER_PAGE
        return self._door.render(
            request,
            visitor,
            "people.html",
            text=text,
            entries=await self._judged(shown),
            is_first=last is None,
            first=query(request, after=""),
            next=query(request, after=shown[-1].id) if more else "",
        )

    async def _judged(self, people: Sequence[Person]) -> list[Entry]:
        """All at once, so that a source is asked about them in one request."""
        judged = await asyncio.gather(*(self._resolver.explain(signed_in(p)) for p in people))
        return [Entry(p, each.caller) for p, each in zip(people, judged, strict=True)]

    async def _one(self, request: Request, visitor: Visitor) -> Response:
        id = request.path_params["person"]
        # PostgreSQL takes no NUL, and no half of a character.
        person = await self._stores.people.get(id) if id.isprintable() else None
        if person is None:
            title, text = "Nobody", "There is no such person, or they deleted their account."
            return self._door.frame.error(request, visitor, 404, title, text)
        identity = signed_in(person)
        judged = await self._resolver.explain(identity)
        return self._door.render(
            request,
            visitor,
            "person.html",
            person=person,
            caller=judged.caller,
            verdicts=[
                ("admins", judged.admins),
                ("members", judged.members),
                ("public", judged.public),
            ],
            facts=facts(await self._resolver.answers(identity)),
            stale=self._resolver.stale_proofs(person.accounts),
            rules=self._lines.rules(),
            conditions=[each for each in map(condition, person.accounts) if each],
            tools=len(self._catalog.listed("tool", judged.caller)),
            all_tools=sum(item.kind == "tool" for item in self._catalog.items()),
            tokens=await self._stores.tokens.of(person.id),
            grants=await self._stores.grants.of(person.id),
            sessions=await self._stores.sessions.of(person.id),
            now=utc_now(),
        )
