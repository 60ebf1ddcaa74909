"""Who is signed in at one replica is so at the other, and what ends at one ends at both."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import httpx2
import pytest
from eth_account import Account as Key

from tests.faults.conftest import Place, Portal, eventually
from tests.journeys.balancer import TIERS, Client, Member, empty_database, is_ready, serve

pytestmark = pytest.mark.heavy

WITHIN = 20.0
"""Seconds in which a revocation counts in every replica: the promise, not a measurement."""
PORTAL = """
public_url: https://portal.example.org
trusted_proxies: [127.0.0.1]
services: {{embedding: none, database: env:ADDRESS, cache: {cache}}}
"""
LISTED = Key.create()


class Pair(NamedTuple):
    """Two replicas, and the place and the environment that they share."""

    place: Place
    environment: dict[str, str]
    first: Portal
    second: Portal


@pytest.fixture(scope="module", params=["memory", "redis"])
def pair(
    request: pytest.FixtureRequest, postgres_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """Two replicas that begin in the same moment on an empty database."""
    cache = "memory"
    environment = {"PORCH_SIGNING_KEY": uuid.uuid4().hex}
    if request.param == "redis":
        cache = "env:CACHE"
        environment["CACHE"] = request.getfixturevalue("redis_url")
    place = Place(tmp_path_factory.mktemp("pair"))
    place.configure(PORTAL.format(cache=cache))
    place.page("garden", "Garden")
    (place.root / "config" / "tiers.yaml").write_text(TIERS.format(address=LISTED.address))
    with ExitStack() as stack:
        url = stack.enter_context(empty_database(postgres_url))
        environment["ADDRESS"] = url
        stack.callback(stopped, place)
        both = [serve(place, name, **environment) for name in "ab"]
        for each in both:
            eventually(partial(is_ready, each), "it is ready")
        yield Pair(place, environment, *both)
        for each in both:
            assert "Traceback" not in each.printed, each.printed


def stopped(place: Place) -> None:
    for portal in place.running:
        portal.process.kill()
        portal.process.wait()


@pytest.fixture
def member(pair: Pair) -> Iterator[Member]:
    """Someone new, who is signed in at the first replica."""
    with Member(pair.first) as member:
        member.sign_in()
        yield member


def at_both(pair: Pair, act: Callable[[Portal], httpx2.Response]) -> list[httpx2.Response]:
    """The answers of both replicas to the same request, sent in the same moment."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(act, (pair.first, pair.second)))


def test_who_signs_in_at_one_replica_is_signed_in_at_the_other(pair: Pair, member: Member) -> None:
    assert member.is_signed_in()
    with member.at(pair.second):
        assert member.is_signed_in()
        page = member.get("/account")
        assert member.submit(page, "/signout").status_code == 303
    assert not member.is_signed_in()


def test_each_step_of_a_sign_in_may_be_at_another_replica(pair: Pair, member: Member) -> None:
    client = Client(member).register()
    with member.at(pair.second):
        consent = client.authorize()
    code = client.allow(consent)
    with member.at(pair.second):
        tokens = client.exchange(code).json()
    assert member.tier(tokens["access_token"]) == "public"
    renewed = client.refresh(tokens["refresh_token"]).json()
    for portal in (pair.first, pair.second):
        with member.at(portal):
            assert member.tier(renewed["access_token"]) == "public"
            assert member.tier(tokens["access_token"]) == "public"


def test_a_message_that_is_signed_once_signs_in_once(pair: Pair) -> None:
    with Member(pair.first) as visitor:
        fields = visitor.signed(visitor.get("/signin"))
        cookies = dict(visitor.http.cookies)

        def send(portal: Portal) -> httpx2.Response:
            with Member(portal) as same:
                same.http.cookies.update(cookies)
                answer = same.send("/signin/wallet", fields)
                assert answer.status_code == 303, answer.text
                return same.get("/account")

        answers = at_both(pair, send)
        assert sorted(each.status_code for each in answers) == [200, 303]
        assert send(pair.second).status_code == send(pair.first).status_code == 303


def test_a_code_that_both_replicas_are_shown_at_once_is_good_for_nothing(
    pair: Pair, member: Member
) -> None:
    client = Client(member).register()
    code = client.allow(client.authorize())
    fails_as_a_family(pair, client, lambda same: same.exchange(code))


def test_a_refresh_token_that_both_replicas_are_shown_at_once_ends_its_family(
    pair: Pair, member: Member
) -> None:
    client = Client(member)
    token = client.tokens()["refresh_token"]
    fails_as_a_family(pair, client, lambda same: same.refresh(token))


def fails_as_a_family(pair: Pair, client: Client, act: Callable[[Client], httpx2.Response]) -> None:
    """At most one answer has tokens, and those are worth nothing once both have been given."""

    def send(portal: Portal) -> httpx2.Response:
        with Member(portal) as own:
            return act(Client(own, client.client_id, verifier=client.verifier))

    answers = at_both(pair, send)
    good = [each.json() for each in answers if each.is_success]
    assert len(good) <= 1
    assert all(each.json()["error"] == "invalid_grant" for each in answers if not each.is_success)
    for tokens in good:
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        for portal in (pair.first, pair.second):
            with client.member.at(portal):
                ended(client.member, tokens["access_token"])


