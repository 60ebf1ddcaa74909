"""What the portal as a whole shows in its metrics: whether it is ready, and what it waits for."""

from __future__ import annotations

from importlib.metadata import version

from auth.chain.followers import Followers
from gateway.observability.audit import AuditLog
from gateway.observability.chain_status import show_following
from gateway.observability.database_watch import DatabaseWatch
from gateway.observability.health import HealthBoard
from gateway.observability.metrics import Metrics


def show_portal(
    board: HealthBoard,
    watch: DatabaseWatch,
    audit: AuditLog,
    followers: Followers,
    metrics: Metrics,
) -> None:
    """Have it shown by ``/metrics``, as the last report of the board says."""
    show_following(followers, board, metrics)
    metrics.gauges(
        "info", "1, for the version that runs.", ("version",), lambda: {(version("porch"),): 1}
    )
    metrics.gauge(
        "ready",
        "1 while the portal can do its work, as /readyz says.",
        lambda: board.last is not None and board.last.ready,
    )
    metrics.gauge(
        "notices",
        "Sentences for admins in the notices of /readyz.",
        lambda: 0 if board.last is None else len(board.last.notices),
    )
    metrics.gauges(
        "index_behind_seconds",
        "Seconds since what a plugin serves has been known to be older than its sources.",
        ("plugin",),
        lambda: {(name,): seconds for name, seconds in board.behind().items()},
    )
    metrics.gauge(
        "database_away_seconds",
        "Seconds since the database answers no more; 0 while it does.",
        lambda: watch.away_seconds,
    )
    metrics.gauge("audit_waiting", "Audit records that are not stored yet.", lambda: audit.waiting)
    metrics.counters(
        "audit_dropped",
        "Audit records that were lost because the database could not take them in time.",
        (),
        lambda: {(): audit.dropped},
    )
