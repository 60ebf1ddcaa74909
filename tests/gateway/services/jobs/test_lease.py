"""Who of the replicas lives, and who has died, as the others and their admins see it."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.contract import Job
from gateway.services.jobs import service as jobs_service
from gateway.services.jobs.lease import LEASE_SECONDS, Lease
from gateway.services.jobs.service import SCHEMA, open_jobs
from tests.gateway.services.jobs.test_service import calculate, launched, until

HERE = f"{socket.gethostname()}, process {os.getpid()}"


async def run_out(lease: Lease) -> None:
    """Let a lease be as if its replica had not renewed it for long."""
    connection = await lease._connected()
    statement = f"UPDATE {SCHEMA}.executor_lease SET expires_at = 'epoch' WHERE executor = $1"
    await connection.execute(statement, lease.executor)


@pytest.mark.heavy
async def test_a_replica_that_died_is_named_once_and_only_the_living_are_listed(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_service, "HEARTBEAT_SECONDS", 0.05)
    with capture_logs() as said:
        async with launched(postgres, tmp_path, Job("calculate", calculate)) as service:
            other = Lease(postgres, SCHEMA)
            await other.take()
            await until(lambda: service.replicas == (HERE, HERE))
            await run_out(other)
            await until(lambda: service.replicas == (HERE,))
            await asyncio.sleep(0.2)  # several more heartbeats
            await other.release()
    assert [each["replica"] for each in said if each["event"] == "replica_died"] == [HERE]


@pytest.mark.heavy
async def test_who_could_not_renew_for_long_lets_others_renew_before_any_counts_as_dead(
    postgres: str, tmp_path: Path
) -> None:
    async with launched(postgres, tmp_path, Job("calculate", calculate)):
        pass  # the tables are there
    one, other, gone = (Lease(postgres, SCHEMA) for _ in range(3))
    try:
        for each in (one, other, gone):
            await each.take()
            await run_out(each)  # as all do while the database is away
        for each in (one, other):
            each._renewed_at -= LEASE_SECONDS
            assert await each.renew() == {}
        one._lenient_until = 0.0
        assert gone.executor in await one.renew()
        assert other.executor not in await one.renew()
    finally:
        for each in (one, other, gone):
            await each.release()


async def test_a_portal_on_an_embedded_database_has_no_replicas(tmp_path: Path) -> None:
    assert open_jobs("sqlite", tmp_path).replicas == ()
