from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gateway.observability.metrics import Metrics


def samples(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(metrics.render().decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def labels(**labels: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


def test_calls_are_counted_with_their_times_and_sizes() -> None:
    metrics = Metrics(lambda _: True)
    for seconds in (0.001, 0.004, 100.0):
        metrics.observe("search", "tool", "open", "ok", seconds, 10)
    found = samples(metrics)
    of = {"item": "search", "kind": "tool", "tier": "open", "outcome": "ok"}
    assert found["porch_calls_total", labels(**of)] == 3
    assert found["porch_response_bytes_total", labels(**of)] == 30
    assert found["porch_call_seconds_bucket", labels(**of, le="0.001")] == 1
    assert found["porch_call_seconds_bucket", labels(**of, le="0.005")] == 2
    assert found["porch_call_seconds_bucket", labels(**of, le="30.0")] == 2
    assert found["porch_call_seconds_bucket", labels(**of, le="+Inf")] == 3
    assert found["porch_call_seconds_count", labels(**of)] == 3
    assert found["porch_call_seconds_sum", labels(**of)] == 100.005


def test_names_that_callers_make_up_share_one_series() -> None:
    metrics = Metrics({"search"}.__contains__)
    for number in range(50):
        metrics.observe(f"made-up-{number}", "tool", "open", "not_found", 0.0, 0)
    found = samples(metrics)
    of = {"item": "unknown", "kind": "tool", "tier": "open", "outcome": "not_found"}
    assert found["porch_calls_total", labels(**of)] == 50
    assert b"made-up" not in metrics.render()


def test_the_number_of_series_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.observability.metrics._MAX_SERIES", 20)
    metrics = Metrics(lambda _: True)
    for number in range(70):
        metrics.observe("search", "tool", "open", f"code-{number}", 0.0, 0)
    of = {"item": "unknown", "kind": "tool", "tier": "open", "outcome": "other"}
    assert samples(metrics)["porch_calls_total", labels(**of)] == 50


def test_gauges_are_read_at_each_scrape() -> None:
    metrics = Metrics(lambda _: True)
    open_sessions = 1
    metrics.gauge("sessions", "Open sessions.", lambda: open_sessions)
    metrics.in_flight = 4
    metrics.plugin_health({"knowledge": "degraded"})
    found = samples(metrics)
    assert found["porch_sessions", ()] == 1
    assert found["porch_calls_in_flight", ()] == 4
    assert found["porch_plugin_health", labels(plugin="knowledge", state="degraded")] == 1
    assert found["porch_plugin_health", labels(plugin="knowledge", state="ok")] == 0
    open_sessions = 2
    assert samples(metrics)["porch_sessions", ()] == 2


def test_two_portals_in_one_process_do_not_share_numbers() -> None:
    one, other = Metrics(lambda _: True), Metrics(lambda _: True)
    one.observe("search", "tool", "open", "ok", 0.1, 1)
    assert b"search" not in other.render()
