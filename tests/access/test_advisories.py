"""What went wrong in other gateways, by its number, tried against this one.

Where a docstring says "by its title", the advisory's text could not be read here: the attack is
what its title, and where it is listed, say.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from auth import Account, Tier
from gateway.contract import Offer, Plugin, Tool, UpstreamCredential, hookimpl
from gateway.repositories.api import Api, connected
from gateway.repositories.errors import SourceFailed
from gateway.repositories.github import GithubRepository
from gateway.testing import open_test_portal
from tests.access.attacks import META, Attacked, attacked, register
from tests.access.test_attacks_forms import posted
from tests.gateway.surfaces.pages.browser import forms
from tests.servers.github_contents import GithubContents

ERAS = ["2025-11-25", "2026-07-28"]
LOOK = {"name": "look", "arguments": {"name": "north"}}
HARVEST = {"name": "harvest", "arguments": {}}
_SPAWNS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"}
_spawned: list[str] = []
_watching = False


def _watch(event: str, _: tuple[Any, ...]) -> None:
    if _watching and event in _SPAWNS:
        _spawned.append(event)


sys.addaudithook(_watch)


class Legacy:
    """A client of the older revisions, with its session."""

    def __init__(self, http: httpx2.AsyncClient, token: str | None = None) -> None:
        self.http = http
        self.headers = {"mcp-protocol-version": "2025-11-25"}
        self.use(token)

    def use(self, token: str | None) -> None:
        if token is not None:
            self.headers["authorization"] = f"Bearer {token}"

    async def begin(self) -> Legacy:
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        }
        answer = await self.post("initialize", hello)
        self.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        return self

    async def post(self, method: str, params: dict[str, Any] | None = None) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return await self.http.post("/mcp", json=message, headers=self.headers)


async def modern(
    http: httpx2.AsyncClient, params: dict[str, Any], path: str = "/mcp", **headers: str
) -> httpx2.Response:
    """A call of a tool in the newest revision."""
    sent = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": params["name"],
        **headers,
    }
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": params | {"_meta": META},
    }
    return await http.post(path, json=message, headers=sent)


async def test_cve_2026_42271_no_endpoint_starts_a_command(
    portal: Attacked, tmp_path: Path
) -> None:
    """LiteLLM CVE-2026-42271: endpoints that tested a server's settings started its command."""
    global _watching
    marker = tmp_path / "started"
    server = {
        "transport": "stdio",
        "type": "stdio",
        "command": "touch",
        "args": [str(marker)],
        "env": {},
        "url": f"file://{marker}",
    }
    bodies: list[dict[str, Any]] = [server, {"server": server}, {"mcpServers": {"x": server}}]
    token = await portal.api_token(await portal.person())
    routes = sorted(set(posted(portal.portal.app.router.routes)))
    paths = [*(path.replace("{plugin}", "garden") for path in routes)]
    paths += ["/mcp-rest/test/connection", "/mcp-rest/test/tools/list", "/test/connection"]
    assert "/mcp" in paths
    _spawned.clear()
    _watching = True
    try:
        for path in paths:
            for body in bodies:
                for headers in ({}, {"authorization": f"Bearer {token}"}):
                    await portal.client().post(path, json=body, headers=headers)
        for name in ("look", "water", "harvest", "linger"):
            called = {"name": name, "arguments": server}
            await modern(portal.client(), called, authorization=f"Bearer {token}")
    finally:
        _watching = False
    assert _spawned == []
    assert not marker.exists()


@pytest.mark.parametrize(
    "name",
    [
        "../../../user",
        "a/../../../../user",
        "..%2f..%2fuser",
        "%2e%2e/%2e%2e/user",
        "a/..\\..\\user",
        "//evil.example/x",
        "https://evil.example/x",
        "x?ref=secret",
        "x#/../../user",
        "@evil.example/x",
        "x\r\nHost: evil.example",
    ],
)
async def test_cve_2026_32871_a_name_never_leads_out_of_its_place_upstream(name: str) -> None:
    """FastMCP CVE-2026-32871: path parameters went unescaped into the address that was asked.

    So `../` in an argument reached any address of the upstream, with the gateway's credential.
    """
    with GithubContents() as server:
        async with connected() as client:
            reads = GithubRepository(Api(client, server.url, 5.0), "garden/tools", "main", 1000)
            with pytest.raises(SourceFailed):
                await reads.read(name)
        for request in server.requests:
            path, _, query = request.path.partition("?")
            assert path.startswith("/repos/garden/tools/")
            assert "/.." not in path.replace("%2F", "/").replace("%2f", "/").replace("%2E", ".")
            assert query in {"", "ref=main"}


