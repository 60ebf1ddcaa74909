"""The queues of the jobs: one for each, made before anything is queued."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gateway.services.jobs.sqlite import Connection

if TYPE_CHECKING:
    from gateway.contract import Job

APPLICATION = "porch"
"""The name by which DBOS tells our queues from those of others."""


def make_queues(url: str, schema: str, jobs: Mapping[str, Job]) -> None:
    """Make the queues of some jobs, or give them the settings that hold now.

    Args:
        url: where DBOS's tables are, brought up to date.
        schema: their schema, in PostgreSQL.
        jobs: by the names of their queues.
    """
    from dbos import DBOSClient
    from sqlalchemy import create_engine

    engine = None
    if url.startswith("sqlite"):
        engine = create_engine(url, connect_args={"factory": Connection})
        client = DBOSClient(system_database_engine=engine, application_name=APPLICATION)
    else:
        client = DBOSClient(
            system_database_url=url, dbos_system_schema=schema, application_name=APPLICATION
        )
    try:
        for name, job in jobs.items():
            client.register_queue(name, **settings_of(job))
    finally:
        client.destroy()
        if engine is not None:
            engine.dispose()


def settings_of(job: Job) -> dict[str, Any]:
    """How DBOS registers the queue of a job."""
    return {
        "global_concurrency": job.concurrency,
        "on_conflict": "always_update",
    }
