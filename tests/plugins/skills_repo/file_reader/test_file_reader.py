from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from plugins.skills_repo.file_cache import SizedCache
from plugins.skills_repo.file_reader import MAX_STALE_AGE_S
from tests.plugins.skills_repo.file_reader.case import (
    ANAS,
    Case,
    refused,
    text,
)


@pytest.mark.parametrize("source", ["public", "app", "local"])
async def test_a_file_is_kept_for_ten_minutes(case: Case, source: str) -> None:
    reader = await case.open()
    assert await text(case, reader, source) == "one"
    case.write("two")
    case.clock.now += 599
    assert await text(case, reader, source) == "one"
    case.clock.now += 2
    assert await text(case, reader, source) == "two"
    assert case.asked == (0 if source == "local" else 2)


async def test_who_skips_the_cache_refreshes_it_for_everybody(case: Case) -> None:
    reader = await case.open()
    await text(case, reader)
    case.write("two")
    assert await text(case, reader, skip_cache=True) == "two"
    assert await text(case, reader) == "two"
    assert case.asked == 2


async def test_a_file_that_has_not_changed_is_not_sent_again(case: Case) -> None:
    reader = await case.open()
    await text(case, reader)
    case.clock.now += 601
    assert await text(case, reader) == "one"
    assert case.github.last.status == 304
    assert await text(case, reader) == "one"
    assert case.asked == 2


async def test_those_who_want_the_same_file_wait_for_one_request(case: Case) -> None:
    reader = await case.open()
    many = (text(case, reader, skip_cache=n % 2 == 0) for n in range(50))
    assert set(await asyncio.gather(*many)) == {"one"}
    assert case.asked == 1


async def test_who_gives_up_does_not_take_it_from_the_others(case: Case) -> None:
    reader = await case.open()
    case.github.delay = 30
    first = asyncio.create_task(text(case, reader))
    second = asyncio.create_task(text(case, reader))
    await case.is_asked()
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first
    case.github.delay = 0
    assert await second == "one"


async def test_a_reader_that_closes_ends_what_runs(case: Case) -> None:
    reader = await case.open()
    case.github.delay = 30
    waiting = asyncio.create_task(text(case, reader))
    await case.is_asked()
    await reader.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize("source", ["public", "app"])
async def test_an_older_copy_helps_out_and_says_that_it_is_old(case: Case, source: str) -> None:
    reader = await case.open()
    await text(case, reader, source)
    case.clock.now += 601
    for trouble in (403, 429):
        case.github.limit(trouble, {"retry-after": "30"})
        assert await text(case, reader, source) == "one (stale)"
    case.github.answers()
    for status in (500, 502, 503):
        case.github.failing = status
        assert await text(case, reader, source) == "one (stale)"
    case.github.answers()
    for behaves in ("html", "cut", "short", "no_base64"):
        case.github.behaves = behaves
        case.write(f"not {behaves}")
        assert await text(case, reader, source) == "one (stale)"
    case.github.answers()
    case.write("two")
    assert await text(case, reader, source) == "two"


async def test_a_copy_does_not_help_out_for_ever(case: Case) -> None:
    reader = await case.open()
    await text(case, reader)
    case.clock.now += MAX_STALE_AGE_S + 1
    case.github.failing = 503
    assert (await refused(case, reader)).code == "UPSTREAM_ERROR"


async def test_without_a_copy_a_limit_is_an_error_that_says_when(case: Case) -> None:
    reader = await case.open()
    case.github.limit(429, {"retry-after": "30"})
    failure = await refused(case, reader)
    assert failure.details["retryAfter"] == 30
    assert "Try again after" in failure.message


async def test_a_file_that_is_gone_is_gone(case: Case) -> None:
    reader = await case.open()
    await text(case, reader)
    case.github.repos.pop("garden/tools")
    case.clock.now += 601
    assert (await refused(case, reader)).code == "NOT_FOUND"
    case.github.failing = 503
    case.clock.now += 601
    assert (await refused(case, reader)).code == "UPSTREAM_ERROR"


async def test_what_is_not_there_is_remembered_too(case: Case) -> None:
    reader = await case.open()
    for _ in range(3):
        failure = await refused(case, reader, path="skills/a/index.md")
        assert failure.code == "NOT_FOUND"
        assert failure.details["githubStatus"] == 404
    assert case.asked == 1
    case.write("new", "skills/a/index.md")
    assert await text(case, reader, path="skills/a/index.md", skip_cache=True) == "new"
    assert await text(case, reader, path="skills/a/index.md") == "new"


async def test_a_new_file_of_a_directory_is_found_at_once(case: Case) -> None:
    reader = await case.open()
    assert (await refused(case, reader, "local", path="skills/a/b.md")).code == "NOT_FOUND"
    case.write("new", "skills/a/b.md")
    assert await text(case, reader, "local", path="skills/a/b.md") == "new"


async def test_what_is_kept_of_a_source_can_be_dropped(case: Case) -> None:
    reader = await case.open()
    for source in ("public", "app"):
        await text(case, reader, source)
        await refused(case, reader, source, path="b.md")
    case.write("two")
    case.write("b", "b.md")
    reader.forget("public")
    assert await text(case, reader) == "two"
    assert await text(case, reader, path="b.md") == "b"
    assert await text(case, reader, "app") == "one"


async def test_a_path_that_is_not_allowed_is_refused_before_anything(case: Case) -> None:
    reader = await case.open()
    for source in case.sources:
        failure = await refused(case, reader, source, path="a/../b", credential=ANAS)
        assert failure.code == "INVALID_PATH"
    assert not case.github.requests


async def test_memory_has_an_end(case: Case) -> None:
    reader = await case.open(keeps=100_000)
    for n in range(30):
        case.write("x" * 10_000, f"skills/a/{n}.md")
        await text(case, reader, "local", path=f"skills/a/{n}.md")
    assert reader._files.held <= 100_000
    case.write("x" * 500_000)
    assert len(await text(case, reader, "local")) == 500_000
    assert reader._files.held <= 100_000


def test_what_is_unused_for_longest_is_forgotten_first() -> None:
    memory: SizedCache[int] = SizedCache(10 * 1024)
    for n in range(10):
        memory.put((str(n),), n)
    assert memory.get(("0",)) == 0
    memory.put(("new",), 99)
    assert memory.get(("1",)) is None
    assert memory.get(("0",)) == 0
    memory.put(("0",), 5)
    assert memory.held == 10 * 1024
    memory.forget(("0",))
    memory.forget(("0",))
    assert memory.held == 9 * 1024
