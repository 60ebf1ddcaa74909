"""The plugin in a portal: declared repositories, jobs that survive, health."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.exc import OperationalError

from gateway.contract import Change, directories
from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.repositories.build import IndexBuilder
from tests.servers import forked


def garden(tmp_path: Path, files: int = 3) -> Path:
    tree = tmp_path / "garden"
    tree.mkdir()
    for number in range(files):
        text = "".join(f"def plant_{number}_{each}():\n    dig()\n\n" for each in range(20))
        (tree / f"bed_{number}.py").write_text(f"from tools import dig\n\n{text}")
    (tree / "tools.py").write_text("def dig():\n    return 1\n")
    return tree


def config(*trees: Path, **more: Any) -> dict[str, Any]:
    return {"plugins": {"codegraph": {"repositories": [{"path": str(t)} for t in trees], **more}}}


async def seen(portal: TestPortal, name: str) -> None:
    async with asyncio.timeout(60):
        while True:
            if not (await portal.call("get_function", {"name": name})).is_error:
                return
            await asyncio.sleep(0.05)


async def test_a_declared_repository_answers_at_once(tmp_path: Path) -> None:
    async with open_test_portal(plugin, config=config(garden(tmp_path))) as portal:
        found = await portal.call("get_callers", {"name": "dig"})
        assert not found.is_error, found.text
        health = (await portal.health())["plugins"]["codegraph"]
        assert health["state"] == "ok"
        assert health["facts"]["repositories"] == 1
        assert health["facts"]["entities"] >= 65


async def test_files_of_no_known_language_are_counted_as_other(tmp_path: Path) -> None:
    tree = garden(tmp_path)
    (tree / "ledger").write_text("1\n2\n")
    async with open_test_portal(plugin, config=config(tree)) as portal:
        found = await portal.call("get_project_stats")
        counts = {each["language"]: each["files"] for each in found.structured["languages"]}
        assert counts == {"python": 4, "other": 1}


async def test_the_tools_are_listed_from_the_first_repository_on(tmp_path: Path) -> None:
    tiers, data = {"items": {"codegraph": "open"}}, tmp_path / "data"
    async with open_test_portal(plugin, tiers=tiers, data_dir=data, wait_ready=False) as portal:
        told: asyncio.Queue[Change] = asyncio.Queue()
        portal.running.changes.listen(told.put_nowait)
        assert await portal.tools() == {}
        words = ("codegraph", "add", str(garden(tmp_path)), "--data", str(data))
        run = asyncio.to_thread(forked.run, words, Path.cwd(), dict(os.environ), 60)
        added = asyncio.create_task(run)
        async with asyncio.timeout(60):
            while await told.get() != Change("codegraph", "tools"):
                pass
        assert "get_callers" in await portal.tools()
        assert (await added).returncode == 0
    async with open_test_portal(plugin, tiers=tiers, data_dir=data) as portal:
        assert "get_callers" in await portal.tools()


@pytest.mark.parametrize(
    ("url", "seen_by"),
    [("http://127.0.0.1:8321", {"open", "members"}), ("https://porch.example.org", {"members"})],
    ids=["a portal for this machine", "a portal for everyone"],
)
async def test_without_a_tier_it_is_open_on_a_portal_for_one_machine_alone(
    url: str, seen_by: set[str], tmp_path: Path
) -> None:
    told = config(garden(tmp_path)) | {"public_url": url}
    tiers = {"items": {"codegraph": "open"}}
    async with open_test_portal(plugin, config=told, tiers=tiers) as portal:
        for tier in ("open", "members"):
            found = await portal.call("get_callers", {"name": "dig"}, tier=tier)
            assert found.is_error == (tier not in seen_by), found.text


async def test_the_working_tree_is_followed_while_the_portal_runs(tmp_path: Path) -> None:
    tree = garden(tmp_path)
    async with open_test_portal(plugin, config=config(tree), wait_ready=False) as portal:
        await seen(portal, "dig")
        (tree / "new.py").write_text("def just_written():\n    pass\n")
        await seen(portal, "just_written")
        (tree / "new.py").unlink()
        async with asyncio.timeout(60):
            while True:
                if (await portal.call("get_function", {"name": "just_written"})).is_error:
                    break
                await asyncio.sleep(0.05)


async def test_a_repository_that_changes_while_it_is_indexed_is_caught_up_with(
    tmp_path: Path,
) -> None:
    tree, done = garden(tmp_path, files=40), asyncio.Event()

    async def edit() -> None:
        number = 0
        while not done.is_set():
            number += 1
            (tree / f"bed_{number % 40}.py").write_text(f"def edited_{number}():\n    pass\n")
            (tree / f"new_{number}.py").write_text(f"def added_{number}():\n    pass\n")
            (tree / f"new_{number - 1}.py").unlink(missing_ok=True)
            await asyncio.sleep(0.02)

    async with open_test_portal(plugin, config=config(tree), wait_ready=False) as portal:
        editing = asyncio.create_task(edit())
        await seen(portal, "dig")
        done.set()
        await editing
        (tree / "last.py").write_text("def the_last():\n    pass\n")
        await seen(portal, "the_last")
        health = (await portal.health())["plugins"]["codegraph"]
        assert health["state"] == "ok", health


async def test_a_repository_is_watched_on_after_its_database_failed_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catch_up, is_away, failed = IndexBuilder.catch_up, asyncio.Event(), asyncio.Event()

    async def fails_once(self: IndexBuilder, *given: Any) -> Any:
        if is_away.is_set() and not failed.is_set():
            failed.set()
            raise OperationalError("SELECT", {}, Exception("database is locked"))
        return await catch_up(self, *given)

    monkeypatch.setattr(IndexBuilder, "catch_up", fails_once)
    monkeypatch.setattr(directories, "RETRY_SECONDS", 1)
    tree = garden(tmp_path)
    async with open_test_portal(plugin, config=config(tree), wait_ready=False) as portal:
        await seen(portal, "dig")
        is_away.set()
        (tree / "new.py").write_text("def just_written():\n    pass\n")
        await seen(portal, "just_written")
        assert failed.is_set()


async def test_a_directory_that_goes_away_degrades_the_portal_and_heals(tmp_path: Path) -> None:
    tree = garden(tmp_path)
    async with open_test_portal(plugin, config=config(tree)) as portal:
        assert (await portal.health())["plugins"]["codegraph"]["state"] == "ok"
    tree.rename(tmp_path / "away")
    data = tmp_path / "data"
    async with open_test_portal(plugin, config=config(tree), data_dir=data) as portal:
        health = (await portal.health())["plugins"]["codegraph"]
        assert health["state"] == "degraded"
        assert "is not there" in health["detail"]
    (tmp_path / "away").rename(tree)
    async with open_test_portal(plugin, config=config(tree), data_dir=data) as portal:
        assert not (await portal.call("get_function", {"name": "dig"})).is_error


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from plugins.codegraph import plugin
from plugins.codegraph.repositories.build import IndexBuilder

data, config, point = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

async def main():
    import yaml
    from gateway.testing import open_test_portal
    indexed = IndexBuilder._indexed
    async def dies(self, repository, tell, then):
        if point == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        seen = []
        def told(done, total, message):
            tell(done, total, message)
            seen.append(message)
            if len(seen) >= int(point):
                os.kill(os.getpid(), signal.SIGKILL)
        found = await indexed(self, repository, told, then)
        os.kill(os.getpid(), signal.SIGKILL)
    IndexBuilder._indexed = dies
    loaded = yaml.safe_load(config.read_text())
    async with open_test_portal(plugin, config=loaded, data_dir=data, wait_ready=False):
        await asyncio.sleep(100)

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.heavy
@pytest.mark.timeout(900)
async def test_an_index_that_is_killed_goes_on_and_no_half_of_it_is_served(
    tmp_path: Path,
) -> None:
    tree, data = garden(tmp_path, files=30), tmp_path / "data"
    script, section = tmp_path / "killed.py", tmp_path / "section.yaml"
    script.write_text(KILLED)
    section.write_text(yaml.safe_dump(config(tree)))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for point in ("before", "40", "100000"):
        command = [sys.executable, str(script), str(data), str(section), point]
        died = await asyncio.to_thread(
            subprocess.run, command, env=environment, capture_output=True, timeout=100
        )
        assert died.returncode == -signal.SIGKILL, died.stderr.decode()
        with closing(sqlite3.connect(data / "jobs.db")) as jobs:
            states = {row[0] for row in jobs.execute("SELECT status FROM workflow_status")}
            assert "PENDING" in states
    async with open_test_portal(plugin, config=config(tree), data_dir=data, wait_ready=False) as p:
        await seen(p, "dig")
        callers = await p.call("get_callers", {"name": "dig"})
        assert callers.structured["pagination"]["totalCount"] == 600
        async with asyncio.timeout(60):
            while True:
                health = (await p.health())["plugins"]["codegraph"]
                if not health["facts"]["waiting"] and not health["facts"]["indexing"]:
                    break
                await asyncio.sleep(0.1)
        assert health["state"] == "ok", health
