"""What running jobs ask those who follow them, and what they are answered (SEP-2663).

A question is an event of its job, and an answer is a message to it, both rows of DBOS's own that
go with the job's; so a job waits through restarts, and any replica takes the answer. DBOS would
have a thread wait for each message. Here nothing waits but the job's own task, which is woken
where the answer comes in, or else looks every second.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from gateway.contract.backend_errors import is_outage

__all__ = ["Questions"]

POLL_SECONDS = 1.0
"""Seconds between two looks for answers that another replica has taken."""
_ASKED = "asked"
_ANSWER = "answer/"


class Questions:
    """The questions of the jobs of all replicas."""

    def __init__(self) -> None:
        self._woken: dict[str, asyncio.Event] = {}

    async def ask(self, requests: Mapping[str, Any]) -> None:
        """Say what the job asks that runs here; nothing where it has its answers."""
        from dbos import DBOS

        await DBOS.set_event_async(_ASKED, dict(requests))

    async def open(self, job_id: str) -> Mapping[str, Any]:
        """What a job asks and nobody has answered, by key."""
        asked, answers = await asyncio.to_thread(_rows, job_id)
        return {key: each for key, each in asked.items() if key not in answers}

    async def answer(self, job_id: str, answers: Mapping[str, Any]) -> None:
        """Answer what a job asks; other keys, and those that were answered, are passed over."""
        from dbos import DBOS

        for key in [each for each in await self.open(job_id) if each in answers]:
            topic = _ANSWER + key  # the first one counts, whoever sends another at the same time
            await DBOS.send_async(job_id, answers[key], topic, idempotency_key=topic)
        if woken := self._woken.get(job_id):
            woken.set()

    async def answered(
        self, job_id: str, keys: Collection[str], seconds: float
    ) -> Mapping[str, Any] | None:
        """Wait for the answers to all of these; None where they have not come in time."""
        woken = self._woken[job_id] = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                while set(keys) - (found := await self._found(job_id)).keys():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(POLL_SECONDS):
                            await woken.wait()
                    woken.clear()
                return {key: found[key] for key in keys}
        except TimeoutError:
            return None
        finally:
            del self._woken[job_id]

    async def _found(self, job_id: str) -> Mapping[str, Any]:
        try:
            return (await asyncio.to_thread(_rows, job_id))[1]
        except Exception as error:
            if not is_outage(error):
                raise
            return {}  # the database is away; the next look may find it there


def _rows(job_id: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What a job asked last, and all it was ever answered, each by key."""
    from dbos._dbos import _get_dbos_instance
    from sqlalchemy import select

    database = _get_dbos_instance()._sys_db
    events, messages = database.tables.workflow_events.c, database.tables.notifications.c
    event = select(events.value).where(events.workflow_uuid == job_id, events.key == _ASKED)
    sent = select(messages.topic, messages.message).where(
        messages.destination_uuid == job_id, messages.topic.startswith(_ANSWER)
    )
    with database.engine.connect() as connection:
        asked = connection.scalar(event)
        answers = connection.execute(sent).all()
    found = {topic.removeprefix(_ANSWER): json.loads(message) for topic, message in answers}
    return (json.loads(asked) if asked else {}), found
