"""What one server may take: of time, of memory, of attempts."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one connection.

    Attributes:
        connect_s: seconds for the address to be looked up, connected to, and TLS to be agreed on.
        total_s: seconds that one request may take, all of its answer included. Questions that the
            server asks meanwhile stop the clock.
        probe_s: seconds in which a server answers which era it speaks, before the other is tried.
        closing_s: seconds that a child has to end by itself, and again after SIGTERM; also how
            long the last messages to a server may take.
        message_bytes: of one message: a JSON body, an event, a line of a child's output.
        reply_bytes: of all messages that answer one request.
        reply_messages: how many of them there may be.
        header_bytes: of one header of an answer.
        resumes: how often in a row a broken reply is taken up again without hearing anything new.
    """

    connect_s: float = 10.0
    total_s: float = 300.0
    probe_s: float = 10.0
    closing_s: float = 2.0
    message_bytes: int = 16 * MIB
    reply_bytes: int = 64 * MIB
    reply_messages: int = 10_000
    header_bytes: int = 16 * 1024
    resumes: int = 5
