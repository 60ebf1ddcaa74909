from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from plugins.knowledge.knowledge import MIGRATIONS
from tests.migrated import Migrated
from tests.plugins.knowledge.drafts.bench import Bench, opened
from tests.plugins.knowledge.drafts.garden import HOOK, TOKEN, Ground, ground
from tests.servers.github_contents import GithubContents


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    """A repository on GitHub."""
    monkeypatch.setenv("DRAFTS_TOKEN", TOKEN)
    monkeypatch.setenv("DRAFTS_HOOK", HOOK)
    with GithubContents() as server:
        yield ground(tmp_path, server)


@pytest.fixture(scope="session")
def drafts_migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migrated]:
    """The plugin's tables, migrated once."""
    folder = tmp_path_factory.mktemp("migrated")
    with Migrated("knowledge", MIGRATIONS, folder, keep={"memory_audit"}) as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, drafts_migrated: Migrated, tmp_path: Path) -> str:
    """Where a database is, migrated and empty; SQLite's lies in ``tmp_path``."""
    if request.param == "sqlite":
        shutil.copy(drafts_migrated.file, tmp_path)
        return "sqlite"
    return drafts_migrated.on(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def bench(address: str, tmp_path: Path) -> AsyncIterator[Bench]:
    """Drafts of a directory, by two replicas."""
    async with opened(address, tmp_path) as found:
        yield found


@pytest.fixture
def migrated_anew(
    address: str, request: pytest.FixtureRequest, drafts_migrated: Migrated
) -> Callable[[Path], str]:
    """Gives the address of an empty database in a folder, for each example of a property."""

    def anew(folder: Path) -> str:
        if address == "sqlite":
            shutil.copy(drafts_migrated.file, folder)
            return address
        return drafts_migrated.on(request.getfixturevalue("postgres_url"))

    return anew
