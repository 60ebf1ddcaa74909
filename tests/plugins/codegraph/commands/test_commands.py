"""``porch codegraph``: with no portal, and beside one that runs."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gateway.cli import main
from gateway.testing import TestPortal, open_test_portal
from gateway.testing.migrations import replayed_migrations
from plugins.codegraph import plugin
from tests.plugins.codegraph.checkouts import committed
from tests.servers import forked
from tests.servers.git_host import GitHost

Porch = Callable[..., Result]
OTHERS = ("knowledge", "skills_repo", "workflows")


@pytest.fixture
def where(tmp_path: Path) -> Callable[..., list[str]]:
    """Options of a command over a configuration and a data directory of the test's own."""
    config = tmp_path / "config"
    config.mkdir()

    def options(codegraph: Any = None) -> list[str]:
        plugins = {name: {"enabled": False} for name in OTHERS} | {"codegraph": codegraph or {}}
        settings = {"services": {"embedding": "none"}, "plugins": plugins}
        (config / "portal.yaml").write_text(yaml.safe_dump(settings))
        return ["--config", str(config), "--data", str(tmp_path / "data")]

    return options


@pytest.fixture
def porch(where: Callable[..., list[str]]) -> Iterator[Porch]:
    """Run ``porch codegraph``."""

    def run(*words: str, codegraph: Any = None) -> Result:
        words = ("codegraph", *words, *where(codegraph))
        return CliRunner().invoke(main, words, prog_name="porch", catch_exceptions=False)

    with replayed_migrations():
        yield run


@pytest.fixture
def process(where: Callable[..., list[str]]) -> Callable[..., Awaitable[Any]]:
    """Run ``porch codegraph`` in a process of its own, beside the portal of the test's."""

    async def run(*words: str) -> Any:
        command = ("codegraph", *words, *where())
        return await asyncio.to_thread(forked.run, command, Path.cwd(), dict(os.environ), 100)

    return run


def test_a_newcomer_adds_a_directory_and_is_told_what_to_do_next(porch: Porch, tree: Path) -> None:
    (tree / "logo.bin").write_bytes(bytes(range(256)) * 10)
    done = porch("add", str(tree))
    assert (done.exit_code, done.stderr) == (0, "")
    told = done.stdout
    assert "garden: 3 files" in told or "garden: 2 files" in told
    assert "1 functions" in told or "1 function" in told
    assert "Python 2" in told
    assert 'Then ask: "Who calls pour?"' in told
    assert "connect it again" in " ".join(told.split())
    assert "/mcp" in told
    listed = porch("list")
    assert "garden" in listed.stdout
    assert "ready" in listed.stdout


def test_a_plain_directory_is_fine(porch: Porch, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def one(): pass\n")
    done = porch("add", str(plain), "--name", "mine", "--tier", "open", "--group", "team:a")
    assert done.exit_code == 0, done.stdout + done.stderr
    [shown] = json.loads(porch("list", "--json").stdout)["repositories"]
    assert (shown["name"], shown["tier"], shown["groups"]) == ("mine", "open", ["team:a"])


def test_json_is_one_value_for_programs(porch: Porch, tree: Path) -> None:
    added = json.loads(porch("add", str(tree), "--json").stdout)
    assert (added["name"], added["languages"]["python"], added["functions"]) == ("garden", 2, 1)
    [again] = json.loads(porch("index", "--json").stdout)
    assert (again["name"], again["files"]) == ("garden", added["files"])
    removed = json.loads(porch("remove", "garden", "--json").stdout)
    assert removed["name"] == "garden"
    assert removed["deleted"]["codegraph_entities"] > 0
    assert json.loads(porch("list", "--json").stdout)["repositories"] == []


@pytest.mark.parametrize(
    ("location", "code", "reason"),
    [
        ("nowhere", 2, "nowhere is not there. Give the path of a directory."),
        ("garden/water.py", 2, "is a file. Give the directory that holds it."),
        ("git@example.org:a/b", 2, "is no https address"),
        ("https://me:hunter2@example.org/a", 2, "holds a credential"),
        ("file:///etc", 2, "is no https address"),
        ("ext::sh -c id", 2, "is no https address"),
    ],
)
def test_a_wrong_place_is_said_and_nothing_is_added(
    porch: Porch,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    location: str,
    code: int,
    reason: str,
) -> None:
    monkeypatch.chdir(tree.parent)
    done = porch("add", location)
    assert done.exit_code == code
    assert reason in done.stdout
    assert "hunter2" not in done.stdout
    assert "No repository has been added" in porch("list").stdout


def test_an_address_is_fetched_and_one_that_is_not_there_is_not_added(
    porch: Porch, host: GitHost
) -> None:
    settings = {"hosts": {host.netloc: {"ca_file": str(host.ca_file)}}}
    done = porch("add", host.url("plants/garden.git"), codegraph=settings)
    assert done.exit_code == 0, done.stdout
    assert "garden: fetching" in done.stdout
    wrong = porch("add", host.url("plants/none.git"), codegraph=settings)
    assert wrong.exit_code == 1
    assert "git says" in wrong.stdout
    assert "none was not added" in wrong.stdout
    listed = json.loads(porch("list", "--json", codegraph=settings).stdout)
    assert [each["name"] for each in listed["repositories"]] == ["garden"]
    assert listed["removing"] == []


def test_without_git_an_address_says_what_to_install(
    porch: Porch, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tree))
    done = porch("add", "https://example.org/plants/garden")
    assert done.exit_code == 2
    assert "git is not installed" in done.stdout


