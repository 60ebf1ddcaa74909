from typing import Any

import pytest
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientMetadata
from pydantic import AnyUrl

from auth.document_fetcher import Document, FetchRefused
from auth.oauth.cimd import ClientDocuments
from auth.oauth.client_record import RegistrationRefused, UnknownClient
from auth.oauth.clients import MAX_CLIENT_ID_LENGTH, REGISTRATION_LIFETIME_S, Clients
from auth.sealer import Sealer

DOCUMENT = "https://client.example/client.json"
KEY = b"k" * 32
NOW = 1_800_000_000.0


async def _fetch(url: str) -> Document:
    if url != DOCUMENT:
        raise FetchRefused("It is not found on the public internet.")
    return Document({"client_id": url, "redirect_uris": ["http://127.0.0.1/callback"]}, None)


def clients(key: bytes = KEY, now: float = NOW) -> Clients:
    sealer = Sealer(key, "oauth-client", clock=lambda: now)
    return Clients(sealer, ClientDocuments(_fetch), clock=lambda: now)


def metadata(**change: Any) -> OAuthClientMetadata:
    said = {
        "redirect_uris": ["http://localhost:1234/callback"],
        "client_name": "Garden",
        "token_endpoint_auth_method": "none",
    }
    return OAuthClientMetadata.model_validate(said | change)


async def test_a_registration_is_read_again_from_the_id_on_every_replica():
    registered = clients().register(metadata())
    found = await clients().get(registered.client_id)
    assert found is not None
    assert found.client_name == "Garden"
    assert [str(each) for each in found.redirect_uris or ()] == ["http://localhost:1234/callback"]
    assert found.token_endpoint_auth_method == "none"
    assert found.client_secret is None
    assert found.client_secret_expires_at is None


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
async def test_a_confidential_client_has_the_same_secret_on_every_replica(method):
    registered = clients().register(metadata(token_endpoint_auth_method=method))
    found = await clients().get(registered.client_id)
    assert found is not None
    assert found.client_secret == registered.client_secret
    assert found.token_endpoint_auth_method == method
    assert registered.client_secret is not None
    assert len(registered.client_secret) >= 43
    assert registered.client_secret not in registered.client_id
    assert registered.client_secret_expires_at == int(NOW) + REGISTRATION_LIFETIME_S


async def test_a_client_that_names_no_method_has_the_one_of_rfc_7591():
    registered = clients().register(metadata(token_endpoint_auth_method=None))
    assert registered.token_endpoint_auth_method == "client_secret_basic"
    assert registered.client_secret


def test_two_clients_that_say_the_same_are_two():
    first, second = (
        clients().register(metadata(token_endpoint_auth_method="client_secret_post"))
        for _ in range(2)
    )
    assert first.client_id != second.client_id
    assert first.client_secret != second.client_secret


async def test_the_answer_to_a_registration_says_what_the_client_got():
    asked = metadata(scope="openid offline_access members", grant_types=["authorization_code"])
    registered = clients().register(asked)
    answer = registered.model_dump(mode="json", exclude_none=True)
    assert answer["scope"] == "public members"
    assert answer["grant_types"] == ["authorization_code", "refresh_token"]
    assert answer["client_id_issued_at"] == int(NOW)
    assert "record" not in answer
    assert "client_secret" not in answer


async def test_a_changed_id_is_no_client():
    client_id = clients().register(metadata()).client_id
    body, _, signature = client_id.partition(".")
    for changed in (f"{body}A.{signature}", f"{body}.{signature[:-1]}", body, "", "é.é"):
        assert await clients().get(changed) is None
    assert await clients(key=b"o" * 32).get(client_id) is None


async def test_a_text_that_was_sealed_for_something_else_is_no_client():
    other = Sealer(KEY, "consent", clock=lambda: NOW).seal({"r": ["app:x"], "m": "none"}, 1000)
    assert await clients().get(other) is None


async def test_a_registration_outlives_every_client():
    client_id = clients().register(metadata()).client_id
    assert await clients(now=NOW + REGISTRATION_LIFETIME_S - 1).get(client_id) is not None
    with pytest.raises(UnknownClient, match="register again"):
        await clients(now=NOW + REGISTRATION_LIFETIME_S + 1).find(client_id)


@pytest.mark.parametrize(
    "uri",
    ["http://app.example/callback", "javascript:alert(1)", "https://app.example/#part"],
)
def test_a_redirect_uri_that_no_client_may_have_is_refused(uri):
    asked = metadata(redirect_uris=["https://app.example/callback", uri])
    with pytest.raises(RegistrationRefused, match=r"redirect_uris\[2\] must") as refused:
        clients().register(asked)
    assert refused.value.error == "invalid_redirect_uri"


