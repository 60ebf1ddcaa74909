"""What the consent page is given to show, and what its answer leads to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import Account
from auth.oauth.consent import ConsentRequest, Consents, with_parameters
from auth.oauth.redirect_uris import problem
from auth.sealer import BadSeal, Sealer
from auth.stores import digest
from tests.auth.clocks import Clock
from tests.auth.stores import empty_stores
from tests.gateway.surfaces.oauth.surface import query_of

KEY = b"k" * 32
ASKED = ConsentRequest(
    client_id="a client",
    client_name="Garden Tools",
    client_uri=None,
    redirect_uri="https://client.example/callback",
    explicit=True,
    resource="https://porch.example/mcp",
    scope=("public", "members"),
    challenge="c" * 43,
    state="its own",
    base="https://porch.example",
)


@pytest.mark.parametrize(
    ("redirect_uri", "host", "loopback"),
    [
        ("https://client.example/callback", "client.example", False),
        ("https://client.example:8443/", "client.example:8443", False),
        ("https://CLIENT.example/", "client.example", False),
        ("http://127.0.0.1:49152/callback", "127.0.0.1:49152", True),
        ("http://localhost/callback", "localhost", True),
        ("http://[::1]:5000/", "[::1]:5000", True),
        ("cursor://anysphere.cursor-retrieval/callback", "cursor", False),
        ("com.example.app:/callback", "com.example.app", False),
    ],
)
def test_the_page_shows_who_gets_the_answer(redirect_uri: str, host: str, loopback: bool) -> None:
    asked = replace(ASKED, redirect_uri=redirect_uri)
    assert (asked.redirect_host, asked.is_loopback) == (host, loopback)


def test_the_page_shows_who_vouches_for_the_client() -> None:
    assert ASKED.metadata_host is None
    document = replace(ASKED, client_id="https://client.example:8443/client.json")
    assert document.metadata_host == "client.example:8443"


@given(
    state=st.none() | st.text(max_size=50),
    name=st.text(max_size=80),
    scope=st.sampled_from([("public",), ("public", "members")]),
    explicit=st.booleans(),
)
def test_a_request_is_opened_as_it_was_sealed(
    state: str | None, name: str, scope: tuple[str, ...], explicit: bool
) -> None:
    asked = replace(ASKED, state=state, client_name=name, scope=scope, explicit=explicit)
    consents = Consents(Sealer(KEY, "consent"), None)  # type: ignore[arg-type]
    assert consents.open(consents.seal(asked)) == asked


def test_a_request_that_another_version_sealed_is_not_opened() -> None:
    sealer = Sealer(KEY, "consent")
    consents = Consents(sealer, None)  # type: ignore[arg-type]
    for payload in ({}, {"scope": ["public"]}, {"scope": 7}, {"scope": [], "unknown": 1}):
        with pytest.raises(BadSeal):
            consents.open(sealer.seal(payload, 60))


async def test_consent_becomes_a_grant_with_a_code_that_nobody_can_read_back(
    tmp_path: Path,
) -> None:
    async with empty_stores(tmp_path) as stores:
        person = await stores.people.signed_in(Account("github:1", "github"))
        clock = Clock()
        consents = Consents(Sealer(KEY, "consent", clock), stores.grants, clock)
        first = query_of(await consents.approve(ASKED, person.id))
        second = query_of(await consents.approve(ASKED, person.id))
        assert first["code"] != second["code"]
        found = await stores.grants.code(digest(first["code"]))
        assert found is not None
        code, spent = found
        assert not spent
        assert code.expires == datetime.fromtimestamp(clock() + 60, UTC)
        assert (code.redirect_uri, code.challenge) == (ASKED.redirect_uri, ASKED.challenge)
        grant = await stores.grants.get(code.grant)
        assert grant is not None
        assert (grant.person, grant.scope) == (person.id, ASKED.scope)
        assert (grant.client_id, grant.resource) == (ASKED.client_id, ASKED.resource)


async def test_nobody_consents_who_is_gone(tmp_path: Path) -> None:
    async with empty_stores(tmp_path) as stores:
        consents = Consents(Sealer(KEY, "consent"), stores.grants)
        with pytest.raises(LookupError):
            await consents.approve(ASKED, "person:unknown")


@given(
    uri=st.sampled_from(
        ["https://a.example", "https://a.example/?x=1", "app:/cb", "http://[::1]:1/cb?a=b%20c"]
    ),
    values=st.dictionaries(
        st.sampled_from(["code", "state", "iss"]), st.text(min_size=1), min_size=1
    ),
)
def test_an_answer_adds_to_a_redirect_uri_and_changes_nothing(
    uri: str, values: dict[str, str]
) -> None:
    assert problem(uri) is None
    answer = with_parameters(uri, values)
    assert answer.startswith(uri)
    kept = query_of(uri) if "?" in uri else {}
    assert query_of(answer) == {**kept, **values}
