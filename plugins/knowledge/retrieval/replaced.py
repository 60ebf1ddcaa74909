"""Collections that another model or layout has replaced, in a store that processes share.

A second process may still ask them: replicas are given another model one after the other, and a
portal may be started with one to try it. So each process tells now and then which ones it asks, and
what nobody has asked for a day goes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta

from gateway.contract import Host

KEPT = timedelta(days=1)
"""How long a collection stays after it was replaced, or was last told to be asked."""
LOOK_INTERVAL_S = 3600.0
"""How often a process tells which it asks, and removes what nobody does."""
MARKS = "replaced/"
"""What the keys begin with under which the moments are kept: when an object was written counts."""


class Replaced:
    """What was replaced and is still there.

    Args:
        host: the services. Where no other process reads the vector store, nothing has to stay.
        kind: what the collections are for; each kind is looked after by itself.
        asked: the names of the collections that this process asks, whenever it is called.
    """

    def __init__(self, host: Host, kind: str, asked: Callable[[], Collection[str]]) -> None:
        self._vectors = host.vectors
        self._objects = host.objects
        self._prefix = f"{MARKS}{kind}/"
        self._asked = asked

    async def add(self, names: Iterable[str]) -> None:
        """Have collections go that are replaced: at once, or once nobody asks them any more."""
        known = set() if self._vectors.own else await self._moments()
        for name in names:
            if self._vectors.own:
                await self._vectors.drop(name)
            elif name not in known:
                await self._mark(name)

    async def look(self) -> None:
        """Tell which ones are asked here, and remove what nobody has asked for long."""
        moments, asked = await self._moments(), self._asked()
        for name, moment in moments.items():
            if name in asked:
                await self._mark(name)
            elif datetime.now(UTC) - moment > KEPT:
                await self._vectors.drop(name)
                await self._objects.delete(self._prefix + name)

    async def _mark(self, name: str) -> None:
        await self._objects.put(self._prefix + name, name.encode())

    async def _moments(self) -> dict[str, datetime]:
        found = [info async for info in self._objects.list(self._prefix)]
        return {info.key.removeprefix(self._prefix): info.modified for info in found}
