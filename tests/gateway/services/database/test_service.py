"""The database port over SQLite and PostgreSQL: transactions and migrations."""

import asyncio
import sys
import traceback
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from gateway.contract.services import Database
from gateway.services.database.migrations import MigrationFailed, newest
from gateway.services.database.service import DatabaseService, is_postgres, open_database

Open = Callable[[], DatabaseService]


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    """Each implementation's address, of an empty database."""
    return "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres")


@pytest.fixture
async def service(address: str, tmp_path: Path) -> AsyncIterator[DatabaseService]:
    """Each implementation, empty."""
    service = open_database(address, tmp_path / "data")
    yield service
    await service.close()


@pytest.fixture
def database(service: DatabaseService) -> Database:
    """The share of one plugin."""
    return service.for_owner("notes")


def revision(name: str, after: str | None, body: str) -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return (
        "import sqlalchemy as sa\nfrom alembic import op\n\n"
        f'revision = "{name}"\ndown_revision: str | None = {after!r}\n\n\n'
        f"def upgrade() -> None:\n{lines}\n"
    )


FIRST = """op.create_table("notes", sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("title", sa.String(50)))"""
SECOND = 'op.add_column("notes", sa.Column("tier", sa.String(10), server_default="open"))'


def write(directory: Path, *bodies: str) -> Path:
    """A migrations directory with one revision after the other."""
    versions = directory / "versions"
    versions.mkdir(parents=True, exist_ok=True)
    before = None
    for number, body in enumerate(bodies, 1):
        name = f"{number:04}"
        (versions / f"{name}_step.py").write_text(revision(name, before, body))
        before = name
    return directory


async def one(database: Database, sql: str) -> object:
    async with database.engine.connect() as connection:
        return (await connection.execute(text(sql))).scalar()


async def run_and_fail(database: Database, sql: str) -> None:
    async with database.begin() as connection:
        await connection.execute(text(sql))
        raise RuntimeError("midway")


async def test_a_transaction_is_whole_or_nothing(database: Database, tmp_path: Path) -> None:
    await database.migrate(write(tmp_path, FIRST))
    async with database.begin() as connection:
        await connection.execute(text("INSERT INTO notes (id, title) VALUES (1, 'kept')"))
    with pytest.raises(RuntimeError, match="midway"):
        await run_and_fail(database, "INSERT INTO notes (id, title) VALUES (2, 'lost')")
    assert await one(database, "SELECT count(*) FROM notes") == 1


async def test_table_changes_belong_to_the_transaction_too(database: Database) -> None:
    with pytest.raises(RuntimeError, match="midway"):
        await run_and_fail(database, "CREATE TABLE brief (id INTEGER PRIMARY KEY)")
    with pytest.raises(DBAPIError):
        await one(database, "SELECT count(*) FROM brief")


async def test_many_tasks_that_read_and_then_write_all_succeed(
    database: Database, tmp_path: Path
) -> None:
    await database.migrate(write(tmp_path, FIRST))

    async def add() -> None:
        async with database.begin() as connection:
            await connection.execute(text("SELECT count(*) FROM notes"))
            await connection.execute(text("INSERT INTO notes (title) VALUES ('one more')"))

    await asyncio.gather(*(add() for _ in range(20)))
    assert await one(database, "SELECT count(*) FROM notes") == 20


async def test_migrating_adds_what_is_missing_and_keeps_the_rows(
    database: Database, tmp_path: Path
) -> None:
    await database.migrate(write(tmp_path, FIRST))
    async with database.begin() as connection:
        await connection.execute(text("INSERT INTO notes (id, title) VALUES (1, 'kept')"))
    await database.migrate(write(tmp_path, FIRST, SECOND))
    assert await one(database, "SELECT tier FROM notes WHERE title = 'kept'") == "open"


async def test_two_owners_are_migrated_apart_even_at_once(
    service: DatabaseService, tmp_path: Path
) -> None:
    other = FIRST.replace("notes", "places")
    await asyncio.gather(
        service.for_owner("notes").migrate(write(tmp_path / "a", FIRST, SECOND)),
        service.for_owner("places").migrate(write(tmp_path / "b", other)),
    )
    notes = service.for_owner("notes")
    assert await one(notes, "SELECT version_num FROM alembic_version_notes") == "0002"
    assert await one(notes, "SELECT version_num FROM alembic_version_places") == "0001"