async def test_ghsa_rww4_4w9c_7733_consent_to_one_client_is_none_to_another(
    portal: Attacked,
) -> None:
    """FastMCP GHSA-rww4-4w9c-7733, by its title: the OAuth proxy as a confused deputy.

    A person who had agreed to one client was taken to have agreed to any other.
    """
    good = await register(portal)
    page = await good.consent()
    assert page.status_code == 200
    mark = next(each for each in forms(page.text) if "/consent" in str(each.action)).fields
    assert (
        "code=" in (await good.browser.submit("/consent", {"answer": "allow"})).headers["location"]
    )
    evil = await register(portal, good.browser, redirect_uris=["https://evil.example/callback"])
    asked = await evil.authorize()
    assert asked.status_code == 302
    assert "/consent?" in asked.headers["location"]
    shown = await evil.browser.get(asked.headers["location"])
    assert shown.status_code == 200
    assert "evil.example" in shown.text
    # The yes to the first client, sent once more, is no yes to the second.
    again = await evil.browser.client.post(
        "/consent", data={**mark, "answer": "allow"}, headers={"origin": portal.base}
    )
    assert "evil.example" not in again.headers.get("location", "")


async def test_ghsa_wf8q_wvv8_p8jf_no_address_or_header_says_who_calls(portal: Attacked) -> None:
    """MCPHub GHSA-wf8q-wvv8-p8jf: the user in the path of the address was believed."""
    victim = await portal.person(Account("github:583231", "github", "octocat"))
    assert await portal.tier(await portal.api_token(victim)) == "members"
    for name in (victim.id, "octocat", "github:583231", "admin"):
        for path in (f"/{name}/mcp", f"/mcp/{name}", f"/mcp/user/{name}", f"/users/{name}/mcp"):
            assert (await modern(portal.client(), LOOK, path)).status_code in {404, 405}
        for key in ("user", "user_id", "person", "sub", "as"):
            assert await portal.tier(query=f"?{key}={name}") == "open"
        for header in ("x-user", "x-user-id", "x-forwarded-user", "x-porch-as", "remote-user"):
            assert await portal.tier(headers={header: name}) == "open"
        assert await portal.tier(headers={"cookie": f"user={name}; session={name}"}) == "open"


