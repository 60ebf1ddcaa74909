"""The account page: who someone is here, their tier and why, and everything that acts for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from auth.rules.verdict import Verdict, needs
from auth.stores import Person, utc_now
from gateway.catalog.views import new_form_id
from gateway.contract import Absent
from gateway.surfaces.pages.account_forms import AccountForms, lifetimes
from gateway.surfaces.pages.connections import ConnectionPages, asked_for
from gateway.surfaces.pages.forms import Refused
from gateway.surfaces.pages.frame import Frame
from gateway.surfaces.pages.visitors import Visitor

MOST_CALLS = 100
"""Calls that the page of what somebody did shows."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that someone would do for a higher tier, and what that consists of."""

    text: str
    parts: tuple[Need, ...] = ()


def needed(verdict: Verdict) -> tuple[Need, ...]:
    """What a rule that does not hold asks for, as lists within lists."""
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in needs(verdict)]
    return _nested(lines)


def _nested(lines: list[tuple[int, str]]) -> tuple[Need, ...]:
    found = []
    while lines:
        depth, text = lines[0]
        below = list(takewhile(lambda line: line[0] > depth, lines[1:]))  # noqa: B023
        found.append(Need(text, _nested(below)))
        lines = lines[1 + len(below) :]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Missed:
    """What somebody does not see for one reason."""

    reason: str
    link: str
    details: tuple[str, ...]
    names: tuple[str, ...]


def _by_reason(absent: Sequence[Absent]) -> list[Missed]:
    """What is absent, each reason once, in the order in which it is told."""
    several: dict[tuple[str, str], list[Absent]] = {}
    for each in absent:
        several.setdefault((each.reason, each.link), []).append(each)
    return [
        Missed(
            reason,
            link,
            tuple(dict.fromkeys(each.detail for each in found if each.detail)),
            tuple(each.name for each in found),
        )
        for (reason, link), found in several.items()
    ]


class AccountPage:
    """``/account`` and what is below it.

    Args:
        frame: what all pages share.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._connections = ConnectionPages(frame)

    def routes(self) -> list[Route]:
        """The routes of the page and of its forms."""
        return [
            self._frame.page("/account", self._show),
            self._frame.page("/account/export", self._export),
            self._frame.page("/account/activity", self._activity),
            *AccountForms(self._frame).routes(),
            *self._connections.routes(),
        ]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        person, identity = visitor.person, visitor.identity
        if person is None or identity is None:
            return self._frame.go(visitor, f"/signin?next={quote(asked_for(request), safe='/')}")
        parts = self._frame.parts
        judged = await parts.resolver.explain(identity)
        return self._frame.render(
            request,
            visitor,
            "account.html",
            person=person,
            set_aside=parts.resolver.stale_proofs(person.accounts),
            caller=judged.caller,
            judged=judged,
            next=judged.next,
            needs=needed(judged.next[1]) if judged.next else (),
            now=utc_now(),
            tokens=await parts.tokens.of(person.id),
            most_tokens=parts.sign_in.tokens.per_person,
            lifetimes=lifetimes(parts.sign_in.tokens.api),
            form_id=new_form_id(),
            missing=_by_reason(await parts.missing(judged.caller)),
            tools=[item.name for item in parts.catalog.listed("tool", judged.caller)],
            connections=await self._connections.shown(request, judged.caller),
            grant_life=parts.sign_in.tokens.grant,
            grants=await parts.stores.grants.of(person.id),
            sessions=await parts.stores.sessions.of(person.id),
            believed=parts.believed.total_seconds(),
        )

    async def _activity(self, request: Request, visitor: Visitor) -> Response:
        if visitor.person is None:
            return self._frame.go(visitor, "/signin?next=/account")
        calls = await self._frame.parts.calls_of(visitor.person.id, MOST_CALLS + 1)
        return self._frame.render(
            request,
            visitor,
            "activity.html",
            calls=calls[:MOST_CALLS],
            more=len(calls) > MOST_CALLS,
        )

    async def _export(self, request: Request, visitor: Visitor) -> Response:
        person = _signed_in(visitor)
        parts = self._frame.parts
        account = await parts.accounts.export(person.id)
        headers = {
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
            "content-disposition": 'attachment; filename="porch-account.zip"',
        }
        archive = parts.archive.of(person.id, account)
        return StreamingResponse(archive, 200, headers, "application/zip")


def _signed_in(visitor: Visitor) -> Person:
    if visitor.person is None:
        raise Refused(403, "You are not signed in", "Sign in first.")
    return visitor.person
