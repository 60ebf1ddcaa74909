"""What goes wrong between the portal and another server, by what may be done about it.

Each error says what the server did, and whether the request may have run all the same: one that
provably did not may be repeated.
"""

from __future__ import annotations

from typing import Any

from plugins.upstreams.wire.challenges import Challenge

_NOT_RUN_CODES = frozenset({-32700, -32600, -32601, -32602, -32020, -32021, -32022})
_TOO_MANY_REQUESTS = 429
_REQUEST_TIMEOUT = 408
_SERVER_ERRORS = 500
CLOSED = "The connection was closed."
"""What those are told who still use a connection when it is closed here."""


class WireError(Exception):
    """A request has no result.

    Args:
        message: what the server did; it repeats nothing that could be a secret.

    Attributes:
        may_have_run: whether the server may have done what it was asked to.
    """

    may_have_run: bool = True

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unreachable(WireError):
    """No connection: the name is unknown, the port closed, TLS failed, the command is missing."""

    may_have_run = False


class ConnectionLost(WireError):
    """The connection broke after the request was sent."""


class ChildEnded(ConnectionLost):
    """The child process ended.

    Args:
        message: what happened.
        code: its exit status; None where a signal ended it.
        signal: the signal's number, or None.
    """

    def __init__(self, message: str, code: int | None = None, signal: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.signal = signal


class NotMcp(WireError):
    """What was answered is no MCP: HTML, no JSON, the wrong id, a revision that nobody knows."""


class TooLarge(WireError):
    """An answer is larger than its limit, and was not read to its end."""


class TimedOut(WireError):
    """There was no answer in time."""


class RedirectRefused(WireError):
    """The server points to another place, where neither the request nor its credential may go."""

    may_have_run = False


class HttpRefused(WireError):
    """The server answered with an HTTP error and nothing else.

    Args:
        message: what happened.
        status: the HTTP status.
        retry_after: the seconds that it asks to be left alone (RFC 9110, 10.2.3); 0 for nothing.
    """

    def __init__(self, message: str, status: int, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.may_have_run = status >= _SERVER_ERRORS or status == _REQUEST_TIMEOUT

    @property
    def is_final(self) -> bool:
        """Whether the same would be refused again, however much later."""
        return not self.may_have_run and self.status != _TOO_MANY_REQUESTS


class NoCredential(WireError):
    """There is no credential to be had just now; the cause says why."""

    may_have_run = False


class Unauthorized(WireError):
    """The server wants a credential, another one, or one that may do more.

    Args:
        message: what happened.
        status: 401 or 403.
        challenges: what its ``WWW-Authenticate`` asks for.
    """

    may_have_run = False

    def __init__(self, message: str, status: int, challenges: tuple[Challenge, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.challenges = challenges

    @property
    def bearer(self) -> dict[str, str]:
        """The parameters of the Bearer challenge, such as ``scope`` and ``resource_metadata``."""
        found = (each.parameters for each in self.challenges if each.scheme == "bearer")
        return next(found, {})


class SessionExpired(WireError):
    """The server has ended the session; the request was not run, and a new connection may be."""

    may_have_run = False


class RpcError(WireError):
    """The server answered with a JSON-RPC error.

    Args:
        code: its code.
        message: its message, as the server wrote it.
        data: its data, JSON values.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        self.may_have_run = code not in _NOT_RUN_CODES
