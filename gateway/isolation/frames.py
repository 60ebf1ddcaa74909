"""What goes over the pipes between the portal and a plugin's process.

A frame is four bytes of length, then its content: pickled on the way to the process, which believes
the portal, and MessagePack on the way back, which can be nothing but values. A long value crosses
in parts, so that reading it never holds up the portal's loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from operator import itemgetter
from typing import Any

import msgspec

from gateway.pipeline.json_chunks import grouped
from gateway.pipeline.json_text import sendable
from gateway.scrubbing.contents import size_of

HEAD_BYTES = 4
MAX_FRAME_BYTES = 64 * 1024 * 1024
"""Bytes of a frame from a plugin's process; one that sends more is ended."""
PART_CHARACTERS = 64 * 1024
"""About how much of a long value is in one frame."""

_encoder = msgspec.msgpack.Encoder()


class Part(IntEnum):
    """What a part of a long value is."""

    MAPPING = 0
    LIST = 1
    KEY = 2
    VALUE = 3
    ENTRIES = 4
    TEXT = 5
    END = 6


def framed(content: bytes) -> bytes:
    """A frame."""
    return len(content).to_bytes(HEAD_BYTES, "big") + content


def length(head: bytes) -> int:
    """The bytes that follow the head of a frame.

    Raises:
        ValueError: they are too many.
    """
    size = int.from_bytes(head, "big")
    if size > MAX_FRAME_BYTES:
        raise ValueError(f"a frame of {size} bytes")
    return size


def written(*message: Any) -> bytes:
    """The frame of a message from a plugin's process: strings, numbers, lists, mappings, bytes."""
    try:
        return framed(_encoder.encode(message))
    except UnicodeEncodeError:
        return framed(_encoder.encode(sendable(list(message))))


def read(content: bytes) -> Any:
    """A message from a plugin's process."""
    return msgspec.msgpack.decode(content)


def parts_of(value: Any) -> Iterator[tuple[Part, Any]] | None:
    """The parts of a long value; None where it is short enough to cross whole."""
    return None if size_of(value, PART_CHARACTERS) <= PART_CHARACTERS else _parts(value)


def _parts(value: Any) -> Iterator[tuple[Part, Any]]:
    if size_of(value, PART_CHARACTERS) <= PART_CHARACTERS:
        yield Part.VALUE, value
    elif isinstance(value, str | bytes):
        for start in range(0, len(value), PART_CHARACTERS):
            yield Part.TEXT, value[start : start + PART_CHARACTERS]
        yield Part.END, None
    elif isinstance(value, Mapping):
        yield Part.MAPPING, None
        for some, is_long in grouped(value.items(), itemgetter(1), PART_CHARACTERS):
            if is_long:
                yield Part.KEY, some[0][0]
                yield from _parts(some[0][1])
            else:
                yield Part.ENTRIES, dict(some)
        yield Part.END, None
    else:
        yield from _list(value)


def _list(values: Iterable[Any]) -> Iterator[tuple[Part, Any]]:
    yield Part.LIST, None
    for some, is_long in grouped(values, lambda each: each, PART_CHARACTERS):
        if is_long:
            yield from _parts(some[0])
        else:
            yield Part.ENTRIES, some
    yield Part.END, None


class Joined:
    """Puts the parts of a long value together again."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._keys: list[Any] = []
        self._texts: list[Any] = []
        self._value: Any = None

    def take(self, kind: int, held: Any) -> None:
        """Take the next part."""
        if kind in (Part.MAPPING, Part.LIST):
            self._open.append({} if kind == Part.MAPPING else [])
        elif kind == Part.KEY:
            self._keys.append(held)
        elif kind == Part.ENTRIES:
            innermost = self._open[-1]
            innermost.update(held) if isinstance(innermost, dict) else innermost.extend(held)
        elif kind == Part.TEXT:
            self._texts.append(held)
        elif kind == Part.END and self._texts:
            texts, self._texts = self._texts, []
            self._put(type(texts[0])().join(texts))
        else:
            self._put(self._open.pop() if kind == Part.END else held)

    def value(self) -> Any:
        """The value, once every part of it was taken."""
        return self._value

    def _put(self, value: Any) -> None:
        if not self._open:
            self._value = value
        elif isinstance(self._open[-1], dict):
            self._open[-1][self._keys.pop()] = value
        else:
            self._open[-1].append(value)
