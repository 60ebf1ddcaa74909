"""A caller's own credential for a plugin's upstream: taken in, handed on, and kept nowhere."""

import asyncio
import base64
import logging
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from auth import ANONYMOUS, Caller, Tier
from gateway.contract import (
    Offer,
    Plugin,
    Prompt,
    Resource,
    ResourceTemplate,
    Skill,
    SkillFile,
    Tool,
    ToolFailed,
    UpstreamCredential,
    hookimpl,
)
from gateway.observability import logs
from gateway.observability.audit_record import AuditRecord
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.exchange import current_exchange
from gateway.surfaces.http.upstream_credentials import Upstreams
from gateway.testing import RequestRefused, open_test_portal

TOKEN = "ghp_" + "aB3" * 12
ODD = "odd-shaped!secret"
BEARER = base64.urlsafe_b64encode(TOKEN.encode()).decode().rstrip("=")
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
HEADER = "x-forge-token"
TIERS = "default: open\nitems:\n  forge/forge_for_members: members\n"


def from_bearer(token: str) -> str:
    try:
        decoded = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except ValueError:
        raise ValueError(f"The token {token} is not Base64.") from None
    if not decoded.startswith("ghp_"):
        raise ValueError("The token has no known prefix.")
    return decoded


def _plugin(name: str, credential: UpstreamCredential | None):
    later: list[asyncio.Task[Any]] = []

    @asynccontextmanager
    async def opened(config, host):
        def seen() -> str:
            return f"{host.exchange().credential}"

        async def show() -> str:
            """Shows the credential."""
            return seen()

        async def for_members() -> str:
            """Shows the credential to members."""
            return seen()

        async def crash() -> str:
            """Breaks, and says too much."""
            raise RuntimeError(f"could not use {seen()}")

        async def fail() -> str:
            """Fails, and says too much."""
            logs.get_logger("forge").warning("failed", why=f"{seen()} was refused")
            raise ToolFailed("refused", f"{seen()} was refused", {"token_used": seen()})

        async def linger() -> str:
            """Begins something that outlives the call."""

            async def look() -> str:
                await asyncio.sleep(0.05)
                return seen()

            later.append(asyncio.create_task(look()))
            return "begun"

        async def render(args, caller):
            return seen()

        async def read(*args):
            return seen()

        async def read_file(path, caller):
            return b"" if host.exchange().credential else b"none"

        said = {"name": name, "description": "A skill."}
        yield Offer(
            tools=[
                Tool.of(each, name=f"{name}_{each.__name__}")
                for each in (show, for_members, crash, fail, linger)
            ],
            prompts=[Prompt(f"{name}-show", "Shows it.", render)],
            resources=[Resource(f"{name}://show", "show", "Shows it.", read)],
            templates=[ResourceTemplate(f"{name}://show/{{id}}", "one", "Shows it.", read)],
            skills=[Skill(name, said, [SkillFile("SKILL.md", EMPTY, 0)], read_file)],
            credential=credential,
        )

    declared = hookimpl(lambda: Plugin(name, "Shows its credential.", opened))
    return SimpleNamespace(porch_plugin=declared, __name__=name, later=later)


FORGE = _plugin("forge", UpstreamCredential(HEADER, from_bearer, demanded=True))
OTHER = _plugin("other", UpstreamCredential("x-other-token"))
NONE = _plugin("plain", None)


@pytest.fixture(scope="module")
async def portal():
    # What these plugins show is what looks like a secret: the portal leaves it in their answers.
    config = {"scrubbing": {"as_is": ["forge", "other", "plain"]}}
    async with open_test_portal(FORGE, OTHER, NONE, config=config, tiers=TIERS) as portal:
        yield portal


