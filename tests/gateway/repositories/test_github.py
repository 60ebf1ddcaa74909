from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from email.utils import formatdate
from typing import Any

import httpx
import pytest

from gateway.repositories.api import Api, connected
from gateway.repositories.app import FixedToken
from gateway.repositories.errors import SourceFailed
from gateway.repositories.github import GithubRepository
from gateway.repositories.protocol import Entry, File, Known, NotModified
from tests.gateway.repositories.conftest import FILES, LARGEST
from tests.servers.github_contents import GithubContents, commit_of

CONTENTS = "/repos/garden/tools/contents"
ANAS = "ghp_" + "A" * 36
OPERATORS = "ghp_" + "O" * 36


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with connected() as opened:
        yield opened


def repository(
    client: httpx.AsyncClient, github: GithubContents, branch: str = "main", **more: Any
) -> GithubRepository:
    seconds = more.pop("seconds", 5.0)
    largest = more.pop("max_file", LARGEST)
    name = more.pop("name", "garden/tools")
    return GithubRepository(Api(client, github.url, seconds), name, branch, largest, **more)


async def refusal(
    repository: GithubRepository, path: str = "README.md", credential: str | None = None
) -> SourceFailed:
    with pytest.raises(SourceFailed) as failed:
        await repository.read(path, credential)
    return failed.value


async def snapshot(repository: GithubRepository, below: str = "") -> list[Entry]:
    async with repository.snapshot() as opened:
        async with aclosing(opened.files(below)) as files:
            return [entry async for entry in files]


