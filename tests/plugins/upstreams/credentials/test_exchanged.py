"""Members' calls carry tokens that the portal gets for its word about them, and nobody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from auth.tokens.assertions import subject_of
from gateway.contract import ToolFailed
from gateway.testing import TestPortal
from plugins.upstreams.credentials.exchanged import ExchangedTokens
from tests.plugins.upstreams.exchanging import (
    AUDIENCE,
    SECRET,
    Exchanging,
    exchanging_server,
    portal_of,
)
from tests.plugins.upstreams.portals import until, until_offered

MEMBERS = 100


@pytest.fixture(params=["modern", "legacy"])
def either(request: pytest.FixtureRequest) -> Iterator[Exchanging]:
    with exchanging_server(request.param) as exchanging:
        yield exchanging


@pytest.fixture
def exchanging() -> Iterator[Exchanging]:
    with exchanging_server() as exchanging:
        yield exchanging


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAR_CLIENT_SECRET", SECRET)


async def member(portal: TestPortal, exchanging: Exchanging, name: str, user: str = "") -> str:
    """Sign someone in whose account there is linked; their subject there."""
    person = await portal.sign_in(name)
    subject = subject_of(person.id, AUDIENCE)
    exchanging.accounts[subject] = user or f"{name}-there"
    await until_offered(portal, "far__add", tier=name)
    return subject


async def add(portal: TestPortal, who: str, a: int = 1, b: int = 2) -> Any:
    return await portal.call("far__add", {"a": a, "b": b}, tier=who)


async def test_a_call_carries_a_token_that_was_exchanged_for_the_portals_word(
    either: Exchanging,
) -> None:
    async with portal_of(either) as portal:
        subject = await member(portal, either, "ana")
        for number in range(3):
            assert (await add(portal, "ana", number)).structured == {"sum": number + 2}
        assert either.calls == [("ana-there", str(number)) for number in range(3)]
        assert either.exchanged == {subject: 1}
        asked = either.asked[-1]
        assert asked["resource"] == either.url
        assert asked["scope"] == "tools"
        assert asked["requested_token_type"].endswith(":access_token")


async def test_what_the_member_presents_to_the_portal_is_never_sent(
    exchanging: Exchanging, caplog: pytest.LogCaptureFixture
) -> None:
    async with portal_of(exchanging) as portal:
        await member(portal, exchanging, "ana")
        answer = await add(portal, "ana")
        presented = portal.http("ana").headers["authorization"].removeprefix("Bearer ")
        assert presented not in str(exchanging.far.headers)
        assert presented not in exchanging.assertions
        for secret in (*exchanging.seen, *exchanging.assertions, SECRET):
            assert secret not in answer.text + caplog.text


async def test_an_assertion_opens_no_door_of_the_portal(exchanging: Exchanging) -> None:
    async with portal_of(exchanging) as portal:
        await member(portal, exchanging, "ana")
        await add(portal, "ana")
        [assertion] = exchanging.assertions
        http, bearer = portal.http("open"), {"authorization": f"Bearer {assertion}"}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        accept = {"accept": "application/json, text/event-stream"}
        for path in ("/mcp", "/mcp/upstreams"):
            answer = await http.post(path, json=ping, headers={**bearer, **accept})
            assert answer.status_code == 401, path
        assert (await http.get("/api/v1/tools", headers=bearer)).status_code == 401
        for grant in (
            {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion},
            {"grant_type": "refresh_token", "refresh_token": assertion, "client_id": "x"},
            {"grant_type": "authorization_code", "code": assertion, "client_id": "x"},
        ):
            answer = await http.post("/token", data=grant)
            assert answer.status_code in (400, 401), grant
            assert "access_token" not in answer.text


async def test_a_token_is_exchanged_anew_before_it_ends(exchanging: Exchanging) -> None:
    async with portal_of(exchanging) as portal:
        subject = await member(portal, exchanging, "ana")
        exchanging.lifetime = 0  # said to be over as soon as it is given
        await add(portal, "ana")
        exchanging.lifetime = 3600
        before = exchanging.exchanged[subject]
        assert (await add(portal, "ana")).structured == {"sum": 3}
        assert exchanging.exchanged[subject] == before + 1


async def test_a_token_that_the_server_takes_no_more_is_exchanged_once_for_all_who_wait(
    either: Exchanging,
) -> None:
    async with portal_of(either) as portal:
        subject = await member(portal, either, "ana")
        await add(portal, "ana")
        either.forget_access()
        answers = await asyncio.gather(*(add(portal, "ana", number) for number in range(20)))
        assert [each.structured["sum"] for each in answers] == [n + 2 for n in range(20)]
        assert either.exchanged[subject] == 2


@pytest.mark.heavy
async def test_what_a_server_tells_is_heard_again_once_there_is_a_token_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asks, failures = ExchangedTokens.headers, list[ToolFailed]()

    async def noted(self: ExchangedTokens, holder: str) -> Mapping[str, str]:
        try:
            return await asks(self, holder)
        except ToolFailed as failed:
            failures.append(failed)
            raise

    monkeypatch.setattr(ExchangedTokens, "headers", noted)
    with exchanging_server(follows=True) as exchanging:
        async with portal_of(exchanging) as portal:
            await member(portal, exchanging, "ana")
            exchanging.lifetime = 1
            await add(portal, "ana")
            exchanging.lifetime = 3600

            async def is_over() -> bool:
                return not exchanging.is_good("ana-there")

            await until(is_over)
            exchanging.far.silence()

            async def has_no_token() -> bool:
                return bool(failures)

            await until(has_no_token)  # to open her stream with again: nobody calls
            assert {each.code for each in failures} == {"no_call"}
            before = exchanging.requests["ana-there"]
            await add(portal, "ana")

            async def is_heard() -> bool:
                return exchanging.requests["ana-there"] > before + 1

            await until(is_heard)


async def test_who_has_no_account_there_is_told_as_whom_to_link_it(
    exchanging: Exchanging,
) -> None:
    async with portal_of(exchanging) as portal:
        subject = await member(portal, exchanging, "ana")
        del exchanging.accounts[subject]
        refused = await asyncio.gather(*(add(portal, "ana") for _ in range(20)))
        assert {each.is_error for each in refused} == {True}
        assert f"It knows you as {subject} of http://localhost" in refused[0].text
        assert exchanging.exchanged[subject] == 1  # one exchange, for all who waited
        missing = await portal.call("why_missing", {}, tier="ana")
        [far] = [each for each in missing.structured["missing"] if each["name"] == "far"]
        assert far["why"] == "connection_needed"
        assert subject in far["reason"]
        assert exchanging.calls == []


@pytest.mark.parametrize("code", ["invalid_client", "unauthorized_client", "invalid_target"])
async def test_a_client_that_is_refused_is_for_the_admin_to_mend(
    exchanging: Exchanging, code: str
) -> None:
    async with portal_of(exchanging) as portal:
        await member(portal, exchanging, "ana")
        exchanging.refuses = code
        refused = await add(portal, "ana")
        assert f"its authorization server answers {code}. An admin of this portal" in refused.text
        assert "credential.exchange of far in portal.yaml" in refused.text
        health = (await portal.health())["plugins"]["upstreams"]
        assert (health["state"], "far cannot be asked for members" in health["detail"]) == (
            "degraded",
            True,
        )


async def test_a_secret_that_is_missing_is_named_and_tools_stay_away(
    exchanging: Exchanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAR_CLIENT_SECRET")
    async with portal_of(exchanging) as portal:
        await portal.sign_in("ana")
        health = (await portal.health())["plugins"]["upstreams"]
        assert "client_secret cannot be read. An admin" in health["detail"]


async def test_a_fresh_token_that_is_refused_as_well_is_for_the_admin_to_mend(
    either: Exchanging,
) -> None:
    async with portal_of(either) as portal:
        subject = await member(portal, either, "ana")
        await add(portal, "ana")
        either.takes_none = True
        refused = await add(portal, "ana")
        assert "far does not take the credential that this call carries (HTTP 401)" in refused.text
        assert "An admin of this portal has to look at credential of far" in refused.text
        assert either.exchanged[subject] == 2
        either.takes_none = False
        assert (await add(portal, "ana")).structured == {"sum": 3}


async def test_a_token_of_another_kind_is_not_used(exchanging: Exchanging) -> None:
    async with portal_of(exchanging) as portal:
        await member(portal, exchanging, "ana")
        exchanging.issued_type = "urn:ietf:params:oauth:token-type:id_token"
        assert "none of access" in (await add(portal, "ana")).text
        assert exchanging.calls == []


async def test_nobody_is_asked_for_who_has_not_signed_in(exchanging: Exchanging) -> None:
    async with portal_of(exchanging, tier="open") as portal:
        await until_offered(portal, "far__add")
        assert "Sign in to the portal" in (await add(portal, "open")).text
        assert exchanging.assertions == []


async def test_of_who_leaves_no_token_is_held(exchanging: Exchanging) -> None:
    async with portal_of(exchanging) as portal:
        subject = await member(portal, exchanging, "ana")
        await add(portal, "ana")
        people = portal.running.authentication.stores.people
        [person] = [each async for each in people.everyone()]
        personal = portal.running.plugins.offers["upstreams"].personal
        assert personal is not None
        await personal.erase(person.id)
        await add(portal, "ana")
        assert exchanging.exchanged[subject] == 2


@pytest.mark.heavy
async def test_no_call_of_a_hundred_members_carries_anothers_token(
    exchanging: Exchanging,
) -> None:
    async with portal_of(exchanging, calls=32, queue=1000, timeout="10m") as portal:
        for number in range(MEMBERS):
            await member(portal, exchanging, f"m{number}", str(number))
        calls = [add(portal, f"m{number}", number) for number in range(MEMBERS) for _ in range(3)]
        answers = await asyncio.gather(*calls)
        assert {each.text for each in answers if each.is_error} == set()
        exchanging.forget_access()  # all of them are exchanged anew in the middle of it
        again = [add(portal, f"m{number}", number) for number in range(MEMBERS) for _ in range(3)]
        answers = await asyncio.gather(*again)
        assert {each.text for each in answers if each.is_error} == set()
        assert len(exchanging.calls) == 6 * MEMBERS
        assert all(user == said for user, said in exchanging.calls)
        assert set(exchanging.exchanged.values()) == {2}
