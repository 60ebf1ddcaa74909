"""Rows of the tables as requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, select

from gateway.approvals.request import ApprovalRequest, BoundCall, NotDecided, PageBack, Vote
from gateway.approvals.tables import approvals, votes

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

MAX_LISTED = 1000
"""Requests that one look gives, the newest of them."""


def same_call(call: BoundCall) -> tuple[ColumnElement[bool], ...]:
    """The conditions under which a request is for this very call."""
    return tuple(approvals.c[name] == value for name, value in call._asdict().items())


async def one(connection: AsyncConnection, id: str) -> ApprovalRequest:
    """A request by its id.

    Raises:
        NotDecided: there is none.
    """
    several = await found(connection, approvals.c.id == id)
    if not several:
        raise NotDecided("There is no such request.")
    return several[0]


async def found(
    connection: AsyncConnection, *where: ColumnElement[bool]
) -> Sequence[ApprovalRequest]:
    """The requests that match, the oldest first, each with what people said."""
    newest = select(approvals).where(*where).order_by(approvals.c.asked.desc(), approvals.c.id)
    rows = list(await connection.execute(newest.limit(MAX_LISTED)))
    if not rows:
        return []
    ids = select(approvals.c.id).where(*where)
    said: dict[str, list[Vote]] = {}
    query = select(votes).where(votes.c.approval.in_(ids)).order_by(votes.c.at, votes.c.person)
    for row in await connection.execute(query):
        accounts = tuple(row.accounts or ())
        said.setdefault(row.approval, []).append(Vote(row.person, row.yes, row.at, accounts))
    return [_request(row, said.get(row.id, ())) for row in reversed(rows)]


def _request(row: Any, said: Sequence[Vote]) -> ApprovalRequest:
    return ApprovalRequest(
        id=row.id,
        call=BoundCall(row.person, row.item, row.digest, row.rule),
        name=row.name,
        arguments=row.arguments,
        who=row.who,
        quorum=row.quorum,
        own=row.own,
        in_client=row.in_client,
        state=row.state,
        asked=row.asked,
        expires=row.expires,
        ended=row.ended,
        note=row.note,
        run=row.run,
        accounts=tuple(row.accounts or ()),
        votes=tuple(said),
        back=PageBack(*row.back) if row.back else None,
    )
