"""Sources that are read with the caller's own token."""

from __future__ import annotations

import asyncio
import gc
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from gateway.contract import ANONYMOUS
from tests.plugins.skills_repo.file_reader.case import (
    ANA,
    ANAS,
    BEN,
    BENS,
    OPERATORS,
    Case,
    refused,
    text,
)


async def test_without_a_token_the_header_is_named_and_nothing_is_asked(case: Case) -> None:
    reader = await case.open()
    for credential in (None, ""):
        failure = await refused(case, reader, "caller", credential=credential)
        assert failure.code == "UNAUTHORIZED"
        assert "X-GitHub-Token" in failure.message
        assert "githubStatus" not in failure.details
    for credential in ("a b", "ghp_\u00e9", "ghp_a\r\nx: y", "x" * 1000):
        failure = await refused(case, reader, "caller", credential=credential)
        assert failure.code == "UNAUTHORIZED"
        assert credential not in repr(failure)
    assert not case.github.requests


async def test_a_kept_file_is_for_those_who_proved_that_they_may_read_it(case: Case) -> None:
    reader = await case.open()
    assert await text(case, reader, "caller", credential=ANAS, caller=ANA) == "one"
    assert await text(case, reader, "caller", credential=ANAS, caller=ANA) == "one"
    assert case.asked == 1
    # Ben may not read it, whatever Ana has read, and with her token's proof neither.
    for credential, code in ((BENS, "NOT_FOUND"), ("ghp_" + "C" * 36, "UNAUTHORIZED")):
        failure = await refused(case, reader, "caller", credential=credential, caller=BEN)
        assert failure.code == code
    assert (await refused(case, reader, "caller", caller=ANA)).code == "UNAUTHORIZED"
    # Once he may, one conditional request proves it, and he gets the file that is kept.
    case.github.repos["garden/house"].tokens = {ANAS, BENS}
    read = text(case, reader, "caller", credential=BENS, caller=BEN, skip_cache=True)
    assert await read == "one"
    assert case.github.last.status == 304
    assert case.github.last.headers["authorization"] == f"Bearer {BENS}"
    before = case.asked
    assert await text(case, reader, "caller", credential=BENS, caller=BEN) == "one"
    assert case.asked == before


async def test_a_proof_holds_for_ten_minutes_and_for_the_whole_repository(case: Case) -> None:
    reader = await case.open()
    case.write("more", "skills/a/more.md")
    ana: dict[str, Any] = {"credential": ANAS, "caller": ANA}
    await text(case, reader, "caller", **ana)
    case.clock.now += 300
    await text(case, reader, "caller", path="skills/a/more.md", **ana)
    case.clock.now += 301
    case.github.repos["garden/house"].tokens = set()
    # The second file proved it anew, and the first has to be asked for again.
    assert await text(case, reader, "caller", path="skills/a/more.md", **ana) == "more"
    case.clock.now += 301
    failure = await refused(case, reader, "caller", path="skills/a/more.md", **ana)
    assert failure.code in {"NOT_FOUND", "UNAUTHORIZED"}


async def test_a_refusal_ends_the_proof_at_once(case: Case) -> None:
    reader = await case.open()
    ana: dict[str, Any] = {"credential": ANAS, "caller": ANA}
    await text(case, reader, "caller", **ana)
    case.github.repos["garden/house"].tokens = set()
    assert (await refused(case, reader, "caller", skip_cache=True, **ana)).code
    assert (await refused(case, reader, "caller", **ana)).code in {"NOT_FOUND", "UNAUTHORIZED"}


async def test_a_proof_is_for_one_repository(case: Case) -> None:
    reader = await case.open()
    await text(case, reader, "caller", credential=ANAS, caller=ANA)
    ben: dict[str, Any] = {"credential": BENS, "caller": BEN}
    assert await text(case, reader, "other", **ben) == "one"
    assert (await refused(case, reader, "caller", **ben)).code == "NOT_FOUND"


