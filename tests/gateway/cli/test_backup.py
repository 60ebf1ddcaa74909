"""``porch backup`` and ``porch restore``."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tarfile
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from gateway.cli.options import EXIT
from gateway.contract import rebuildable
from tests.gateway.cli.conftest import Run, ready, served
from tests.journeys.test_serving import request


def records(porch: Run) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(porch("audit", "--json", "--limit", "100000").stdout)
    return found


def test_a_file_in_a_directory_that_is_not_there_is_said_in_a_line(porch: Run) -> None:
    porch("call", "search_knowledge", "query=garden")
    result = porch("backup", "nowhere/kept.tar.gz")
    assert result.exit_code == EXIT.PROBLEM
    assert result.output == "Error: nowhere is not there; make it, or name another FILE.\n"


def test_what_was_lost_is_there_again(backed_up: Path, porch: Run, place: Path) -> None:
    before, key = records(porch), (place / "data" / "signing-key").read_text()
    shutil.rmtree(place / "data")
    result = porch("restore", str(backed_up), "--verify")
    assert result.exit_code == EXIT.DONE, result.output
    assert result.output.endswith("Every table is whole.\n")
    assert (records(porch), (place / "data" / "signing-key").read_text()) == (before, key)
    found = porch("call", "search_knowledge", "query=how to sow")
    assert "How to sow" in found.output


def test_it_is_its_users_alone_and_says_what_it_holds(backed_up: Path, porch: Run) -> None:
    assert backed_up.stat().st_mode & 0o777 == 0o600
    told = json.loads(porch("backup", "another.tar.gz", "--json").stdout)
    assert (told["format"], told["database"]) == (1, "sqlite")
    assert {"data/porch.db", "data/signing-key"} <= told["files"].keys()
    assert told["rows"]["porch.db/porch_audit"] == 1
    assert "vectors, which is built again" in told["left_out"]
    assert not any("portal.lock" in name or name.endswith("-wal") for name in told["files"])


def test_a_plugins_own_files_are_kept_but_for_what_is_built_again(porch: Run, place: Path) -> None:
    own = place / "data" / "plugins" / "garden"
    (own / "kept").mkdir(parents=True)
    (own / "kept" / "note").write_text("mine")
    (rebuildable(own / "built") / "facts").write_text("again")
    with closing(sqlite3.connect(own / "kept" / "own.sqlite")) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE seeds (name TEXT)")
        database.execute("INSERT INTO seeds VALUES ('kale')")
        database.commit()  # it is in the log beside the file, as of a portal that runs
        told = json.loads(porch("backup", "kept.tar.gz", "--json").stdout)
    assert told["left_out"] == ["plugins/garden/built, which is built again"]
    assert told["rows"] == {"plugins/garden/kept/own.sqlite/seeds": 1}
    assert porch("restore", "kept.tar.gz", "--data", "other", "--verify").exit_code == EXIT.DONE
    restored = place / "other" / "plugins" / "garden" / "kept"
    assert (restored / "note").read_text() == "mine"
    with closing(sqlite3.connect(restored / "own.sqlite")) as database:
        assert database.execute("SELECT name FROM seeds").fetchall() == [("kale",)]


def test_a_directory_that_is_not_empty_is_left_as_it_is(backed_up: Path, porch: Run) -> None:
    result = porch("restore", str(backed_up))
    assert result.exit_code == EXIT.PROBLEM
    assert "is not empty; name another with --data" in result.output
    assert len(records(porch)) == 1


def test_a_file_that_is_there_is_not_written_over(backed_up: Path, porch: Run) -> None:
    before = backed_up.read_bytes()
    assert "is there already" in porch("backup", str(backed_up)).output
    assert backed_up.read_bytes() == before


def changed(archive: Path, name: str, content: bytes) -> Path:
    """The archive with one file that has another content."""
    target = archive.with_name("changed.tar.gz")
    with tarfile.open(archive) as old, tarfile.open(target, "w:gz") as new:
        for member in old:
            data = old.extractfile(member)
            assert data is not None
            raw = content if member.name == name else data.read()
            member.size = len(raw)
            (place := archive.with_name("piece")).write_bytes(raw)
            with place.open("rb") as file:
                new.addfile(member, file)
    return target


@pytest.mark.parametrize("name", ["data/porch.db", "data/signing-key"])
def test_a_damaged_archive_writes_nothing(backed_up: Path, porch: Run, name: str) -> None:
    archive = changed(backed_up, name, b"x" * 64)
    result = porch("restore", str(archive), "--data", "other")
    assert result.exit_code == EXIT.PROBLEM
    assert f"is damaged: {name} is not what was backed up" in result.output
    assert not archive.with_name("other").exists()


def test_half_an_archive_and_another_file_are_no_backup(backed_up: Path, porch: Run) -> None:
    half = backed_up.with_name("half.tar.gz")
    half.write_bytes(backed_up.read_bytes()[:-200])
    assert "cannot be read" in porch("restore", str(half), "--data", "other").output
    with tarfile.open(half, "w:gz") as tar:
        tar.add(backed_up.with_name("content") / "garden.md", "../../garden.md")
    result = porch("restore", str(half), "--data", "other")
    assert "is no backup: it holds '../../garden.md'" in result.output


def test_verify_names_each_table_that_differs(backed_up: Path, porch: Run, place: Path) -> None:
    from gateway.services.backup.restore import restore, verify

    manifest = restore(backed_up, place / "other", "sqlite")
    assert verify(manifest, place / "other", "sqlite") == []
    with closing(sqlite3.connect(place / "other" / "porch.db")) as database:
        database.execute("DELETE FROM porch_audit")
        database.commit()
    assert verify(manifest, place / "other", "sqlite") == [
        "porch.db/porch_audit had 1 rows and has 0."
    ]


def asked(http: httpx2.Client, url: str, query: str) -> httpx2.Response:
    """A search over MCP."""
    arguments = {"query": query}
    message = request("tools/call", name="search_knowledge", arguments=arguments)
    return http.post(f"{url}/mcp", **message)


@pytest.mark.heavy
def test_what_was_acknowledged_before_a_backup_under_load_outlives_the_data(
    porch: Run, place: Path
) -> None:
    """Each call leaves a record: those that were answered before the backup began are in it."""
    answered: list[int] = []
    stop = threading.Event()
    limits = "limits: {rest: none, calls: none}\n"
    with (place / "config" / "portal.yaml").open("a") as file:
        file.write(limits)

    def load(url: str) -> None:
        with httpx2.Client(timeout=60) as http:
            while not stop.is_set():
                answered.append(asked(http, url, "garden").status_code)

    with served(place) as (url, _):
        assert ready(url)
        threads = [threading.Thread(target=load, args=(url,)) for _ in range(4)]
        for each in threads:
            each.start()
        try:
            while len(answered) < 200:
                time.sleep(0.05)
            before = len(answered)
            time.sleep(2)  # records are written in batches, about a second after the answer
            backup = porch("backup", "kept.tar.gz")
            assert backup.exit_code == EXIT.DONE, backup.output
            after = len(answered)
        finally:
            stop.set()
            for each in threads:
                each.join()
        assert set(answered) == {200}
        assert after > before
    shutil.rmtree(place / "data")
    restored = porch("restore", "kept.tar.gz", "--verify")
    assert restored.output.endswith("Every table is whole.\n"), restored.output
    assert before <= len(records(porch)) <= len(answered)
    with served(place) as (url, _):
        assert ready(url)
        with httpx2.Client(timeout=60) as http:
            assert "How to sow" in asked(http, url, "sow").text


def test_postgresql_is_dumped_and_put_back(
    porch: Run, place: Path, monkeypatch: pytest.MonkeyPatch, databases: list[str]
) -> None:
    monkeypatch.setenv("PORCH_SERVICES__DATABASE", databases[0])
    porch("call", "search_knowledge", "query=garden")
    result = porch("backup", "kept.tar.gz")
    assert result.exit_code == EXIT.DONE, result.output
    refused = porch("restore", "kept.tar.gz", "--data", "other")
    assert "has tables already" in refused.output
    assert not (place / "other").exists()
    monkeypatch.setenv("PORCH_SERVICES__DATABASE", databases[1])
    restored = porch("restore", "kept.tar.gz", "--data", "other", "--verify")
    assert restored.output.endswith("Every table is whole.\n"), restored.output
    assert len(records(porch)) == 1
    monkeypatch.delenv("PORCH_SERVICES__DATABASE")
    kind = porch("restore", "kept.tar.gz", "--data", "third")
    assert "holds a postgresql database, and services.database names sqlite" in kind.output


def test_without_pg_dump_it_says_what_to_do(
    porch: Run, place: Path, monkeypatch: pytest.MonkeyPatch, databases: list[str]
) -> None:
    monkeypatch.setenv("PORCH_SERVICES__DATABASE", databases[0])
    monkeypatch.setenv("PATH", os.devnull)
    (place / "data").mkdir()
    result = porch("backup", "kept.tar.gz")
    assert result.exit_code == EXIT.PROBLEM
    assert "pg_dump is not here. Install PostgreSQL's client programs" in result.output
    assert not (place / "kept.tar.gz").exists()
