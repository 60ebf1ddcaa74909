"""The schedules of the jobs, which DBOS keeps in its database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateway.contract import Job

__all__ = ["apply_schedules", "check_schedule"]


def check_schedule(name: str, schedule: str | None) -> None:
    """See that a job's schedule can be kept.

    Raises:
        ValueError: it is no cron expression.
    """
    if schedule is None:
        return
    from croniter import croniter

    if not croniter.is_valid(schedule, second_at_beginning=True):
        raise ValueError(f"The schedule of the job {name} is no cron expression: {schedule!r}.")


def apply_schedules(jobs: Mapping[str, Job], workflows: Mapping[str, Callable[..., Any]]) -> None:
    """Have DBOS keep the schedules of these jobs and of no others; DBOS is launched.

    Args:
        jobs: what was declared, by full name.
        workflows: what runs them, where it is known already.
    """
    from dbos import DBOS

    wanted = {n: job.schedule for n, job in jobs.items() if job.schedule and n in workflows}
    for known in DBOS.list_schedules():
        if known["schedule_name"] not in wanted:
            DBOS.delete_schedule(known["schedule_name"])
    DBOS.apply_schedules(
        [
            {
                "schedule_name": name,
                "workflow_fn": workflows[name],
                "schedule": cron,
                "context": None,
                "queue_name": name,
            }
            for name, cron in wanted.items()
        ]
    )
