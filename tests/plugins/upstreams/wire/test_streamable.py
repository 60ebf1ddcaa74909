"""The SDK's own server is spoken with over Streamable HTTP, in both eras."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from plugins.upstreams.wire import (
    Connection,
    ConnectionLost,
    Era,
    RpcError,
    SessionExpired,
    connect_sse,
)
from plugins.upstreams.wire.connection import Address
from plugins.upstreams.wire.limits import Limits
from tests.plugins.upstreams.wire.peers import CLIENT, Heard, call, connected, text_of
from tests.servers.sdk_mcp import TOOLS, SdkServer, sdk_server

Served = tuple[SdkServer, str]


@pytest.fixture(params=[False, True], ids=["events", "json"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with sdk_server(json=request.param) as served:
        yield served


@pytest.fixture
def speaking() -> Iterator[Served]:
    """A server that answers with events, which can carry more than an answer."""
    with sdk_server() as served:
        yield served


@pytest.fixture(params=["modern", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    found: Era = request.param
    return found


@pytest.fixture
async def heard() -> Heard:
    return Heard()


@pytest.fixture
async def connection(speaking: Served, era: Era, heard: Heard) -> AsyncIterator[Connection]:
    async with connected(f"{speaking[1]}/mcp", era=era, told=heard.tell) as connection:
        yield connection


async def test_a_server_of_both_eras_is_met_in_the_modern_one(served: Served):
    async with connected(f"{served[1]}/mcp") as connection:
        assert (connection.era, connection.version) == ("modern", "2026-07-28")
        assert (connection.server.name, connection.server.version) == ("workshop", "7")
        assert connection.server.instructions == "Ask away."
        assert connection.server.capabilities["tools"] == {"listChanged": True}
        assert text_of(await connection.request(*call("echo", text="hi"))) == "hi"


async def test_the_era_remembered_is_met_without_asking_for_another(served: Served):
    async with connected(f"{served[1]}/mcp", era="legacy") as connection:
        assert (connection.era, connection.version) == ("legacy", "2025-11-25")
        assert connection.server.title == "The workshop"
        assert text_of(await connection.request(*call("echo", text="hi"))) == "hi"
    assert served[0].methods["server/discover"] == 0


async def test_a_warm_call_costs_the_server_one_request(served: Served, era: Era):
    async with connected(f"{served[1]}/mcp", era=era) as connection:
        await connection.request("tools/list", {})  # by now the handshake has been taken in
        before = served[0].methods.copy()
        for number in range(10):
            assert text_of(await connection.request(*call("echo", text=str(number)))) == str(number)
        assert served[0].methods - before == {"tools/call": 10}


async def test_a_list_comes_as_the_server_wrote_it(connection: Connection):
    result = await connection.request("tools/list", {})
    assert [tool["name"] for tool in result["tools"]] == list(TOOLS)


async def test_calls_at_the_same_time_get_their_own_answers(connection: Connection):
    texts = [str(number) for number in range(50)]
    results = await asyncio.gather(
        *(connection.request(*call("echo", text=text)) for text in texts)
    )
    assert [text_of(each) for each in results] == texts


async def test_progress_is_heard_before_the_result(connection: Connection, heard: Heard):
    assert text_of(await connection.request(*call("count"), back=heard)) == "counted"
    assert heard.progresses == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert not connection.oddities


async def test_without_somebody_to_hear_it_progress_is_not_asked_for(connection: Connection):
    assert text_of(await connection.request(*call("count"))) == "counted"
    assert not connection.oddities


@pytest.mark.filterwarnings("ignore:The logging capability")
async def test_a_log_line_is_heard(connection: Connection, heard: Heard):
    name, params = call("log")
    params["_meta"] = {"io.modelcontextprotocol/logLevel": "debug"}
    await connection.request(name, params, back=heard)
    assert heard.logs == [("info", {"so": "far"}, "shop")]


async def test_a_changed_list_is_told(connection: Connection, heard: Heard):
    await connection.request(*call("change"))
    assert await heard.until_told("notifications/tools/list_changed") == {}


async def test_an_error_comes_with_its_code(connection: Connection):
    with pytest.raises(RpcError) as raised:
        await connection.request("no/such", {})
    assert raised.value.code == -32601
    assert not raised.value.may_have_run


async def test_who_gives_up_cancels_the_call_at_the_server(
    speaking: Served, connection: Connection
):
    server = speaking[0]
    calling = asyncio.create_task(connection.request(*call("hang")))
    assert await asyncio.to_thread(server.hanging.wait, 20)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert await asyncio.to_thread(server.cancelled.wait, 20)
    assert text_of(await connection.request(*call("echo", text="still"))) == "still"


async def test_a_call_that_runs_is_told_that_its_connection_is_closed(
    connection: Connection, speaking: Served
):
    server, _ = speaking
    calling = asyncio.create_task(connection.request(*call("hang")))
    assert await asyncio.to_thread(server.hanging.wait, 20)
    await connection.close()
    async with asyncio.timeout(20):
        with pytest.raises(ConnectionLost):
            await calling


async def test_giving_up_while_a_question_is_open_ends_it_quietly(speaking: Served):
    asked, errors = asyncio.Event(), list[Any]()

    class Undecided(Heard):
        async def ask(self, method, params):
            asked.set()
            await asyncio.Event().wait()

    asyncio.get_running_loop().set_exception_handler(lambda loop, told: errors.append(told))
    async with connected(f"{speaking[1]}/mcp", era="legacy") as connection:
        calling = asyncio.create_task(connection.request(*call("ask"), back=Undecided()))
        await asked.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
    gc.collect()
    assert errors == []


async def test_a_modern_request_says_who_asks_and_repeats_itself_in_headers(speaking: Served):
    async with connected(f"{speaking[1]}/mcp") as connection:
        name, params = call("seen")
        own = {"io.modelcontextprotocol/clientCapabilities": {"sampling": {}}, "trace": "t"}
        params["_meta"] = own | {"progressToken": 99, "io.modelcontextprotocol/clientInfo": {}}
        seen = await connection.request(name, params, headers={"mcp-param-region": "eu"})
    meta = seen["structuredContent"]["meta"]
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {"sampling": {}}
    assert meta["io.modelcontextprotocol/clientInfo"] == CLIENT.info
    assert meta["trace"] == "t"
    assert "progressToken" not in meta
    headers = speaking[0].headers
    assert headers["mcp-method"] == "tools/call"
    assert headers["mcp-name"] == "seen"
    assert headers["mcp-param-region"] == "eu"
    assert headers["mcp-protocol-version"] == "2026-07-28"


async def test_a_legacy_server_asks_and_is_answered(speaking: Served, heard: Heard):
    async with connected(f"{speaking[1]}/mcp", era="legacy", told=heard.tell) as connection:
        assert text_of(await connection.request(*call("ask"), back=heard)) == "accept Ada"
    assert heard.asked[0][0] == "elicitation/create"
    assert heard.asked[0][1]["message"] == "Who?"


async def test_a_question_aside_of_the_call_reaches_the_only_one_there_is(
    speaking: Served, heard: Heard
):
    async with connected(f"{speaking[1]}/mcp", era="legacy", told=heard.tell) as connection:
        assert text_of(await connection.request(*call("ask_aside"), back=heard)) == "accept Ada"


async def test_a_question_that_two_calls_may_have_asked_is_put_to_nobody(
    speaking: Served, heard: Heard
):
    other = Heard()
    async with connected(f"{speaking[1]}/mcp", era="legacy", told=heard.tell) as connection:
        hanging = asyncio.create_task(connection.request(*call("hang"), back=other))
        assert await asyncio.to_thread(speaking[0].hanging.wait, 20)
        with pytest.raises(RpcError):
            await connection.request(*call("ask_aside"), back=heard)
        hanging.cancel()
        await asyncio.wait({hanging})
        with pytest.raises(RpcError):  # who was given up may still have asked
            await connection.request(*call("ask_aside"), back=heard)
        assert connection.oddities["question of no request"] == 2
    assert not heard.asked
    assert not other.asked


async def test_what_the_asked_one_refuses_is_refused_to_the_server(speaking: Served):
    back = Heard(RpcError(-1, "The person has no time.", {"why": "tea"}))
    async with connected(f"{speaking[1]}/mcp", era="legacy") as connection:
        with pytest.raises(RpcError):
            await connection.request(*call("ask"), back=back)
    assert back.asked


async def test_while_a_question_is_open_the_clock_stands_still(speaking: Served):
    class Slow(Heard):
        async def ask(self, method, params):
            await asyncio.sleep(1.0)  # longer than the call may take
            return await super().ask(method, params)

    limits = Limits(total_s=0.5)
    async with connected(f"{speaking[1]}/mcp", era="legacy", limits=limits) as connection:
        assert text_of(await connection.request(*call("ask"), back=Slow())) == "accept Ada"


async def test_an_ended_session_is_told_to_every_call_and_a_new_connection_works(speaking: Served):
    url = f"{speaking[1]}/mcp"
    async with connected(url, era="legacy") as connection:
        await connection.request(*call("echo", text="hi"))
        speaking[0].forget_sessions()
        for _ in range(2):
            with pytest.raises(SessionExpired) as raised:
                await connection.request(*call("echo", text="hi"))
            assert not raised.value.may_have_run
        assert isinstance(await connection.ended(), SessionExpired)
    async with connected(url, era="legacy") as connection:
        assert text_of(await connection.request(*call("echo", text="hi"))) == "hi"


async def test_closing_ends_the_session_at_the_server(speaking: Served):
    async with connected(f"{speaking[1]}/mcp", era="legacy"):
        assert len(speaking[0].manager._server_instances) == 1
    assert not speaking[0].manager._server_instances


async def test_a_watched_resource_is_told_of_in_both_eras(speaking: Served, era: Era, heard: Heard):
    async with connected(f"{speaking[1]}/mcp", era=era, told=heard.tell) as connection:
        await connection.watch(["shop://a"])
        while not heard.told:  # the modern stream is opened anew meanwhile
            await connection.request(*call("touch", uri="shop://a"))
        params = await heard.until_told("notifications/resources/updated")
        assert params == {"uri": "shop://a"}


async def test_an_old_server_is_spoken_with_over_sse(speaking: Served, heard: Heard):
    connection = await connect_sse(Address(f"{speaking[1]}/sse"), CLIENT, told=heard.tell)
    try:
        assert (connection.era, connection.transport_name) == ("legacy", "http+sse")
        assert text_of(await connection.request(*call("count"), back=heard)) == "counted"
        assert [done for done, _, _ in heard.progresses] == [1, 2, 3]
        assert text_of(await connection.request(*call("ask"), back=heard)) == "accept Ada"
        results = await asyncio.gather(
            *(connection.request(*call("echo", text=str(each))) for each in range(20))
        )
        assert [text_of(each) for each in results] == [str(each) for each in range(20)]
        await connection.request(*call("change"))
        await heard.until_told("notifications/tools/list_changed")
    finally:
        await connection.close()


async def test_where_post_is_refused_the_old_transport_is_tried(speaking: Served):
    async with connected(f"{speaking[1]}/sse") as connection:
        assert connection.transport_name == "http+sse"
        assert text_of(await connection.request(*call("echo", text="hi"))) == "hi"
