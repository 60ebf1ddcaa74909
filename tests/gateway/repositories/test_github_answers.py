"""What GitHub, or something in front of it, may say about a file."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest
import respx

from gateway.repositories.api import Api
from gateway.repositories.blobs import blob_sha
from gateway.repositories.errors import SourceFailed
from gateway.repositories.github import GithubRepository
from gateway.repositories.protocol import File, NotModified

API = "https://api.example.org"


def answered(**changes: Any) -> dict[str, Any]:
    said = {"type": "file", "encoding": "base64", "size": 2, "content": "aGk=", "sha": "a" * 40}
    return {name: value for name, value in (said | changes).items() if value is not None}


async def read(body: Any, headers: dict[str, str] | None = None) -> File | NotModified:
    async with httpx.AsyncClient() as client:
        with respx.mock(base_url=API) as routes:
            text = body if isinstance(body, bytes) else json.dumps(body).encode()
            routes.get(url__startswith=API).respond(200, content=text, headers=headers)
            return await GithubRepository(Api(client, API), "o/r", "main", 100).read("a.md")


async def test_what_is_not_said_is_worked_out() -> None:
    file = await read(answered(sha=None, size=None, type=None))
    assert isinstance(file, File)
    assert (file.content, file.etag) == (b"hi", None)
    assert file.sha == blob_sha(b"hi")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ([], "NOT_FOUND"),
        (answered(type="symlink"), "NOT_FOUND"),
        (answered(type="submodule"), "NOT_FOUND"),
        (answered(type=["x"]), "NOT_FOUND"),
        (answered(content=None), "UPSTREAM_ERROR"),
        (answered(content=5), "UPSTREAM_ERROR"),
        (answered(encoding="utf-8"), "UPSTREAM_ERROR"),
        (answered(content="aGk"), "UPSTREAM_ERROR"),
        (answered(size=3), "UPSTREAM_ERROR"),
        (answered(size=101), "UPSTREAM_ERROR"),
        (answered(size=None, content=base64.b64encode(b"x" * 101).decode()), "UPSTREAM_ERROR"),
        (b'{"type": "file"', "UPSTREAM_ERROR"),
        (b"null", "NOT_FOUND"),
        (b"\xff\xfe", "UPSTREAM_ERROR"),
        (b"[" * 60_000, "UPSTREAM_ERROR"),
        (b"x" * 1_000_000, "UPSTREAM_ERROR"),
    ],
)
async def test_an_answer_of_another_form_is_an_error(body: Any, code: str) -> None:
    with pytest.raises(SourceFailed) as failed:
        await read(body)
    assert failed.value.code == code


async def test_a_304_that_nobody_asked_for_is_an_error() -> None:
    async with httpx.AsyncClient() as client:
        with respx.mock(base_url=API) as routes:
            routes.get(url__startswith=API).respond(304)
            with pytest.raises(SourceFailed, match="304"):
                await GithubRepository(Api(client, API), "o/r", "main", 100).read("a.md")


@pytest.mark.parametrize("etag", ['W/"abc"', '"abc"', '""'])
async def test_what_the_server_knows_a_file_by_is_kept(etag: str) -> None:
    file = await read(answered(), {"etag": etag})
    assert isinstance(file, File)
    assert file.etag == etag


@pytest.mark.parametrize("etag", ["abc", '"\u00e4"', '"a b"', '"' + "a" * 300 + '"'])
async def test_unless_it_cannot_be_sent_back(etag: str) -> None:
    file = await read(answered(), {"etag": etag.encode("latin-1")})  # type: ignore[dict-item]
    assert isinstance(file, File)
    assert file.etag is None
