"""The words of a stream, some at a time: what has arrived together is read as one.

A model sends each word as an event of its own, and to read one costs milliseconds, in OpenAI's
client, the agent, and for whoever follows. With a hundred answers at once the words come faster
than they can be read. The first words are handed on at once, and later ones together, after a pause
that nobody sees; it is longer where the process has much to do. Events that hold anything but words
stay as they are.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import httpx2
from pydantic_core import from_json, to_json

from gateway.toolkit.background import cancel

__all__ = ["JoinedWords", "joined"]

PAUSE_SECONDS = 0.04
"""Seconds between two looks at a stream of words: 25 times a second it looks alive."""
MAX_PAUSE_SECONDS = 1.0
"""The longest pause, where the process has much to do."""
PAUSES_PER_READING = 3
"""How much longer a pause is than it took to read the words before: under load, fewer are read."""
MAX_HELD_BYTES = 256 * 1024
"""Bytes that are read ahead; then the provider has to wait."""
_DELTA = b"event: content_block_delta\n"
"""What goes before Anthropic's words."""
_ENVELOPE = frozenset(
    {
        *("id", "object", "created", "model", "choices", "usage"),
        *("system_fingerprint", "service_tier", "obfuscation", "provider"),
    }
)
"""What an event of OpenAI's may have beside its words; ``obfuscation`` only hides their length."""


class _Words(NamedTuple):
    """An event that holds words and nothing else.

    Attributes:
        head: what goes before its data.
        event: the event.
        holder: where in it the words are.
        name: under which name.
    """

    head: bytes
    event: dict[str, Any]
    holder: dict[str, Any]
    name: str

    def continues(self, other: _Words) -> bool:
        """Whether these words go on where others end."""
        mine, theirs = self.event, other.event
        same = ("id", "model", "type", "index")
        return all(mine.get(each) == theirs.get(each) for each in same)


class JoinedWords(httpx2.AsyncByteStream):
    """A stream of events whose words are joined where several are there.

    Args:
        inner: the stream as the provider sends it.
    """

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner
        self._held: list[bytes] = []
        self._size = 0
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._reading = asyncio.create_task(self._read())
        rest = b""
        while True:
            await self._more.wait()
            is_over = self._reading.done()
            whole, rest = _events(rest + self._taken())
            if whole:
                said, had_words = joined(whole)
                began = time.monotonic()
                yield said
                if had_words and not is_over:
                    pause = _pause(time.monotonic() - began)
                    await asyncio.wait({self._reading}, timeout=pause)
            if is_over:
                break
        if rest:
            yield rest
        await self._reading  # raises what the provider's connection did

    def _taken(self) -> bytes:
        taken = b"".join(self._held)
        self._held, self._size = [], 0
        if not (self._reading and self._reading.done()):
            self._more.clear()
        self._room.set()
        return taken

    async def _read(self) -> None:
        try:
            async for piece in self._inner:
                self._held.append(piece)
                self._size += len(piece)
                self._more.set()
                if self._size > MAX_HELD_BYTES:
                    self._room.clear()
                    await self._room.wait()
        finally:
            self._more.set()

    async def aclose(self) -> None:
        """Close the answer."""
        if self._reading is not None and not self._reading.done():
            await cancel(self._reading)
        await self._inner.aclose()


def _pause(took_s: float) -> float:
    """Seconds until the next look, where it took so long to read what the last one found."""
    return min(max(PAUSE_SECONDS, took_s * PAUSES_PER_READING), MAX_PAUSE_SECONDS)


def _events(text: bytes) -> tuple[bytes, bytes]:
    """What is complete, and the beginning of what is not."""
    end = text.rfind(b"\n\n") + 2
    return (text[:end], text[end:]) if end > 1 else (b"", text)


def joined(events: bytes) -> tuple[bytes, bool]:
    """Events with the words of neighbours in one, and whether there are any.

    Args:
        events: complete events, one or more, as they were sent.
    """
    if b"\r" in events:  # such a line may end otherwise
        return events, False
    said, had_words = list[bytes](), False
    for run in _runs(events):
        if isinstance(run, bytes):
            said.append(run)
        else:
            said.append(_one(run))
            had_words = True
    return b"".join(said), had_words


def _runs(events: bytes) -> Iterator[bytes | list[tuple[bytes, _Words]]]:
    """Words that belong together, and each other event, in their order."""
    run: list[tuple[bytes, _Words]] = []
    for raw in events[:-2].split(b"\n\n"):
        words = _words(raw)
        if run and not (words and words.continues(run[0][1])):
            yield run
            run = []
        if words:
            run.append((raw + b"\n\n", words))
        else:
            yield raw + b"\n\n"
    if run:
        yield run


def _one(run: list[tuple[bytes, _Words]]) -> bytes:
    raw, first = run[0]
    if len(run) == 1:
        return raw
    first.holder[first.name] = "".join(words.holder[words.name] for _, words in run)
    return first.head + b"data: " + to_json(first.event) + b"\n\n"


def _words(raw: bytes) -> _Words | None:
    """An event that holds words and nothing else; None of others."""
    head, found, data = raw.rpartition(b"data: ")
    if not found or head not in (b"", _DELTA) or b"\n" in data:
        return None
    try:
        event = from_json(data)
    except ValueError:
        return None
    if not isinstance(event, dict):
        return None
    return _anthropic(event) if head else _openai(event)


def _anthropic(event: dict[str, Any]) -> _Words | None:
    delta = event.get("delta")
    only_words = (
        event.keys() == {"type", "index", "delta"}
        and isinstance(delta, dict)
        and delta.keys() == {"type", "text"}
        and _is_text(delta["text"])
    )
    return _Words(_DELTA, event, event["delta"], "text") if only_words else None


def _openai(event: dict[str, Any]) -> _Words | None:
    choices = event.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or event.get("usage"):
        return None
    choice = choices[0]
    if not _ENVELOPE.issuperset(event) or not isinstance(choice, dict):
        return None
    delta = choice.get("delta")
    others = {name: value for name, value in choice.items() if name != "delta"}
    if others.pop("index", 0) != 0 or any(others.values()) or not isinstance(delta, dict):
        return None
    only_words = _is_text(delta.get("content")) and not any(
        value for name, value in delta.items() if name not in ("content", "role")
    )
    return _Words(b"", event, delta, "content") if only_words else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""
