import asyncio
from typing import Any

import pytest

from auth import ANONYMOUS
from gateway.services.cache.address import open_cache
from gateway.surfaces.mcp import reply_delivery, reply_stream
from gateway.surfaces.mcp.replies import KeptReply, Replies
from gateway.surfaces.mcp.reply_stream import Outbox, Reply, answer
from gateway.surfaces.mcp.sessions import Sessions


class Client:
    """The other end of an ASGI response."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.heard = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        self.heard.set()

    @property
    def kind(self) -> str:
        kind: bytes = dict(self.sent[0]["headers"])[b"content-type"]
        return kind.decode()

    @property
    def status(self) -> int:
        status: int = self.sent[0]["status"]
        return status

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent[1:])


async def _answer(client: Client, work, outbox=None, kept=None) -> None:
    await answer(
        work,
        outbox or Outbox(),
        client.receive,
        client.send,
        kept,
    )


def _kept(version: str = "2025-11-25") -> KeptReply:
    cache = open_cache("memory")
    session = Sessions(b"k" * 32, cache).begin(ANONYMOUS, version, {})
    return Replies(b"k" * 32, cache).begin(session, ANONYMOUS)


async def test_quick_work_is_answered_as_json_with_its_status():
    client = Client()

    async def work() -> Reply:
        return Reply(b'{"a":1}', 404)

    await _answer(client, work())
    assert (client.kind, client.status, client.body) == ("application/json", 404, b'{"a":1}')


async def test_slow_but_silent_work_is_answered_as_json_too():
    client = Client()

    async def work() -> Reply:
        await asyncio.sleep(3 * reply_stream.QUICK_ANSWER_SECONDS)
        return Reply(b"{}")

    await _answer(client, work())
    assert client.kind == "application/json"


@pytest.mark.parametrize("pause", [0, 3 * reply_stream.QUICK_ANSWER_SECONDS])
async def test_messages_come_before_the_reply_in_order(pause: float):
    client, outbox = Client(), Outbox()

    async def work() -> Reply:
        for number in range(3):
            outbox.send({"n": number})
            await asyncio.sleep(pause)
        return Reply(b'{"n":"reply"}')

    await _answer(client, work(), outbox)
    assert client.kind == "text/event-stream"
    data = [line[6:] for line in client.body.split(b"\n") if line.startswith(b"data: ")]
    assert data == [b'{"n":0}', b'{"n":1}', b'{"n":2}', b'{"n":"reply"}']
    assert client.sent[-1]["more_body"] is False


async def test_long_silence_commits_the_stream_and_pings(monkeypatch):
    monkeypatch.setattr(reply_delivery, "STREAM_PING_SECONDS", 0.01)
    client, go = Client(), asyncio.Event()

    async def work() -> Reply:
        await go.wait()
        return Reply(b"{}")

    answering = asyncio.create_task(_answer(client, work()))
    await asyncio.wait_for(client.heard.wait(), 60)
    go.set()
    await answering
    assert client.kind == "text/event-stream"
    assert client.body.startswith(b": ping\n\n")
    assert client.body.endswith(b"data: {}\n\n")


async def test_a_client_that_leaves_cancels_the_work():
    client, cancelled, started = Client(), asyncio.Event(), asyncio.Event()

    async def work() -> Reply:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    answering = asyncio.create_task(_answer(client, work()))
    await started.wait()
    client.left.set()
    await asyncio.wait_for(answering, 60)
    await asyncio.wait_for(cancelled.wait(), 60)
    assert client.sent == []


async def test_work_that_its_client_left_is_cancelled_as_its_task_sees_it():
    client, seen = Client(), asyncio.Event()

    async def work() -> Reply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                seen.set()
            raise
        raise AssertionError

    async def serving() -> str:
        await _answer(client, work())
        await asyncio.sleep(0)  # the task that served it is not cancelled itself
        return "still here"

    serves = asyncio.create_task(serving())
    client.left.set()
    assert await asyncio.wait_for(serves, 60) == "still here"
    assert seen.is_set()


async def test_a_server_that_stops_cancels_the_work_and_its_own_task():
    client, started = Client(), asyncio.Event()

    async def work() -> Reply:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    answering = asyncio.create_task(_answer(client, work()))
    await started.wait()
    await asyncio.sleep(2 * reply_stream.QUICK_ANSWER_SECONDS)
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    assert client.sent == []


async def test_on_the_legacy_leg_the_work_goes_on_without_its_client():
    client, go, finished = Client(), asyncio.Event(), asyncio.Event()

    async def work() -> Reply:
        await go.wait()
        finished.set()
        return Reply(b"{}")

    answering = asyncio.create_task(_answer(client, work(), kept=_kept()))
    client.left.set()
    await asyncio.sleep(3 * reply_stream.QUICK_ANSWER_SECONDS)
    assert not answering.done()
    go.set()
    await asyncio.wait_for(answering, 60)
    assert finished.is_set()
    assert client.sent == []
