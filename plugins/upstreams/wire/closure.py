"""The end of a transport, and its reason."""

from __future__ import annotations

import asyncio

from plugins.upstreams.wire.errors import SessionExpired, Unreachable, WireError


class Closure:
    """Happens once; the first reason counts."""

    def __init__(self) -> None:
        self._reason: WireError | None = None
        self._happened = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._reason is not None

    def set(self, reason: WireError) -> None:
        """It has ended."""
        self._reason = self._reason or reason
        self._happened.set()

    def check(self) -> None:
        """Let nothing more be sent once it has ended.

        Raises:
            WireError: a new error with the reason, which has not run what was about to be sent.
        """
        if self._reason is not None:
            raise not_run(self._reason)

    async def wait(self) -> WireError:
        """Wait for the end; gives the reason."""
        await self._happened.wait()
        assert self._reason is not None  # noqa: S101  (set before the event is)
        return self._reason


def not_run(reason: WireError) -> WireError:
    """The error for a request that was not sent any more."""
    kind = SessionExpired if isinstance(reason, SessionExpired) else Unreachable
    return kind(reason.message)
