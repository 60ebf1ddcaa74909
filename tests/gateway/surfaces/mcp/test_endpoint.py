"""What the endpoint takes and turns away, before any method runs."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.surfaces.mcp.envelope import WireError, check_modern, is_request, parse
from tests.examples import examples

ERAS = ["2026-07-28", "2025-11-25"]
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
METHODS = [
    "initialize",
    "tools/call",
    "tools/list",
    "prompts/get",
    "resources/read",
    "resources/subscribe",
    "completion/complete",
    "logging/setLevel",
    "server/discover",
    "skills/list",
    "skills/get",
    "resources/directory/read",
    "notifications/cancelled",
    "notifications/initialized",
]
KEYS = [
    *("name", "uri", "arguments", "_meta", "cursor", "ref", "argument", "context", "requestId"),
    *("requestState", "inputResponses", "level", "protocolVersion", "capabilities"),
]
META = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
]
MIRRORS = ["mcp-protocol-version", "mcp-method", "mcp-name"]
PARAMS = st.dictionaries(
    st.sampled_from(KEYS), JSON | st.sampled_from(["echo", "moods://diary", "greet"])
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'{"a":"\\ud800"}',
        b"[" * 5000,
        b'{"a":' * 5000,
        b'{"id":' + b"9" * 5000 + b"}",
        b'{"id":NaN}',
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_what_is_no_json_is_a_parse_error(wire, body, era):
    answer = await wire.send(body, {"mcp-protocol-version": era}).start()
    reply = await answer.reply()
    assert (answer.status, reply["error"]["code"], reply["id"]) == (400, -32700, None)


@pytest.mark.parametrize(
    "message",
    [
        [PING],
        "ping",
        None,
        {},
        {"id": 1, "method": "ping"},
        PING | {"method": 5},
        PING | {"id": None},
        PING | {"id": 1.5},
        PING | {"id": True},
        PING | {"id": {}},
        PING | {"params": [1]},
        PING | {"params": None},
    ],
)
@pytest.mark.parametrize("era", ERAS)
async def test_what_is_no_single_message_is_an_invalid_request(wire, message, era):
    answer = await wire.send(message, {"mcp-protocol-version": era}).start()
    assert answer.status == 400
    assert (await answer.reply())["error"]["code"] == -32600


async def test_the_last_of_doubled_keys_counts(wire):
    session = await wire.begin()
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping","id":2}'
    assert await session.send(body).reply() == {"jsonrpc": "2.0", "id": 2, "result": {}}


async def test_a_huge_whole_number_passes_through_unharmed(wire):
    reply = await wire.call("echo", number=10**300).reply()
    assert reply["result"]["content"][0]["text"] == str(10**300)


@given(
    message=st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0")},
        optional={
            "id": JSON,
            "method": st.sampled_from(METHODS) | st.text(),
            "params": PARAMS | JSON,
            "result": JSON,
            "error": JSON,
        },
    )
)
def test_every_json_message_is_a_request_or_a_clear_error(message):
    with suppress(WireError):
        assert is_request(parse(json.dumps(message).encode())) in (True, False)


async def test_no_message_whatever_is_in_it_breaks_the_portal(wire, drawn_messages):
    session = await wire.begin()
    for message in drawn_messages:
        for caller, version in ((wire, "2026-07-28"), (session, "2025-11-25")):
            method = message.get("method")
            mirrored = method if isinstance(method, str) and method.isascii() else "x"
            headers = {"mcp-protocol-version": version, "mcp-method": mirrored}
            answer = await caller.send(message, headers).start()
            text = b""
            while (chunk := await answer.chunk()) is not None:
                text += chunk
            assert answer.status < 500, message
            assert b"Traceback" not in text
            assert b"-32603" not in text, (message, text)


@pytest.fixture
def drawn_messages():
    """Messages that look like requests from afar; drawn outside of the event loop."""
    found = []
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    @settings(max_examples=examples(150), database=None, derandomize=True)
    @given(
        st.sampled_from(METHODS) | st.text(max_size=5),
        st.integers() | st.text() | JSON,
        PARAMS,
        st.booleans(),
    )
    def draw(method, number, params, owed):
        params = params | ({"_meta": meta} if owed else {})
        found.append({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    draw()
    return found


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
async def test_a_body_of_another_kind_is_refused(wire, kind):
    assert (await wire.send(PING, {"content-type": kind}).start()).status == 415


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "APPLICATION/JSON", " application/json\t"]
)
async def test_json_is_json_however_its_type_is_written(wire, kind):
    assert (await wire.modern("tools/list", headers={"content-type": kind}).start()).status == 200


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/*;q=0.5"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_may_say_little_about_what_it_accepts(wire, accept, era):
    caller = wire if era == "2026-07-28" else await wire.begin()
    send = caller.modern if era == "2026-07-28" else caller.legacy
    answer = await send("tools/list", headers={"accept": accept}).start()
    assert answer.status == 200
    assert "tools" in (await answer.reply())["result"]


async def test_a_client_that_accepts_no_json_is_refused(wire):
    assert (await wire.send(PING, {"accept": "text/html"}).start()).status == 406


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_takes_plain_json_alone_gets_no_event_stream(wire, era):
    caller = wire if era == "2026-07-28" else await wire.begin()
    params = {"name": "complain", "arguments": {}}
    meta = {"progressToken": 1}
    accept = {"accept": "application/json"}
    if era == "2026-07-28":
        answer = await caller.modern("tools/call", params, accept, meta).start()
    else:
        answer = await caller.legacy("tools/call", params | {"_meta": meta}, accept).start()
    assert answer.headers["content-type"] == "application/json"
    assert (await answer.reply())["result"]["isError"] is True


async def test_a_client_that_takes_plain_json_alone_cannot_listen(wire):
    listen = wire.modern(
        "subscriptions/listen", {"notifications": {}}, {"accept": "application/json"}
    )
    assert "event-stream" in (await listen.reply())["error"]["message"]


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "GET", "DELETE"])
@pytest.mark.parametrize("era", ERAS)
async def test_other_http_methods_are_refused(wire, method, era):
    answer = await wire.send(b"", {"mcp-protocol-version": era}, method).start()
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "localhost.evil.example:8321"}, 421),
        ({"host": None}, 421),
        ({"host": "LocalHost:8321"}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:8321"}, 200),
    ],
)
async def test_only_our_hosts_and_origins_come_in(wire, headers, status):
    assert (await wire.modern("tools/list", headers=headers).start()).status == status


@pytest.mark.parametrize("headers", [{}, {"host": "evil.example"}, {"authorization": "Bearer no"}])
async def test_every_answer_carries_a_request_id(wire, headers):
    assert "x-request-id" in (await wire.modern("tools/list", headers=headers).start()).headers


async def test_no_one_from_outside_picks_a_tier(wire):
    tools = await wire.modern("tools/list", headers={"x-porch-as": "members"}).reply()
    assert "secret" not in {tool["name"] for tool in tools["result"]["tools"]}


async def test_a_bad_token_is_refused_and_never_anonymous(wire):
    answer = await wire.modern("tools/list", headers={"authorization": "Bearer no"}).start()
    assert answer.status == 401
    assert "invalid_token" in answer.headers["www-authenticate"]


@pytest.mark.parametrize("version", ["2023-01-01", "2027-01-01", "latest", ""])
async def test_an_unknown_version_is_refused_with_those_that_are_served(wire, version):
    answer = await wire.modern(
        "tools/list",
        headers={"mcp-protocol-version": version},
        meta={"io.modelcontextprotocol/protocolVersion": version},
    ).start()
    error = (await answer.reply())["error"]
    assert (answer.status, error["code"]) == (400, -32022)
    assert error["data"] == {"supported": ["2026-07-28"], "requested": version}


async def test_a_legacy_request_at_an_unknown_version_is_told_the_same(wire):
    session = await wire.begin()
    answer = await session.legacy("ping", {}, {"mcp-protocol-version": "2019-01-01"}).start()
    assert (answer.status, (await answer.reply())["error"]["code"]) == (400, -32022)


@given(
    method=st.sampled_from(METHODS) | st.text(),
    params=PARAMS,
    meta=st.none() | st.dictionaries(st.sampled_from(META), JSON | st.just("2026-07-28")),
    headers=st.dictionaries(
        st.sampled_from(MIRRORS), st.sampled_from([*METHODS, "2026-07-28"]) | st.text()
    ),
)
def test_an_envelope_passes_only_where_the_headers_mirror_it(method, params, meta, headers):
    params = params | ({"_meta": meta} if meta is not None else {})
    try:
        checked = check_modern({"method": method, "params": params}, headers, [])
    except WireError:
        return
    assert checked == meta
    assert set(META) <= checked.keys()
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert headers["mcp-method"] == method


@pytest.mark.parametrize("leave_out", ["mcp-protocol-version", "mcp-method", "mcp-name"])
async def test_a_header_that_is_missing_or_other_than_the_body_is_a_mismatch(wire, leave_out):
    params = {"name": "echo", "arguments": {}}
    for value in (None, "other"):
        answer = await wire.modern("tools/call", params, {leave_out: value}).start()
        error = (await answer.reply())["error"]
        assert (answer.status, error["code"]) == (400, -32020), (value, error)


async def test_white_space_around_a_header_is_no_part_of_it(wire):
    headers = {"mcp-method": " tools/list \t", "mcp-protocol-version": "2026-07-28 "}
    assert (await wire.modern("tools/list", headers=headers).start()).status == 200


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
async def test_a_doubled_header_is_a_mismatch(wire, name):
    params = {"name": "echo", "arguments": {}}
    # HTTP header names have no case; ASGI hands them over in lower case, one by one.
    answer = await wire.modern("tools/call", params, doubled=name).start()
    assert (await answer.reply())["error"]["code"] == -32020


async def test_a_body_over_the_limit_is_refused(wire):
    answer = await wire.send(b" " * (5 * 1024 * 1024)).start()
    assert answer.status == 413


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_error(portal, caplog):
    sent = []
    parts = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive():
        return parts.pop(0)

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
    await portal.app(scope | {"query_string": b"", "root_path": ""}, receive, send)
    assert sent == []


async def test_an_unknown_plugin_has_no_endpoint(wire):
    assert (await wire.send(PING, path="/mcp/nobody").start()).status == 404


async def test_one_plugin_can_be_served_alone(wire):
    reply = await wire.modern("tools/list", path="/mcp/moods").reply()
    assert {"echo", "crash"} <= {tool["name"] for tool in reply["result"]["tools"]}


async def test_a_bug_in_the_surface_shows_no_traceback(wire, portal, monkeypatch):
    def broken(*args):
        raise RuntimeError("the password is hunter2")

    session = await wire.begin()
    monkeypatch.setattr(portal.running.catalog, "listed", broken)
    monkeypatch.setattr(portal.running.catalog, "version", -2)
    for answer in (wire.modern("prompts/list"), session.legacy("prompts/list")):
        await answer.start()
        reply = await answer.reply()
        assert (answer.status, reply["error"]["code"]) == (200, -32603)
        assert "hunter2" not in json.dumps(reply)
        assert reply["error"]["data"]["request_id"] == answer.headers["x-request-id"]
