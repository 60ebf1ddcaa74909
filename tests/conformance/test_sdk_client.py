"""The official Python client works against a portal over loopback, in both eras."""

import subprocess

import httpx2
import mcp_types as mcp
import pytest
from mcp import Client

pytestmark = pytest.mark.heavy

ERAS = ["legacy", "2026-07-28"]
PROMPT = mcp.PromptReference(name="test_prompt_with_arguments")


async def _accept(context, params):
    return mcp.ElicitResult(action="accept", content={"name": "Ada"})


def text_of(result: mcp.CallToolResult) -> str:
    (only,) = result.content
    assert isinstance(only, mcp.TextContent)
    return only.text


@pytest.fixture(params=ERAS)
async def client(request, url):
    async with Client(url, mode=request.param, elicitation_callback=_accept) as client:
        yield client


async def test_the_client_lists_and_calls_tools(client):
    assert "test_simple_text" in {tool.name for tool in (await client.list_tools()).tools}
    result = await client.call_tool("test_simple_text")
    assert "simple text" in text_of(result)


async def test_the_client_hears_of_progress(client):
    heard = []

    async def hear(done, total, message):
        heard.append((done, total))

    await client.call_tool("test_tool_with_progress", progress_callback=hear)
    assert heard == [(0, 100), (50, 100), (100, 100)]


async def test_the_client_reads_resources_and_prompts_and_completes(client):
    text = (await client.read_resource("test://static-text")).contents[0].text
    assert "static text" in text
    assert (await client.get_prompt("test_simple_prompt")).messages
    completed = await client.complete(PROMPT, {"name": "arg1", "value": "par"})
    assert completed.completion.values == ["paris", "park", "party"]


async def test_a_legacy_client_answers_a_question(url):
    async with Client(url, mode="legacy", elicitation_callback=_accept) as client:
        result = await client.call_tool("test_elicitation", {"message": "Who?"})
    assert "action=accept" in text_of(result)


async def test_a_modern_client_answers_in_a_second_round(url):
    async with Client(url, mode=ERAS[1], elicitation_callback=_accept) as client:
        result = await client.call_tool("test_input_required_result_elicitation")
    assert text_of(result) == "Hello, Ada!"


async def test_a_client_finds_the_era_by_itself(url):
    async with Client(url, mode="auto") as client:
        assert client.protocol_version == "2026-07-28"


async def test_a_call_in_flight_is_finished_when_the_portal_stops(
    own_url: str, own_portal: subprocess.Popen[bytes]
):
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "test_tool_with_progress",
            "_meta": {
                mcp.PROTOCOL_VERSION_META_KEY: ERAS[1],
                mcp.CLIENT_CAPABILITIES_META_KEY: {},
                "progressToken": 1,
            },
        },
    }
    headers = {
        "mcp-protocol-version": ERAS[1],
        "mcp-method": "tools/call",
        "mcp-name": "test_tool_with_progress",
    }
    events = []
    async with (
        httpx2.AsyncClient(timeout=60) as client,
        client.stream("POST", own_url, json=message, headers=headers) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                events.append(line)
                own_portal.terminate()
    assert len(events) == 4
    assert "Done." in events[-1]


async def test_a_legacy_client_comes_back_by_itself_for_a_reply(url):
    async with Client(url, mode="legacy") as client:
        result = await client.call_tool("test_reconnection")
    assert text_of(result) == "Reconnection test completed"