@pytest.mark.parametrize("era", ERAS)
async def test_cve_2025_64443_a_rebound_name_calls_no_tool(portal: Attacked, era: str) -> None:
    """Docker CVE-2025-64443: neither Host nor Origin was looked at (DNS rebinding)."""
    http = portal.client("127.0.0.1")
    session = await Legacy(http).begin()
    for wrong, status in (
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80", "origin": "http://evil.example"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ):
        if era == "2026-07-28":
            answer = await modern(http, LOOK, **wrong)
        else:
            session = await Legacy(http).begin()
            session.headers |= wrong
            answer = await session.post("tools/call", LOOK)
            stream = await http.get("/mcp", headers=session.headers)
            assert stream.status_code == status
        assert answer.status_code == status
        assert "north" not in answer.text


async def test_ghsa_vgf8_3685_66j9_a_closed_tool_is_closed_at_every_door(portal: Attacked) -> None:
    """ContextForge GHSA-vgf8-3685-66j9, by its title: what one door asked for, another did not."""
    http = portal.client()
    for path in ("/mcp", "/mcp/garden", "/members/mcp"):
        answer = await modern(http, HARVEST, path)
        assert answer.status_code == 401
        assert "Harvested" not in answer.text
    session = await Legacy(http).begin()
    assert (await session.post("tools/call", HARVEST)).status_code == 401
    narrow = await portal.api_token(await portal.person(), tools=frozenset({"look"}))
    for path in ("/mcp", "/mcp/garden", "/members/mcp"):
        answer = await modern(http, HARVEST, path, authorization=f"Bearer {narrow}")
        assert "Harvested" not in answer.text
    for route in portal.portal.app.router.routes:
        if "harvest" in (path := getattr(route, "path", "")):
            assert (await http.post(path, json={})).status_code in {401, 405}


async def test_contextforge_1078_nobody_calls_with_anothers_token() -> None:
    """ContextForge #1078: the first token that was stored for an upstream served everybody."""
    met = asyncio.Barrier(2)

    @asynccontextmanager
    async def opened(config: Any, host: Any) -> Any:
        async def show() -> str:
            """Shows whose credential the call carries."""
            await met.wait()  # both calls are under way
            return f"{host.exchange().credential}"

        async def alone() -> str:
            """The same, of one call."""
            return f"{host.exchange().credential}"

        tools = [Tool.of(each, tier=Tier.OPEN) for each in (show, alone)]
        yield Offer(tools=tools, credential=UpstreamCredential("x-forge-token"))

    declared = hookimpl(lambda: Plugin("forge", "Shows its credential.", opened))
    plugin: Any = SimpleNamespace(porch_plugin=declared, __name__="forge")
    async with open_test_portal(plugin, tiers="default: open\n") as portal:
        await portal.sign_in("ana")
        await portal.sign_in("ben")
        for _ in range(5):
            calls = (
                portal.call("show", tier=who, headers={"x-forge-token": f"of {who}"})
                for who in ("ana", "ben")
            )
            assert [each.text for each in await asyncio.gather(*calls)] == ["of ana", "of ben"]
            for who in ("ana", "ben", "open"):  # who brings none, has none
                assert (await portal.call("alone", tier=who)).text == "None"


async def test_contextforge_4557_many_at_once_are_all_answered_and_nothing_is_held(
    portal: Attacked,
) -> None:
    """ContextForge #4557, by its title: with many workers the gateway collapsed under its load.

    Pools ran dry because what a request had taken was not given back.
    """
    async with attacked(limits={"calls": "none"}) as portal:
        token = await portal.api_token(await portal.person())
        http = portal.client()
        session = await Legacy(http, token).begin()
        for _ in range(2):
            calls = [modern(http, LOOK, authorization=f"Bearer {token}") for _ in range(100)]
            calls += [session.post("tools/call", LOOK) for _ in range(100)]
            calls += [modern(http, LOOK) for _ in range(50)]
            answers = await asyncio.gather(*calls)
            assert {each.status_code for each in answers} == {200}
        assert portal.portal.running.metrics.in_flight == 0
        pool = portal.portal.running.services.shared_database.engine.pool
        assert pool.checkedout() <= 1  # type: ignore[attr-defined]  # the audit log's own


async def test_agentgateway_3622_an_ended_session_is_over_at_every_verb(portal: Attacked) -> None:
    """agentgateway #3622: a session lived on in a part of itself, and could not be begun anew."""
    http = portal.client()
    session = await Legacy(http).begin()
    assert (await session.post("tools/call", LOOK)).status_code == 200
    assert (await http.delete("/mcp", headers=session.headers)).status_code == 204
    for method, params in (("tools/call", LOOK), ("tools/list", None), ("ping", None)):
        assert (await session.post(method, params)).status_code == 404
    for verb in ("GET", "DELETE"):
        answer = await http.request(verb, "/mcp", headers=session.headers)
        assert answer.status_code == 404
    anew = await Legacy(http).begin()
    assert (await anew.post("tools/call", LOOK)).status_code == 200


async def test_metamcp_324_nothing_is_left_of_sessions_and_lists(
    portal: Attacked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MetaMCP #324: each look at the tools began a session that nobody ended."""
    monkeypatch.setattr("gateway.surfaces.mcp.sessions.MAX_SESSIONS", 10)
    http = portal.client("127.0.0.1")

    async def live() -> float:
        said = (await http.get("/metrics")).text.splitlines()
        return float(
            next(each for each in said if each.startswith("porch_mcp_sessions ")).split()[1]
        )

    before = await live()
    for _ in range(30):
        session = await Legacy(http).begin()
        for method in ("tools/list", "prompts/list", "resources/list"):
            assert (await session.post(method)).status_code == 200
        assert await live() == before + 1
        await http.delete("/mcp", headers=session.headers)
    assert await live() == before
    for _ in range(30):  # whoever leaves without a word is forgotten
        await Legacy(http).begin()
    assert await live() == 10


async def test_toolhive_5306_a_refreshed_token_goes_on_with_its_session(portal: Attacked) -> None:
    """ToolHive #5306: sessions were bound to the token's bytes, so that each refresh ended them."""
    client = await register(portal)
    tokens = await client.tokens()
    session = await Legacy(client.http, tokens["access_token"]).begin()
    assert (await session.post("tools/call", HARVEST)).status_code == 200
    for _ in range(3):
        tokens = (await client.refresh(tokens["refresh_token"])).json()
        session.use(tokens["access_token"])
        assert (await session.post("tools/call", HARVEST)).status_code == 200
    other = await portal.api_token(await portal.person())
    session.use(other)
    assert (await session.post("tools/call", HARVEST)).status_code == 404
