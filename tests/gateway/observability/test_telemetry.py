from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.observability import telemetry

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    provider = TracerProvider()
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("porch"))
    yield exporter
    provider.shutdown()


def only(spans: InMemorySpanExporter) -> ReadableSpan:
    (span,) = spans.get_finished_spans()
    return span


def test_a_call_is_a_span_in_the_mcp_conventions(spans: InMemorySpanExporter) -> None:
    with telemetry.call_span("tool", "search", "open") as span:
        span.set_outcome("ok")
    assert only(spans).name == "tools/call search"
    assert only(spans).kind is trace.SpanKind.SERVER
    assert dict(only(spans).attributes or {}) == {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "search",
        "porch.tier": "open",
        "porch.outcome": "ok",
    }


@pytest.mark.parametrize(
    ("kind", "attribute"),
    [
        ("prompt", "gen_ai.prompt.name"),
        ("resource", "mcp.resource.uri"),
        ("template", "mcp.resource.uri"),
        ("completion", "porch.item"),
    ],
)
def test_each_kind_names_its_target(spans: InMemorySpanExporter, kind: str, attribute: str) -> None:
    with telemetry.call_span(kind, "x", "members"):
        pass
    assert (only(spans).attributes or {})[attribute] == "x"


def test_the_trace_of_the_client_goes_on(spans: InMemorySpanExporter) -> None:
    carrier = {"traceparent": TRACEPARENT, "tracestate": "vendor=1", "other": "x"}
    with telemetry.call_span("tool", "search", "open", carrier):
        assert format(trace.get_current_span().get_span_context().trace_id, "032x") == TRACE
    span = only(spans)
    assert span.parent is not None
    assert format(span.parent.span_id, "016x") == PARENT
    assert span.parent.trace_state.get("vendor") == "1"


@pytest.mark.parametrize("traceparent", ["", "nonsense", "00-0-0-01", 7, None, "x" * 100_000])
def test_a_malformed_traceparent_begins_a_new_trace(
    spans: InMemorySpanExporter, traceparent: object
) -> None:
    carrier: dict[str, object] = {"traceparent": traceparent, "tracestate": 3}
    with telemetry.call_span("tool", "search", "open", carrier):  # type: ignore[arg-type]
        pass
    assert only(spans).parent is None


def test_an_error_shows_its_kind_and_not_its_words(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="private"):
        with telemetry.call_span("tool", "search", "open"):
            raise ValueError("private words")
    span = only(spans)
    assert (span.attributes or {})["error.type"] == "ValueError"
    assert span.status.status_code is trace.StatusCode.ERROR
    assert "private" not in span.to_json()


def test_the_span_is_current_only_inside(spans: InMemorySpanExporter) -> None:
    with telemetry.call_span("tool", "search", "open"):
        assert trace.get_current_span().is_recording()
    assert not trace.get_current_span().is_recording()


PROBE = """
from opentelemetry import trace
from gateway.observability import telemetry
provider = telemetry.configure("porch", enabled={enabled})
with telemetry.call_span("tool", "search", "open"):
    span = trace.get_current_span()
    recording = span.is_recording() or ("ids" if span.get_span_context().is_valid else "nothing")
again = telemetry.configure("porch", enabled={enabled})
name = provider and provider.resource.attributes["service.name"]
exports = provider and len(provider._active_span_processor._span_processors)
print(recording, again is provider, name, exports)
if provider:
    provider.shutdown()
"""


def configured(enabled: bool, **environment: str) -> str:
    """What ``configure`` does in a fresh process, since a process has one provider."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("OTEL_")}
    code = PROBE.format(enabled=enabled)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=clean | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_nothing_is_traced_unless_asked_for() -> None:
    assert configured(False) == "nothing True None None"


def test_without_an_exporter_a_call_has_ids_for_the_logs_and_no_span_is_recorded() -> None:
    assert configured(True) == "ids True porch 0"


def test_an_endpoint_in_the_environment_gets_the_spans() -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append((self.path, body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        endpoint = f"http://127.0.0.1:{server.server_port}"
        environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_SERVICE_NAME": "mine",
        }
        assert configured(False, **environment) == "True True mine 1"
        server.shutdown()
    ((path, body),) = received
    assert path == "/v1/traces"
    assert b"tools/call search" in body


def test_an_endpoint_without_the_exporter_is_the_admins_to_mend() -> None:
    missing = "import importlib.util; importlib.util.find_spec = lambda name: None"
    code = f"{missing}; from gateway.observability import telemetry; telemetry.configure('porch')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        check=False,
    )
    *_, last = done.stderr.splitlines()
    assert last.startswith("gateway.errors.ConfigError: environment: OTEL_EXPORTER_OTLP_ENDPOINT")
    assert "make services" in last


def test_the_sdk_can_be_switched_off() -> None:
    assert configured(True, OTEL_SDK_DISABLED="true") == "nothing True None None"