async def test_a_revision_that_fails_leaves_nothing_behind(
    database: Database, tmp_path: Path
) -> None:
    broken = write(tmp_path / "broken", FIRST, 'op.execute("INSERT INTO nowhere VALUES (1)")')
    with pytest.raises(DBAPIError, match="nowhere"):
        await database.migrate(broken)
    with pytest.raises(DBAPIError):
        await one(database, "SELECT count(*) FROM notes")
    await database.migrate(write(tmp_path / "mended", FIRST, SECOND))
    assert await one(database, "SELECT version_num FROM alembic_version_notes") == "0002"


async def test_tables_of_a_newer_version_are_refused_with_the_way_out(
    database: Database, tmp_path: Path
) -> None:
    await database.migrate(write(tmp_path / "new", FIRST, SECOND))
    with pytest.raises(MigrationFailed) as refused:
        await database.migrate(write(tmp_path / "old", FIRST))
    assert str(refused.value) == (
        "The tables of notes were written by a newer version: they are at revision 0002, and this "
        "version knows those up to 0001. Nothing was changed. Install the newer version again, or "
        "restore the backup from before the upgrade."
    )


async def test_two_newest_revisions_are_refused(database: Database, tmp_path: Path) -> None:
    migrations = write(tmp_path, FIRST, SECOND)
    (migrations / "versions" / "rival.py").write_text(revision("rival", "0001", "pass"))
    with pytest.raises(MigrationFailed, match="Multiple head revisions"):
        await database.migrate(migrations)


async def test_no_revisions_need_no_tables(database: Database, tmp_path: Path) -> None:
    await database.migrate(write(tmp_path))


START = """
import asyncio, sys
from pathlib import Path
from gateway.services.database.service import open_database

async def main(address, data_dir, migrations):
    service = open_database(address, Path(data_dir))
    await service.for_owner("notes").migrate(Path(migrations))
    await service.close()
    print("alembic" in sys.modules)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_portals_that_start_at_once_migrate_once_and_a_warm_start_skips_alembic(
    address: str, tmp_path: Path
) -> None:
    migrations = write(tmp_path / "100% mine", FIRST, SECOND)
    command = [sys.executable, "-c", START, address, str(tmp_path / "data"), str(migrations)]

    async def start() -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        shown, _ = await process.communicate()
        return process.returncode, shown.decode().strip()

    cold = await asyncio.gather(*(start() for _ in range(3)))
    assert [code for code, _ in cold] == [0, 0, 0]
    assert await start() == (0, "False")


async def test_sqlite_is_set_up_for_readers_beside_a_writer(tmp_path: Path) -> None:
    service = open_database("sqlite", tmp_path / "data")
    shown = {
        name: await one(service.for_owner("notes"), f"PRAGMA {name}")
        for name in ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
    }
    assert shown == {
        "journal_mode": "wal", "busy_timeout": 10_000, "foreign_keys": 1, "synchronous": 1
    }  # fmt: skip
    assert (tmp_path / "data" / "porch.db").is_file()
    await service.close()


PARENT = """op.create_table("parents", sa.Column("id", sa.Integer, primary_key=True))
op.create_table("children", sa.Column("id", sa.Integer, primary_key=True), sa.Column("parent",
    sa.Integer, sa.ForeignKey("parents.id", ondelete="CASCADE")))