async def test_an_older_copy_helps_out_only_to_whom_it_was_proved(case: Case) -> None:
    reader = await case.open()
    case.github.repos["garden/house"].tokens = {ANAS, BENS}
    ana: dict[str, Any] = {"credential": ANAS, "caller": ANA, "skip_cache": True}
    ben: dict[str, Any] = {"credential": BENS, "caller": BEN, "skip_cache": True}
    await text(case, reader, "caller", **ana)
    for trouble in ({"status": 403}, {"status": 429}):
        case.github.limit(trouble["status"], {"retry-after": "30"})
        assert await text(case, reader, "caller", **ana) == "one (stale)"
        assert (await refused(case, reader, "caller", **ben)).details["retryAfter"] == 30
    case.clock.now += 601
    assert (await refused(case, reader, "caller", **ana)).details["retryAfter"] == 30


async def test_what_is_not_there_for_one_caller_may_be_there_for_another(case: Case) -> None:
    reader = await case.open()
    for _ in range(2):
        failure = await refused(case, reader, "caller", credential=BENS, caller=BEN)
        assert failure.code == "NOT_FOUND"
    assert await text(case, reader, "caller", credential=ANAS, caller=ANA) == "one"


async def test_a_page_that_is_looked_for_twice_is_asked_for_once(case: Case) -> None:
    reader = await case.open()
    ana: dict[str, Any] = {"credential": ANAS, "caller": ANA}
    for _ in range(3):
        await refused(case, reader, "caller", path="skills/a/index.md", **ana)
        assert await text(case, reader, "caller", **ana) == "one"
    assert case.asked == 2


async def test_a_server_without_etags_is_asked_for_the_whole_file(case: Case) -> None:
    reader = await case.open()
    case.github.no_etags = True
    for _ in range(2):
        await text(case, reader, "caller", credential=ANAS, caller=ANA, skip_cache=True)
        assert case.github.last.status == 200


async def test_a_callers_token_is_used_for_no_other_source(case: Case) -> None:
    reader = await case.open()
    for source in ("public", "app", "local"):
        await text(case, reader, source, credential=ANAS, caller=ANA)
    assert all(ANAS not in str(asked.headers) for asked in case.github.requests)


async def test_an_anonymous_caller_may_bring_a_token(case: Case) -> None:
    reader = await case.open()
    assert await text(case, reader, "caller", credential=ANAS, caller=ANONYMOUS) == "one"


async def test_nothing_keeps_a_callers_token(
    case: Case, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    reader = await case.open()
    ana: dict[str, Any] = {"credential": ANAS, "caller": ANA}
    errors = []
    await text(case, reader, "caller", **ana)
    await text(case, reader, "caller", **ana)
    errors.append(await refused(case, reader, "caller", path="skills/a/no.md", **ana))
    for status in (401, 403, 404, 500):
        case.github.failing = status
        errors.append(await refused(case, reader, "caller", path=f"{status}.md", **ana))
    case.github.answers()
    case.github.limit(429, {})
    errors.append(await refused(case, reader, "caller", path="limit.md", **ana))
    case.github.answers()
    case.github.behaves = "away"
    errors.append(await refused(case, reader, "caller", path="away.md", **ana))
    said = " ".join(repr((error, error.details, error.__context__)) for error in errors)
    assert ANAS not in said
    assert ANAS not in caplog.text
    case.github.requests.clear()
    kept = _reachable(reader)
    assert [found for found in kept if _tells(found, OPERATORS)], "it would find a token"
    assert not [found for found in kept if _tells(found, ANAS)]
    assert not _files_with(tmp_path, ANAS)


def _files_with(folder: Path, secret: str) -> list[Path]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [file for file in files if secret.encode() in file.read_bytes()]


def _reachable(root: object) -> list[object]:
    """Everything that an object holds, and what those hold, but for modules, code and loops."""
    seen: dict[int, object] = {}
    waiting: list[object] = [root]
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, type) or callable(found):
            continue
        if isinstance(found, asyncio.AbstractEventLoop | sqlite3.Connection):
            continue
        seen[id(found)] = found
        waiting += gc.get_referents(found)
    return list(seen.values())


def _tells(found: object, secret: str) -> bool:
    if isinstance(found, bytes | bytearray):
        return secret.encode() in found
    return isinstance(found, str) and secret in found
