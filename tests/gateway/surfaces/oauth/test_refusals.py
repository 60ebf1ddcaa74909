"""What the authorization server does not do, each attack by its name."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest

from auth.sealer import BadSeal
from gateway.limits.limiter import Limiter
from gateway.surfaces.oauth.parts import Limits
from tests.gateway.surfaces.oauth.conftest import Client, register
from tests.gateway.surfaces.oauth.surface import (
    BASE,
    REDIRECT,
    Surface,
    open_surface,
    pkce,
    query_of,
)

HTML = {"Accept": "text/html,application/xhtml+xml"}


async def grants_of(surface: Surface) -> int:
    return len(await surface.stores.grants.of(surface.alice.id))


async def test_a_code_that_is_used_twice_ends_the_grant(client: Client, surface: Surface) -> None:
    code = await client.code()
    tokens = (await client.exchange(code)).json()
    again = await client.exchange(code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert [kind for kind, _ in surface.reused] == ["code"]
    assert (await client.use(tokens["access_token"])).status_code == 401
    assert (await client.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_a_refresh_token_that_is_used_twice_ends_its_whole_family(
    client: Client, surface: Surface
) -> None:
    first = await client.sign_in()
    second = (await client.refresh(first["refresh_token"])).json()
    again = await client.refresh(first["refresh_token"])
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert [kind for kind, _ in surface.reused] == ["refresh token"]
    assert (await client.refresh(second["refresh_token"])).json()["error"] == "invalid_grant"
    for tokens in (first, second):
        assert (await client.use(tokens["access_token"])).status_code == 401


async def test_a_code_that_is_too_old_is_no_good(client: Client, surface: Surface) -> None:
    surface.clock.ahead = -61
    code = await client.code()
    surface.clock.ahead = 0
    answer = await client.exchange(code)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


async def test_another_client_cannot_use_a_code_or_a_refresh_token(
    client: Client, browser: httpx2.AsyncClient
) -> None:
    thief = await register(browser)
    code = await client.code()
    thief.verifier = client.verifier
    assert (await thief.exchange(code)).json()["error"] == "invalid_grant"
    tokens = (await client.exchange(code)).json()
    assert (await thief.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await client.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_stolen_code_is_no_good_without_its_verifier(client: Client) -> None:
    code = await client.code()
    for verifier in (pkce()[0], "short", "x" * 129, "ü" * 50, None):
        answer = await client.exchange(code, code_verifier=verifier)
        assert answer.status_code == 400
    assert (await client.exchange(code)).status_code == 200


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": "x" * 44}, "invalid_request"),
        ({"code_challenge": "!" * 43}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"resource": f"{BASE}.evil.example/mcp"}, "invalid_target"),
        ({"resource": f"{BASE}/mcp/unknown"}, "invalid_target"),
        ({"resource": f"{BASE}/api/v1"}, "invalid_target"),
        ({"resource": f"{BASE}/mcp#part"}, "invalid_target"),
        ({"resource": "/mcp"}, "invalid_target"),
    ],
)
async def test_the_client_is_told_of_an_error_by_redirect_with_state_and_issuer(
    client: Client, changed: dict[str, str | None], error: str
) -> None:
    answer = await client.authorize(**changed)
    assert answer.status_code == 302
    assert answer.headers["location"].startswith(REDIRECT + "?")
    assert answer.headers["cache-control"] == "no-store"
    said = query_of(answer.headers["location"])
    assert (said["error"], said["state"], said["iss"]) == (error, "its own", BASE)
    assert "code" not in said


@pytest.mark.parametrize(
    "redirect_uri",
    [
        "https://evil.example/callback",
        f"{REDIRECT}/more",
        f"{REDIRECT}?more=1",
        "https://client.example:8443/callback",
        "https://client.example@evil.example/callback",
        "https://client.example\\@evil.example/callback",
        "http://client.example/callback",
        "https://client.example/callback/../other",
        "https://client.example/callback%2f..%2fother",
        "javascript:alert(1)",
        "//client.example/callback",
        "not an address",
        f"{REDIRECT}#fragment",
    ],
)
async def test_nobody_is_sent_to_an_address_that_is_not_registered(
    client: Client, redirect_uri: str
) -> None:
    answer = await client.authorize(redirect_uri=redirect_uri)
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert answer.json()["error"] == "invalid_request"


async def test_nobody_is_sent_anywhere_for_an_unknown_client(client: Client) -> None:
    forged = client.client_id[:-1] + ("A" if client.client_id[-1] != "A" else "B")
    for client_id in (forged, "unknown", "https://client.example/none.json", None):
        answer = await client.authorize(client_id=client_id)
        assert answer.status_code == 400
        assert "location" not in answer.headers


async def test_a_person_gets_a_page_that_says_what_is_wrong(client: Client) -> None:
    client.http.headers.update(HTML)
    for answer in (
        await client.authorize(client_id="unknown"),
        await client.authorize(redirect_uri="https://evil.example/"),
        await client.http.get("/authorize?client_id=a&client_id=b"),
        await client.http.get("/authorize"),
    ):
        assert answer.status_code == 400
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["cache-control"] == "no-store"
        assert "This sign-in cannot go on" in answer.text


async def test_a_link_to_the_portal_leads_no_browser_to_a_strangers_site(
    browser: httpx2.AsyncClient,
) -> None:
    browser.headers.update(HTML)
    stranger = await register(browser, redirect_uris=["https://evil.example/"])
    for changed in ({"response_type": "token"}, {"code_challenge": None}, {"resource": "x"}):
        answer = await stranger.authorize(**changed)
        assert (answer.status_code, "location" in answer.headers) == (400, False)
        assert "evil.example" in answer.text
    # A program on the person's own machine waits for its answer, whatever it is.
    local = await register(browser, redirect_uris=["http://127.0.0.1/callback"])
    answer = await local.authorize(response_type="token")
    said = query_of(answer.headers["location"])
    assert (said["error"], said["iss"]) == ("unsupported_response_type", BASE)


async def test_of_many_refreshes_at_once_at_most_one_wins_and_the_family_dies(
    client: Client, surface: Surface
) -> None:
    tokens = await client.sign_in()
    refreshes = (client.refresh(tokens["refresh_token"]) for _ in range(5))
    answers = await asyncio.gather(*refreshes)
    won = [answer.json() for answer in answers if answer.status_code == 200]
    assert len(won) <= 1
    assert surface.reused
    for each in [tokens, *won]:
        assert (await client.refresh(each["refresh_token"])).json()["error"] == "invalid_grant"
        assert (await client.use(each["access_token"])).status_code == 401


async def test_a_parameter_that_is_there_twice_is_refused(client: Client) -> None:
    _, challenge = pkce()
    asked = [
        ("response_type", "code"),
        ("client_id", client.client_id),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
        ("redirect_uri", REDIRECT),
    ]
    for more in ([("redirect_uri", REDIRECT)], [("state", "a"), ("state", "a")]):
        answer = await client.http.get(f"/authorize?{urlencode([*asked, *more])}")
        assert (answer.status_code, "location" in answer.headers) == (400, False)
    form = urlencode([("grant_type", "refresh_token"), ("grant_type", "authorization_code")])
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await client.http.post("/token", content=form, headers=kind)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


async def test_very_long_and_very_many_parameters_are_refused(client: Client) -> None:
    long = await client.authorize(state="x" * 5000)
    assert (long.status_code, "location" in long.headers) == (400, False)
    many = await client.authorize(**{f"x{number}": "1" for number in range(60)})
    assert (many.status_code, "location" in many.headers) == (400, False)


async def test_a_body_that_is_too_large_or_of_another_kind_is_refused(client: Client) -> None:
    large = await client.post("/token", {"code": "x" * 70_000})
    assert large.status_code == 413
    large = await client.http.post("/register", json={"client_name": "x" * 70_000})
    assert large.status_code == 413
    other = await client.http.post("/token", json={"grant_type": "refresh_token"})
    assert (other.status_code, other.json()["error"]) == (400, "invalid_request")
    parts = await client.http.post("/token", files={"grant_type": (None, "refresh_token")})
    assert (parts.status_code, parts.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("grant_type", ["password", "client_credentials", "implicit"])
async def test_other_grants_are_not_supported(client: Client, grant_type: str) -> None:
    answer = await client.post("/token", {"grant_type": grant_type})
    assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_grant_type")


async def test_a_token_request_for_another_resource_is_refused(client: Client) -> None:
    code = await client.code(resource=f"{BASE}/mcp")
    for other in (BASE, f"{BASE}/mcp/knowledge", "https://elsewhere.example/mcp"):
        answer = await client.exchange(code, resource=other)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_target")
    tokens = (await client.exchange(code, resource=f"{BASE}/mcp/")).json()
    answer = await client.refresh(tokens["refresh_token"], resource=BASE)
    assert answer.json()["error"] == "invalid_target"
    assert (await client.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_code_goes_with_the_redirect_uri_it_was_sent_to(client: Client) -> None:
    code = await client.code()
    assert (await client.exchange(code, redirect_uri="https://evil.example/")).status_code == 400
    assert (await client.exchange(code, redirect_uri=None)).status_code == 400


async def test_a_consent_that_was_tampered_with_or_is_too_old_is_not_opened(
    client: Client, surface: Surface
) -> None:
    location = (await client.authorize()).headers["location"]
    sealed = query_of(location)["request"]
    middle = len(sealed) // 2
    flipped = "A" if sealed[middle] != "A" else "B"
    for changed in (sealed[:middle] + flipped + sealed[middle + 1 :], sealed + "x", sealed[:-1]):
        with pytest.raises(BadSeal):
            surface.consents.open(changed)
    with pytest.raises(BadSeal):  # a text of another purpose: the client's own id
        surface.consents.open(client.client_id)
    surface.clock.ahead = 601
    with pytest.raises(BadSeal):
        surface.consents.open(sealed)


async def test_a_person_who_declines_sends_the_client_an_error(
    client: Client, surface: Surface
) -> None:
    location = (await client.authorize()).headers["location"]
    url = surface.consents.deny(surface.consents.open(query_of(location)["request"]))
    said = query_of(url)
    assert said.pop("error_description")
    assert said == {"error": "access_denied", "state": "its own", "iss": BASE}
    assert await grants_of(surface) == 0


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"redirect_uris": []}, "invalid_client_metadata"),
        ({"redirect_uris": ["http://client.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"{REDIRECT}#part"]}, "invalid_redirect_uri"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"client_name": 7}, "invalid_client_metadata"),
    ],
)
async def test_a_registration_that_cannot_work_is_refused(
    browser: httpx2.AsyncClient, metadata: dict[str, object], error: str
) -> None:
    asked = {"redirect_uris": [REDIRECT], **metadata}
    answer = await browser.post("/register", json=asked)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


async def test_what_is_no_json_cannot_register(browser: httpx2.AsyncClient) -> None:
    answer = await browser.post("/register", content=b"{")
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


async def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    limits = Limits(Limiter(3, 60), Limiter(2, 60), Limiter(2, 60))
    async with open_surface(tmp_path, limits=limits) as surface, surface.browser() as browser:
        client = await register(browser)
        await register(browser)
        late = [await browser.post("/register", json={"redirect_uris": [REDIRECT]})]
        tokens = await client.sign_in()
        failed = [await client.refresh("unknown") for _ in range(3)]
        late += [failed[-1]]
        late += [[await client.authorize() for _ in range(3)][-1]]
        late += [await client.http.get("/authorize", headers=HTML)]
        for answer in late:
            assert answer.status_code == 429
            assert 1 <= int(answer.headers["retry-after"]) <= 60
        # The failures of others behind the same address lock nobody out.
        assert (await client.refresh(tokens["refresh_token"])).status_code == 200
