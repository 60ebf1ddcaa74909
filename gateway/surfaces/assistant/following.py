"""An answer as an event stream: what there is, and then what comes, on whichever replica."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing, suppress
from typing import Any

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from gateway.assistant.assistant import Assistant
from gateway.assistant.conversation import Turn
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.open_streams import OpenStreams, Why

SILENT_SECONDS = 15.0
"""Seconds of silence after which a sign of life is sent, for proxies that close what is silent."""
_HEADERS = {
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",  # which protocol it is of
}


class Follower:
    """One client that follows an answer (``gateway.surfaces.http.open_streams.OpenStream``)."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    def end(self, why: Why) -> None:
        """End soon: the portal stops, or the caller's access has changed."""
        self.ended.set()

    def beat(self) -> None:
        """Nothing: what is silent says so itself."""

    def allowed(self) -> bool:
        """A conversation is its person's, whatever their tier."""
        return True


class Following:
    """Opens streams.

    Args:
        assistant: has answers followed.
        places: the streams that are open.
    """

    def __init__(self, assistant: Assistant, places: OpenStreams) -> None:
        self._assistant = assistant
        self._places = places

    def response(self, context: CallContext, person: str, turn: Turn, last: str) -> Response:
        """The stream of one answer.

        Args:
            context: who asks for it.
            person: whose it is.
            turn: the answer as it was found.
            last: the id of the last event that the client has, or "".

        Raises:
            TooManyStreams: all places are taken.
        """
        stack, follower = ExitStack(), Follower()
        stack.enter_context(self._places.place(context, follower))
        lines = self._lines(follower, person, turn, last)
        return _Stream(stack, lines, 200, _HEADERS, "text/event-stream")

    async def _lines(
        self, follower: Follower, person: str, turn: Turn, last: str
    ) -> AsyncGenerator[str]:
        await self._assistant.ready()
        from gateway.assistant.stream import Place, beginning, news

        place = Place.read(last)
        ended = asyncio.ensure_future(follower.ended.wait())
        turns = self._assistant.follow(person, turn.id)
        try:
            async with aclosing(turns):
                yield beginning(turn)
                async for now in _until(ended, turns):
                    if now is None:
                        yield ": still there\n\n"
                    elif lines := "".join(news(now, place)):
                        yield lines
        finally:
            ended.cancel()


class _Stream(StreamingResponse):
    """A stream that holds something until it has ended, also where it never begins."""

    def __init__(self, held: ExitStack, *rest: Any) -> None:
        super().__init__(*rest)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._held:
            await super().__call__(scope, receive, send)


async def _until(
    ended: asyncio.Future[Any], turns: AsyncGenerator[Turn, None]
) -> AsyncGenerator[Turn | None]:
    """The turns until something else ends; None after each silence."""
    coming: asyncio.Future[Turn] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(turns))
            await asyncio.wait(
                (coming, ended), timeout=SILENT_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if ended.done():
                return
            if not coming.done():
                yield None
                continue
            try:
                now = coming.result()
            except StopAsyncIteration:
                return
            coming = None
            yield now
    finally:
        if coming is not None:
            coming.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await coming
