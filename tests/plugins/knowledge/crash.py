"""A process that syncs a library and kills itself, with SIGKILL, at its n-th write.

Usage: crash.py LIBRARY N
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from gateway.services.objects import ObjectService
from tests.plugins.knowledge.conftest import Library


class Killer(ObjectService):
    """A store whose process dies before its n-th write or removal."""

    left = int(sys.argv[2])

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    async def put(self, key: str, data: bytes) -> None:
        self._count()
        await super().put(key, data)

    async def delete(self, *keys: str) -> None:
        for key in keys:
            self._count()
            await super().delete(key)


async def main() -> None:
    root = Path(sys.argv[1])
    library = Library(root, Killer(str(root / "objects")))
    await library.start()
    await library.sync()


asyncio.run(main())
