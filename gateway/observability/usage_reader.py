"""Reads usage over time: sums by the hour, or by plugin, item, tier or outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Select, case, func, select

from gateway.observability.metrics import BUCKETS
from gateway.observability.usage_table import SLOTS, usage

if TYPE_CHECKING:
    from gateway.contract.services import Database

By = Literal["hour", "plugin", "item", "tier", "outcome"]


@dataclass(frozen=True, slots=True)
class Only:
    """What calls have in common; an empty text does not matter.

    Attributes:
        plugin: whose items.
        item: the item's name.
        tier: at which tier.
    """

    plugin: str = ""
    item: str = ""
    tier: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """The sums of some calls.

    Attributes:
        calls: how many.
        failed: how many of them ended otherwise than ``ok``.
        bytes_out: the bytes of their answers.
        within: how many took how long, by the metrics' bounds.
    """

    calls: int = 0
    failed: int = 0
    bytes_out: int = 0
    within: tuple[int, ...] = (0,) * len(SLOTS)

    def quantile(self, share: float) -> float:
        """The seconds within which a share of the calls ended, from 0 to 1; 0 without calls.

        Within a bound's range the calls count as spread evenly; beyond the last bound it is that.
        """
        wanted, below, before = share * sum(self.within), 0.0, 0
        for bound, count in zip(BUCKETS, self.within, strict=False):
            if count and before + count >= wanted:
                return below + (bound - below) * (wanted - before) / count
            below, before = bound, before + count
        return below if before < wanted else 0.0


def total(several: Iterable[Figures]) -> Figures:
    """Figures added up."""
    found = list(several)
    return Figures(
        sum(each.calls for each in found),
        sum(each.failed for each in found),
        sum(each.bytes_out for each in found),
        tuple(map(sum, zip(*(each.within for each in found), strict=True))) or (0,) * len(SLOTS),
    )


_ALL = Only()


class UsageReader:
    """Reads what :class:`gateway.observability.usage.UsageLog` has kept.

    Args:
        database: where it is.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by(
        self,
        column: By,
        since: datetime,
        only: Only = _ALL,
        limit: int | None = None,
    ) -> list[tuple[Any, Figures]]:
        """Sums for each value of a column; of hours in their order, else the most calls first.

        Args:
            column: what they are summed up by.
            since: the first hour.
            only: which calls alone.
            limit: how many values at most.
        """
        by, calls = usage.c[column], func.sum(usage.c.calls)
        failed = func.sum(case((usage.c.outcome == "ok", 0), else_=usage.c.calls))
        sums = [func.sum(usage.c[slot]) for slot in SLOTS]
        query: Select[Any] = select(by, calls, failed, func.sum(usage.c.bytes_out), *sums)
        query = query.where(usage.c.hour >= since).group_by(by).limit(limit)
        for name in ("plugin", "item", "tier"):
            if value := getattr(only, name):
                query = query.where(usage.c[name] == value)
        query = query.order_by(by) if column == "hour" else query.order_by(calls.desc(), by)
        async with self._database.read() as connection:
            return [(row[0], _figures(row[1:])) for row in await connection.execute(query)]


def _figures(sums: Sequence[Any]) -> Figures:
    calls, failed, size, *within = map(int, sums)
    return Figures(calls, failed, size, tuple(within))
