"""Metrics for Prometheus: counted in plain integers on the hot path, rendered at each scrape.

An instance has its own registry, so that two portals (or two tests) in one process never mix.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from gateway.observability.logs import get_logger

UNKNOWN = "unknown"
"""The label of an item that the portal does not have."""

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds in seconds."""
_BOUNDS = (*map(str, BUCKETS), "+Inf")
_LABELS = ("item", "kind", "tier", "outcome")
_MAX_SERIES = 2_000
_STATES = ("ok", "starting", "degraded", "failed")
_REFRESH_SECONDS = 2.0
"""Seconds that what must be asked for elsewhere has before a scrape goes on with what was known."""

Key = tuple[str, str, str, str]
Numbers = Mapping[tuple[str, ...], float]
"""Numbers by the values of their labels."""

log = get_logger(__name__)


class _Series:
    """The sums of the calls with the same labels."""

    __slots__ = ("buckets", "count", "seconds", "size")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self.size = 0
        self.buckets = [0] * len(_BOUNDS)


class Sums(NamedTuple):
    """What the calls with the same labels came to.

    Attributes:
        calls: how many there were.
        seconds: how long they took together.
        size: the bytes of their answers together.
        buckets: how many took how long: up to each of :data:`BUCKETS`, and beyond the last.
    """

    calls: int
    seconds: float
    size: int
    buckets: tuple[int, ...]

    def minus(self, before: Sums) -> Sums:
        """What came since."""
        were = before.buckets or (0,) * len(self.buckets)
        grown = tuple(now - was for now, was in zip(self.buckets, were, strict=True))
        return Sums(
            self.calls - before.calls,
            self.seconds - before.seconds,
            self.size - before.size,
            grown,
        )


class Count:
    """A number that only grows, for each value of some labels; made by :meth:`Metrics.count`."""

    def __init__(self) -> None:
        self.numbers: Counter[tuple[str, ...]] = Counter()

    def add(self, *labels: str) -> None:
        """Count one more; past a bound of series all others share one."""
        if labels not in self.numbers and len(self.numbers) >= _MAX_SERIES:
            labels = (UNKNOWN,) * len(labels)
        self.numbers[labels] += 1