async def test_a_name_reaches_github_as_it_is_written(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    await repository(client, github).read("skills/#1?/SKILL.md")
    assert github.last.path == f"{CONTENTS}/skills/%231%3F/SKILL.md?ref=main"
    await repository(client, github).read("skills/a/100%.md")
    assert github.last.path == f"{CONTENTS}/skills/a/100%25.md?ref=main"


async def test_a_path_that_is_not_allowed_asks_github_nothing(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    assert (await refusal(repository(client, github), "../x")).code == "INVALID_PATH"
    assert not github.requests


async def test_a_file_that_github_sends_raw_only_is_read_whole(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    content = bytes(range(256)) * 5000
    (github.repos["garden/tools"].directory / "large.bin").write_bytes(content)
    file = await repository(client, github, max_file=2_000_000).read("large.bin")
    assert isinstance(file, File)
    assert file.content == content
    assert github.asked[f"{CONTENTS}/large.bin"] == 2


async def test_a_question_with_a_condition_is_answered_without_the_file(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    tools = repository(client, github)
    file = await tools.read("README.md")
    assert isinstance(file, File)
    known = Known(file.sha, file.etag)
    assert await tools.read("README.md", known=known) == NotModified()
    assert github.last.status == 304
    (github.repos["garden/tools"].directory / "README.md").write_bytes(b"new")
    changed = await tools.read("README.md", known=known)
    assert isinstance(changed, File)
    assert changed.content == b"new"


async def test_whose_credential_is_sent_is_what_the_source_says(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    github.tokens = {ANAS, OPERATORS}
    await repository(client, github).read("README.md")
    assert "authorization" not in github.last.headers
    await repository(client, github, reads_as=FixedToken(OPERATORS)).read("README.md")
    assert github.last.headers["authorization"] == f"Bearer {OPERATORS}"
    await repository(client, github, indexes_as=FixedToken(OPERATORS)).read("README.md", ANAS)
    assert github.last.headers["authorization"] == f"Bearer {ANAS}"
    await repository(client, github).read("README.md")
    assert "authorization" not in github.last.headers
    assert "cookie" not in github.last.headers


async def test_a_private_repository_is_shown_to_those_who_may_see_it(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    repo = github.repos["garden/tools"]
    repo.tokens, repo.forbidden = {ANAS}, {"ghp_ben"}
    github.tokens = {"ghp_cleo"}
    tools = repository(client, github)
    assert isinstance(await tools.read("README.md", ANAS), File)
    cases = {"ghp_ben": "FORBIDDEN", "ghp_cleo": "NOT_FOUND", "ghp_dan": "UNAUTHORIZED"}
    for token, code in cases.items():
        failure = await refusal(tools, credential=token)
        assert failure.code == code
        assert token not in repr(failure)
        assert failure.details == {
            "repo": "garden/tools",
            "path": "README.md",
            "branch": "main",
            "githubStatus": github.last.status,
        }
        assert not failure.transient


@pytest.mark.parametrize(
    ("status", "code", "transient"),
    [
        (400, "UPSTREAM_ERROR", False),
        (401, "UNAUTHORIZED", False),
        (403, "FORBIDDEN", False),
        (404, "NOT_FOUND", False),
        (418, "UPSTREAM_ERROR", False),
        (451, "UPSTREAM_ERROR", False),
        (500, "UPSTREAM_ERROR", True),
        (503, "UPSTREAM_ERROR", True),
    ],
)
async def test_each_status_has_its_code(
    client: httpx.AsyncClient, github: GithubContents, status: int, code: str, transient: bool
) -> None:
    github.failing = status
    for tools in (
        repository(client, github),
        repository(client, github, reads_as=FixedToken(OPERATORS)),
    ):
        github.tokens = {OPERATORS}
        failure = await refusal(tools)
        assert (failure.code, failure.transient) == (code, transient)
        assert failure.details["githubStatus"] == status
        assert "<h1>" not in failure.message


LIMITS: list[tuple[int, Mapping[str, str], range]] = [
    (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "{soon}"}, range(85, 91)),
    (403, {"x-ratelimit-remaining": "0"}, range(60, 61)),
    (403, {"retry-after": "30"}, range(30, 31)),
    (403, {}, range(60, 61)),  # the body speaks of a rate limit
    (429, {"retry-after": "{date}"}, range(85, 92)),
    (429, {"retry-after": "soon"}, range(60, 61)),
    (429, {"retry-after": "-5"}, range(60, 61)),
    (429, {"retry-after": "9" * 15}, range(86400, 86401)),
    (429, {"retry-after": "9" * 400}, range(60, 61)),
    (429, {"retry-after": "\u00b2"}, range(60, 61)),
    (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "\u00b2"}, range(60, 61)),
    (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"}, range(1, 2)),
    (429, {}, range(60, 61)),
    (503, {"retry-after": "30"}, range(30, 31)),
    (503, {"retry-after": "{date}"}, range(85, 92)),
]


@pytest.mark.parametrize(("status", "headers", "wait"), LIMITS)
async def test_a_limit_says_when_to_try_again(
    client: httpx.AsyncClient,
    github: GithubContents,
    status: int,
    headers: Mapping[str, str],
    wait: range,
) -> None:
    soon = time.time() + 90
    values = {"soon": str(int(soon)), "date": formatdate(soon, usegmt=True)}
    github.limit(status, {name: value.format(**values) for name, value in headers.items()})
    failure = await refusal(repository(client, github))
    assert failure.code == ("FORBIDDEN" if status == 403 else "UPSTREAM_ERROR")
    assert failure.transient
    assert failure.details["retryAfter"] in wait
    assert f"in {failure.details['retryAfter']} second" in failure.message


@pytest.mark.parametrize(
    ("behaves", "message"),
    [
        ("html", "something else than its JSON"),
        ("cut", "ended its answer early"),
        ("short", r"sends 4 of 8 bytes"),
        ("no_base64", "no whole Base64"),
        ("loop", "redirects without an end"),
    ],
)
async def test_an_answer_that_is_none_is_an_error_that_may_pass(
    client: httpx.AsyncClient, github: GithubContents, behaves: str, message: str
) -> None:
    github.behaves = behaves
    failure = await refusal(repository(client, github))
    assert failure.code == "UPSTREAM_ERROR"
    assert failure.transient
    with pytest.raises(SourceFailed, match=message):
        raise failure
    github.answers()
    assert isinstance(await repository(client, github).read("README.md"), File)


async def test_nobody_waits_for_a_slow_answer(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    github.delay = 30
    failure = await refusal(repository(client, github, seconds=0.05))
    assert failure.code == "UPSTREAM_ERROR"
    assert failure.transient
    assert "did not answer within 0.05 seconds" in failure.message
    github.answers()


async def test_a_github_that_is_not_there_is_an_error(client: httpx.AsyncClient) -> None:
    with GithubContents() as gone:
        pass
    failure = await refusal(repository(client, gone))
    assert (failure.code, failure.transient) == ("UPSTREAM_ERROR", True)
    assert "cannot be reached" in failure.message


async def test_a_renamed_repository_is_followed_with_the_credential(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    github.renamed["garden/shed"] = "garden/tools"
    github.repos["garden/tools"].tokens = {ANAS}
    shed = repository(client, github, name="garden/shed")
    assert isinstance(await shed.read("README.md", ANAS), File)
    assert [asked.status for asked in github.requests] == [301, 200]


async def test_a_credential_goes_to_no_other_host(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    github.behaves = "away"
    failure = await refusal(repository(client, github), credential=ANAS)
    assert failure.code in {"UPSTREAM_ERROR", "UNAUTHORIZED"}
    home = github.url.removeprefix("http://")
    assert {asked.host for asked in github.requests} == {home}


async def test_the_tarballs_host_gets_no_credential(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    github.repos["garden/tools"].tokens = {OPERATORS}
    tools = repository(client, github, indexes_as=FixedToken(OPERATORS))
    assert {entry.path for entry in await snapshot(tools)} == set(FILES)
    asked, moved = github.requests
    assert asked.headers["authorization"] == f"Bearer {OPERATORS}"
    assert "authorization" not in moved.headers
    assert moved.host != asked.host


async def test_a_snapshot_takes_two_requests_and_knows_its_commit(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    async with repository(client, github).snapshot() as opened:
        found = [entry async for entry in opened.files("skills")]
        assert opened.commit == commit_of(github.repos["garden/tools"].directory)
    assert len(found) == sum(path.startswith("skills/") for path in FILES)
    assert len(github.requests) == 2


async def test_links_in_a_tarball_are_passed_over(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    (github.repos["garden/tools"].directory / "link.md").symlink_to("/etc/passwd")
    async with repository(client, github).snapshot() as opened:
        assert {entry.path async for entry in opened.files()} == set(FILES)
        assert [each.path for each in opened.left_out] == ["link.md"]


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        ("gone", "NOT_FOUND"),
        ("branch", "NOT_FOUND"),
        ("tar_cut", "UPSTREAM_ERROR"),
        ("html", "UPSTREAM_ERROR"),
        ("limit", "UPSTREAM_ERROR"),
        ("token", "UNAUTHORIZED"),
    ],
)
async def test_a_snapshot_that_cannot_be_had_is_an_error(
    client: httpx.AsyncClient, github: GithubContents, trouble: str, code: str
) -> None:
    tools = repository(client, github)
    if trouble == "gone":
        github.repos.clear()
    elif trouble == "branch":
        tools = repository(client, github, "gone")
    elif trouble == "token":
        tools = repository(client, github, indexes_as=FixedToken("ghp_old"))
    elif trouble == "limit":
        github.limit(429, {"retry-after": "30"})
    else:
        github.behaves = trouble
    with pytest.raises(SourceFailed) as failed:
        await snapshot(tools)
    assert failed.value.code == code
    assert failed.value.details["repo"] == "garden/tools"
    github.answers()


async def test_nothing_is_left_of_a_snapshot_that_was_left_early(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    async with repository(client, github).snapshot() as opened:
        async with aclosing(opened.files()) as files:
            await anext(files)
    async with repository(client, github).snapshot():
        pass


async def test_the_address_of_a_tarball_is_in_no_log(
    client: httpx.AsyncClient, github: GithubContents, caplog: pytest.LogCaptureFixture
) -> None:
    github.repos["garden/tools"].tokens = {OPERATORS}
    with caplog.at_level(logging.WARNING):
        await snapshot(repository(client, github, indexes_as=FixedToken(OPERATORS)))
    assert "of-the-moment" not in caplog.text
    assert OPERATORS not in caplog.text


async def test_many_files_may_be_read_at_once(
    client: httpx.AsyncClient, github: GithubContents
) -> None:
    tools = repository(client, github)
    paths = [path for path in FILES if path != "large.bin"] * 10
    files = await asyncio.gather(*(tools.read(path) for path in paths))
    assert [file.content for file in files if isinstance(file, File)] == [
        FILES[path] for path in paths
    ]
