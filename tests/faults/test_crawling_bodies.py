"""A client that crawls is let go after a while, on every way in that reads a body."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from gateway.surfaces.http import body as bodies
from gateway.testing import open_test_portal
from tests.faults.conftest import JSON
from tests.journeys import garden


@pytest.mark.parametrize("first", [[], [b"{"]], ids=["nothing comes", "a beginning comes"])
@pytest.mark.parametrize("path", ["/mcp", "/hooks/garden/weather"])
async def test_a_body_that_never_ends_is_a_408_that_closes_the_connection(
    monkeypatch: pytest.MonkeyPatch, path: str, first: list[bytes]
) -> None:
    monkeypatch.setattr(bodies, "BODY_TIMEOUT_SECONDS", 0.05)

    async def crawling() -> AsyncIterator[bytes]:
        for piece in first:
            yield piece
        await asyncio.Event().wait()

    async with open_test_portal(garden) as portal:
        receiving = crawling()

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": await anext(receiving), "more_body": True}

        sent: list[dict[str, object]] = []

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        names = {**JSON, "host": "localhost"}
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in names.items()],
            "client": ("127.0.0.1", 5),
            "scheme": "http",
        }
        await portal.app(scope, receive, send)
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]  # type: ignore[operator]
    assert "did not come in within" in json.dumps(json.loads(sent[1]["body"]))  # type: ignore[arg-type]
