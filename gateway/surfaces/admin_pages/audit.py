"""``/admin/audit``: who called what and how it ended, with filters, and as CSV."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from auth import Tier
from gateway.errors import NotFound
from gateway.identity.person_lookup import PersonLookup
from gateway.observability.audit_reader import AuditReader, Place, Where
from gateway.observability.audit_record import AuditRecord
from gateway.surfaces.admin_pages.door import Door, asked, query
from gateway.surfaces.pages.forms import Refused
from gateway.surfaces.pages.frame import HEADERS
from gateway.surfaces.pages.visitors import Visitor
from gateway.toolkit.csv_text import csv_text

RECORDS_PER_PAGE = 50
"""Records on one page."""
_BATCH = 1000
"""Records that an export reads at once."""
_NOT_OK = "not-ok"
_FILTERS = ("who", "what", "outcome", "tier", "from", "to")


class AuditPage:
    """The audit log.

    Args:
        door: lets admins in.
        reader: reads the records.
        people: finds who is meant.
    """

    def __init__(self, door: Door, reader: AuditReader, people: PersonLookup) -> None:
        self._door, self._reader, self._people = door, reader, people

    def routes(self) -> list[Route]:
        """The routes of the page and of its export."""
        return [
            self._door.page("/admin/audit", self._show),
            self._door.page("/admin/audit.csv", self._export),
        ]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        records, end, problem = list[AuditRecord](), None, ""
        try:
            where, after = await self._where(request), _place(asked(request, "after"))
            records, end = await self._reader.page(where, RECORDS_PER_PAGE, after)
        except (NotFound, ValueError) as error:
            problem = str(error)
        return self._door.render(
            request,
            visitor,
            "audit.html",
            status=400 if problem else 200,
            wanted={name: asked(request, name) for name in _FILTERS},
            problem=problem,
            records=records,
            tiers=list(Tier),
            is_first="after" not in request.query_params,
            first=query(request, after=""),
            next=query(request, after=_written(end)) if end else "",
            export=query(request, after=""),
        )

    async def _export(self, request: Request, visitor: Visitor) -> Response:
        try:
            where = await self._where(request)
        except (NotFound, ValueError) as error:
            raise Refused(400, "Nothing to export", str(error)) from None
        headers = {**HEADERS, "content-disposition": 'attachment; filename="porch-audit.csv"'}
        return StreamingResponse(self._rows(where), 200, headers, "text/csv; charset=utf-8")

    async def _rows(self, where: Where) -> AsyncGenerator[str]:
        yield csv_text([AuditRecord._fields])
        after = None
        while True:
            records, after = await self._reader.page(where, _BATCH, after)
            if records:
                yield csv_text(records)
            if after is None:
                return

    async def _where(self, request: Request) -> Where:
        """What the filters ask for.

        Raises:
            NotFound: an address is several people's.
            ValueError: a time is none.
        """
        who, what, outcome, tier, since, until = (asked(request, name) for name in _FILTERS)
        where: Where = {"since": _time(since), "until": _time(until), "tier": tier or None}
        if who == "anonymous":
            where["anonymous"] = True
        elif who:
            person = await self._people.person(who)
            where["person"] = person.id if person else who
        if what:
            where["item" if "/" in what else "plugin"] = what
        if outcome == _NOT_OK:
            where["failed"] = True
        elif outcome:
            where["outcome"] = outcome
        return where


def _time(text: str) -> datetime | None:
    """A time as a form sends it, in UTC.

    Raises:
        ValueError: it is none.
    """
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text} is no time. Write it as 2026-11-21T09:00, in UTC.") from None


def _written(place: Place) -> str:
    return f"{place.at.isoformat()}~{place.id}"


def _place(text: str) -> Place | None:
    if not text:
        return None
    at, _, id = text.partition("~")
    found = _time(at)
    if found is None or not (id.isascii() and id.isdecimal() and len(id) < 19):
        raise ValueError("This link leads to no page of the log. Begin with its first.")
    return Place(found, int(id))
