"""Server-sent events, read as they arrive (WHATWG HTML, 9.2.6)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plugins.upstreams.wire.errors import TooLarge

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        kind: ``message`` where it names none.
        data: its lines.
    """

    kind: str
    data: bytes


class EventReader:
    """Makes events of bytes.

    Args:
        max_bytes: bytes of one event, its unfinished line included.

    Attributes:
        last_id: the id of the last event that had one, or None.
        retry_s: after how many seconds the server wants to be asked again; None if it never said.
    """

    def __init__(self, max_bytes: int) -> None:
        self.last_id: str | None = None
        self.retry_s: float | None = None
        self._max_bytes = max_bytes
        self.restart()

    def restart(self) -> None:
        """Read another stream; what the last one left unfinished is no part of it."""
        self._buffer = bytearray()
        self._scanned = 0
        self._after_cr = self._started = False
        self._id = self.last_id
        self._begin()

    def _begin(self) -> None:
        self._kind = ""
        self._data: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that a piece of the stream completes.

        Raises:
            TooLarge: an event is.
        """
        self._buffer += chunk[1:] if self._after_cr and chunk.startswith(b"\n") else chunk
        self._after_cr = self._after_cr and not chunk
        events: list[Event] = []
        begin = 0
        for end in _LINE_END.finditer(self._buffer, self._scanned):
            if (event := self._line(bytes(self._buffer[begin : end.start()]))) is not None:
                events.append(event)
            begin = end.end()
            self._after_cr = end[0] == b"\r" and begin == len(self._buffer)
        del self._buffer[:begin]
        self._scanned = len(self._buffer)
        if self._held + len(self._buffer) > self._max_bytes:
            raise TooLarge(f"The server sent an event of more than {self._max_bytes} bytes.")
        return events

    def _line(self, line: bytes) -> Event | None:
        if not self._started:
            self._started = True
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._held += len(value) + 1
        elif name == b"event":
            self._kind = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace") or None
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry_s = int(value) / 1000
        return None

    def _dispatch(self) -> Event | None:
        # Not before: an event that breaks off is asked for again, by the id of the one before it.
        self.last_id = self._id
        kind, data = self._kind, self._data
        self._begin()
        return Event(kind or "message", b"\n".join(data)) if data else None