def test_what_portal_yaml_declares_is_not_removed_by_hand(porch: Porch, tree: Path) -> None:
    config = {"plugins": {"codegraph": {"repositories": [{"path": str(tree)}]}}}
    porch("add", str(tree))
    asyncio.run(_declared(tree.parent / "data", config))
    done = porch("remove", "garden")
    assert done.exit_code == 1
    assert "stands in portal.yaml" in done.stdout


async def _declared(data: Path, config: Any) -> None:
    async with open_test_portal(plugin, config=config, data_dir=data) as portal:
        assert (await portal.health())["plugins"]["codegraph"]["facts"]["repositories"] == 1


@pytest.mark.parametrize("command", [("index", "none"), ("remove", "none")])
def test_a_name_that_is_not_there_is_said(porch: Porch, command: tuple[str, ...]) -> None:
    done = porch(*command)
    assert done.exit_code == 1
    assert "There is no repository 'none'" in done.stdout


@pytest.mark.heavy
def test_on_a_terminal_there_is_a_bar(porch: Porch, tree: Path, tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "gateway.cli", "codegraph", "add", str(tree)]
    command += ["--data", str(tmp_path / "data")]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=follower, env=environment
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                chunk = os.read(leader, 65536)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
        said = process.communicate()[0].decode()
    os.close(leader)
    assert process.returncode == 0
    assert "garden" in shown.decode(errors="replace")
    assert "\x1b[" in shown.decode(errors="replace")
    assert "reading" not in said


@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_ctrl_c_says_what_becomes_of_the_repository(
    porch: Porch, tree: Path, tmp_path: Path
) -> None:
    for number in range(400):
        text = "".join(f"def grow_{number}_{each}(): pass\n" for each in range(50))
        (tree / f"bed_{number}.py").write_text(text)
    command = [sys.executable, "-m", "gateway.cli", "codegraph", "add", str(tree)]
    command += ["--data", str(tmp_path / "data")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "reading" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Stopped. garden stays added" in said
    assert "Traceback" not in errors
    assert "waiting to be indexed" in porch("list").stdout
    [indexed] = json.loads(porch("index", "--json").stdout)
    assert indexed["functions"] == 20_001


FULL = """
import sys
from sqlalchemy import event
from gateway.services.database import sqlite

opened = sqlite.opened

def full(path):
    engine = opened(path)
    @event.listens_for(engine.sync_engine, "connect")
    def limit(connection, record):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {max(pages + 2, 1)}")
    return engine

sqlite.opened = full
from gateway.cli import main
sys.argv = ["porch", "codegraph", *sys.argv[1:]]
main()
"""


@pytest.mark.heavy
def test_a_disk_that_is_full_is_said_and_what_was_served_stays(porch: Porch, tree: Path) -> None:
    assert porch("add", str(tree)).exit_code == 0
    for number in range(200):
        text = "".join(f"def grow_{number}_{each}(): pass\n" for each in range(50))
        (tree / f"bed_{number}.py").write_text(text)
    where = ["--data", str(tree.parent / "data"), "--config", str(tree.parent / "config")]
    command = [sys.executable, "-c", FULL, "index", "garden", *where]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "The disk is full. Make room" in done.stdout
    assert "Traceback" not in done.stderr
    [shown] = json.loads(porch("list", "--json").stdout)["repositories"]
    assert shown["summary"]["functions"] == 1
    [mended] = json.loads(porch("index", "--json").stdout)
    assert mended["functions"] == 10_001


@pytest.fixture
async def portal(tmp_path: Path) -> Any:
    """A portal that runs, over the data directory of the commands."""
    async with open_test_portal(plugin, data_dir=tmp_path / "data", wait_ready=False) as opened:
        yield opened


async def answered(portal: TestPortal, name: str, *, found: bool = True) -> str:
    async with asyncio.timeout(60):
        while True:
            if await portal.tools():
                answer = await portal.call("get_callers", {"name": name})
                if answer.is_error is not found:
                    return answer.text
            await asyncio.sleep(0.1)


@pytest.mark.heavy
async def test_beside_a_portal_the_repository_is_served_watched_and_removed(
    portal: TestPortal, process: Callable[..., Awaitable[Any]], tree: Path
) -> None:
    done = await process("add", str(tree))
    assert done.returncode == 0, done.stdout + done.stderr
    await answered(portal, "pour")
    committed(tree, {"later.py": "from water import pour\n\ndef drench():\n    pour()\n"})
    await answered(portal, "drench")
    assert "drench" in (await portal.call("get_callers", {"name": "pour"})).text
    await process("remove", "garden")
    await answered(portal, "pour", found=False)
    async with asyncio.timeout(60):
        while True:
            facts = (await portal.health())["plugins"]["codegraph"]["facts"]
            if facts["removing"] == 0:
                break
            await asyncio.sleep(0.2)


@pytest.mark.heavy
async def test_a_command_that_dies_leaves_its_work_to_the_portal(
    portal: TestPortal, tree: Path, tmp_path: Path
) -> None:
    script = (
        "import os, signal, sys\n"
        "from plugins.codegraph.repositories.build import IndexBuilder\n"
        "async def die(*args): os.kill(os.getpid(), signal.SIGKILL)\n"
        "IndexBuilder._indexed = die\n"
        "from gateway.cli import main\n"
        "sys.argv = ['porch', 'codegraph', 'add', *sys.argv[1:]]\n"
        "main()\n"
    )
    where = [str(tree), "--data", str(tmp_path / "data")]
    died = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script, *where], capture_output=True
    )
    assert died.returncode == -9
    await answered(portal, "pour")
