"""What an admin should mend, from what a running portal says of itself and from its machine."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

from gateway.observability.database_watch import WAITS_FOR_DATABASE, tells_of_database
from gateway.observability.notices import CACHE_AWAY, COUNTED_ALONE
from gateway.toolkit.counts import counted

LATE_JOB_SECONDS = 15 * 60
"""Seconds after which a job that waits is a problem."""
BEHIND_SECONDS = 3600
"""Seconds after which what a plugin serves is too old."""
FULL_BYTES, SCARCE_BYTES = 512 * 1024**2, 2 * 1024**3
"""Free bytes below which the data directory is full, and below which room is scarce."""


class Weight(IntEnum):
    """How much a finding weighs; the heaviest is mended first."""

    BROKEN = 1
    RISK = 2
    ADVICE = 3


class Finding(NamedTuple):
    """One thing to mend.

    Attributes:
        weight: how much it matters.
        what: what is wrong, and where.
        todo: what to do about it.
    """

    weight: Weight
    what: str
    todo: str


_AWAY = {
    "database": (
        Weight.BROKEN,
        "See that it is up and can be reached from here. What is open is served meanwhile; nobody "
        "can sign in or use a token, and {waiting} wait for it.",
    ),
    "cache": (
        Weight.RISK,
        "See that Redis is up and can be reached from here. No call fails meanwhile; each process "
        "counts limits and remembers for itself.",
    ),
    "vectors": (
        Weight.RISK,
        "See that Qdrant, or PostgreSQL with pgvector, is up and can be reached from here; mend "
        "what the sentence names. Search goes on by words.",
    ),
}
"""How much it weighs that a service is away; what to do, and what works meanwhile."""
_ABOUT: Mapping[str, Callable[[str], bool]] = {
    "database": tells_of_database,
    "cache": lambda notice: notice.startswith((CACHE_AWAY, COUNTED_ALONE)),
    "vectors": lambda notice: False,
}
"""Whether a notice says no more than that the service is away."""


def of_portal(found: Mapping[str, Any]) -> Iterator[Finding]:
    """What is wrong with a portal that runs; what follows from one thing is told with it.

    Args:
        found: the answer of ``GET /admin/status``.
    """
    away = {each["name"]: each["detail"] for each in found["services"] if each["state"] != "ok"}
    yield from _of_services(away, found["plugins"])
    for plugin in found["plugins"]:
        if "database" not in away or plugin["detail"] != WAITS_FOR_DATABASE:
            yield from _of_plugin(plugin)
    for job in found["jobs"]:
        if "database" not in away or "problem" not in job:
            yield from _of_job(job)
    errors = sum(found["calls"]["outcomes"].get(each, 0) for each in ("internal_error", "deadline"))
    if errors:
        yield Finding(
            Weight.RISK,
            f"{counted(errors, 'call')} of the last minute failed or ran out of time.",
            "`porch audit --by tool --outcome internal_error` says where; the log has the reason.",
        )
    for notice in found["notices"]:
        if not any(_ABOUT[service](notice) for service in away):
            todo = "Do what it says; `porch status` shows what goes with it."
            yield Finding(Weight.RISK, notice, todo)


def _of_services(
    away: Mapping[str, str], plugins: Sequence[Mapping[str, Any]]
) -> Iterator[Finding]:
    """The services that are away, each with what waits for it and what works meanwhile."""
    waiting = [each["name"] for each in plugins if each["detail"] == WAITS_FOR_DATABASE]
    named = ", ".join([*waiting, "jobs"])
    for service, detail in away.items():
        weight, todo = _AWAY[service]
        yield Finding(weight, f"The {service} is away: {detail}", todo.format(waiting=named))


def _of_plugin(plugin: Mapping[str, Any]) -> Iterator[Finding]:
    name, state = plugin["name"], plugin["state"]
    if state == "failed":
        weight = Weight.BROKEN if plugin["required"] else Weight.RISK
        todo = "Mend what the reason names. What failed to open is tried again by itself."
        yield Finding(weight, f"The plugin {name} is not served: {plugin['detail']}", todo)
    elif state == "degraded":
        todo = "It serves with less until that is mended."
        yield Finding(Weight.RISK, f"The plugin {name} is degraded: {plugin['detail']}", todo)
    if plugin["behind_seconds"] > BEHIND_SECONDS:
        hours = plugin["behind_seconds"] / 3600
        what = f"What the plugin {name} serves has been out of date for {hours:.0f} h."
        yield Finding(Weight.RISK, what, "See that its sources can be read.")
    if advice := plugin.get("advice"):
        yield Finding(Weight.ADVICE, f"The plugin {name}: {advice}", "Do what it says.")


def _of_job(job: Mapping[str, Any]) -> Iterator[Finding]:
    if "problem" in job:
        todo = "See that the database of the jobs is up and can be reached."
        yield Finding(Weight.BROKEN, f"The jobs cannot be read: {job['problem']}", todo)
        return
    if job.get("waiting") and job["oldest_seconds"] > LATE_JOB_SECONDS:
        minutes = job["oldest_seconds"] // 60
        what = f"A job of {job['name']} has been open for {minutes} min, and others wait for it."
        todo = "Look for its name in the log. A start anew goes on with the step it had reached."
        yield Finding(Weight.BROKEN, what, todo)
    if failed := job["ended"].get("failed"):
        what = f"{failed} jobs of {job['name']} have failed since the start."
        yield Finding(Weight.RISK, what, "Look for its name in the log: it says why.")


def of_disk(data_dir: Path) -> Iterator[Finding]:
    """Whether the disk of a data directory has room: much else follows from it."""
    place = next(each for each in (data_dir, *data_dir.parents) if each.exists())
    free = shutil.disk_usage(place).free
    if free < SCARCE_BYTES:
        weight = Weight.BROKEN if free < FULL_BYTES else Weight.RISK
        what = f"The disk of {data_dir} has {free / 1024**2:,.0f} MiB left."
        todo = (
            "Make room, or move the data directory to a larger disk. What is there is served "
            "meanwhile; what would be written waits or fails."
        )
        yield Finding(weight, what, todo)


def of_database(data_dir: Path, database: str) -> Iterator[Finding]:
    """Whether a data directory has a database that nothing is read from.

    Args:
        data_dir: the data directory.
        database: the resolved address of the portal's database.
    """
    left = data_dir / "porch.db"
    if database != "sqlite" and left.exists():
        what = (
            f"{left} is not in use, since services.database names another database: the people, "
            "tokens, memory, workflows, drafts, approvals and records in it are not served."
        )
        todo = (
            "Stop the portal, and `porch copy-database` copies all of it into that database, where "
            "it is empty still. Where nothing is to be kept, move the file elsewhere, with its "
            "-wal; or let services.database say sqlite again."
        )
        yield Finding(Weight.ADVICE, what, todo)


def of_machine(data_dir: Path, static_tokens: bool, public: bool) -> Iterator[Finding]:
    """What else is wrong with the machine that a portal runs on.

    Args:
        data_dir: its data directory.
        static_tokens: whether static tokens are set.
        public: whether its address is one that others can reach.
    """
    if data_dir.exists() and data_dir.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        what = f"Other users of this machine can look into {data_dir}."
        todo = f"`chmod 700 {data_dir}`: it holds who called what, and documents of all tiers."
        yield Finding(Weight.RISK, what, todo)
    if static_tokens and public:
        what = "PORCH_STATIC_TOKENS is set on a portal that others can reach."
        todo = "Unset it and make tokens with `porch token create`, which end and can be revoked."
        yield Finding(Weight.RISK, what, todo)