def ended(member: Member, token: str, left: str = "refused") -> None:
    """A token gives what is left, within the time that is promised."""
    since = time.monotonic()
    eventually(lambda: member.tier(token) == left, "the revocation is heard of")
    assert time.monotonic() - since < WITHIN


def api_token(pair: Pair, member: Member) -> str:
    return member.api_token()


def access_token(pair: Pair, member: Member) -> str:
    token: str = Client(member).tokens()["access_token"]
    return token


def operators_token(pair: Pair, member: Member) -> str:
    words = ("token", "create", "--tier", "public", "--name", name(member))
    return porch(pair, *words).strip()


def name(member: Member) -> str:
    return f"ci-{member.key.address[2:12].lower()}"


def porch(pair: Pair, *words: str) -> str:
    done = pair.place.porch(*words, "--data", "a", **pair.environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pressed(action: str, number: int = 0, **fields: str) -> Callable[[Pair, Member, str], None]:
    """Presses a button of the account page."""

    def press(pair: Pair, member: Member, token: str) -> None:
        answer = member.submit(member.get("/account"), action, number, **fields)
        assert answer.status_code == 303, answer.text

    return press


def commanded(*words: str) -> Callable[[Pair, Member, str], None]:
    """Runs a command of the admin's; NAME and WHO stand for the token's and the person's."""

    def run(pair: Pair, member: Member, token: str) -> None:
        meant = {"NAME": name(member), "WHO": member.key.address}
        porch(pair, *(meant.get(word, word) for word in words))

    return run


DELETE = pressed("/account/delete", word="delete")
ON_THE_PAGE = {
    "an API token": (api_token, pressed("/account/tokens/revoke")),
    "a client": (access_token, pressed("/account/clients/revoke")),
    "signed out everywhere": (access_token, pressed("/account/sign-out-everywhere")),
    "tokens too": (api_token, pressed("/account/sign-out-everywhere", tokens="1")),
    "deleted, its client": (access_token, DELETE),
    "deleted, its token": (api_token, DELETE),
}
BY_COMMAND = {
    "an operator's token": (operators_token, commanded("token", "revoke", "NAME")),
    "signed out": (access_token, commanded("people", "sign-out", "WHO")),
    "signed out with tokens": (api_token, commanded("people", "sign-out", "WHO", "--tokens")),
    "forgotten": (access_token, commanded("people", "delete", "WHO", "--yes")),
}


@pytest.mark.parametrize("what", ON_THE_PAGE)
def test_what_ends_on_a_page_ends_there_at_once_and_soon_elsewhere(
    pair: Pair, member: Member, what: str
) -> None:
    credential, end = ON_THE_PAGE[what]
    token = credential(pair, member)
    known_at_both(pair, member, token)
    end(pair, member, token)
    assert member.tier(token) == "refused"
    with member.at(pair.second):
        ended(member, token)


@pytest.mark.parametrize("what", BY_COMMAND)
def test_what_an_admin_ends_by_a_command_ends_soon_everywhere(
    pair: Pair, member: Member, what: str
) -> None:
    credential, end = BY_COMMAND[what]
    token = credential(pair, member)
    known_at_both(pair, member, token)
    end(pair, member, token)
    since = time.monotonic()
    for portal in (pair.first, pair.second):
        with member.at(portal):
            ended(member, token)
    assert time.monotonic() - since < WITHIN


def test_a_client_that_gives_a_token_back_ends_its_grant_everywhere(
    pair: Pair, member: Member
) -> None:
    client = Client(member)
    tokens = client.tokens()
    known_at_both(pair, member, tokens["access_token"])
    assert client.revoke(tokens["refresh_token"]).is_success
    assert member.tier(tokens["access_token"]) == "refused"
    with member.at(pair.second):
        ended(member, tokens["access_token"])
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"


def test_what_a_linked_account_gives_ends_with_the_link(pair: Pair, member: Member) -> None:
    token = member.api_token()
    member.sign_in(key=LISTED, link="1")
    assert member.tier(token) == "members"
    with member.at(pair.second):
        ended(member, token, "members")
    unlink = pressed("/account/unlink", subject=f"wallet:{LISTED.address}")
    unlink(pair, member, token)
    assert member.tier(token) == "public"
    with member.at(pair.second):
        ended(member, token, "public")


@pytest.mark.parametrize("place", ["first", "second"])
def test_an_open_stream_ends_with_what_opened_it(pair: Pair, member: Member, place: str) -> None:
    token = member.api_token()
    with Member(getattr(pair, place)) as program, program.listening(token) as lines:
        pressed("/account/tokens/revoke")(pair, member, token)
        since = time.monotonic()
        # Plugins of other portals may open just now, and their lists change.
        told = [line for line in lines if line.startswith("data: {")]
        assert not [line for line in told if "list_changed" not in line]
        assert time.monotonic() - since < WITHIN


def known_at_both(pair: Pair, member: Member, token: str) -> None:
    for portal in (pair.first, pair.second):
        with member.at(portal):
            assert member.tier(token) == "public"
