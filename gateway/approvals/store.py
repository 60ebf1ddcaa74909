"""The requests in the portal's database, SQLite or PostgreSQL.

Each change of a request's state is one statement that names the state before it, in one transaction
with its audit record. So a yes is spent once however many replicas try, and before the tool runs: a
process that is killed in between has lost a run, and no other begins it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, func, insert, select, update

from auth.stores import utc_now
from gateway.approvals.counting import Voter, check_open, check_yes
from gateway.approvals.records import record
from gateway.approvals.request import (
    MAX_NOTE_CHARACTERS,
    OPEN,
    ApprovalRequest,
    BoundCall,
    NotDecided,
    PageBack,
    State,
    TooManyWaiting,
)
from gateway.approvals.rows import found, one, same_call
from gateway.approvals.tables import approvals, votes
from gateway.identity.stores.connection import Reached
from gateway.toolkit.sql import exclusive, insert_into, lock_number

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract.services import Database

MAX_WAITING = 50
"""Requests of one person that may wait at a time."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for, beside what it is bound to.

    Attributes:
        name: what the portal calls the tool, or the REST route.
        arguments: what the call brings, without secrets.
        who: who may decide, in words.
        quorum: how many yeses it takes.
        own: whether the caller's own person decides.
        in_client: whether their client is asked to show it.
        expires: until when.
        tier: the caller's.
        surface: the way in.
        accounts: the subjects of what the caller has proved.
    """

    name: str
    arguments: Mapping[str, Any]
    who: str
    quorum: int
    own: bool
    in_client: bool
    expires: datetime
    tier: str
    surface: str
    accounts: tuple[str, ...] = ()


class ApprovalStore:
    """The requests.

    Args:
        database: where they are kept.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = Reached(database)
        self.clock = clock

    # A call asks, and spends.

    async def spend(self, call: BoundCall, run: str, voter: Voter) -> str | None:
        """Spend a yes to this very call, if there is one; it is there for no other run then.

        Args:
            call: what is about to run.
            run: the id of the request that runs it.
            voter: who calls, for the record.

        Returns:
            The id of the approval; None where there is none.
        """
        chosen = select(approvals.c.id).where(*self._good(call, "approved"))
        first = chosen.order_by(approvals.c.asked).limit(1).scalar_subquery()
        async with self._database.begin() as connection:
            spent = await self._moved(
                connection, "used", (approvals.c.id == first, *self._good(call, "approved")), run
            )
            if spent is not None:
                await record(connection, self.clock(), spent, call, "run", voter)
            return spent

    async def spend_answered(self, id: str, call: BoundCall, run: str, voter: Voter) -> bool:
        """Spend the yes that the caller's own person has just given in their client.

        Args:
            id: the request that the client was asked to show.
            call: what is about to run.
            run: the id of the request that runs it.
            voter: who calls.

        Returns:
            False where there is no such request: it was answered before, or for another call.
        """
        own = (approvals.c.own.is_(True), approvals.c.in_client.is_(True))
        here = (approvals.c.id == id, *own, *self._good(call, "waiting"))
        async with self._database.begin() as connection:
            if await self._moved(connection, "used", here, run) is None:
                return False
            now = self.clock()
            await record(connection, now, id, call, "approved", voter)
            await record(connection, now, id, call, "run", voter)
            return True

    async def holds(self, call: BoundCall) -> bool:
        """Whether there is a yes to this very call that may be spent."""
        good = select(approvals.c.id).where(*self._good(call, "approved")).limit(1)
        async with self._database.connect() as connection:
            return (await connection.scalar(good)) is not None

    async def unspend(self, id: str, run: str) -> None:
        """Let the call that has not finished go on: it asks its person something, and comes again.

        Args:
            id: the approval that it has spent.
            run: the id of the request that did.
        """
        mine = (approvals.c.id == id, approvals.c.run == run, approvals.c.state == "used")
        again = update(approvals).where(*mine, approvals.c.expires > self.clock())
        async with self._database.begin() as connection:
            await connection.execute(again.values(state="approved", ended=None, run=None))

    async def lead_back(self, id: str, person: str, back: PageBack) -> bool:
        """Keep which page has asked for what waits, so that its person goes on from the request.

        Args:
            id: the request's.
            person: who asks; nobody else's request is changed.
            back: the page.

        Returns:
            False where the request has ended.
        """
        own = (approvals.c.id == id, approvals.c.person == person, approvals.c.state.in_(OPEN))
        kept = update(approvals).where(*own).values(back=list(back)).returning(approvals.c.id)
        async with self._database.begin() as connection:
            return await connection.scalar(kept) is not None

    async def ask(self, call: BoundCall, question: Question) -> ApprovalRequest:
        """The request for a call: the one that waits already, that was refused, or a new one.

        A refusal by somebody else holds for as long as the request would have waited.

        Raises:
            TooManyWaiting: too many requests of this person wait.
        """
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("", f"porch_approvals {call.person}"))
            if there := await self._there(connection, call, question):
                return there
            await self._check_room(connection, call.person)
            id, now = f"ap_{secrets.token_hex(10)}", self.clock()
            row = {
                "id": id,
                **call._asdict(),
                "name": question.name,
                "arguments": dict(question.arguments),
                "who": question.who,
                "quorum": question.quorum,
                "own": question.own,
                "in_client": question.in_client,
                "state": "waiting",
                "asked": now,
                "expires": question.expires,
                "accounts": list(question.accounts),
            }
            await connection.execute(insert(approvals), [row])
            asker = Voter(call.person, (), question.tier, question.surface)
            await record(connection, now, id, call, "asked", asker)
            return await one(connection, id)

    async def _there(
        self, connection: AsyncConnection, call: BoundCall, question: Question
    ) -> ApprovalRequest | None:
        known = await found(
            connection,
            *same_call(call),
            approvals.c.state.in_(("waiting", "refused")),
            approvals.c.expires > self.clock(),
            approvals.c.in_client.is_(question.in_client),
        )
        holding = [each for each in known if each.state == "waiting" or each.refused_by_others]
        return holding[-1] if holding else None

    async def _check_room(self, connection: AsyncConnection, person: str) -> None:
        waits = (approvals.c.person == person, approvals.c.state == "waiting")
        counted = select(func.count()).where(*waits, approvals.c.expires > self.clock())
        if (await connection.scalar(counted) or 0) >= MAX_WAITING:
            raise TooManyWaiting(
                f"{MAX_WAITING} of your calls wait for a yes. Have some decided, or take them back "
                "on the page /approvals, before you ask for more."
            )

    # People decide.

    async def decide(
        self, id: str, voter: Voter, *, yes: bool, note: str = "", digest: str | None = None
    ) -> ApprovalRequest:
        """Write down what somebody says, who may; the yes that completes the quorum approves.

        Args:
            id: the request's.
            voter: who decides.
            yes: whether it is to run.
            note: what they say to a refusal.
            digest: of the arguments that they were shown; None where they name the id alone.

        Raises:
            NotDecided: it does not count; the text says why.
        """
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("", f"porch_approval {id}"))
            request = await one(connection, id)
            check_open(request, self.clock(), digest)
            if yes:
                check_yes(request, voter)
                await self._agree(connection, request, voter)
            else:
                await self._refuse(connection, request, voter, note)
            return await one(connection, id)

    async def _agree(
        self, connection: AsyncConnection, request: ApprovalRequest, voter: Voter
    ) -> None:
        now = self.clock()
        await self._say(connection, request, voter, yes=True)
        await record(connection, now, request.id, request.call, "yes", voter)
        if request.yeses + 1 >= request.quorum:
            waits = (approvals.c.id == request.id, approvals.c.state == "waiting")
            await connection.execute(update(approvals).where(*waits).values(state="approved"))
            await record(connection, now, request.id, request.call, "approved", voter)

    async def _refuse(
        self, connection: AsyncConnection, request: ApprovalRequest, voter: Voter, note: str
    ) -> None:
        here = (approvals.c.id == request.id, approvals.c.state.in_(OPEN))
        note = note.strip()[:MAX_NOTE_CHARACTERS]
        if await self._moved(connection, "refused", here, note=note or None) is None:
            raise NotDecided("It is decided already: it has run in this moment.")
        await self._say(connection, request, voter, yes=False)
        await record(connection, self.clock(), request.id, request.call, "refused", voter)

    async def _say(
        self, connection: AsyncConnection, request: ApprovalRequest, voter: Voter, *, yes: bool
    ) -> None:
        """Keep what somebody said; whoever takes a yes back has said no."""
        said = {"yes": yes, "at": self.clock(), "accounts": list(voter.accounts)}
        row = {"approval": request.id, "person": voter.person, **said}
        new = insert_into(connection, votes).values(row)
        keys = [votes.c.approval, votes.c.person]
        await connection.execute(new.on_conflict_do_update(index_elements=keys, set_=said))

    # What there is.

    async def get(self, id: str) -> ApprovalRequest | None:
        """A request by its id."""
        if not (id.isascii() and id.isprintable()):  # not every database takes it
            return None
        async with self._database.connect() as connection:
            several = await found(connection, approvals.c.id == id)
            return several[0] if several else None

    async def open(self) -> Sequence[ApprovalRequest]:
        """Those that may still come to a run, the oldest first."""
        still = (approvals.c.state.in_(OPEN), approvals.c.expires > self.clock())
        async with self._database.connect() as connection:
            return await found(connection, *still)

    async def of(self, person: str) -> Sequence[ApprovalRequest]:
        """Somebody's own, the oldest first."""
        async with self._database.connect() as connection:
            return await found(connection, approvals.c.person == person)

    async def every(self) -> Sequence[ApprovalRequest]:
        """All that are remembered, the oldest first."""
        async with self._database.connect() as connection:
            return await found(connection)

    # Statements.

    def _good(self, call: BoundCall, state: State) -> tuple[ColumnElement[bool], ...]:
        """The conditions under which a request is for this very call, now."""
        return (
            *same_call(call),
            approvals.c.state == state,
            approvals.c.expires > self.clock(),
        )

    async def _moved(
        self,
        connection: AsyncConnection,
        state: State,
        where: Sequence[ColumnElement[bool]],
        run: str | None = None,
        note: str | None = None,
    ) -> str | None:
        """End a request, if it is where it has to be; what it brought is forgotten, but for that.

        An approval that is used keeps what it brought: the call may come again (:meth:`unspend`).
        """
        values: dict[str, Any] = {"state": state, "ended": self.clock(), "run": run, "note": note}
        if state != "used":
            values |= dict.fromkeys(("arguments", "accounts", "back"))
        changed = update(approvals).where(*where).values(values).returning(approvals.c.id)
        moved: str | None = await connection.scalar(changed)
        return moved