def test_a_registration_without_a_redirect_uri_is_refused():
    with pytest.raises(RegistrationRefused) as refused:
        clients().register(metadata(redirect_uris=None))
    assert refused.value.error == "invalid_redirect_uri"


def test_an_id_stays_short_enough_for_an_address():
    many = [f"https://app.example/callback/{number:0100}" for number in range(20)]
    with pytest.raises(RegistrationRefused, match="too many") as refused:
        clients().register(metadata(redirect_uris=many))
    assert refused.value.error == "invalid_client_metadata"
    assert (
        len(clients().register(metadata(redirect_uris=many[:5])).client_id) <= MAX_CLIENT_ID_LENGTH
    )


async def test_an_id_that_is_too_long_is_not_even_looked_at():
    with pytest.raises(UnknownClient, match="too long"):
        await clients().find("https://client.example/" + "a" * MAX_CLIENT_ID_LENGTH)


def test_a_key_is_no_way_for_a_client_to_authenticate():
    asked = metadata(token_endpoint_auth_method="private_key_jwt")
    with pytest.raises(RegistrationRefused, match="token_endpoint_auth_method") as refused:
        clients().register(asked)
    assert refused.value.error == "invalid_client_metadata"


async def test_a_client_is_found_by_the_address_of_its_document():
    found = await clients().get(DOCUMENT)
    assert found is not None
    assert found.client_id == DOCUMENT
    assert found.client_name == "client.example"
    assert found.token_endpoint_auth_method == "none"
    assert await clients().get("https://other.example/client.json") is None
    assert await clients().get("http://client.example/client.json") is None


async def _sdk_client(*uris: str):
    found = await clients().get(clients().register(metadata(redirect_uris=list(uris))).client_id)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("registered", "given"),
    [
        ("http://localhost:1234/callback", "http://localhost:4321/callback"),
        ("http://127.0.0.1:1234", "http://127.0.0.1:80/"),
        ("https://app.example/callback", "https://app.example/callback"),
        ("https://app.example", "https://app.example"),
        ("cursor://anysphere.cursor-mcp/back", "cursor://anysphere.cursor-mcp/back"),
    ],
)
async def test_the_sdk_is_told_which_redirect_uri_is_meant(registered, given):
    client = await _sdk_client(registered, "https://other.example/")
    assert client.validate_redirect_uri(AnyUrl(given)) == AnyUrl(given)


@pytest.mark.parametrize(
    "given",
    [
        "https://app.example/callback/",
        "https://app.example/callback?x",
        "https://app.example:8443/callback",
        "http://localhost:1234/other",
        "http://127.0.0.1:1234/callback",
    ],
)
async def test_a_redirect_uri_that_was_not_registered_is_refused(given):
    client = await _sdk_client("https://app.example/callback", "http://localhost:1234/callback")
    with pytest.raises(InvalidRedirectUriError, match="not one that the client registered"):
        client.validate_redirect_uri(AnyUrl(given))


async def test_only_the_one_redirect_uri_of_a_client_may_go_without_saying():
    one = await _sdk_client("https://app.example/callback")
    assert one.validate_redirect_uri(None) == AnyUrl("https://app.example/callback")
    two = await _sdk_client("https://app.example/a", "https://app.example/b")
    with pytest.raises(InvalidRedirectUriError, match="several"):
        two.validate_redirect_uri(None)


@pytest.mark.parametrize(
    ("asked", "scopes"),
    [
        (None, ["members"]),
        ("", ["members"]),
        ("openid offline_access", ["members"]),
        ("public", ["public"]),
        ("members openid public", ["public", "members"]),
        ("PUBLIC", ["members"]),
    ],
)
async def test_scopes_that_there_are_not_are_left_out(asked, scopes):
    client = await _sdk_client("https://app.example/callback")
    assert client.validate_scope(asked) == scopes


def test_a_secret_is_no_part_of_what_a_record_prints():
    registered = clients().register(metadata(token_endpoint_auth_method="client_secret_post"))
    assert registered.client_secret is not None
    assert registered.client_secret not in repr(registered.record)


async def test_ten_thousand_registrations_are_kept_nowhere():
    import tracemalloc

    here = clients()
    here.register(metadata())
    asked = metadata()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(10_000):
            here.register(asked)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2**18
