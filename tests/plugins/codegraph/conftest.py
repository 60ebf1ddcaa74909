"""A migrated database of each kind, a Git checkout, and a host that serves its commits."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from gateway.services.database.service import OwnedDatabase, open_database
from plugins.codegraph.indexer.worker_pool import WorkerPool
from tests.migrated import Migrated
from tests.plugins.codegraph.checkouts import committed, run_git
from tests.servers.git_host import GitHost

MIGRATIONS = Path(__file__).parents[3] / "plugins" / "codegraph" / "migrations"


@pytest.fixture(scope="session")
def codegraph_migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migrated]:
    """The plugin's tables, migrated once."""
    with Migrated("codegraph", MIGRATIONS, tmp_path_factory.mktemp("migrated")) as made:
        yield made


@pytest.fixture(scope="session")
def codegraph_file(codegraph_migrated: Migrated) -> Path:
    """A SQLite database, migrated and empty; for copies."""
    return codegraph_migrated.file


@pytest.fixture(scope="session")
def codegraph_postgres(codegraph_migrated: Migrated, postgres_url: str) -> Callable[[], str]:
    """Gives the URL of a migrated database, which it empties each time."""
    return lambda: codegraph_migrated.on(postgres_url)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a database is, migrated and empty; SQLite's lies in ``tmp_path``."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("codegraph_file"), tmp_path)
        return "sqlite"
    emptied: Callable[[], str] = request.getfixturevalue("codegraph_postgres")
    return emptied()


@pytest.fixture
async def open_another(address: str, tmp_path: Path) -> AsyncIterator[Callable[[], OwnedDatabase]]:
    """Open the database once more, as another process would."""
    services = []

    def open_one() -> OwnedDatabase:
        services.append(open_database(address, tmp_path))
        return services[-1].for_owner("codegraph")

    yield open_one
    for service in services:
        await service.close()


@pytest.fixture
def database(open_another: Callable[[], OwnedDatabase]) -> OwnedDatabase:
    """SQLite, and PostgreSQL: migrated and empty."""
    return open_another()


class SharedPool(WorkerPool):
    """Worker processes that outlive the indexers that use them: to start one takes a second."""

    async def close(self) -> None:
        """Leave them running."""

    async def end(self) -> None:
        """End all processes."""
        await super().close()


@pytest.fixture(scope="module")
async def workers() -> AsyncIterator[WorkerPool]:
    """Worker processes for all tests of a file."""
    found = SharedPool(most=2)
    yield found
    await found.end()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with two files."""
    directory = tmp_path / "garden"
    committed(directory, {"water.py": "def pour(): pass\n", "lib/seed.py": "SEED = 1\n"})
    return directory


@pytest.fixture
def host(tmp_path: Path, tree: Path) -> Iterator[GitHost]:
    """A host that serves the checkout's commits as ``plants/garden.git``."""
    root = tmp_path / "host"
    (root / "plants").mkdir(parents=True)
    bare = root / "plants" / "garden.git"
    run_git(tmp_path, "clone", "-q", "--bare", str(tree), str(bare))
    run_git(tree, "remote", "add", "origin", str(bare))
    with GitHost(root).serving() as server:
        yield server
