"""Answers while they are written: one run writes each, and every replica can see how far it is.

Each change names the run that may make it, so that an answer which was taken over, stopped or
deleted is changed no more by who wrote it before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import ColumnElement, select, update

from auth.stores import utc_now
from gateway.assistant.conversation import UNFINISHED, Busy, Part, State, Trouble, Turn, unknown
from gateway.assistant.rows import as_turn
from gateway.assistant.tables import conversations, turns
from gateway.identity.stores.connection import Reached
from gateway.toolkit.group_commit import GroupCommit

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection
    from sqlalchemy.sql.dml import ReturningUpdate

    from gateway.contract.services import Database

Word = Literal["go on", "stop", "gone"]
"""What a run is told when it saves: that it is to end, or that the answer is its own no more."""


class AnswerStore:
    """The answers that are under way.

    Args:
        database: where they are kept.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = Reached(database)
        self._together = GroupCommit(self._database.begin)
        self._clock = clock

    async def save(
        self, turn: str, run: str, parts: Sequence[Part], messages: str | None = None
    ) -> Word:
        """Write down how far an answer is, and learn whether to go on.

        Args:
            turn: whose answer.
            run: who writes it.
            parts: the answer so far.
            messages: what was said to the model and by it; None leaves that as it is.
        """
        values: dict[str, Any] = {"parts": list(parts), "beat": turns.c.beat + 1}
        if messages is not None:
            values["messages"] = messages
        saved = update(turns).where(*_mine(turn, run)).values(values).returning(turns.c.stop)
        row = await self._together.run(_first(saved))
        if row is None:
            return "gone"
        return "stop" if row.stop else "go on"

    async def end(
        self,
        turn: str,
        run: str,
        state: State,
        parts: Sequence[Part],
        messages: str | None = None,
        trouble: Trouble | None = None,
    ) -> bool:
        """Write down how an answer ended; False where it was not this run's any more.

        Args:
            turn: whose answer.
            run: who wrote it.
            state: how it ended.
            parts: the answer.
            messages: what is needed to go on; None where it is complete.
            trouble: why it has no good end.
        """
        values = {
            "state": state,
            "parts": list(parts),
            "messages": messages,
            "trouble": asdict(trouble) if trouble else None,
            "ended": self._clock(),
            "beat": turns.c.beat + 1,
        }
        ended = update(turns).where(*_mine(turn, run)).values(values).returning(turns.c.id)
        return await self._together.run(_first(ended)) is not None

    async def take(self, person: str, turn: str, run: str) -> Turn:
        """Take up an answer that has not come to its end.

        Raises:
            NotFound: this person has no such turn.
            Busy: it is complete, or somebody writes it.
        """
        values = {"state": "running", "run": run, "stop": False, "trouble": None, "ended": None}
        open_still = turns.c.state.in_(UNFINISHED)
        taken = update(turns).where(_of(person, turn), open_still).values(values)
        async with self._database.begin() as connection:
            row = (await connection.execute(taken.returning(*turns.c))).one_or_none()
            if row is not None:
                return as_turn(row)
            there = await connection.scalar(select(turns.c.id).where(_of(person, turn)))
        if there is None:
            raise unknown(turn)
        raise Busy("This answer is being written, or is complete already.")

    async def stop(self, person: str, turn: str) -> None:
        """Ask for an answer to end; one that waits for a yes ends at once."""
        async with self._database.begin() as connection:
            running = update(turns).where(_of(person, turn), turns.c.state == "running")
            await connection.execute(running.values(stop=True))
            waiting = update(turns).where(_of(person, turn), turns.c.state == "waiting")
            await connection.execute(waiting.values(state="stopped", ended=self._clock()))

    async def lapse(self, turn: str, beat: int) -> bool:
        """Note that nobody writes an answer any more; False where somebody does.

        Args:
            turn: whose answer.
            beat: what its ``beat`` was for so long that its writer must be dead.
        """
        silent = (turns.c.id == turn, turns.c.state == "running", turns.c.beat == beat)
        values = {
            "state": "interrupted",
            "ended": self._clock(),
            "run": "",
            "trouble": asdict(INTERRUPTED),
        }
        lapsed = update(turns).where(*silent).values(values).returning(turns.c.id)
        async with self._database.begin() as connection:
            return (await connection.execute(lapsed)).one_or_none() is not None


INTERRUPTED = Trouble(
    "interrupted",
    "The part of the portal that was writing this has stopped. What it had written is here; you "
    "can have it go on.",
)


def cut_short(why: str | None) -> tuple[State, Trouble | None]:
    """How an answer ends that is cut short: its state, and what its person is told.

    Args:
        why: ``Live.why``.
    """
    return ("stopped", None) if why == "stopped" else ("interrupted", INTERRUPTED)


def _first(changed: ReturningUpdate[Any]) -> Callable[[AsyncConnection], Awaitable[Any]]:
    """Changes rows, and gives the one that was changed; None where there is none."""

    async def write(connection: AsyncConnection) -> Any:
        return (await connection.execute(changed)).one_or_none()

    return write


def _mine(turn: str, run: str) -> tuple[ColumnElement[bool], ...]:
    return turns.c.id == turn, turns.c.run == run, turns.c.state == "running"


def _of(person: str, turn: str) -> ColumnElement[bool]:
    mine = select(conversations.c.id).where(conversations.c.person == person)
    return (turns.c.id == turn) & turns.c.conversation.in_(mine)
