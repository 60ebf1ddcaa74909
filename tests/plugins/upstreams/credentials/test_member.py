"""Members use their own accounts at a server, and nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.contract import SOURCE_MARK
from tests.plugins.upstreams.credentials.members import member, portal_of
from tests.plugins.upstreams.guarded import Guarded, guarded_server
from tests.plugins.upstreams.portals import until_offered


def everything_in(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


@pytest.fixture(params=["modern", "legacy"])
def guarded(request: pytest.FixtureRequest) -> Iterator[Guarded]:
    with guarded_server(request.param) as guarded:
        yield guarded


async def test_a_member_connects_calls_and_disconnects(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        assert "not connected" in await ana.account()
        assert "far is connected." in await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        assert (await ana.add()).structured == {"sum": 3}
        assert guarded.calls == [("ana-there", "1")]
        assert "far is disconnected." in await ana.disconnect()
        refused = await ana.add()
        assert refused.is_error
        assert "/account?connect=upstreams%2Ffar&for=" in refused.text
        assert len(guarded.calls) == 1


async def test_litellm_33072_tools_stay_when_the_token_that_listed_them_has_ended(
    guarded: Guarded,
) -> None:
    # There they vanish without a word.
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        guarded.refuses_refresh = True
        guarded.forget_access()
        refused = await ana.add()
        assert "does not take your connection any more" in refused.text
        mark = {"name": "far", "account": "own"}
        assert (await portal.tools("ana"))["far__add"]["_meta"][SOURCE_MARK] == mark
        assert "expired" in await ana.account()
        missing = await portal.call("why_missing", {"name": "far"}, tier="ana")
        found = {each["why"] for each in missing.structured["missing"]}
        # Whoever is quick is not yet told that the list could not be read anew.
        assert found - {"not_listed"} == {"connection_expired"}
        ben = await member(portal, "ben")
        assert (await portal.tools("ben"))["far__add"]["_meta"][SOURCE_MARK] == mark
        guarded.refuses_refresh = False
        await ben.connect(guarded)
        assert (await ben.add(7)).structured == {"sum": 9}
        assert guarded.calls[-1] == ("ben-there", "7")


async def test_litellm_37497_whatever_is_asked_for_carries_the_callers_own_credential(
    guarded: Guarded,
) -> None:
    # There prompts and resources are asked for without it.
    async with portal_of(guarded) as portal:
        ana, ben = [await member(portal, name) for name in ("ana", "ben")]
        await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        await ben.connect(guarded)

        def asked_as(method: str) -> str | None:
            sent = guarded.far.headers_of.pop(method)["authorization"]
            return guarded.user_of({b"authorization": sent.encode()})

        for each in (ana, ben):
            there, mcp = f"{each.name}-there", portal.mcp(each.name)
            [message] = await portal.prompt("far__welcome", {"who": "you"}, tier=each.name)
            assert (message["content"]["text"], asked_as("prompts/get")) == ("Welcome you", there)
            assert "what grows" in await portal.read("plot://7", tier=each.name)
            assert asked_as("resources/read") == there
            ref, argument = {"type": "ref/prompt", "name": "far__welcome"}, {"name": "who"}
            params = {"ref": ref, "argument": {**argument, "value": "A"}}
            assert (await mcp.request("completion/complete", params))["completion"]["total"] == 7
            assert asked_as("completion/complete") == there


async def test_a_token_that_the_server_takes_no_more_is_renewed_in_the_call(
    guarded: Guarded,
) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        guarded.forget_access()
        assert (await ana.add()).structured == {"sum": 3}
        assert guarded.refreshes["ana-there"] == 1


async def test_nothing_of_a_token_is_kept_in_the_clear_or_told(
    guarded: Guarded, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with portal_of(guarded, tmp_path) as portal:
        ana = await member(portal, "ana")
        page = await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        told = page + (await ana.add()).text + caplog.text
        exported = await ana.browser.get("/account/export")
        kept = await asyncio.to_thread(everything_in, tmp_path)
        for token in guarded.seen:
            assert token.encode() not in kept
            assert token.encode() not in exported.content
            assert token not in told


async def test_a_server_that_wants_more_rights_gets_them_with_those_there_were(
    guarded: Guarded,
) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        for wanted in ("plant", "reap"):
            guarded.wants = wanted
            refused = await ana.add()
            assert "wants to be asked with more rights" in refused.text
            await ana.connect(guarded)
            assert (await ana.add()).structured == {"sum": 3}
        assert guarded.asked == [[], ["plant"], ["plant", "reap"]]


async def test_no_more_rights_are_asked_for_than_the_admin_has_said(guarded: Guarded) -> None:
    oauth = {"member_oauth": {"scopes": ["water"]}}
    async with portal_of(guarded, credential=oauth) as portal:
        ana = await member(portal, "ana")
        await ana.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        guarded.wants = "reap"
        assert "Tell an admin: scopes in portal.yaml says which." in (await ana.add()).text
        await ana.connect(guarded)
        assert guarded.asked == [["water"], ["water"]]
