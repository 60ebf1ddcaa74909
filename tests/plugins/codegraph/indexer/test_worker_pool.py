"""A worker that dies or hangs costs the file that did it, and no other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from plugins.codegraph.indexer import worker_pool as module
from plugins.codegraph.indexer.scan import Found, Limits
from plugins.codegraph.indexer.tasks import Parsed, ParseTask
from plugins.codegraph.indexer.worker_pool import FileFailure, WorkerPool
from tests.plugins.codegraph.indexer.bench import Bench, write

pytestmark = pytest.mark.one_database


@pytest.fixture
async def workers() -> AsyncIterator[WorkerPool]:
    """Worker processes of a test's own, which may be killed."""
    found = WorkerPool(most=2)
    yield found
    await found.close()


def task(root: Path, *paths: str) -> ParseTask:
    files = [Found(path, 1, 0, 0) for path in paths]
    return ParseTask(str(root), str(root / "facts.db"), Limits(), files)


def test_a_worker_loads_no_portal() -> None:
    """Each starts in a fraction of the time that the portal takes."""
    said = "import plugins.codegraph.indexer.worker, sys; print('LOADED', *sys.modules)"
    ran = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "plugins.codegraph.indexer.worker" in loaded
    assert loaded.isdisjoint({"auth", "gateway.contract", "pydantic", "sqlalchemy"})


async def test_files_are_parsed(workers: WorkerPool, tree: Path) -> None:
    write(tree, "a.py", "def f(): pass\n")
    results = await workers.run(task(tree, "a.py", "gone.py"), Parsed)
    reports = [each.report for each in results if isinstance(each, Parsed)]
    assert [(each.path, each.skipped) for each in reports] == [("a.py", False), ("gone.py", True)]


async def test_a_file_that_takes_for_ever_is_named(
    workers: WorkerPool, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tree, "a.py", "x = 1\n")
    # No parser is known to go on for ever, so the worker is stopped instead.
    await workers.run(task(tree, "a.py"), Parsed)
    process = workers._free[0]._process
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(module, "TASK_TIMEOUT_S", 0.2)
    found = await workers.run(task(tree, "a.py"), Parsed)
    assert isinstance(found[0], FileFailure)
    assert "longer" in found[0].reason
    monkeypatch.setattr(module, "TASK_TIMEOUT_S", 60.0)
    assert isinstance((await workers.run(task(tree, "a.py"), Parsed))[0], Parsed)


async def test_a_worker_is_kept_however_much_memory_its_parent_has(
    workers: WorkerPool, tree: Path
) -> None:
    write(tree, "a.py", "x = 1\n")
    held = b"x" * (module.MAX_MEMORY_KIB * 1024)
    await workers.run(task(tree, "a.py"), Parsed)
    assert len(workers._free) == 1
    del held


async def test_a_worker_that_was_killed_is_replaced(workers: WorkerPool, tree: Path) -> None:
    for name in ("a.py", "b.py"):
        write(tree, name, "x = 1\n")
    await workers.run(task(tree, "a.py"), Parsed)
    os.kill(workers._free[0]._process.pid, signal.SIGKILL)
    assert isinstance((await workers.run(task(tree, "a.py"), Parsed))[0], Parsed)
    os.kill(workers._free[0]._process.pid, signal.SIGKILL)
    results = await workers.run(task(tree, "a.py", "b.py"), Parsed)
    assert [isinstance(each, Parsed) for each in results] == [True, True]


async def test_what_a_parser_may_meet_is_never_more_than_a_report(indexed: Bench) -> None:
    root = indexed.root
    write(
        root, "long.py", "".join(f"def f{at}():\n    return f{at - 1}()\n" for at in range(25_000))
    )
    write(root, "deep.py", "x = " + "(" * 5_000 + ")" * 5_000 + "\n")
    write(root, "deep.ts", "const x = " + "[" * 5_000 + "]" * 5_000 + ";\n")
    write(root, "deep.js", "f(" * 5_000 + ")" * 5_000 + ";\n")
    write(root, "Deep.java", "class Deep { int x = " + "(" * 5_000 + ")" * 5_000 + "; }\n")
    write(root, "deep.rs", "fn main() " + "{" * 5_000 + "}" * 5_000 + "\n")
    write(root, "latin.py", b"# caf\xe9\ndef f():\n    return '\xff'\n")
    write(root, "bundle.js", "var a=1;" * 20_000)
    write(root, "broken.py", "def f(:\n  class\n")
    write(root, "empty.py", "")
    await indexed.index()
    graph = await indexed.graph()
    reports = {each.path: each for each in await graph.reports(problems_only=False)}
    assert reports["bundle.js"].skipped
    assert reports["broken.py"].problem
    assert not reports["long.py"].skipped
    assert len(await graph.find("f24999")) == 1
    assert reports.keys() == {path.name for path in root.iterdir()}
