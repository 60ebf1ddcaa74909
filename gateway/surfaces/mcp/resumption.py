"""A reply's stream that goes on after its connection broke: a GET with ``Last-Event-ID``."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing

from starlette.types import Receive, Send

from gateway.limits.stream_shares import TooManyStreams
from gateway.observability.logs import get_logger
from gateway.pipeline.call_context import CallContext
from gateway.surfaces.http.open_streams import OpenStreams
from gateway.surfaces.http.responses import send_json
from gateway.surfaces.mcp.envelope import INVALID_REQUEST, WireError
from gateway.surfaces.mcp.push_stream import Feed
from gateway.surfaces.mcp.replies import Position, Reading, Replies
from gateway.surfaces.mcp.sessions import Session
from gateway.surfaces.mcp.sse import priming
from gateway.surfaces.mcp.subscriptions import refuse
from gateway.toolkit.background import background

log = get_logger(__name__)


class Resumption:
    """Tells replies again, from where their clients have lost them.

    Args:
        replies: keeps them.
        streams: gives the places.

    Attributes:
        replies: what keeps them.
        outcomes: how many replies were ``told`` again, and how many were ``lost``: not kept, or
            not for who asked.
    """

    def __init__(self, replies: Replies, streams: OpenStreams) -> None:
        self.replies = replies
        self._streams = streams
        self.outcomes: Counter[tuple[str, ...]] = Counter({("told",): 0, ("lost",): 0})

    async def serve(
        self, session: Session, context: CallContext, at: Position, receive: Receive, send: Send
    ) -> None:
        """Answer a GET with what comes after a position, until the reply's end."""
        reading = await self.replies.find(session, context.caller, at)
        if reading is None:
            self.outcomes["lost",] += 1
            return await _refuse_lost(send)
        self.outcomes["told",] += 1
        feed = Feed()
        if session.primes:
            feed.put(priming(str(at)))
        try:
            with self._streams.place(context, feed):
                async with background(_pour(reading, feed)):
                    await feed.run(receive, send)
        except TooManyStreams as refusal:
            await refuse(send, refusal, None)


async def _pour(reading: Reading, feed: Feed) -> None:
    """Put a reply's events into a feed, and close it behind them."""
    try:
        async with aclosing(reading.events()) as events:
            async for written in events:
                feed.put(written)
    except OSError as error:
        log.warning("reply_not_told_again", reason=str(error))
    finally:
        feed.close()


async def _refuse_lost(send: Send) -> None:
    # 404 would say that the session is over.
    message = "What came after Last-Event-ID is not kept here any more. Send the request again."
    await send_json(send, WireError(INVALID_REQUEST, message).body(None), 400)
