"""What a legacy client says about a call reaches the replica that runs the call.

A client answers a question, or cancels a request, with a POST of its own, and a balancer may hand
that to any replica. One that does not run the call passes it on over the cache's channels: an
answer to the replica that its question's id names, a cancellation to all.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from auth.sealer import BadSeal, Sealer
from gateway.contract import Cache
from gateway.observability.logs import get_logger
from gateway.surfaces.mcp.sessions import Session

__all__ = ["Answer", "Relay", "opened"]

LIFETIME_SECONDS = 24 * 3600.0
"""Seconds for which what is passed on is believed: more than clocks of replicas ever differ. Sent
again, it finds nothing to act on: the id of a question is used once."""
MAX_ID_CHARACTERS = 200
"""Characters of the id of a cancelled request that is passed on."""

_CANCELLED = "notifications/cancelled"
_CANCELLATIONS = "mcp-cancellations"

Answer = asyncio.Future[Mapping[str, Any]]

log = get_logger(__name__)


class Relay:
    """Knows what runs here for legacy sessions, and passes on what concerns other replicas.

    What is on a channel is sealed: who can write to the server of the cache cannot answer for a
    client.

    Args:
        key: seals; the same on every replica.
        cache: carries messages between replicas.
    """

    def __init__(self, key: bytes, cache: Cache) -> None:
        self._sealer = Sealer(key, "mcp-relay")
        self._cache = cache
        self._replica = secrets.token_hex(6)
        self._numbers = itertools.count(1)
        self._running: dict[tuple[str, str | int], asyncio.Task[Any]] = {}
        self._asked: dict[str, tuple[str, Answer]] = {}

    @contextmanager
    def request(self, session: Session, request_id: str | int) -> Generator[None]:
        """Let the client cancel the task that runs the block."""
        key, task = (session.mark, request_id), asyncio.current_task()
        if task is not None:
            self._running[key] = task
        try:
            yield
        finally:
            if self._running.get(key) is task:  # not a later one's with the same id
                del self._running[key]

    @contextmanager
    def question(self, session: Session) -> Generator[tuple[str, Answer]]:
        """The id of a new question, which names this replica, and what becomes its answer."""
        number = f"porch-{self._replica}-{next(self._numbers)}"
        answer: Answer = asyncio.get_running_loop().create_future()
        self._asked[number] = (session.mark, answer)
        try:
            yield number, answer
        finally:
            del self._asked[number]

    async def take(self, session: Session, message: Mapping[str, Any]) -> None:
        """Take in a notification, or a client's answer to a question, here or where it belongs."""
        if self._taken(session.mark, message):
            return
        channel = _elsewhere(message)
        if channel is None:
            return
        sealed = self._sealer.seal({"s": session.mark, "m": message}, LIFETIME_SECONDS, channel)
        try:
            await self._cache.publish(channel, sealed.encode())
        except OSError as error:
            log.warning("not_passed_on", channel=channel, reason=str(error))

    async def listen(self) -> None:
        """Take in what other replicas pass on, until cancelled."""
        async with asyncio.TaskGroup() as both:
            for channel in (_CANCELLATIONS, _answers(self._replica)):
                both.create_task(self._listen(channel))

    async def _listen(self, channel: str) -> None:
        async with self._cache.listen(channel) as messages:
            async for message in opened(self._sealer, channel, messages):
                self._taken(message["s"], message["m"])

    def _taken(self, mark: str, message: Mapping[str, Any]) -> bool:
        """Act on a message of a session's client, if it is about something that runs here."""
        if "method" not in message:
            whose, answer = self._asked.get(str(message.get("id")), ("", None))
            if answer is None or whose != mark:
                return False
            if not answer.done():
                answer.set_result(message)
            return True
        if message["method"] == _CANCELLED and (request_id := _cancelled(message)) is not None:
            task = self._running.get((mark, request_id))
            return task is not None and task.cancel()
        return False


async def opened(
    sealer: Sealer, channel: str, messages: AsyncIterator[bytes]
) -> AsyncIterator[dict[str, Any]]:
    """What replicas have sealed for a channel; what nobody of them has is left out.

    Args:
        sealer: opens it.
        channel: the channel.
        messages: what comes in on it.
    """
    async for sealed in messages:
        try:
            yield sealer.open(sealed.decode(), channel)
        except (BadSeal, UnicodeDecodeError) as error:
            log.warning("passed_on_and_not_believed", channel=channel, reason=str(error))


def _elsewhere(message: Mapping[str, Any]) -> str | None:
    """The channel on which who is concerned by a message listens."""
    if "method" not in message:
        name, _, rest = str(message.get("id")).partition("-")
        replica, _, number = rest.partition("-")
        ours = name == "porch" and replica.isalnum() and number.isdecimal()
        return _answers(replica) if ours and len(rest) <= MAX_ID_CHARACTERS else None
    request_id = _cancelled(message) if message["method"] == _CANCELLED else None
    known = request_id is not None and len(str(request_id)) <= MAX_ID_CHARACTERS
    return _CANCELLATIONS if known else None


def _cancelled(message: Mapping[str, Any]) -> str | int | None:
    request_id = message.get("params", {}).get("requestId")
    return request_id if isinstance(request_id, str | int) else None


def _answers(replica: str) -> str:
    return f"mcp-answers-{replica}"