op.execute("INSERT INTO parents VALUES (1)")
op.execute("INSERT INTO children VALUES (7, 1)")"""
COPY = """with op.batch_alter_table("parents", recreate="always") as batch:
    batch.add_column(sa.Column("name", sa.String(9)))"""


async def test_making_a_table_anew_in_sqlite_keeps_the_rows_that_refer_to_it(
    tmp_path: Path,
) -> None:
    service = open_database("sqlite", tmp_path / "data")
    database = service.for_owner("family")
    await database.migrate(write(tmp_path, PARENT, COPY))
    assert await one(database, "SELECT parent FROM children WHERE id = 7") == 1
    with pytest.raises(IntegrityError):
        async with database.begin() as connection:
            await connection.execute(text("INSERT INTO children VALUES (8, 99)"))
    with pytest.raises(MigrationFailed, match=r"children.*parents"):
        await database.migrate(write(tmp_path, PARENT, COPY, 'op.execute("DELETE FROM parents")'))
    assert await one(database, "SELECT count(*) FROM parents") == 1
    await service.close()


async def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    service = open_database("sqlite", tmp_path / "data")
    service.for_owner("notes")
    await service.close()
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("url", ["mysql://127.0.0.1/porch", "sqlite:///other.db", "postgres"])
def test_an_unknown_address_names_what_is_possible(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'sqlite' or a postgresql:// URL"):
        open_database(url, tmp_path)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+asyncpg"])
def test_every_spelling_of_a_postgresql_address_reaches_asyncpg(
    scheme: str, tmp_path: Path
) -> None:
    url = f"{scheme}://porch:pass@db.example/porch?sslmode=require"
    assert is_postgres(url)
    engine = open_database(url, tmp_path).engine
    assert engine.url.drivername == "postgresql+asyncpg"
    assert engine.url.query == {"ssl": "require"}
    assert "pass@" not in str(engine.url)


def test_the_newest_revision_is_read_without_alembic(tmp_path: Path) -> None:
    assert newest(write(tmp_path, FIRST, SECOND)) == {"0002"}
    merged = tmp_path / "versions" / "merge.py"
    (tmp_path / "versions" / "rival.py").write_text(revision("rival", "0001", "pass"))
    merged.write_text('revision: str = "merged"\ndown_revision = ("0002", "rival")\n')
    assert newest(tmp_path) == {"merged"}


async def test_each_query_of_a_reader_sees_what_is_committed(service: DatabaseService) -> None:
    async with service.begin() as connection:
        await connection.execute(text("CREATE TABLE notes (id INTEGER PRIMARY KEY)"))
    count = text("SELECT count(*) FROM notes")
    async with service.read() as reader, service.engine.connect() as snapshot:
        assert await reader.scalar(count) == 0
        async with service.begin() as connection:
            await connection.execute(text("INSERT INTO notes VALUES (1)"))
            assert await reader.scalar(count) == 0
        assert await reader.scalar(count) == 1
        assert await snapshot.scalar(count) == 1
    async with service.begin() as connection:  # what comes next on that connection is a transaction
        await connection.execute(text("INSERT INTO notes VALUES (2)"))
        await connection.rollback()
    async with service.read() as reader:
        assert await reader.scalar(count) == 1


REFUSED = {
    "a key that is there already": "INSERT INTO notes VALUES (:id, :secret)",
    "a table that is not there": "INSERT INTO nowhere VALUES (:id, :secret)",
    "a value of another type": "INSERT INTO notes (id, title) VALUES (:secret, 'x')",
}


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED)
async def test_an_error_says_what_failed_and_neither_statement_nor_value(
    service: DatabaseService, tmp_path: Path, statement: str
) -> None:
    notes, secret = service.for_owner("notes"), "hunter2-of-someone"
    create = 'op.create_table("notes", sa.Column("id", sa.Integer, primary_key=True), '
    unique = 'sa.Column("title", sa.String(50), unique=True))'
    await notes.migrate(write(tmp_path, create + unique))
    values = {"id": 1, "secret": secret} if ":id" in statement else {"secret": secret}
    with pytest.raises(DBAPIError) as raised:
        async with notes.begin() as connection:
            for number in (1, 2):
                numbered = {**values, "id": number} if "id" in values else values
                await connection.execute(text(statement), numbered)
    told = "".join(traceback.format_exception(raised.value))
    shown = f"{raised.value} {raised.value!r} {told}"
    assert secret not in shown
    assert "INSERT INTO" not in str(raised.value)
    assert str(raised.value).startswith("(")
    assert len(str(raised.value).splitlines()) == 1
