"""What every backend owes; the same suite over a directory, a branch and GitHub."""

from __future__ import annotations

import hashlib
from contextlib import aclosing

import pytest

from gateway.repositories.blobs import blob_sha
from gateway.repositories.errors import SourceFailed
from gateway.repositories.protocol import Entry, File, Known, NotModified, Repository
from tests.gateway.repositories.conftest import FILES, LARGEST

SERVED = {path: content for path, content in FILES.items() if len(content) <= LARGEST}


async def entries(repository: Repository, below: str = "") -> dict[str, Entry]:
    async with repository.snapshot() as snapshot:
        found = [entry async for entry in snapshot.files(below)]
        assert not snapshot.left_out
    assert len({entry.path for entry in found}) == len(found)
    return {entry.path: entry for entry in found}


@pytest.mark.parametrize("path", SERVED)
async def test_each_file_is_read_as_it_is(repository: Repository, path: str) -> None:
    file = await repository.read(path)
    assert isinstance(file, File)
    assert file.path == path
    assert file.content == SERVED[path]
    assert file.sha == blob_sha(SERVED[path])


async def test_a_snapshot_holds_every_file_once(repository: Repository) -> None:
    found = await entries(repository)
    assert set(found) == set(FILES)
    for path, content in FILES.items():
        entry = found[path]
        assert entry.size == len(content)
        assert entry.sha == blob_sha(content)
        assert entry.digest == hashlib.sha256(content).hexdigest()
        assert entry.content == (content if len(content) <= LARGEST else None)


async def test_a_snapshot_can_be_of_one_folder(repository: Repository) -> None:
    found = await entries(repository, "skills/a")
    assert set(found) == {path for path in FILES if path.startswith("skills/a/")}


async def test_a_snapshot_may_be_left_early(repository: Repository) -> None:
    async with repository.snapshot() as snapshot:
        async with aclosing(snapshot.files()) as files:
            assert (await anext(files)).path in FILES


async def test_a_folder_that_is_not_there_is_an_error(repository: Repository) -> None:
    with pytest.raises(SourceFailed, match="no folder docs") as failed:
        await entries(repository, "docs")
    assert failed.value.code == "NOT_FOUND"
    assert failed.value.details["path"] == "docs"


async def test_what_is_known_is_not_sent_again(repository: Repository) -> None:
    file = await repository.read("README.md")
    assert isinstance(file, File)
    known = Known(file.sha, file.etag)
    assert await repository.read("README.md", known=known) == NotModified()
    other = await repository.read("README.md", known=Known("0" * 40, '"other"'))
    assert isinstance(other, File)


@pytest.mark.parametrize(
    "path", ["nothing.md", "skills/a/nothing/SKILL.md", "skills/a", "README.md/x"]
)
async def test_what_is_no_file_is_not_found(repository: Repository, path: str) -> None:
    with pytest.raises(SourceFailed) as failed:
        await repository.read(path)
    assert failed.value.code == "NOT_FOUND"
    assert failed.value.details["repo"] == repository.repo
    assert failed.value.details["path"] == path
    assert failed.value.details.get("branch") == repository.branch
    assert not failed.value.transient


async def test_a_file_that_is_too_large_is_named_with_its_limit(repository: Repository) -> None:
    with pytest.raises(SourceFailed, match=r"65,537 bytes.* up to 65,536 bytes") as failed:
        await repository.read("large.bin")
    assert failed.value.code == "UPSTREAM_ERROR"


@pytest.mark.parametrize("path", ["../tools/README.md", "/etc/passwd", "skills\\a", "%2e%2e/x"])
async def test_no_backend_asks_for_a_path_that_is_not_allowed(
    repository: Repository, path: str
) -> None:
    with pytest.raises(SourceFailed) as failed:
        await repository.read(path)
    assert failed.value.code == "INVALID_PATH"
