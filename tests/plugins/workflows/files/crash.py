"""A process that imports a playbook and kills itself, with SIGKILL, at its n-th statement.

Usage: crash.py DATA DIRECTORY N
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import event

from gateway.services.database.service import open_database
from gateway.services.objects import open_objects
from plugins.workflows.files.importer import import_paths
from plugins.workflows.inputs import Writer
from plugins.workflows.model import PORTAL
from plugins.workflows.playbook import Playbook
from plugins.workflows.search.embedding import make_embed

left = int(sys.argv[3])


def count(*_: Any) -> None:
    """Before each statement, also those that begin and end a transaction."""
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    data = Path(sys.argv[1])
    service = open_database("sqlite", data)
    event.listen(service.engine.sync_engine, "before_cursor_execute", count)
    event.listen(service.engine.sync_engine, "commit", count)
    objects = open_objects("embedded", data).scoped("workflows")
    database = service.for_owner("workflows")
    playbook = Playbook(database, objects, make_embed(None), lambda: datetime.now(UTC))
    report = await import_paths(playbook, Writer(PORTAL, may_publish=True), [Path(sys.argv[2])])
    sys.stdout.write(f"{report.problems}")
    await service.close()


asyncio.run(main())
