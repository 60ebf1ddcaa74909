from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from auth.credentials import BadCredential
from auth.sign_in.github import GithubSignIn
from tests.servers.github import Github

CALLBACK = "https://portal.example/signin/github"
TOKEN = "example-portal-token"


@pytest.fixture
def github() -> Iterator[Github]:
    with Github() as github:
        yield github


@pytest.fixture
def ana(github: Github) -> int:
    github.approves = "ana"
    return github.add("ana", name="Ana", created_at="2020-02-03T04:05:06Z")


def sign_in(github: Github, secret: str = "the-secret") -> GithubSignIn:
    return GithubSignIn(github.client_id, secret, github.url, github.api_url)


async def returned(url: str) -> dict[str, str]:
    """What GitHub sends a browser back with."""
    async with httpx2.AsyncClient() as browser:
        answer = await browser.get(url)
    location = answer.headers["location"]
    assert location.startswith(CALLBACK + "?")
    return dict(parse_qsl(urlsplit(location).query))


async def test_an_account_is_proved_with_its_verified_address(github, ana):
    begun = await sign_in(github).begin(CALLBACK)
    account = await sign_in(github).finish(CALLBACK, await returned(begun.url), begun.remembered)
    assert account.subject == f"github:{ana}"
    assert account.provider == "github"
    assert account.name == "ana"
    assert account.email == "ana@example.org"
    assert account.claims == {"login": "ana", "created_at": "2020-02-03T04:05:06Z"}


async def test_a_sign_in_asks_for_little_and_binds_the_answer_to_the_browser(github, ana):
    begun = await sign_in(github).begin(CALLBACK)
    asked = dict(parse_qsl(urlsplit(begun.url).query))
    assert asked["scope"] == "read:user user:email"
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == CALLBACK
    assert asked["state"] == begun.remembered["state"]
    assert begun.remembered["verifier"] not in begun.url
    again = await sign_in(github).begin(CALLBACK)
    assert again.remembered["state"] != begun.remembered["state"]


async def test_an_answer_to_another_browser_is_refused(github, ana):
    begun = await sign_in(github).begin(CALLBACK)
    query = await returned(begun.url)
    other = await sign_in(github).begin(CALLBACK)
    with pytest.raises(BadCredential, match="not begun in this browser"):
        await sign_in(github).finish(CALLBACK, query, other.remembered)
    forged = query | {"state": other.remembered["state"]}
    with pytest.raises(BadCredential, match="did not accept"):
        await sign_in(github).finish(CALLBACK, forged, other.remembered)
    assert github.issued == {}


async def test_a_code_is_good_once(github, ana):
    begun = await sign_in(github).begin(CALLBACK)
    query = await returned(begun.url)
    await sign_in(github).finish(CALLBACK, query, begun.remembered)
    with pytest.raises(BadCredential, match="Sign in again"):
        await sign_in(github).finish(CALLBACK, query, begun.remembered)


async def test_whoever_says_no_is_told_so(github, ana):
    github.approves = "-"
    begun = await sign_in(github).begin(CALLBACK)
    with pytest.raises(BadCredential, match="did not agree"):
        await sign_in(github).finish(CALLBACK, await returned(begun.url), begun.remembered)


@pytest.mark.parametrize(
    "emails",
    [
        [],
        [{"email": "ana@example.org", "primary": True, "verified": False}],
        [{"email": "ana@example.org", "primary": False, "verified": True}],
        [{"primary": True, "verified": True}],
        {"message": "odd"},
        ["odd"],
    ],
)
async def test_an_address_counts_only_if_it_is_the_verified_primary_one(github, ana, emails):
    github.users[ana].emails = emails
    begun = await sign_in(github).begin(CALLBACK)
    account = await sign_in(github).finish(CALLBACK, await returned(begun.url), begun.remembered)
    assert account.email is None


async def test_whoever_shows_no_address_signs_in_without(github, ana):
    github.hides_emails = True
    begun = await sign_in(github).begin(CALLBACK)
    account = await sign_in(github).finish(CALLBACK, await returned(begun.url), begun.remembered)
    assert account.email is None


async def test_a_wrong_secret_is_the_admins_to_look_at_and_is_not_repeated(github, ana):
    begun = await sign_in(github).begin(CALLBACK)
    query = await returned(begun.url)
    with pytest.raises(BadCredential, match="An admin must look") as refused:
        await sign_in(github, "another-secret").finish(CALLBACK, query, begun.remembered)
    assert "another-secret" not in refused.value.reason
    assert query["code"] not in refused.value.reason


async def test_a_github_that_is_down_is_told_as_such(github, ana):
    begun = await sign_in(github).begin(CALLBACK)
    query = await returned(begun.url)
    github.down = True
    with pytest.raises(BadCredential, match="GitHub does not answer"):
        await sign_in(github).finish(CALLBACK, query, begun.remembered)
    gone = GithubSignIn("portal", "the-secret", "http://127.0.0.1:1", "http://127.0.0.1:1")
    with pytest.raises(BadCredential, match="GitHub does not answer"):
        await gone.finish(CALLBACK, query, begun.remembered)
