"""``porch copy-database``: a portal that grows from SQLite to PostgreSQL loses nothing."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import PORTAL, Run

CODE = '''def sow(bed: str) -> str:
    """Put seeds into a bed of the garden."""
    return bed
'''


@pytest.fixture
def grown(porch: Run, place: Path, databases: list[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """What ``porch`` says once ``portal.yaml`` names an empty PostgreSQL, of a portal with data."""
    git = ("git", "-C", str(place / "code"), "-c", "user.name=a", "-c", "user.email=a@example.org")
    (place / "code").mkdir()
    (place / "code" / "bed.py").write_text(CODE)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "Beds")):
        subprocess.run([*git, *words], check=True)
    assert porch("codegraph", "add", "code").exit_code == EXIT.DONE
    remember(porch, "The shed is painted green.")
    assert porch("token", "create", "--name", "nightly", "--tier", "public").exit_code == EXIT.DONE
    monkeypatch.setenv("DATABASE", databases[0])
    yaml = PORTAL.replace("embedding: none", "embedding: none, database: env:DATABASE")
    (place / "config" / "portal.yaml").write_text(yaml)
    return porch


def remember(porch: Run, said: str) -> None:
    done = porch("call", "remember", f"content={said}", "layer=semantic")
    assert done.exit_code == EXIT.DONE, done.output


def answer(porch: Run, *words: str) -> Any:
    done = porch("call", *words, "--json")
    assert done.exit_code == EXIT.DONE, done.output
    return json.loads(done.stdout)


def test_everything_is_there_again_and_goes_on(grown: Run, place: Path) -> None:
    done = grown("copy-database")
    assert done.exit_code == EXIT.DONE, done.output
    assert "        1  memory_entries\n" in done.output
    assert done.output.endswith("is now porch.db.copied. Start the portal.\n")
    assert not (place / "data" / "porch.db").exists()
    remember(grown, "The fence is painted red.")  # with numbers behind those that were copied
    found = answer(grown, "query_memory", "query=what is painted green?")
    assert found["results"][0]["content"] == "The shed is painted green."
    assert len(answer(grown, "list_memory")["data"]) == 2
    assert "nightly" in grown("token", "list").output
    assert "remember" in grown("audit").output
    assert "sow" in grown("call", "search_code", "query=seeds in the garden").output


def test_a_database_that_a_portal_has_written_to_is_refused(grown: Run, place: Path) -> None:
    remember(grown, "Written to PostgreSQL.")
    done = grown("copy-database")
    assert done.exit_code == EXIT.PROBLEM
    assert "is not empty:" in done.output
    assert (place / "data" / "porch.db").exists()


def test_it_is_all_or_nothing_and_can_be_tried_again(
    grown: Run, place: Path, databases: list[str]
) -> None:
    changed(place, "UPDATE memory_entries SET layer = 'a' || char(0)")
    done = grown("copy-database")
    assert done.exit_code == EXIT.PROBLEM
    assert "PostgreSQL does not take memory_entries:" in done.output
    assert done.output.endswith("Nothing was copied.\n")
    with psycopg.connect(databases[0]) as connection:
        (count,) = connection.execute("SELECT count(*) FROM porch_api_tokens").fetchone() or (1,)
    assert count == 0
    changed(place, "UPDATE memory_entries SET layer = 'a'")
    assert grown("copy-database").exit_code == EXIT.DONE


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE alembic_version_knowledge SET version_num = '0002'", "are of another version"),
        ("CREATE TABLE alembic_version_beds (version_num TEXT)", "plugin beds has tables in the"),
        ("CREATE TABLE beds (id INTEGER)", "beds: PostgreSQL would have no such table"),
    ],
)
def test_what_cannot_be_made_in_postgresql_is_said(
    grown: Run, place: Path, statement: str, said: str
) -> None:
    changed(place, statement)
    done = grown("copy-database")
    assert done.exit_code == EXIT.PROBLEM
    assert said in done.output
    assert (place / "data" / "porch.db").exists()


def test_the_setting_that_says_sqlite_still_is_named(porch: Run) -> None:
    done = porch("copy-database")
    assert done.exit_code == EXIT.PROBLEM
    assert "services.database says sqlite; write there where everything is to go" in done.output


def test_the_doctor_names_it(grown: Run) -> None:
    assert "`porch copy-database`" in grown("doctor").output


def changed(place: Path, statement: str) -> None:
    with closing(sqlite3.connect(place / "data" / "porch.db")) as database, database:
        database.execute(statement)
