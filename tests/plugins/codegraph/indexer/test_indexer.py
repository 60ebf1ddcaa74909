"""An index of a directory, and of what changes in it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from plugins.codegraph.model import EdgeKind
from tests.plugins.codegraph.indexer.bench import Bench, git, write


async def called(indexed: Bench, name: str, person: str | None = None) -> list[str]:
    """Who calls the function of a name."""
    graph = await indexed.graph(person)
    found = await graph.find(name)
    walk = await graph.walk([each.key for each in found], EdgeKind.CALLS, incoming=True)
    return sorted(f"{each.entity.path}:{each.entity.name}" for each in walk.reached)


async def test_a_changed_file_alone_is_linked_again_where_others_see_no_difference(
    indexed: Bench,
) -> None:
    write(indexed.root, "cart.py", "def add():\n    return 1\n")
    write(indexed.root, "main.py", "from cart import add\n\ndef run():\n    add()\n")
    assert (await indexed.index()).full
    assert await called(indexed, "add") == ["main.py:run"]
    write(indexed.root, "main.py", "from cart import add\n\ndef other():\n    add()\n")
    summary = await indexed.index()
    assert (summary.full, summary.linked) == (False, 1)
    assert await called(indexed, "add") == ["main.py:other"]


async def test_those_who_use_a_changed_file_are_linked_again(indexed: Bench) -> None:
    write(indexed.root, "cart.py", "def take():\n    return 1\n")
    write(indexed.root, "main.py", "from cart import add\n\ndef run():\n    add()\n")
    write(indexed.root, "far.py", "def far():\n    pass\n")
    await indexed.index()
    write(indexed.root, "cart.py", "def add():\n    return 1\n")
    assert (await indexed.index()).linked == 2
    assert await called(indexed, "add") == ["main.py:run"]


def forget_facts(directory: Path) -> None:
    (kept,) = directory.rglob("facts.db")
    with closing(sqlite3.connect(kept)) as cache, cache:
        cache.execute("DELETE FROM facts")


async def test_those_who_say_no_name_that_changed_are_not_linked_again(indexed: Bench) -> None:
    write(indexed.root, "cart.py", "def take():\n    return 1\n")
    write(indexed.root, "main.py", "from cart import take\n\ndef run():\n    take()\n")
    write(indexed.root, "far.py", "from cart import add\n\ndef far():\n    add()\n")
    await indexed.index()
    write(indexed.root, "cart.py", "def take():\n    return 1\n\ndef add():\n    pass\n")
    assert (await indexed.index()).linked == 2  # cart.py and far.py
    assert await called(indexed, "add") == ["far.py:far"]
    assert await called(indexed, "take") == ["main.py:run"]


async def test_without_the_facts_of_before_all_who_use_a_changed_file_are_linked_again(
    indexed: Bench, tmp_path: Path
) -> None:
    write(indexed.root, "cart.py", "def take():\n    return 1\n")
    write(indexed.root, "main.py", "from cart import take\n\ndef run():\n    take()\n")
    await indexed.index()
    forget_facts(tmp_path)
    write(indexed.root, "cart.py", "def take():\n    return 1\n\ndef add():\n    pass\n")
    assert (await indexed.index()).linked == 2
    assert await called(indexed, "take") == ["main.py:run"]


async def test_a_file_that_comes_or_goes_changes_those_who_looked_for_it(indexed: Bench) -> None:
    write(indexed.root, "main.py", "from cart import add\n\ndef run():\n    add()\n")
    await indexed.index()
    write(indexed.root, "cart.py", "def add():\n    return 1\n")
    await indexed.index()
    assert await called(indexed, "add") == ["main.py:run"]
    (indexed.root / "cart.py").unlink()
    assert (await indexed.index()).gone == 1
    assert await (await indexed.graph()).find("add") == []


async def test_nothing_is_read_where_nothing_has_changed(indexed: Bench) -> None:
    write(indexed.root, "main.py", "x = 1\n")
    os.utime(indexed.root / "main.py", (1_000_000, 1_000_000))
    await indexed.index()
    summary = await indexed.index()
    assert (summary.full, summary.parsed, summary.linked) == (False, 0, 0)


async def test_a_commit_is_known_though_no_file_has_changed(indexed: Bench) -> None:
    git(indexed.root, "init", "-q", "-b", "main")
    write(indexed.root, "main.py", "x = 1\n")
    await indexed.index()
    git(indexed.root, "add", "-A")
    git(indexed.root, "commit", "-q", "-m", "first")
    await indexed.index()
    view = (await indexed.graph()).repo
    assert (len(view.commit), view.branch) == (40, "main")
