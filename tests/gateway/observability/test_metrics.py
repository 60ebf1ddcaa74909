from __future__ import annotations

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gateway.observability.metrics import Metric, Metrics


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


def test_sums_are_counted_by_labels_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.observability.metrics._MAX_SERIES", 3)
    metrics = Metrics(lambda _: True)
    sign_ins = metrics.count("sign_ins", "Attempts.", "way", "outcome")
    for way in ("wallet", "github", "wallet", "a", "b", "c"):
        sign_ins.add(way, "refused")
    found = samples(metrics)
    assert found["porch_sign_ins_total", labels(way="wallet", outcome="refused")] == 2
    assert found["porch_sign_ins_total", labels(way="unknown", outcome="unknown")] == 2


def test_a_number_that_cannot_be_read_is_left_out_alone() -> None:
    metrics = Metrics(lambda _: True)
    metrics.gauge("broken", "Raises.", lambda: 1 // 0)
    metrics.gauge("well", "Does not.", lambda: 1)
    found = samples(metrics)
    assert found["porch_well", ()] == 1
    assert ("porch_broken", ()) not in found


async def test_what_is_asked_for_elsewhere_is_asked_before_each_scrape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.observability.metrics._REFRESH_SECONDS", 0.05)
    metrics = Metrics(lambda _: True)
    asked: list[str] = []

    async def well() -> None:
        asked.append("well")

    async def broken() -> None:
        raise RuntimeError("away")

    async def silent() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            asked.append("given up")

    for each in (broken, silent, well):
        metrics.before(each)
    await metrics.refresh()
    await asyncio.sleep(0)
    assert asked == ["well", "given up"]


def test_what_there_is_to_scrape_is_named_for_the_documentation() -> None:
    metrics = Metrics(lambda _: True)
    metrics.count("sign_ins", "Attempts to sign in.", "way")
    found = {each.name: each for each in metrics.families()}
    assert found["porch_sign_ins_total"] == Metric(
        "porch_sign_ins_total", "counter", ("way",), "Attempts to sign in."
    )
    assert found["porch_call_seconds"].kind == "histogram"
    assert found["porch_calls_total"].labels == ("item", "kind", "tier", "outcome")