@pytest.fixture
def loggers():
    """Gives the process its loggers back afterwards."""
    names = (None, *logs._LIBRARIES)
    before = [
        (each, each.handlers, each.level, each.propagate) for each in map(logging.getLogger, names)
    ]
    yield
    for logger, handlers, level, propagate in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_the_header_reaches_the_calls_of_its_plugin_and_no_other_s(portal):
    headers = {HEADER: TOKEN}
    for tier in ("open", "members"):
        assert (await portal.call("forge_show", tier=tier, headers=headers)).text == TOKEN
        for other in ("other_show", "plain_show"):
            assert (await portal.call(other, tier=tier, headers=headers)).text == "None"
    assert (await portal.call("forge_show")).text == "None"


async def test_each_kind_of_item_sees_it(portal):
    client = portal.mcp("open", headers={HEADER: TOKEN})
    prompt = await client.request("prompts/get", {"name": "forge-show"})
    assert prompt["messages"][0]["content"]["text"] == TOKEN
    for uri in ("forge://show", "forge://show/1"):
        read = await client.request("resources/read", {"uri": uri})
        assert read["contents"][0]["text"] == TOKEN
    read = await client.request("resources/read", {"uri": "skill://forge/SKILL.md"})
    assert read["contents"][0]["text"] == ""


async def test_two_plugins_each_get_their_own(portal):
    headers = {HEADER: TOKEN, "x-other-token": ODD}
    assert (await portal.call("forge_show", headers=headers)).text == TOKEN
    assert (await portal.call("other_show", headers=headers)).text == ODD


async def test_a_legacy_session_brings_it_with_each_request(portal, moods):
    session = await moods.Wire(portal).begin()
    for value in (TOKEN, ODD, None):
        params = {"name": "forge_show", "arguments": {}}
        reply = await session.legacy("tools/call", params, {HEADER: value}).reply()
        assert reply["result"]["content"][0]["text"] == str(value)


async def test_a_bearer_that_nobody_knows_is_the_plugin_s_at_its_own_endpoint(portal):
    client = portal.mcp("open", "forge", bearer(BEARER))
    assert (await client.call("forge_show", {}))["content"][0]["text"] == TOKEN
    refused = (await client.call("forge_for_members", {}))["content"][0]["text"]
    assert refused.startswith("Requires members access. Current: open.")
    with pytest.raises(RequestRefused, match="Unknown tool"):
        await client.call("other_show", {})


@pytest.mark.parametrize("path", ["/mcp", "/members/mcp", "/mcp/other", "/mcp/plain", "/api/v1/x"])
async def test_everywhere_else_it_is_a_401(portal, path):
    answer = await portal.http().post(path, json={}, headers=bearer(BEARER))
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "invalid_token"
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        ("bm9uZQ", "The token has no known prefix."),
        ("not.base64.é".encode().decode("latin-1"), "is not Base64."),
        ("eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUifQ.", "is not Base64."),
    ],
)
async def test_one_that_is_not_of_the_plugin_s_form_is_a_401_with_the_reason(portal, token, reason):
    headers = {b"authorization": f"Bearer {token}".encode("latin-1")}
    answer = await portal.http().post("/mcp/forge", json={}, headers=headers)
    assert answer.status_code == 401
    assert reason in answer.json()["error"]["message"]
    assert token not in answer.text
    assert "resource_metadata=" in answer.headers["www-authenticate"]


async def test_the_portal_s_own_tokens_go_before_the_plugin_s(portal):
    client = portal.mcp("members", "forge")
    assert (await client.call("forge_for_members", {}))["content"][0]["text"] == "None"
    client = portal.mcp("members", "forge", {HEADER: TOKEN})
    assert (await client.call("forge_for_members", {}))["content"][0]["text"] == TOKEN
    answer = await portal.http().post("/mcp/forge", json={}, headers=bearer("porch_" + "a" * 40))
    assert answer.status_code == 401
    assert "Base64" not in answer.text


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_none_at_all_is_a_401_before_anything_else_where_it_is_demanded(portal, method):
    answer = await portal.http().request(method, "/mcp/forge", content=b"{")
    assert answer.status_code == 401
    assert HEADER in answer.json()["error"]["message"]
    assert "resource_metadata=" in answer.headers["www-authenticate"]
    answer = await portal.http().request(method, "/mcp/other", content=b"{")
    assert answer.status_code != 401


