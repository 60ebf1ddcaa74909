"""A portal hears of what others have written into its playbook, and tells its clients."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from gateway.contract import Change
from gateway.services.database.service import OwnedDatabase
from plugins.workflows import maintenance, notifications
from plugins.workflows.inputs import Writer
from plugins.workflows.maintenance import Maintenance
from plugins.workflows.notifications import Notifications
from plugins.workflows.playbook import Playbook
from tests.plugins.workflows.conftest import workflow

OFTEN = 0.05


async def nothing() -> Any:
    return 0


async def test_clients_are_told_of_what_another_process_wrote_and_of_nothing_else(
    open_another: Callable[[], OwnedDatabase],
    playbook: Playbook,
    alice: Writer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(maintenance, "MAINTENANCE_INTERVAL_S", OFTEN)
    monkeypatch.setattr(notifications, "NOTIFY_INTERVAL_S", 0.0)
    told: asyncio.Queue[Change] = asyncio.Queue()
    host: Any = SimpleNamespace(
        plugin="workflows",
        database=open_another(),
        wait_ready=False,
        changed=told.put_nowait,
        log=structlog.get_logger(),
    )
    kept = Maintenance(host, nothing, nothing, Notifications(host), nothing, nothing, nothing)
    async with kept.running():
        await asyncio.sleep(4 * OFTEN)
        assert told.empty()
        await playbook.add_workflow(alice, workflow())
        assert {(await told.get()).kind for _ in range(2)} == {"prompts", "resources"}
