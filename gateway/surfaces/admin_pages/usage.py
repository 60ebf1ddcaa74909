"""``/admin/usage``: calls, errors, latency and tokens over time, as bars and as a table."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth import Tier
from auth.stores import utc_now
from gateway.catalog.catalog import Catalog
from gateway.discovery.cost import BYTES_PER_TOKEN
from gateway.limits.rate_counter import LimitReached
from gateway.observability.audit_reader import AuditReader
from gateway.observability.usage import UsageLog
from gateway.observability.usage_reader import By, Figures, Only, UsageReader, total
from gateway.surfaces.admin_pages.door import Door, asked
from gateway.surfaces.pages.visitors import Visitor

MAX_ROWS = 30
"""Tools, or callers, that a table lists: the busiest."""
CHART_HEIGHT = 120
"""The height of the highest bar."""
_BAR, _GAP = 12, 4


@dataclass(frozen=True, slots=True)
class Range:
    """How far a reader looks back, and by which steps.

    Attributes:
        title: what it is called.
        step: hours of one bar.
        steps: how many bars there are.
    """

    title: str
    step: int
    steps: int

    def begin(self, now: datetime) -> datetime:
        """The first hour of the first bar."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        last = hour - timedelta(hours=hour.hour % self.step)
        return last - timedelta(hours=self.step * (self.steps - 1))


RANGES = {
    "day": Range("the last day", 1, 24),
    "week": Range("the last week", 6, 28),
    "month": Range("the last 30 days", 24, 30),
    "quarter": Range("the last 90 days", 24, 90),
}
GROUPS: dict[str, By] = {"tool": "item", "plugin": "plugin", "tier": "tier", "outcome": "outcome"}
"""What the table can be summed up by, and the column that it means."""


@dataclass(frozen=True, slots=True)
class Period:
    """What a bar stands for."""

    at: datetime
    figures: Figures

    @property
    def tokens(self) -> int:
        """About how many tokens the answers were to a model."""
        return tokens(self.figures)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar as it is drawn: how high its parts are, from the bottom up."""

    x: int
    main: int
    rest: int
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars over time.

    Attributes:
        title: what they show, with its unit.
        bars: the bars.
        width: of all of them.
        most: the highest value, in words.
    """

    title: str
    bars: Sequence[Bar]
    width: int
    most: str


def tokens(figures: Figures) -> int:
    """About how many tokens some answers were to a model."""
    return round(figures.bytes_out / BYTES_PER_TOKEN)


class UsagePage:
    """Usage over time.

    Args:
        door: lets admins in.
        catalog: what can be used.
        kept: keeps what was counted; brought up to date before it is shown.
        usage: reads what was kept.
        audit: knows whom a limit turned away.
    """

    def __init__(
        self, door: Door, catalog: Catalog, kept: UsageLog, usage: UsageReader, audit: AuditReader
    ) -> None:
        self._door, self._catalog, self._kept = door, catalog, kept
        self._usage, self._audit = usage, audit

    def routes(self) -> list[Route]:
        """The page's route."""
        return [self._door.page("/admin/usage", self._show)]

    async def _show(self, request: Request, visitor: Visitor) -> Response:
        over, by = asked(request, "over"), asked(request, "by")
        over, by = over if over in RANGES else "week", by if by in GROUPS else "tool"
        wanted = Only(*(asked(request, name) for name in ("plugin", "item", "tier")))
        since = RANGES[over].begin(utc_now())
        await self._kept.keep()
        hours, groups, limited = await asyncio.gather(
            self._usage.by("hour", since, wanted),
            self._usage.by(GROUPS[by], since, wanted, MAX_ROWS),
            self._audit.totals("person", {"since": since, "outcome": LimitReached.code}, MAX_ROWS),
        )
        periods = list(_periods(RANGES[over], since, hours))
        return self._door.render(
            request,
            visitor,
            "usage.html",
            over=over,
            by=by,
            wanted=wanted,
            ranges=RANGES,
            groups=GROUPS,
            plugins=sorted({item.plugin for item in self._catalog.items()}),
            tiers=list(Tier),
            hours=RANGES[over].step,
            charts=charts(periods),
            periods=periods,
            sum=total(each.figures for each in periods),
            rows=groups,
            tokens=tokens,
            limited=limited,
            most=MAX_ROWS,
        )


def _periods(
    over: Range, since: datetime, hours: Sequence[tuple[datetime, Figures]]
) -> Iterator[Period]:
    """One after the other, also those in which nobody called."""
    step = timedelta(hours=over.step)
    for number in range(over.steps):
        begin = since + number * step
        yield Period(begin, total(each for at, each in hours if begin <= at < begin + step))


def charts(periods: Sequence[Period]) -> list[Chart]:
    """The charts of some periods."""
    calls = [(each.figures.calls - each.figures.failed, each.figures.failed) for each in periods]
    slow = [(1000 * each.figures.quantile(0.95), 0.0) for each in periods]
    sizes = [(each.tokens, 0) for each in periods]
    at = [f"{each.at:%d %b %H:%M}" for each in periods]
    return [
        _chart("Calls, and of them those that did not end well", "calls", at, calls),
        _chart("Latency in milliseconds: 95 of 100 calls were quicker", "ms", at, slow),
        _chart("Tokens that answers gave to models, about", "tokens", at, sizes),
    ]


def _chart(
    title: str, unit: str, at: Sequence[str], values: Sequence[tuple[float, float]]
) -> Chart:
    most = max((sum(each) for each in values), default=0.0)
    scale = CHART_HEIGHT / most if most else 0.0
    bars = [
        Bar(
            number * (_BAR + _GAP),
            round(main * scale),
            round(rest * scale),
            f"{when}: {main + rest:,.0f} {unit}" + (f", {rest:,.0f} not ok" if rest else ""),
        )
        for number, (when, (main, rest)) in enumerate(zip(at, values, strict=True))
    ]
    return Chart(title, bars, len(bars) * (_BAR + _GAP), f"{most:,.0f} {unit}")
