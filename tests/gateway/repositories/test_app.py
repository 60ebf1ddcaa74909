from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import httpx
import pytest
import respx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gateway.repositories.api import Api, connected
from gateway.repositories.app import AppTokens, FixedToken
from gateway.repositories.errors import SourceFailed
from gateway.repositories.github import GithubRepository
from gateway.repositories.protocol import File
from tests.gateway.repositories.conftest import LARGEST
from tests.servers.github_contents import GithubContents


@pytest.fixture(scope="module")
def keys() -> tuple[str, bytes]:
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public


@pytest.fixture
async def api(github: GithubContents, keys: tuple[str, bytes]) -> AsyncIterator[Api]:
    github.app = ("12345", 67, keys[1])
    async with connected() as client:
        yield Api(client, github.url)


async def test_those_who_ask_at_once_wait_for_one_token(
    api: Api, github: GithubContents, keys: tuple[str, bytes]
) -> None:
    app = AppTokens(api, "12345", 67, keys[0])
    tokens = await asyncio.gather(*(app.token() for _ in range(20)))
    assert set(tokens) == {github.issued[0]}
    assert len(github.issued) == 1
    assert await app.token() == github.issued[0]


async def test_a_token_is_renewed_before_it_ends(
    api: Api, github: GithubContents, keys: tuple[str, bytes]
) -> None:
    ahead = 0.0
    app = AppTokens(api, "12345", 67, keys[0], lambda: time.time() + ahead)
    await app.token()
    ahead = 3600 - 310
    await app.token()
    assert len(github.issued) == 1
    github.app_token_seconds = 7200
    ahead = 3600 - 290
    # Its clock is wrong by an hour, which GitHub does not take: the error names what to look at.
    with pytest.raises(SourceFailed) as failed:
        await app.token()
    assert failed.value.code == "UNAUTHORIZED"
    ahead = 0
    app.refused()
    assert await app.token() == github.issued[1]


async def test_a_token_that_github_took_back_is_asked_for_anew(
    api: Api, github: GithubContents, keys: tuple[str, bytes]
) -> None:
    app = AppTokens(api, "12345", 67, keys[0])
    tools = GithubRepository(api, "garden/tools", "main", LARGEST, reads_as=app, indexes_as=app)
    assert isinstance(await tools.read("README.md"), File)
    assert github.last.headers["authorization"] == f"Bearer {github.issued[0]}"
    github.tokens.clear()
    with pytest.raises(SourceFailed, match="portal's own credential"):
        await tools.read("README.md")
    assert isinstance(await tools.read("README.md"), File)
    assert len(github.issued) == 2


async def test_a_key_that_is_none_is_named_and_not_shown(
    api: Api, github: GithubContents, keys: tuple[str, bytes]
) -> None:
    for key in ("", "no key at all", keys[0].replace("A", "B")):
        with pytest.raises(SourceFailed, match=r"github\.app\.private_key") as failed:
            await AppTokens(api, "12345", 67, key).token()
        assert "no key" not in repr(failed.value)
    assert not github.requests


@pytest.mark.parametrize(("app", "installation"), [("999", 67), ("12345", 99)])
async def test_an_app_that_github_does_not_know_is_an_error(
    api: Api, keys: tuple[str, bytes], app: str, installation: int
) -> None:
    with pytest.raises(SourceFailed) as failed:
        await AppTokens(api, app, installation, keys[0]).token()
    assert failed.value.code == "UNAUTHORIZED"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"token": "a b", "expires_at": "2030-01-01T00:00:00Z"}',
        b'{"token": "ghs_a"}',
        b'{"token": "ghs_a", "expires_at": "soon"}',
        b'{"token": 5, "expires_at": "2030-01-01T00:00:00Z"}',
    ],
)
async def test_an_answer_that_is_no_token_is_an_error(keys: tuple[str, bytes], body: bytes) -> None:
    address = "https://api.example.org"
    async with httpx.AsyncClient() as client:
        with respx.mock(base_url=address) as routes:
            routes.post("/app/installations/67/access_tokens").respond(201, content=body)
            with pytest.raises(SourceFailed, match="something else than a token") as failed:
                await AppTokens(Api(client, address), "12345", 67, keys[0]).token()
    assert failed.value.transient


async def test_a_token_of_the_operators_is_taken_as_a_file_holds_it() -> None:
    assert await FixedToken("ghp_abc\n").token() == "ghp_abc"
    for token in ("", "ghp_a b", "ghp_\u00e9"):
        with pytest.raises(ValueError, match=r"github\.token"):
            FixedToken(token)
