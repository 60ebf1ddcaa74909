"""Conversations in the portal's database, SQLite or PostgreSQL; each is its person's alone."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from auth.stores import utc_now
from gateway.assistant.conversation import (
    MAX_CONVERSATIONS,
    MAX_TITLE_CHARACTERS,
    MAX_TURNS,
    Busy,
    Conversation,
    NotTaken,
    Turn,
    titled,
    unknown,
)
from gateway.assistant.rows import as_conversation, as_turn
from gateway.assistant.tables import conversations, turns
from gateway.identity.stores.connection import Reached
from gateway.toolkit.sql import exclusive, lock_number

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract.services import Database


class ConversationStore:
    """The conversations.

    Args:
        database: where they are kept.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = Reached(database)
        self.clock = clock

    # What a person has.

    async def list(self, person: str) -> Sequence[Conversation]:
        """Somebody's conversations without their turns, the one last spoken in first."""
        mine = select(conversations).where(conversations.c.person == person)
        newest = mine.order_by(conversations.c.changed.desc(), conversations.c.id)
        async with self._database.connect() as connection:
            return [as_conversation(row) for row in await connection.execute(newest)]

    async def get(self, person: str, id: str) -> Conversation:
        """One of somebody's conversations, with its turns.

        Raises:
            NotFound: they have none of that id.
        """
        async with self._database.connect() as connection:
            found = await _of(connection, person, id)
            its = select(turns).where(turns.c.conversation == id).order_by(turns.c.number)
            return replace(found, turns=[as_turn(row) for row in await connection.execute(its)])

    async def turn(self, person: str, id: str) -> Turn | None:
        """A turn of somebody's, by its own id."""
        chosen = select(turns).select_from(turns.join(conversations))
        chosen = chosen.where(conversations.c.person == person, turns.c.id == id)
        async with self._database.connect() as connection:
            row = (await connection.execute(chosen)).one_or_none()
            return None if row is None else as_turn(row)

    async def all(self, person: str) -> AsyncIterator[Conversation]:
        """Everything of somebody's, one conversation at a time."""
        for each in await self.list(person):
            yield await self.get(person, each.id)

    # What they do.

    async def ask(self, person: str, question: str, run: str, id: str | None = None) -> Turn:
        """Write down a question, whose answer is about to be written.

        Args:
            person: who asks.
            question: what they ask.
            run: names who writes the answer.
            id: the conversation's; None begins one.

        Raises:
            NotFound: they have no such conversation.
            Busy: its last answer is still under way.
            NotTaken: there are too many conversations, or turns of this one.
        """
        async with self._database.begin() as connection:
            await exclusive(connection, lock_number("", f"porch_conversations {person}"))
            now, number = self.clock(), 1
            if id is None:
                id = await self._new(connection, person, titled(question), now)
            else:
                number = await self._begun(connection, person, id)
                touched = update(conversations).where(conversations.c.id == id)
                await connection.execute(touched.values(changed=now))
            turn = {
                "id": f"turn_{secrets.token_hex(10)}",
                "conversation": id,
                "number": number,
                "question": question,
                "state": "running",
                "parts": [],
                "run": run,
                "beat": 0,
                "stop": False,
                "begun": now,
            }
            asked = insert(turns).values(turn).returning(*turns.c)
            return as_turn((await connection.execute(asked)).one())

    async def rename(self, person: str, id: str, title: str) -> None:
        """Give a conversation another title.

        Raises:
            NotFound: they have no such conversation.
            NotTaken: the title is empty, or too long.
        """
        title = " ".join(title.split())
        if not 0 < len(title) <= MAX_TITLE_CHARACTERS:
            raise NotTaken(f"A title has from 1 to {MAX_TITLE_CHARACTERS} characters.")
        await self._change(person, id, update(conversations).values(title=title))

    async def delete(self, person: str, id: str) -> None:
        """Delete a conversation; what writes an answer in it ends.

        Raises:
            NotFound: they have no such conversation.
        """
        await self._change(person, id, delete(conversations))

    async def people(self) -> Collection[str]:
        """Everyone who has a conversation."""
        async with self._database.connect() as connection:
            return list(await connection.scalars(select(conversations.c.person).distinct()))

    async def erase(self, person: str) -> None:
        """Delete all that somebody has."""
        async with self._database.begin() as connection:
            await connection.execute(delete(conversations).where(conversations.c.person == person))

    async def forget(self, before: datetime) -> int:
        """Delete what nobody has spoken in since a time; returns how many conversations."""
        old = delete(conversations).where(conversations.c.changed < before)
        async with self._database.begin() as connection:
            return (await connection.execute(old)).rowcount

    # Statements.

    async def _change(self, person: str, id: str, statement: Any) -> None:
        mine = statement.where(conversations.c.id == id, conversations.c.person == person)
        async with self._database.begin() as connection:
            await _of(connection, person, id)
            await connection.execute(mine)

    async def _begun(self, connection: AsyncConnection, person: str, id: str) -> int:
        """The number of the next turn of a conversation."""
        await _of(connection, person, id)
        last = select(turns.c.number, turns.c.state).where(turns.c.conversation == id)
        row = (await connection.execute(last.order_by(turns.c.number.desc()).limit(1))).one()
        if row.state == "running":
            raise Busy("The last answer is still being written. Wait for it, or stop it.")
        if row.number >= MAX_TURNS:
            raise NotTaken(f"A conversation has at most {MAX_TURNS} questions. Begin another one.")
        return int(row.number) + 1

    async def _new(
        self, connection: AsyncConnection, person: str, title: str, now: datetime
    ) -> str:
        mine = select(func.count()).where(conversations.c.person == person)
        if (await connection.scalar(mine) or 0) >= MAX_CONVERSATIONS:
            raise NotTaken(
                f"You have {MAX_CONVERSATIONS} conversations. Delete some before you begin more."
            )
        new = {"id": f"chat_{secrets.token_hex(10)}", "person": person, "title": title}
        await connection.execute(insert(conversations), [{**new, "begun": now, "changed": now}])
        return new["id"]


async def _of(connection: AsyncConnection, person: str, id: str) -> Conversation:
    if not (id.isascii() and id.isprintable()):  # not every database takes it
        raise unknown(id)
    mine = select(conversations).where(conversations.c.id == id, conversations.c.person == person)
    row = (await connection.execute(mine)).one_or_none()
    if row is None:
        raise unknown(id)
    return as_conversation(row)
