"""Requests of the portal's own user, who needs no credential."""

from __future__ import annotations

from typing import Any


class Local:
    """Marks what comes in as the portal's own user's, as the local socket's is.

    Args:
        app: what lies behind.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection."""
        await self._app({**scope, "porch.local": True}, receive, send)
