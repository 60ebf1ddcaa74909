"""A secret in an argument leaves no trace: not in any log, record, span, table, file or answer."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from gateway.cli.mcp_client import McpClient, RequestRefused
from gateway.contract import (
    Caller,
    Job,
    JobRun,
    Offer,
    Plugin,
    Prompt,
    ResourceTemplate,
    Route,
    Tool,
    ToolFailed,
    hookimpl,
)
from gateway.observability import logs, telemetry
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(41))
"""The secret that every request of these tests carries."""
HOW = ("returned", "logged", "failed", "broken", "queued", "kept")
QUEUED = 4
"""Jobs that the requests queue: of a tool, a prompt and two routes."""
MARK = "marigolds-in-the-evening"
"""Stands beside it, and is found where the secret is not: so it is known that one looked. None of
its words is what another portal of this process may have for a secret, which no log shows again."""


class Given(BaseModel):
    text: str = ""
    how: str = "returned"
    nested: dict[str, list[str]] = {}


class Held(BaseModel):
    text: str


class World:
    """A plugin that does with an argument whatever a careless one might."""

    host: Any
    done: list[Any]
    all_done: asyncio.Event

    async def run(self, args: Given, caller: Caller) -> Held:
        host, text = self.host, json.dumps(args.model_dump())
        if args.how == "logged":
            host.log.error("careless", text=text, arguments=args)
        elif args.how == "failed":
            raise ToolFailed("careless", f"This is wrong: {text}", {"given": text})
        elif args.how == "broken":
            raise RuntimeError(text)
        elif args.how == "queued":
            await host.jobs.enqueue("work", {"text": text})
        elif args.how == "kept":
            (host.data_dir / "kept.txt").write_text(text)
            await host.objects.put("kept", text.encode())
            await host.cache.set("kept", text.encode(), ttl=60)
        return Held(text=text)

    async def work(self, run: JobRun, payload: Any) -> Any:
        run.progress(1, 2, payload["text"])
        self.done.append(payload)
        if len(self.done) == QUEUED:
            self.all_done.set()
        raise RuntimeError(payload["text"])

    async def say(self, args: Given, caller: Caller) -> str:
        return (await self.run(args, caller)).text

    async def read(self, variables: Any, caller: Caller) -> str:
        raise ToolFailed("not_found", f"There is no {variables['id']}.")

    async def complete(self, typed: str, others: Any, caller: Caller) -> list[str]:
        return [typed, *others.values()]

    @asynccontextmanager
    async def open(self, config: Any, host: Any) -> AsyncGenerator[Offer]:
        self.host, self.done, self.all_done = host, [], asyncio.Event()
        yield Offer(
            tools=[Tool("hold", "Holds.", self.run, args=Given)],
            prompts=[
                Prompt("say", "Says.", self.say, args=Given, complete={"text": self.complete})
            ],
            templates=[ResourceTemplate("demo://{id}", "demo", "Demo.", self.read)],
            routes=[
                Route(method, "/hold", self.run, "hold", Given, Held, "Hold.")
                for method in ("GET", "POST")
            ],
            jobs=[Job("work", self.work)],
        )


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("porch"))
    return exporter


@pytest.fixture
def loggers_back() -> Iterator[None]:
    """Afterwards the process has its loggers back."""
    loggers = [logging.getLogger(name) for name in (None, *logs._LIBRARIES)]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    yield
    for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


async def asked(client: McpClient, method: str, params: dict[str, Any]) -> str:
    try:
        return json.dumps(await client.request(method, params))
    except RequestRefused as refused:
        return json.dumps([str(refused), refused.data])


async def everything(portal: TestPortal) -> list[str]:
    """What the portal answers to the secret in every place that takes an argument."""
    text, client, http = f"{MARK} {TOKEN}", portal.mcp("open"), portal.http("open")
    answers: list[str] = []
    for how in HOW:
        prompted = {"text": text, "how": how}
        given = prompted | {"nested": {TOKEN: [text, "x" * 20]}}
        answers += [
            await asked(client, "tools/call", {"name": "hold", "arguments": given}),
            await asked(client, "prompts/get", {"name": "say", "arguments": prompted}),
        ]
        for answer in (
            await http.post("/api/v1/demo/hold", json=given),
            await http.get("/api/v1/demo/hold", params={"text": text, "how": how}),
        ):
            answers.append(answer.text + str(answer.headers))
    prompt = {"type": "ref/prompt", "name": "say"}
    for method, params in (
        ("tools/call", {"name": "hold", "arguments": {"nested": text}}),
        ("tools/call", {"name": "hold", "arguments": {TOKEN: 1}}),
        ("resources/read", {"uri": f"demo://{MARK}-{TOKEN}"}),
        (
            "completion/complete",
            {
                "ref": prompt,
                "argument": {"name": "text", "value": text},
                "context": {"arguments": {"how": text}},
            },
        ),
    ):
        answers.append(await asked(client, method, params))
    return answers


def written(directory: Path) -> dict[str, bytes]:
    """Every file of the portal's data: databases and their journals, objects, queues."""
    return {str(each): each.read_bytes() for each in directory.rglob("*") if each.is_file()}


@pytest.mark.usefixtures("loggers_back")
@pytest.mark.parametrize("as_json", [True, False], ids=["for machines", "for a person"])
async def test_a_secret_leaves_no_trace_anywhere(
    as_json: bool,
    tmp_path: Path,
    spans: InMemorySpanExporter,
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("debug", json=as_json)  # as porch serve does, at the most talkative level
    world = World()
    plugin = SimpleNamespace(porch_plugin=hookimpl(lambda: Plugin("demo", "D.", world.open)))
    tiers = {"default": "open"}
    async with open_test_portal(plugin, tiers=tiers, data_dir=tmp_path / "data") as portal:
        answers = await everything(portal)
        async with asyncio.timeout(60):
            await world.all_done.wait()
        metrics = portal.running.metrics.render().decode()
    logged = "".join(capsys.readouterr())
    traced = "".join(span.to_json() for span in spans.get_finished_spans())
    kept = written(tmp_path / "data")
    for name, told in {"log": logged, "metrics": metrics, "spans": traced}.items():
        assert TOKEN not in told, name
    assert [each for each in answers if TOKEN in each] == []
    assert [name for name, content in kept.items() if TOKEN.encode() in content] == []
    assert sum(MARK in each for each in answers) > len(HOW)
    assert MARK in logged
    assert any(MARK.encode() in content for content in kept.values())
    assert "github-classic-token" in metrics
    assert "tools/call hold" in traced
