"""A long result is the same as it would be if it were short, and nobody waits for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mcp_types as mcp
import pytest
from pydantic import BaseModel
from pydantic_core import from_json

from gateway.contract import BriefResult, Relayed
from gateway.pipeline import json_chunks
from gateway.scrubbing.scrubber import Redaction
from gateway.surfaces.mcp.long_results import prompt_pieces, resource_pieces, tool_pieces
from gateway.surfaces.mcp.redaction_report import with_report
from gateway.surfaces.mcp.results import Era, prompt_result, resource_result, tool_result
from tests.gateway.surfaces.mcp.conftest import LEGACY, MODERN

LONG = 'Long words, and "quotes", é and 漢 too.\n' * 20
REDACTED = (Redaction("aws-access-token", "AWS key", "text", None),)


class Told(BaseModel):
    """Structured content."""

    text: str
    rows: list[dict[str, Any]]


class Brief(BriefResult):
    """The same with words of its own."""

    text: str

    def brief(self) -> str:
        """In short."""
        return "Very long."


ROWS = [{"id": number, "name": LONG, "none": None} for number in range(9)]
TOLD = Told(text=LONG, rows=ROWS)
TOOLS = {
    "text": LONG,
    "no UTF-8": "\ud800" + LONG,
    "model": TOLD,
    "brief": Brief(text=LONG),
    "mapping": {"rows": ROWS},
    "blocks": [
        mcp.TextContent(text=LONG),
        mcp.ImageContent(data="AAAA" * 99, mime_type="image/png"),
    ],
    "result": mcp.CallToolResult(
        content=[mcp.TextContent(text=LONG)], structured_content={"rows": ROWS}
    ),
    "error": mcp.CallToolResult(content=[mcp.TextContent(text=LONG)], is_error=True),
    "relayed": Relayed({"content": [{"type": "text", "text": LONG}], "later": ROWS}),
}
RESOURCES = {
    "text": LONG,
    "bytes": LONG.encode(),
    "relayed": Relayed({"contents": [{"uri": "a:b", "text": LONG}]}),
    "result": mcp.ReadResourceResult(contents=[mcp.TextResourceContents(uri="a:b", text=LONG)]),
}
PROMPTS = {
    "text": LONG,
    "messages": [mcp.PromptMessage(role="user", content=mcp.TextContent(text=LONG))],
    "relayed": Relayed({"messages": [], "later": LONG}),
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_chunks, "PIECE_BYTES", 300)


@pytest.fixture(params=[MODERN, LEGACY])
def era(request: pytest.FixtureRequest) -> Era:
    return Era(request.param, {"name": "test", "version": "1"})


def check(long: Callable[[Sequence[Redaction]], Iterator[bytes]], short: bytes) -> None:
    for redactions in ((), REDACTED):
        found = list(long(redactions))
        assert from_json(b"".join(found)) == from_json(with_report(short, redactions))
    assert len(found) > 1 or len(short) < 900


@pytest.mark.parametrize("value", TOOLS.values(), ids=TOOLS)
def test_a_tools(value: Any, era: Era) -> None:
    from gateway.pipeline.json_text import sendable

    short = tool_result(sendable(value), era)
    check(lambda redactions: tool_pieces(value, redactions, era), short)


@pytest.mark.parametrize("value", RESOURCES.values(), ids=RESOURCES)
def test_a_resources(value: Any, era: Era) -> None:
    short = resource_result(value, "a:b", "text/plain", era)
    long = lambda redactions: resource_pieces(value, redactions, "a:b", "text/plain", era)  # noqa: E731
    for redactions in ((), REDACTED):
        assert from_json(b"".join(long(redactions))) == from_json(with_report(short, redactions))


def test_a_resource_that_is_a_model_has_its_json_as_text(era: Era) -> None:
    found = from_json(b"".join(resource_pieces(TOLD, (), "a:b", "application/json", era)))
    assert json.loads(found["contents"][0]["text"]) == TOLD.model_dump(mode="json")


@pytest.mark.parametrize("value", PROMPTS.values(), ids=PROMPTS)
def test_a_prompts(value: Any, era: Era) -> None:
    short = prompt_result(value, "A prompt.", era)
    check(lambda redactions: prompt_pieces(value, redactions, "A prompt.", era), short)
