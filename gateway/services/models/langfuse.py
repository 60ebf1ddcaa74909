"""Tells a Langfuse of every model call, as it takes traces: by OTLP over HTTP.

``POST /api/public/otel/v1/traces`` with the project's keys as HTTP Basic credentials (Langfuse's
API reference, "OpenTelemetry Traces Ingestion Endpoint"). It is told what the table of usage has,
and never a prompt or an answer. What it cannot be told is dropped, and no call waits for it.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.services.models import telemetry
from gateway.services.models.records import NANO_USD, CallEnd, CallStart
from gateway.services.secrets import resolve

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from gateway.config.language_models import Langfuse

__all__ = ["LangfuseSink", "is_installed"]

TRACES_PATH = "/api/public/otel/v1/traces"
_EXPORTER = "opentelemetry.exporter.otlp.proto.http"
_INGESTION_VERSION = "4"
"""With it Langfuse shows what it is told at once, and not some minutes later."""


def is_installed() -> bool:
    """Whether the exporter is there (the extra ``otlp``)."""
    return find_spec("opentelemetry.exporter") is not None and find_spec(_EXPORTER) is not None


class LangfuseSink:
    """Tells one project of Langfuse.

    Args:
        config: its section of ``portal.yaml``.
        root: where the relative path of a ``file:`` reference starts.
        kinds: the kind of each provider, by its name.

    Raises:
        SecretMissing: a key is not there.
    """

    def __init__(self, config: Langfuse, root: Path, kinds: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._provider = _provider(config, root)
        self._tracer = self._provider.get_tracer("porch.models")

    def __call__(self, call: CallStart, end: CallEnd) -> None:
        """Tell of a call that has ended; it is sent later."""
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind, Status, StatusCode

        began = int(call.at.timestamp() * 1e9)
        ended = call.at + timedelta(milliseconds=end.latency_ms)
        span = self._tracer.start_span(
            telemetry.span_name(call),
            Context(),
            SpanKind.CLIENT,
            {**telemetry.before(call, self._kinds[call.provider]), **_of_langfuse(call, end)},
            start_time=began,
        )
        span.set_attributes(telemetry.after(end))
        if end.outcome != "ok":
            span.set_status(Status(StatusCode.ERROR, end.outcome))
        span.end(int(ended.timestamp() * 1e9))

    async def close(self) -> None:
        """Send what waits."""
        await asyncio.to_thread(self._provider.shutdown)


def _of_langfuse(call: CallStart, end: CallEnd) -> dict[str, str]:
    """What Langfuse has names of its own for."""
    told = {
        "langfuse.observation.type": "generation",
        "langfuse.trace.name": f"{call.plugin}/{call.operation}",
    }
    if call.person:
        told["user.id"] = call.person
    if end.cost_nano_usd is not None:
        usd = float(Decimal(end.cost_nano_usd) / NANO_USD)
        told["langfuse.observation.cost_details"] = json.dumps({"total": usd})
    return told


def _provider(config: Langfuse, root: Path) -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    public = resolve(config.public_key, root).get_secret_value()
    secret = resolve(config.secret_key, root).get_secret_value()
    basic = base64.b64encode(f"{public}:{secret}".encode()).decode()
    headers = {
        "authorization": f"Basic {basic}",
        "x-langfuse-ingestion-version": _INGESTION_VERSION,
    }
    provider = TracerProvider(resource=Resource({"service.name": "porch"}), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(config.url + TRACES_PATH, headers=headers)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