async def test_the_header_alone_is_enough_where_one_is_demanded(portal):
    client = portal.mcp("open", "forge", {HEADER: TOKEN})
    assert (await client.call("forge_show", {}))["content"][0]["text"] == TOKEN


async def test_rest_takes_none(portal):
    answer = await portal.get("/api/v1/openapi.json", headers=bearer(BEARER))
    assert answer.status_code == 401


async def test_what_a_call_has_begun_does_not_see_it_afterwards(portal):
    FORGE.later.clear()
    await portal.call("forge_linger", headers={HEADER: TOKEN})
    assert await FORGE.later[0] == "None"
    assert current_exchange().credential is None


@pytest.mark.parametrize("value", [TOKEN, ODD])
@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
async def test_it_is_in_no_answer_log_or_record_when_things_go_wrong(
    portal, moods, capsys, monkeypatch, loggers, value, era
):
    records: list[AuditRecord] = []
    monkeypatch.setattr(portal.running.audit, "write", records.append)
    wire = moods.Wire(portal)
    send = (await wire.begin()).legacy if era == moods.LEGACY else wire.modern
    logs.configure("debug", json=True)
    answers = [
        await send("tools/call", {"name": tool, "arguments": {}}, {HEADER: value}).reply()
        for tool in ("forge_crash", "forge_fail")
    ]
    await send("tools/call", {"name": TOKEN, "arguments": {}}, {HEADER: value}).reply()
    written = capsys.readouterr().err
    assert "could not use ***" in written
    assert "*** was refused" in written
    assert value not in written + repr(records)
    assert value not in repr(answers)
    assert "*** was refused" in repr(answers[1])
    assert value not in portal.running.metrics.render().decode()


async def _again():
    return ANONYMOUS


def _context(
    headers: dict[str, str], only: str | None = None, caller: Caller = ANONYMOUS
) -> CallContext:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return CallContext(caller, "id", headers, raw, _again, "peer", "http://localhost", only=only)


def test_the_representation_of_a_context_tells_no_header():
    context = _context({HEADER: TOKEN} | bearer(ODD))
    assert TOKEN not in repr(context)
    assert ODD not in repr(context)


@given(
    path=st.sampled_from(["/mcp", "/mcp/", "/mcp/other", "/mcp/forge/", "/mcp/forge/x", "/forge"])
    | st.text(),
    token=st.just(BEARER) | st.text(),
)
def test_only_the_plugin_s_own_path_takes_a_bearer(path, token):
    offers = {"forge": Offer(credential=UpstreamCredential(HEADER, from_bearer)), "other": Offer()}
    assert path == "/mcp/forge" or Upstreams(offers).takes(path, token) is False


def test_an_empty_header_is_no_credential():
    credential = UpstreamCredential(HEADER, from_bearer, demanded=True)
    upstreams = Upstreams({"forge": Offer(credential=credential)})
    assert upstreams.brought(_context({HEADER: ""}), "forge") is None
    assert upstreams.lacks(_context({HEADER: ""}, "forge")) == HEADER
    member = Caller(person="person:x", tier=Tier.MEMBERS)
    assert upstreams.lacks(_context({}, "forge", member)) is None
    assert upstreams.lacks(_context({})) is None


def test_a_signed_in_caller_s_token_is_never_read_as_the_plugin_s():
    upstreams = Upstreams({"forge": Offer(credential=UpstreamCredential(HEADER, from_bearer))})
    member = Caller(person="person:x", tier=Tier.MEMBERS)
    assert upstreams.brought(_context(bearer(BEARER), "forge", member), "forge") is None
    assert upstreams.brought(_context(bearer(BEARER), "forge"), "forge") == TOKEN
