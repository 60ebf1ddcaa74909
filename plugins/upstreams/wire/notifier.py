"""Passes on what a server says outside of requests, behind the back of whoever reads it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from plugins.upstreams.wire.connection import Told

MAX_WAITING = 1000
"""Different notifications that wait to be told before more are dropped."""


class Notifier:
    """Tells one after the other, and each once where the same waits already.

    So whoever is told may send requests itself, and a server that repeats itself is no burden.

    Args:
        told: the listener.
        oddities: where its failures are counted.
    """

    def __init__(self, told: Told, oddities: Counter[str]) -> None:
        self._told = told
        self._waiting: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._some = asyncio.Event()
        self._oddities = oddities

    def notify(self, method: str, params: Mapping[str, Any]) -> bool:
        """Pass something on soon; False if too much waits already."""
        key = f"{method} {json.dumps(params, sort_keys=True)}"
        if key not in self._waiting and len(self._waiting) >= MAX_WAITING:
            return False
        self._waiting.setdefault(key, (method, params))
        self._some.set()
        return True

    async def run(self) -> None:
        """Tell for as long as the connection lasts."""
        while True:
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                method, params = self._waiting.pop(next(iter(self._waiting)))
                try:
                    await self._told(method, params)
                except Exception:
                    self._oddities["notification that could not be told"] += 1
