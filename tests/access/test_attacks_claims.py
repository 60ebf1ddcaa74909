"""Attacks with what an issuer said before: old tokens, silent ones, wild names, too many groups."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.access.attacks import TIERS, Attacked, attacked
from tests.servers.identity_provider import IdentityProvider

RULE = {"any_of": [{"claim": {"name": "groups", "value": "staff"}}]}
STAFF: dict[str, Any] = {**TIERS, "access": {"public": {"any_of": ["signed_in"]}, "members": RULE}}


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
async def portal(provider: IdentityProvider) -> AsyncIterator[Attacked]:
    accepted = {"issuer": provider.issuer, "audience": "portal"}
    async with attacked(tiers=STAFF, sign_in={"accept": [accepted]}) as portal:
        yield portal


def minted(provider: IdentityProvider, ago: float | None, groups: Any = None, **more: Any) -> str:
    """A token that is good for an hour and was made some seconds ago; None leaves ``iat`` out."""
    iat = None if ago is None else int(time.time() - ago)
    return provider.mint({"iat": iat, "groups": groups, **more}, lifetime=3600)


async def api_token(portal: Attacked, provider: IdentityProvider) -> str:
    person = await portal.who.stores.people.by_subject(f"oidc:{provider.issuer}#ana")
    assert person is not None
    return await portal.api_token(person)


async def test_an_older_token_brings_back_nothing_that_a_newer_one_took_away(
    portal: Attacked, provider: IdentityProvider
) -> None:
    staff, left = minted(provider, 300, ["staff"]), minted(provider, 60, [])
    assert await portal.tier(staff) == "members"
    personal = await api_token(portal, provider)
    assert await portal.tier(personal) == "members"
    assert await portal.tier(left) == "public"
    for token in (staff, personal, minted(provider, 299, ["staff"])):
        assert await portal.tier(token) == "public"
    assert await portal.tier(minted(provider, 0, ["staff"])) == "members"
    assert await portal.tier(personal) == "members"


async def test_a_token_that_is_silent_on_groups_erases_none(
    portal: Attacked, provider: IdentityProvider
) -> None:
    assert await portal.tier(minted(provider, 300, ["staff"])) == "members"
    assert await portal.tier(minted(provider, 60)) == "members"
    assert await portal.tier(await api_token(portal, provider)) == "members"


async def test_a_token_without_a_time_speaks_for_itself_and_never_against_one_with(
    portal: Attacked, provider: IdentityProvider
) -> None:
    undated = minted(provider, None, ["staff"])
    assert await portal.tier(undated) == "members"
    assert await portal.tier(await api_token(portal, provider)) == "public"
    assert await portal.tier(minted(provider, 3000, [])) == "public"
    assert await portal.tier(undated) == "public"


@pytest.mark.parametrize("ahead", [61, 90, 3600, 10**9])
async def test_a_time_to_come_is_refused_and_blocks_no_newer_word(
    portal: Attacked, provider: IdentityProvider, ahead: float
) -> None:
    assert await portal.tier(minted(provider, -ahead - 5, ["staff"])) == "refused"
    assert await portal.tier(minted(provider, 0, [])) == "public"
    assert await portal.tier(await api_token(portal, provider)) == "public"


async def test_an_issuer_whose_clock_is_minutes_behind_is_heard_in_its_own_order(
    portal: Attacked, provider: IdentityProvider
) -> None:
    staff = minted(provider, 600, ["staff"])
    assert await portal.tier(staff) == "members"
    assert await portal.tier(minted(provider, 599, [])) == "public"
    assert await portal.tier(staff) == "public"
    assert await portal.tier(minted(provider, 598, ["staff"])) == "members"


async def test_two_issuers_with_one_subject_are_two_people() -> None:
    with IdentityProvider() as one, IdentityProvider() as other:
        accept = [{"issuer": each.issuer, "audience": "portal"} for each in (one, other)]
        rule = {"any_of": [{"claim": {"name": "groups", "value": "staff", "issuer": one.issuer}}]}
        tiers = {**STAFF, "access": {**STAFF["access"], "members": rule}}
        async with attacked(tiers=tiers, sign_in={"accept": accept}) as portal:
            assert await portal.tier(minted(one, 60, ["staff"])) == "members"
            assert await portal.tier(minted(other, 30, ["staff"])) == "public"
            assert await portal.tier(minted(other, 0, [])) == "public"
            assert await portal.tier(await api_token(portal, one)) == "members"
            assert await portal.tier(await api_token(portal, other)) == "public"


@pytest.mark.parametrize(
    "groups",
    [["*"], ["st*"], ["sta??"], ["%"], ["staf_"], [".*"], ["staff*"], ["STAFF"], ["staff "], "*"],
)
async def test_a_group_with_a_wild_name_is_that_group_alone(
    portal: Attacked, provider: IdentityProvider, groups: Any
) -> None:
    assert await portal.tier(minted(provider, 60, groups)) == "public"


async def test_a_rule_with_a_wild_name_means_that_name_alone(provider: IdentityProvider) -> None:
    accepted = {"issuer": provider.issuer, "audience": "portal"}
    rule = {"any_of": [{"claim": {"name": "groups", "value": "*"}}]}
    tiers = {**STAFF, "access": {**STAFF["access"], "members": rule}}
    async with attacked(tiers=tiers, sign_in={"accept": [accepted]}) as portal:
        assert await portal.tier(minted(provider, 60, ["staff"])) == "public"
        assert await portal.tier(minted(provider, 30, ["*"])) == "members"


async def test_ten_thousand_groups_are_refused_with_the_rule(
    portal: Attacked, provider: IdentityProvider
) -> None:
    many = minted(provider, 0, ["staff", *(f"group-{number}" for number in range(10_000))])
    answer = await portal.client().post(
        "/mcp", json={}, headers={"authorization": f"Bearer {many}"}
    )
    assert answer.status_code == 401
    assert "16 KiB" in json.dumps(answer.json()) + answer.headers["www-authenticate"]
    assert "groups" in json.dumps(answer.json()) + answer.headers["www-authenticate"]
    some = minted(provider, 0, ["staff", *(f"g{number}" for number in range(900))])
    assert await portal.tier(some) == "members"


async def test_a_token_whose_issuer_does_not_answer_is_not_called_a_bad_one(
    portal: Attacked, provider: IdentityProvider
) -> None:
    provider.down = True
    headers = {"authorization": f"Bearer {minted(provider, 60, ['staff'])}"}
    for path in ("/mcp", "/api/v1/", "/admin/people"):
        answer = await portal.client().post(path, json={}, headers=headers)
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["retry-after"]) > 0
        assert "www-authenticate" not in answer.headers
        assert "its issuer's keys cannot be read" in answer.text
