"""What a stream says is the same, however its words arrive; several that are there are one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.services.models import joined_words
from gateway.services.models.joined_words import JoinedWords, joined

TEXTS = st.text(alphabet='ab \n\r"\\é☂:{}', max_size=6)


def event(value: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {value if isinstance(value, str) else json.dumps(value)}\n\n".encode()


def said(text: str, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None}
    return event({"id": "1", "object": "chat.completion.chunk", "choices": [choice], **more})


def delta(text: str, index: int = 0) -> bytes:
    value = {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": "text_delta", "text": text},
    }
    return event(value, "content_block_delta")


def called(text: str) -> bytes:
    calls = [{"index": 0, "function": {"arguments": text}}]
    return event({"id": "1", "choices": [{"index": 0, "delta": {"tool_calls": calls}}]})


def finished(text: str) -> bytes:
    ended = {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
    return event({"id": "1", "choices": [ended], "usage": {"completion_tokens": 3}})


EVENTS = st.lists(
    st.one_of(
        TEXTS.map(said),
        TEXTS.map(lambda text: said(text, id="2")),
        TEXTS.map(lambda text: said(text, obfuscation="xyz", created=len(text))),
        TEXTS.map(lambda text: said(text, usage={"completion_tokens": 1})),
        TEXTS.map(lambda text: said(text, unheard="of")),
        TEXTS.map(delta),
        TEXTS.map(lambda text: delta(text, 1)),
        TEXTS.map(called),
        TEXTS.map(finished),
        st.sampled_from([b": alive\n\n", b"data: [DONE]\n\n", b"data: {broken\n\n", b"\n\n"]),
    ),
    min_size=1,
    max_size=12,
)


TAILS = st.sampled_from([b"", b"da", b"data: {", said("more")[:-1], b": alive\n"])


class Sent(httpx2.AsyncByteStream):
    """A stream that sends pieces, and breaks at its end where it is to."""

    def __init__(
        self, pieces: Sequence[bytes], error: Exception | None = None, pause_s: float = 0
    ) -> None:
        self._pieces, self._error, self._pause_s = pieces, error, pause_s
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
            if self._pause_s:
                await asyncio.sleep(self._pause_s)
        if self._error:
            raise self._error

    async def aclose(self) -> None:
        """Note it."""
        self.closed = True


def meaning(stream: bytes) -> list[Any]:
    """What a stream says: neighbouring words of one place in one, and everything else as it is."""
    found: list[Any] = []
    for block in stream.split(b"\n\n"):
        head, _, data = block.rpartition(b"data: ")
        try:
            value = json.loads(data)
        except ValueError:
            found.append(block)
            continue
        where = _where(value)
        if where is None:
            found.append((head, value))
        elif found and found[-1][0] == where:
            found[-1] = (where, found[-1][1] + _text(value))
        else:
            found.append((where, _text(value)))
    return found


def _where(value: dict[str, Any]) -> tuple[Any, ...] | None:
    if value.get("type") == "content_block_delta":
        return ("text", value["index"]) if value["delta"]["text"] else None
    plain = set(value) <= {"id", "object", "choices", "obfuscation", "created"}
    choice = value["choices"][0]
    words = choice["delta"].get("content") and not choice["finish_reason"]
    return ("words", value["id"]) if plain and words else None


def _text(value: dict[str, Any]) -> str:
    return str(
        value["delta"]["text"] if "delta" in value else value["choices"][0]["delta"]["content"]
    )


@given(EVENTS)
def test_joining_changes_nothing_of_what_is_said(events: list[bytes]) -> None:
    stream = b"".join(events)
    found, _ = joined(stream)
    assert meaning(found) == meaning(stream)


@given(EVENTS, st.lists(st.integers(1, 40)), TAILS)
def test_however_a_stream_is_cut_it_says_the_same(
    events: list[bytes], cuts: list[int], tail: bytes
) -> None:
    stream = b"".join(events) + tail
    pieces, at = list[bytes](), 0
    for cut in cuts:
        pieces.append(stream[at : at + cut])
        at += cut
    pieces.append(stream[at:])

    async def read() -> bytes:
        return b"".join([piece async for piece in JoinedWords(Sent(pieces))])

    assert meaning(asyncio.run(read())) == meaning(stream)


def test_words_that_are_there_together_are_one_event() -> None:
    stream = b"".join(said(f"w{each} ") for each in range(30)) + finished("")
    found, had_words = joined(stream)
    assert had_words
    assert found.count(b"data: ") == 2
    stream = b"".join(delta(f"w{each} ") for each in range(30))
    assert joined(stream)[0].count(b"content_block_delta\n") == 1


async def test_the_first_words_do_not_wait_for_others() -> None:
    stream = JoinedWords(Sent([said("one "), said("two "), said("three")], pause_s=0.01))
    pieces = [piece async for piece in stream]
    assert pieces[0] == said("one ")
    assert len(pieces) == 2


async def test_a_connection_that_breaks_is_told_after_what_had_come() -> None:
    stream = JoinedWords(Sent([said("one"), b"data: {"], httpx2.ReadError("broken")))
    pieces = list[bytes]()
    with pytest.raises(httpx2.ReadError):
        async for piece in stream:
            pieces.append(piece)
    assert b"".join(pieces) == said("one") + b"data: {"


async def test_a_stream_that_nobody_reads_any_more_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joined_words, "MAX_HELD_BYTES", 100)
    sent = Sent([said("one")] * 100)
    stream = JoinedWords(sent)
    async for _ in stream:
        break
    await stream.aclose()
    assert sent.closed


async def test_a_provider_that_is_faster_than_its_reader_has_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joined_words, "MAX_HELD_BYTES", 1000)
    stream = JoinedWords(Sent([said("one ")] * 100))
    sizes = list[int]()
    async for piece in stream:
        sizes.append(len(piece))
        await asyncio.sleep(0.001)
    assert max(sizes) < 1000


def test_a_busy_process_looks_less_often() -> None:
    assert joined_words._pause(0.0) == joined_words.PAUSE_SECONDS
    assert joined_words._pause(0.1) == pytest.approx(0.3)
    assert joined_words._pause(60.0) == joined_words.MAX_PAUSE_SECONDS
