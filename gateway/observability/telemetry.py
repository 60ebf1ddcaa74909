"""Traces: one OpenTelemetry span for each call, in the MCP semantic conventions, over those of
what it waits for (``gateway.toolkit.spans``).

A trace that began in the client goes on here: its ``traceparent`` is read from MCP's ``_meta``
(SEP-414) or from the HTTP headers (W3C Trace Context). Spans carry names and outcomes, never
argument values or the words of an exception.
"""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from gateway.errors import ConfigError, Problem
from gateway.observability.outgoing_requests import trace_requests
from gateway.toolkit import spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_METHODS = {
    "tool": ("tools/call", "gen_ai.tool.name"),
    "prompt": ("prompts/get", "gen_ai.prompt.name"),
    "resource": ("resources/read", "mcp.resource.uri"),
    "template": ("resources/read", "mcp.resource.uri"),
    "skill": ("resources/read", "mcp.resource.uri"),
    "completion": ("completion/complete", "porch.item"),
}
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_EXPORTER = "opentelemetry.exporter.otlp.proto.http"
_PROPAGATOR = TraceContextTextMapPropagator()
_random = random.Random()  # noqa: S311  (ids tell traces apart, and open nothing)
_SPAN_KEY = next(iter(trace.set_span_in_context(trace.INVALID_SPAN, Context())))
"""Under which a context has its span."""
_tracer: trace.Tracer | None = trace.NoOpTracer()
"""Makes spans; None where nobody sees them, and calls have ids alone."""


class IdSpan(trace.NonRecordingSpan):
    """A call's ids, for the logs and for what it calls; nothing is recorded.

    For a portal without an exporter: a span of the SDK that nobody sees takes a tenth of a call.
    The ids are made once somebody asks for them: most calls log nothing and call nobody.

    Args:
        carrier: as of :func:`call_span`.
    """

    def __init__(self, carrier: Mapping[str, str] | None) -> None:
        self._carrier = carrier
        self._ids: SpanContext | None = None

    def __enter__(self) -> Self:
        self._token = attach(Context({_SPAN_KEY: self}))
        return self

    def __exit__(self, *error: object) -> None:
        detach(self._token)

    def set_outcome(self, outcome: str, failed: bool = False) -> None:
        """As :meth:`CallSpan.set_outcome`; nobody sees it."""

    def get_span_context(self) -> SpanContext:
        """The ids, those of the trace that the call is a part of."""
        if self._ids is None:
            around = self._token.old_value
            parent = _parent(self._carrier) or (
                around if isinstance(around, Context) else Context()
            )
            begun = trace.get_current_span(parent).get_span_context()
            number = begun.trace_id if begun.is_valid else _random.getrandbits(128)
            self._ids = SpanContext(number, _random.getrandbits(64), False, begun.trace_flags)
        return self._ids


class CallSpan:
    """The span of one call, as a context: made by :func:`call_span`."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set_outcome(self, outcome: str, failed: bool = False) -> None:
        """Say how the call ended.

        Args:
            outcome: the word that the audit record carries too, such as ``ok``.
            failed: whether it is an error, so that the span shows as one.
        """
        self._span.set_attribute("porch.outcome", outcome)
        if failed:
            self._span.set_attribute("error.type", outcome)
            self._span.set_status(Status(StatusCode.ERROR))

    def __enter__(self) -> Self:
        self._token = attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        detach(self._token)
        if kind is not None:
            self.set_outcome(kind.__qualname__, failed=True)
        self._span.end()


def call_span(
    kind: str, item: str, tier: str, carrier: Mapping[str, str] | None = None
) -> CallSpan | IdSpan:
    """Begin the span of one call; enter it with ``with``.

    Args:
        kind: the item's kind: ``tool``, ``prompt``, ``resource``, ``template``, or ``completion``.
        item: the item's name, as the portal lists it.
        tier: the caller's tier.
        carrier: what holds the client's trace: HTTP headers with lower-case names, or MCP's
            ``_meta``. A malformed ``traceparent`` begins a new trace.
    """
    if _tracer is None:
        return IdSpan(carrier)
    method, target = _METHODS.get(kind, (kind, "porch.item"))
    attributes = {"mcp.method.name": method, target: item, "porch.tier": tier}
    name, parent, before = f"{method} {item}", _parent(carrier), spans.earlier()
    if before is None:
        return CallSpan(_tracer.start_span(name, parent, SpanKind.SERVER, attributes))
    what, began, ended = before
    call = _tracer.start_span(name, parent, SpanKind.SERVER, attributes, start_time=began)
    if call.is_recording():
        done = _tracer.start_span(what, trace.set_span_in_context(call), start_time=began)
        done.end(ended)
    return CallSpan(call)


def configure(service_name: str, *, enabled: bool = False) -> TracerProvider | None:
    """Set tracing up, if it is asked for by ``enabled`` or by any ``OTEL_*`` variable.

    Spans are exported over OTLP where an endpoint is set (``OTEL_EXPORTER_OTLP_ENDPOINT``) and
    the extra ``otlp`` is installed. ``OTEL_SDK_DISABLED=true`` switches all of it off. A process
    has one provider: a second call finds the first one's.

    Args:
        service_name: the ``service.name``, unless ``OTEL_SERVICE_NAME`` gives another.
        enabled: whether the configuration asks for traces.

    Returns:
        The provider, whose ``shutdown()`` sends what still waits, or None without tracing.

    Raises:
        ConfigError: an endpoint is set, and the exporter is not installed.
    """
    global _tracer
    asked = enabled or any(name.startswith("OTEL_") for name in os.environ)
    if not asked or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        _tracer = trace.NoOpTracer()
        spans.record_with(None)
        return None
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    provider = _provider(service_name)
    seen = provider.sampler is not ALWAYS_OFF
    _tracer = provider.get_tracer("porch") if seen else None
    spans.record_with(_tracer)
    if seen:
        trace_requests()
    return provider


def _provider(service_name: str) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    current = trace.get_tracer_provider()
    if isinstance(current, TracerProvider):
        return current
    name = os.environ.get("OTEL_SERVICE_NAME") or service_name
    resource = Resource.create({"service.name": name})
    if any(os.environ.get(endpoint) for endpoint in _ENDPOINTS):
        provider = TracerProvider(resource=resource)
        _export(provider)
    else:  # nobody sees what a span holds; its ids are in the logs all the same
        provider = TracerProvider(sampler=ALWAYS_OFF, resource=resource)
    trace.set_tracer_provider(provider)
    return provider


def _export(provider: TracerProvider) -> None:
    if importlib.util.find_spec("opentelemetry.exporter") is None or (
        importlib.util.find_spec(_EXPORTER) is None
    ):
        asking = next(endpoint for endpoint in _ENDPOINTS if os.environ.get(endpoint))
        reason = "is set, and the OTLP exporter is not installed: `make services`, or unset it"
        raise ConfigError([Problem("environment", 0, asking, reason)])
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))


def _parent(carrier: Mapping[str, str] | None) -> Context | None:
    if not carrier or "traceparent" not in carrier:
        return None
    found = {name: carrier.get(name) for name in ("traceparent", "tracestate")}
    return _PROPAGATOR.extract({k: v for k, v in found.items() if isinstance(v, str)})
