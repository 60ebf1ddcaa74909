"""A repository that changes while it is indexed: nothing fails, and the next index has it all."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from plugins.codegraph.indexer import incremental
from tests.plugins.codegraph.indexer.bench import Bench, git, write

pytestmark = pytest.mark.one_database

FILES = 24


def fill(root: Path, mark: str) -> None:
    for at in range(FILES):
        other = (at * 7 + 1) % FILES
        write(
            root,
            f"part/f{at}.py",
            f"from part.f{other} import {mark}_{other}\n\ndef {mark}_{at}(): {mark}_{other}()\n",
        )


def stir(root: Path, step: int) -> None:
    """Do to some files what a person, an editor or Git does to them."""
    edited, gone, linked, replaced = (root / f"part/f{(step * 5 + n) % FILES}.py" for n in range(4))
    _delete(edited)
    edited.write_text(f"def step_{step}(): pass\n")
    _delete(gone)
    _delete(linked)
    linked.symlink_to("f0.py")
    _delete(replaced)
    replaced.mkdir()
    (replaced / "inner.py").write_text("def inner(): pass\n")
    write(root, f"new{step}/made.py", "from part.f1 import *\n\ndef made(): step_0()\n")
    shutil.rmtree(root / f"new{step - 1}", ignore_errors=True)


async def knows_some(indexed: Bench, mark: str) -> bool:
    """Whether a file was read that nobody had changed before: which ones depends on the pace."""
    graph = await indexed.graph()
    return any([await graph.find(f"{mark}_{at}") for at in range(FILES)])


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("most", [400, 0], ids=["in place", "as a new layer"])
@pytest.mark.parametrize("version_control", [True, False], ids=["checkout", "directory"])
async def test_a_tree_that_changes_at_every_step_is_indexed_and_then_caught_up_with(
    indexed: Bench, monkeypatch: pytest.MonkeyPatch, most: int, version_control: bool
) -> None:
    monkeypatch.setattr(incremental, "MAX_READ", most)
    fill(indexed.root, "first")
    if version_control:
        git(indexed.root, "init", "-q")
        git(indexed.root, "add", "-A")
    steps = 0

    def told(done: int, total: int, message: str) -> None:
        nonlocal steps
        stir(indexed.root, steps)
        steps += 1

    await indexed.indexer.index(indexed.source, told)
    assert await knows_some(indexed, "first")
    await asyncio.to_thread(shutil.rmtree, indexed.root / "part")
    fill(indexed.root, "second")
    await indexed.indexer.index(indexed.source, told)
    assert await knows_some(indexed, "second")
    assert steps > 4
    await indexed.index()
    served = await indexed.dump()
    await indexed.indexer.rebuild(indexed.source)
    assert served == await indexed.dump()
