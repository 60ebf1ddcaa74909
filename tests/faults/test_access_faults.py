"""Sign-ins while servers are away, and a portal that is killed in the middle of one."""

from __future__ import annotations

import time
import uuid
from functools import partial

import pytest
from eth_account import Account as Key

from tests.faults.conftest import Place, Portal, eventually
from tests.journeys.balancer import TIERS, Client, Member, empty_database, is_ready, serve
from tests.servers.cable import cabled

pytestmark = pytest.mark.heavy

TRUSTED_SECONDS = 5.0
"""How long a portal that cannot read what was revoked believes what it remembers."""
GRACE_SECONDS = 5.0
"""For the calls that ask, one after the other."""
PORTAL = """
public_url: https://portal.example.org
trusted_proxies: [127.0.0.1]
services: {services}
"""
MEMBERS = Key.create()


@pytest.fixture
def place(place: Place) -> Place:
    place.page("garden", "Garden")
    (place.root / "config" / "tiers.yaml").write_text(TIERS.format(address=MEMBERS.address))
    configured(place)
    return place


def configured(place: Place, services: str = "{embedding: none}") -> None:
    place.configure(PORTAL.format(services=services))


def served(place: Place, data: str = "data", **environment: str) -> Portal:
    portal = serve(place, data, **environment)
    eventually(lambda: is_ready(portal), "the portal is ready")
    return portal


def ended_well(portal: Portal) -> None:
    assert portal.stop() == 0
    assert "Traceback" not in portal.printed, portal.printed


def _is_unavailable(member: Member, credential: str) -> bool:
    return member.tier(credential) == "unavailable"


def test_without_its_database_a_portal_recognises_nobody_and_serves_what_is_open(
    place: Place, postgres_url: str
) -> None:
    configured(place, "{embedding: none, database: env:ADDRESS}")
    key = uuid.uuid4().hex
    with empty_database(postgres_url) as postgres, cabled(postgres) as line:
        other = served(place, "other", ADDRESS=postgres, PORCH_SIGNING_KEY=key)
        portal = served(place, ADDRESS=line.url, PORCH_SIGNING_KEY=key)
        with Member(portal) as member:
            member.sign_in(key=MEMBERS)
            client = Client(member)
            tokens = client.tokens()
            kept, revoked = member.api_token("kept"), member.api_token("revoked")
            credentials = [kept, revoked, tokens["access_token"]]
            assert [member.tier(each) for each in credentials] == ["members"] * 3
            line.cut()
            since = time.monotonic()
            with member.at(other):
                page = member.get("/account")
                shown = page.text
                at = 0 if shown.index(">revoked<") < shown.index(">kept<") else 1
                answer = member.submit(page, "/account/tokens/revoke", number=at)
                assert answer.status_code == 303
            for each in credentials:
                eventually(partial(_is_unavailable, member, each), "it is not believed")
            assert time.monotonic() - since < TRUSTED_SECONDS + GRACE_SECONDS
            check_what_is_left(portal, member, client, tokens)
            line.join()
            eventually(lambda: member.tier(kept) == "members", "it is looked up again")
            assert member.tier(revoked) == "refused"
            assert member.tier(tokens["access_token"]) == "members"
            assert member.is_signed_in()
            assert client.refresh(tokens["refresh_token"]).is_success
        for each in (portal, other):
            ended_well(each)


def check_what_is_left(
    portal: Portal, member: Member, client: Client, tokens: dict[str, str]
) -> None:
    """The open tier, the pages that look nobody up, and clear words for all else."""
    assert member.tier() == "open"
    page = member.get("/account")
    assert page.status_code == 503
    assert page.headers["retry-after"]
    assert "Try again in a moment" in page.text
    assert page.headers["content-type"].startswith("text/html")
    answer = client.refresh(tokens["refresh_token"])
    assert (answer.status_code, answer.json()["error"]) == (503, "temporarily_unavailable")
    bearer = {"authorization": f"Bearer {tokens['access_token']}"}
    rest = member.http.get(member.url("/api/v1/search?q=garden"), headers=bearer)
    assert rest.status_code == 503
    assert rest.json()["error"]["code"] == "unavailable"
    with Member(portal) as stranger:
        assert stranger.get("/").status_code == 200
        page = stranger.get("/signin")
        assert stranger.send("/signin/wallet", stranger.signed(page)).status_code == 503


def test_a_database_that_falls_silent_keeps_nobody_waiting_for_long(
    place: Place, postgres_url: str
) -> None:
    configured(place, "{embedding: none, database: env:ADDRESS}")
    with empty_database(postgres_url) as postgres, cabled(postgres) as line:
        portal = served(place, ADDRESS=line.url)
        with Member(portal) as member:
            member.sign_in(key=MEMBERS)
            token = member.api_token()
            assert member.tier(token) == "members"
            line.freeze()
            # Every answer comes within the patience of the member's client.
            eventually(lambda: member.tier(token) == "unavailable", "it is not believed")
            assert member.tier() == "open"
            line.thaw()
            eventually(lambda: member.tier(token) == "members", "it is looked up again")
        ended_well(portal)


def test_without_redis_people_sign_in_and_tokens_are_good(place: Place, redis_url: str) -> None:
    configured(place, "{embedding: none, cache: env:ADDRESS}")
    with cabled(redis_url) as line:
        portal = served(place, ADDRESS=line.url)
        line.cut()
        with Member(portal) as member:
            member.sign_in(key=MEMBERS)
            client = Client(member)
            tokens = client.tokens()
            assert member.tier(tokens["access_token"]) == "members"
            assert client.revoke(tokens["access_token"]).is_success
            assert member.tier(tokens["access_token"]) == "refused"
        ended_well(portal)


def restarted(place: Place, portal: Portal) -> Portal:
    portal.kill()
    return served(place)


def test_a_portal_that_is_killed_between_the_steps_loses_nothing_of_a_sign_in(place: Place) -> None:
    portal = served(place)
    with Member(portal) as member:

        def killed() -> None:
            nonlocal portal
            portal = restarted(place, portal)
            member.go_to(portal)

        member.sign_in(key=MEMBERS)
        client = Client(member).register()
        consent = client.authorize()
        killed()
        code = client.allow(consent)
        killed()
        tokens = client.exchange(code).json()
        renewed = client.refresh(tokens["refresh_token"]).json()
        killed()
        assert member.is_signed_in()
        assert member.tier(tokens["access_token"]) == "members"
        assert client.refresh(renewed["refresh_token"]).is_success
    ended_well(portal)


def test_who_lost_the_answer_to_a_refresh_signs_in_again_and_no_more(place: Place) -> None:
    portal = served(place)
    with Member(portal) as member:
        member.sign_in(key=MEMBERS)
        client = Client(member)
        tokens = client.tokens()
        assert client.refresh(tokens["refresh_token"]).is_success  # and nobody reads it
        portal = restarted(place, portal)
        member.go_to(portal)
        # To the portal it looks as if somebody else had been quicker.
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        assert member.tier(tokens["access_token"]) == "refused"
        assert member.is_signed_in()
        assert member.tier(client.tokens()["access_token"]) == "members"
    ended_well(portal)
