"""Model calls as others are told of them: spans by OpenTelemetry's conventions, and Langfuse."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auth import Caller, Tier
from gateway.contract import ModelFailed
from gateway.toolkit import spans
from tests.gateway.services.models.conftest import Opened, Verdict
from tests.servers.openai_compatible import OpenAICompatible, Reply, failing
from tests.servers.serving import bound, serving

pytestmark = pytest.mark.one_database
ANNA = Caller("person:anna", Tier.MEMBERS)
SECRET_PROMPT = "nobody but the model reads this"


@pytest.fixture
def recorded() -> Iterator[tuple[Tracer, InMemorySpanExporter]]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    spans.record_with(tracer)
    yield tracer, exporter
    spans.record_with(None)
    provider.shutdown()


async def test_a_call_is_a_span_by_the_conventions_and_holds_no_prompt(
    opened: Opened, server: OpenAICompatible, recorded: tuple[Tracer, InMemorySpanExporter]
) -> None:
    server.then(Reply(model="m-2"))
    models = opened().for_owner("notes")
    tracer, exporter = recorded
    with tracer.start_as_current_span("call"):
        await models.generate(Verdict, SECRET_PROMPT, "simple", caller=ANNA, operation="judge")
    [span] = [each for each in exporter.get_finished_spans() if each.name == "chat m"]
    attributes = dict(span.attributes or {})
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.request.model"] == "m"
    assert attributes["gen_ai.response.model"] == "m-2"
    assert attributes["gen_ai.usage.input_tokens"] == server.billed["prompt_tokens"]
    assert attributes["gen_ai.usage.output_tokens"] == server.billed["completion_tokens"]
    assert SECRET_PROMPT not in str([each.to_json() for each in exporter.get_finished_spans()])


async def test_a_call_that_failed_is_a_span_with_its_kind(
    opened: Opened, server: OpenAICompatible, recorded: tuple[Tracer, InMemorySpanExporter]
) -> None:
    server.then(failing(500))
    models = opened().for_owner("notes")
    tracer, exporter = recorded
    with tracer.start_as_current_span("call"), pytest.raises(ModelFailed):
        await models.generate(Verdict, "?", "simple", caller=ANNA, operation="judge")
    [span] = [each for each in exporter.get_finished_spans() if each.name == "chat m"]
    assert dict(span.attributes or {})["error.type"] == "provider_down"


@dataclass
class Langfuse:
    """Langfuse's way in for traces: protobuf, gzip and Basic credentials."""

    got: list[tuple[dict[str, str], Any]] = field(default_factory=list)
    status: int = 200

    async def take(self, request: Request) -> Response:
        body = await request.body()
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        told = ExportTraceServiceRequest.FromString(body)
        self.got.append((dict(request.headers), told))
        return Response(b"", self.status, media_type="application/x-protobuf")


@pytest.fixture
def langfuse() -> Iterator[tuple[Langfuse, str]]:
    stand_in = Langfuse()
    path = "/api/public/otel/v1/traces"
    app = Starlette(routes=[Route(path, stand_in.take, methods=["POST"])])
    with serving(app, bound()) as url:
        yield stand_in, url


async def test_langfuse_is_told_what_the_table_has_and_no_prompt(
    opened: Opened,
    server: OpenAICompatible,
    langfuse: tuple[Langfuse, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in, url = langfuse
    monkeypatch.setenv("PORCH_TEST_PUBLIC", "pk-lf-0123456789")
    monkeypatch.setenv("PORCH_TEST_SECRET", "sk-lf-0123456789")
    keys = {"public_key": "env:PORCH_TEST_PUBLIC", "secret_key": "env:PORCH_TEST_SECRET"}
    prices = {"m": {"input": "1", "output": "2"}}
    service = opened(provider={"prices": prices}, langfuse={"url": url, **keys})
    models = service.for_owner("notes")
    await models.generate(Verdict, SECRET_PROMPT, "simple", caller=ANNA, operation="judge")
    server.then(failing(500))
    with pytest.raises(ModelFailed):
        await models.generate(Verdict, "?", "simple", caller=None, operation="judge")
    await service.close()
    [(headers, told)] = stand_in.got
    basic = base64.b64encode(b"pk-lf-0123456789:sk-lf-0123456789").decode()
    assert headers["authorization"] == f"Basic {basic}"
    good, bad = told.resource_spans[0].scope_spans[0].spans
    found = {each.key: each.value for each in good.attributes}
    assert found["langfuse.observation.type"].string_value == "generation"
    assert found["langfuse.trace.name"].string_value == "notes/judge"
    assert found["user.id"].string_value == "person:anna"
    assert found["gen_ai.usage.input_tokens"].int_value == server.billed["prompt_tokens"]
    assert "cost_details" in str(good)
    assert "user.id" not in str(bad)
    assert SECRET_PROMPT not in str(told)


async def test_no_call_fails_with_langfuse(
    opened: Opened,
    server: OpenAICompatible,
    langfuse: tuple[Langfuse, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand_in, url = langfuse
    stand_in.status = 401
    monkeypatch.setenv("PORCH_TEST_KEY", "lf-0123456789")
    keys = {"public_key": "env:PORCH_TEST_KEY", "secret_key": "env:PORCH_TEST_KEY"}
    service = opened(langfuse={"url": url, **keys})
    models = service.for_owner("notes")
    answer = await models.generate(Verdict, "?", "simple", caller=ANNA, operation="judge")
    assert answer.value == Verdict(mood="x", score=1)
    await service.close()
    assert stand_in.got
