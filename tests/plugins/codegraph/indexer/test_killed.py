"""An index that is killed leaves what was served, and goes on when it is asked for again."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.codegraph.indexer import incremental
from tests.examples import seed, times
from tests.plugins.codegraph.indexer.bench import Bench, Dump, write

FILES = 130
MOMENTS = times(thorough=10, ordinary=4)


def fill(root: Path, mark: str) -> None:
    """A tree of files that call each other; ``mark`` is in each of their names."""
    for at in range(FILES):
        other = (at * 7 + 1) % FILES
        write(
            root,
            f"part{at % 20}/file{at}.py",
            f"from part{other % 20}.file{other} import {mark}_{other}\n\n"
            f"def {mark}_{at}():\n    return {mark}_{other}()\n",
        )


async def run_and_kill(address: str, data: Path, root: Path, lines: int) -> bool:
    """Start an index in a process of its own, and kill it after so many lines of its output.

    Returns:
        Whether it was killed before it was done.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.plugins.codegraph.indexer.killed_index"),
        *(address, str(data), str(root)),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[4],
    )
    assert process.stdout is not None
    line = b""
    for _ in range(lines):
        line = await process.stdout.readline()
        if line in (b"", b"served\n"):
            break
    if process.returncode is None and line != b"served\n":
        process.kill()
    await process.wait()
    return line != b"served\n"


@pytest.mark.heavy
@pytest.mark.timeout(900)
async def test_an_index_killed_at_any_moment_is_never_served_in_part_and_goes_on(
    indexed: Bench,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.setattr(incremental, "MAX_READ", 0)  # as in the process that is killed
    chance = random.Random(seed(11))
    fill(indexed.root, "first")
    await indexed.index()
    before = await indexed.dump()
    fill(indexed.root, "second")
    killed = 0
    for _ in range(MOMENTS):
        killed += await run_and_kill(address, tmp_path, indexed.root, chance.randint(1, 7))
        served = await indexed.dump()
        if served != before:
            break
    assert killed > 0
    record_property("kills", killed)
    await indexed.index()
    after = await indexed.dump()
    await indexed.indexer.rebuild(indexed.source)
    assert after == await indexed.dump()
    assert _marks(before) == {"first"}
    assert _marks(after) == {"second"}


def _marks(dump: Dump) -> set[str]:
    return {row[2].partition("_")[0] for row in dump["entities"] if "_" in row[2]}