class Metric(NamedTuple):
    """What one metric is called and means, for documentation.

    Attributes:
        name: as it is scraped, with its prefix and, where it only grows, ``_total``.
        kind: ``counter``, ``gauge`` or ``histogram``.
        labels: the names of its labels.
        meaning: one line.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


class _Read(NamedTuple):
    """Numbers that are read at each scrape."""

    family: type[GaugeMetricFamily] | type[CounterMetricFamily]
    meaning: str
    labels: tuple[str, ...]
    numbers: Callable[[], Numbers]


class Metrics(Collector):
    """The portal's metrics.

    Attributes:
        in_flight: calls that run now; the pipeline adds and subtracts.

    Args:
        known: says whether the portal has an item of this name; another name is counted as
            :data:`UNKNOWN`, so that no caller can make up labels.
    """

    def __init__(self, known: Callable[[str], bool]) -> None:
        self.in_flight = 0
        self._known = known
        self._series: dict[Key, _Series] = {}
        self._health: dict[str, str] = {}
        self._read: dict[str, _Read] = {}
        self._refreshed: list[Callable[[], Awaitable[object]]] = []
        self._redacted = self.count(
            "secrets_redacted",
            "Secrets taken out of arguments, by the rule that found them.",
            "rule",
            "item",
        )
        self._limits = self.count("limits_reached", "Calls that a limit has refused.", "limit")
        self.gauge("calls_in_flight", "Calls that run now.", lambda: self.in_flight)
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def observe(
        self, item: str, kind: str, tier: str, outcome: str, seconds: float, size: int
    ) -> None:
        """Count one call; about a microsecond.

        Args:
            item: the item's name.
            kind: the item's kind, or ``completion``.
            tier: the caller's tier.
            outcome: how it ended, one of the pipeline's few words.
            seconds: how long it took.
            size: the bytes of the answer.
        """
        series = self._series.get((item, kind, tier, outcome))
        if series is None:
            series = self._new_series(item, kind, tier, outcome)
        series.count += 1
        series.seconds += seconds
        series.size += size
        series.buckets[bisect_left(BUCKETS, seconds)] += 1

    def redacted(self, rule: str, item: str) -> None:
        """Count a secret that was taken out of a call's arguments.

        Args:
            rule: the name of the rule that found it.
            item: the name of the item that was called.
        """
        self._redacted.add(rule, item if self._known(item) else UNKNOWN)

    def limit_reached(self, limit: str) -> None:
        """Count a call that a limit has refused, by the limit's name."""
        self._limits.add(limit)

    def _new_series(self, item: str, kind: str, tier: str, outcome: str) -> _Series:
        if not self._known(item):
            item = UNKNOWN
        if len(self._series) >= _MAX_SERIES:
            item, outcome = UNKNOWN, "other"
        return self._series.setdefault((item, kind, tier, outcome), _Series())

    def count(self, name: str, meaning: str, *labels: str) -> Count:
        """A counter to add to.

        Args:
            name: the metric's name, without the prefix ``porch_`` and the ending ``_total``.
            meaning: one line on what it counts, with its unit.
            labels: the names of its labels, whose values callers cannot make up.
        """
        counted = Count()
        self.counters(name, meaning, labels, lambda: counted.numbers)
        return counted

    def gauge(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Show a number that is read at each scrape, such as the open sessions.

        Args:
            name: the metric's name, without the prefix ``porch_``.
            meaning: one line on what it counts, with its unit.
            read: gives the number; it must be quick, and runs in any thread.
        """
        self.gauges(name, meaning, (), lambda: {(): read()})

    def gauges(
        self, name: str, meaning: str, labels: tuple[str, ...], read: Callable[[], Numbers]
    ) -> None:
        """Show numbers that are read at each scrape, one for each value of the labels.

        Args:
            name: the metric's name, without the prefix ``porch_``.
            meaning: one line on what it counts, with its unit.
            labels: their names.
            read: gives the numbers by the labels' values; it must be quick, and runs in any thread.
        """
        self._read[name] = _Read(GaugeMetricFamily, meaning, labels, read)

    def counters(
        self, name: str, meaning: str, labels: tuple[str, ...], read: Callable[[], Numbers]
    ) -> None:
        """Show sums that somebody else keeps, as :meth:`gauges` does numbers that may fall."""
        self._read[name] = _Read(CounterMetricFamily, meaning, labels, read)

    def before(self, refresh: Callable[[], Awaitable[object]]) -> None:
        """Have something asked for before each scrape that cannot be read at once."""
        self._refreshed.append(refresh)

    async def refresh(self) -> None:
        """Ask for what :meth:`before` named; what does not answer in time stays as it was."""
        asked = [asyncio.ensure_future(each()) for each in self._refreshed]
        if not asked:
            return
        _, late = await asyncio.wait(asked, timeout=_REFRESH_SECONDS)
        for task in late:
            task.cancel()
        for task in asked:
            if task.done() and not task.cancelled() and (error := task.exception()):
                log.debug("metric_not_refreshed", error=str(error))

    def totals(self) -> tuple[Counter[str], float]:
        """All calls by outcome, and the seconds that they took together."""
        outcomes: Counter[str] = Counter()
        seconds = 0.0
        for (_, _, _, outcome), series in list(self._series.items()):
            outcomes[outcome] += series.count
            seconds += series.seconds
        return outcomes, seconds

    def sums(self) -> dict[Key, Sums]:
        """What calls have come to since the start, by item, kind, tier and outcome."""
        return {
            key: Sums(each.count, each.seconds, each.size, tuple(each.buckets))
            for key, each in list(self._series.items())
        }

    def families(self) -> list[Metric]:
        """What there is to scrape of the portal's own, by name."""
        found = []
        for family in self.collect():
            ending = "_total" if family.type == "counter" else ""
            labels = tuple(getattr(family, "_labelnames", ()))
            found.append(Metric(family.name + ending, family.type, labels, family.documentation))
        return sorted(found)

    def plugin_health(self, states: dict[str, str]) -> None:
        """Replace the plugins' states, by plugin name, as the health board found them."""
        self._health = dict(states)

    def render(self) -> bytes:
        """Everything in Prometheus' text format 0.0.4; may run in a thread, it takes a while."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Family]:
        """Give Prometheus' library the numbers of this moment."""
        yield from self._calls()
        health = GaugeMetricFamily(
            "porch_plugin_health", "1 for the state a plugin is in.", labels=("plugin", "state")
        )
        for plugin, now in self._health.items():
            for state in _STATES:
                health.add_metric((plugin, state), float(state == now))
        yield health
        for name, each in list(self._read.items()):
            yield _family(name, each)

    def _calls(self) -> Iterator[Family]:
        calls = CounterMetricFamily("porch_calls", "Calls by outcome.", labels=_LABELS)
        sizes = CounterMetricFamily(
            "porch_response_bytes", "Bytes of the answers.", labels=_LABELS, unit="bytes"
        )
        times = HistogramMetricFamily(
            "porch_call_seconds", "How long calls took.", labels=_LABELS, unit="seconds"
        )
        for labels, series in list(self._series.items()):
            calls.add_metric(labels, series.count)
            sizes.add_metric(labels, series.size)
            buckets = list(zip(_BOUNDS, accumulate(series.buckets), strict=True))
            times.add_metric(labels, buckets, series.seconds)
        yield from (calls, sizes, times)


def _family(name: str, read: _Read) -> Family:
    family = read.family(f"porch_{name}", read.meaning, labels=read.labels)
    try:
        for labels, number in list(read.numbers().items()):
            family.add_metric(labels, number)
    except Exception as error:  # one number less, rather than none at all
        log.warning("metric_not_read", metric=name, error=str(error))
    return family
