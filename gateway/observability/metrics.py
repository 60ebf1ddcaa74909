"""Metrics for Prometheus: counted in plain integers on the hot path, rendered at each scrape.

An instance has its own registry, so that two portals (or two tests) in one process never mix.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

UNKNOWN = "unknown"
"""The label of an item that the portal does not have."""

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds in seconds."""
_BOUNDS = (*map(str, _BUCKETS), "+Inf")
_LABELS = ("item", "kind", "tier", "outcome")
_MAX_SERIES = 2_000
_STATES = ("ok", "starting", "degraded", "failed")

Key = tuple[str, str, str, str]


class _Series:
    """The sums of the calls with the same labels."""

    __slots__ = ("buckets", "count", "seconds", "size")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self.size = 0
        self.buckets = [0] * len(_BOUNDS)


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
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._labelled: dict[str, tuple[str, str, Callable[[], Mapping[str, float]]]] = {}
        self._redacted: Counter[tuple[str, str]] = Counter()
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
        series.buckets[bisect_left(_BUCKETS, seconds)] += 1

    def redacted(self, rule: str, item: str) -> None:
        """Count a secret that was taken out of a call's arguments.

        Args:
            rule: the name of the rule that found it.
            item: the name of the item that was called.
        """
        self._redacted[rule, item if self._known(item) else UNKNOWN] += 1

    def _new_series(self, item: str, kind: str, tier: str, outcome: str) -> _Series:
        if not self._known(item):
            item = UNKNOWN
        if len(self._series) >= _MAX_SERIES:
            item, outcome = UNKNOWN, "other"
        return self._series.setdefault((item, kind, tier, outcome), _Series())

    def gauge(self, name: str, description: str, read: Callable[[], float]) -> None:
        """Show a number that is read at each scrape, such as the open sessions.

        Args:
            name: the metric's name, without the prefix ``porch_``.
            description: one line on what it counts, with its unit.
            read: gives the number; it must be quick.
        """
        self._gauges[name] = (description, read)

    def gauges(
        self, name: str, description: str, label: str, read: Callable[[], Mapping[str, float]]
    ) -> None:
        """Show numbers that are read at each scrape, one for each value of a label.

        Args:
            name: the metric's name, without the prefix ``porch_``.
            description: one line on what it counts, with its unit.
            label: the label's name.
            read: gives the numbers by the label's value; it must be quick.
        """
        self._labelled[name] = (description, label, read)

    def plugin_health(self, states: dict[str, str]) -> None:
        """Replace the plugins' states, by plugin name, as the health board found them."""
        self._health = dict(states)

    def render(self) -> bytes:
        """Everything in Prometheus' text format 0.0.4; may run in a thread, it takes a while."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Give Prometheus' library the numbers of this moment."""
        yield from self._calls()
        yield self._secrets()
        health = GaugeMetricFamily(
            "porch_plugin_health", "1 for the state a plugin is in.", labels=("plugin", "state")
        )
        for plugin, now in self._health.items():
            for state in _STATES:
                health.add_metric((plugin, state), float(state == now))
        yield health
        yield GaugeMetricFamily(
            "porch_calls_in_flight", "Calls that run now.", value=self.in_flight
        )
        for name, (description, read) in self._gauges.items():
            yield GaugeMetricFamily(f"porch_{name}", description, value=read())
        for name, (description, label, numbers) in self._labelled.items():
            gauge = GaugeMetricFamily(f"porch_{name}", description, labels=(label,))
            for value, number in numbers().items():
                gauge.add_metric((value,), number)
            yield gauge

    def _secrets(self) -> Metric:
        redacted = CounterMetricFamily(
            "porch_secrets_redacted",
            "Secrets taken out of arguments, by the rule that found them.",
            labels=("rule", "item"),
        )
        for labels, count in list(self._redacted.items()):
            redacted.add_metric(labels, count)
        return redacted

    def _calls(self) -> Iterator[Metric]:
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
