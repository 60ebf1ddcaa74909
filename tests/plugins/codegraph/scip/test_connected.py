"""What indexers know is added to a graph that is served, or it is said why not."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.services.database.service import OwnedDatabase
from gateway.testing import open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.model import EdgeKind, Strategy
from plugins.codegraph.scip.merge import ScipMerge
from plugins.codegraph.scip.notes import notes
from plugins.codegraph.scip.process import ordered
from tests.plugins.codegraph.indexer.bench import OWNER, Bench, bench
from tests.plugins.codegraph.scip.test_runner import PACKAGES, node
from tests.servers import forked

real = pytest.mark.skipif(not PACKAGES.is_dir(), reason="needs the indexers: npm ci in tests/node")
SCRIPTS = {
    "scip-typescript": "scip-typescript/dist/src/main.js",
    "scip-python": "scip-python/index.js",
}
# The linker does not follow the conditional type, and the compiler does.
TREE = {
    "package.json": '{"name": "shop"}',
    "src/cart.ts": "export class Cart { total(): number { return 1; } }\n"
    "export class Shelf { total(): number { return 2; } }\n",
    "src/pick.ts": "import { Cart, Shelf } from './cart';\n"
    "type Made<K> = K extends 'cart' ? Cart : Shelf;\n"
    "export declare function pick<K extends string>(kind: K): Made<K>;\n",
    "src/main.ts": "import { pick } from './pick';\n"
    "export function main(): number { return pick('cart').total(); }\n",
}
TRUTH = {("main", "pick"), ("main", "Cart.total")}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of programs, the only one on the path but the system's."""
    found = tmp_path / "programs"
    found.mkdir()
    monkeypatch.setenv("PATH", f"{found}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return found


def install(programs: Path, name: str, *start: str) -> None:
    program = programs / name
    program.write_text(f'#!/bin/sh\nexec {shlex.join(start)} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def install_real(programs: Path, name: str) -> None:
    install(programs, name, *node(str(PACKAGES / SCRIPTS[name])))


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.fixture
async def shop(
    database: OwnedDatabase, tmp_path: Path, workers: WorkerPool
) -> AsyncIterator[Bench]:
    """The shop, indexed."""
    root = tmp_path / "tree"
    write(root, TREE)
    async with bench(database, tmp_path / "indexing", root, workers) as found:
        await found.index()
        yield found
        await found.indexer.close()


async def calls(shop: Bench, name: str = "main") -> dict[tuple[str, str], Strategy]:
    graph = await shop.graph()
    [entity] = [
        each
        for each in await graph.find(name)
        if each.name == name and "main.ts" in each.path and each.kind.value != "file"
    ]
    walk = await graph.walk([entity.key], EdgeKind.CALLS, incoming=False)
    return {(entity.qualified, each.entity.qualified): each.strategy for each in walk.reached}


async def checked(shop: Bench) -> dict[str, Any]:
    record = await ScipMerge(shop.store).check(OWNER.org, OWNER.repo)
    assert record is not None
    return record


async def told(shop: Bench) -> str:
    view = (await shop.graph()).repo
    return " ".join(notes(view.scip, view.layer))


@real
async def test_recall_rises_and_precision_does_not_fall(shop: Bench, programs: Path) -> None:
    install_real(programs, "scip-typescript")
    before = set(await calls(shop))
    [outcome] = (await checked(shop))["indexers"]
    after = await calls(shop)
    assert outcome["problem"] == ""
    assert before < set(after) == TRUTH
    assert before <= TRUTH
    assert after["main", "Cart.total"] is Strategy.SCIP
    assert (await (await shop.graph()).stats()).strategies[Strategy.SCIP] == outcome["edges"] == 1
    assert "scip-typescript added 1 edges; it agrees on 100.0%" in await told(shop)


@real
@pytest.mark.one_database
async def test_run_again_it_gives_the_same(shop: Bench, programs: Path) -> None:
    install_real(programs, "scip-typescript")
    first, once = await checked(shop), await calls(shop)
    assert (await checked(shop), await calls(shop)) == (first, once)


@real
@pytest.mark.parametrize("changed", ["src/main.ts", "src/cart.ts"])
@pytest.mark.one_database
async def test_a_change_at_either_end_takes_the_edge_away(
    shop: Bench, programs: Path, changed: str
) -> None:
    install_real(programs, "scip-typescript")
    await checked(shop)
    file = shop.root / changed
    file.write_text("// changed\n" + file.read_text())
    assert not (await shop.index()).full
    assert set(await calls(shop)) == {("main", "pick")}
    assert (await (await shop.graph()).stats()).strategies.get(Strategy.SCIP, 0) == 0


@real
@pytest.mark.one_database
async def test_what_was_found_of_files_that_changed_meanwhile_is_dropped(
    shop: Bench, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plugins.codegraph.scip import merge

    install_real(programs, "scip-typescript")

    async def and_changed(order: Any) -> Any:
        result = await ordered(order)
        write(shop.root, {"src/more.ts": "export function more() {}\n"})
        await shop.index()
        return result

    monkeypatch.setattr(merge, "ordered", and_changed)
    await checked(shop)
    assert set(await calls(shop)) == {("main", "pick")}
    assert "was dropped, since files were changed meanwhile" in await told(shop)


@pytest.mark.one_database
async def test_a_missing_indexer_is_a_note_and_changes_nothing(shop: Bench, programs: Path) -> None:
    before = await shop.seen()
    await checked(shop)
    assert await shop.seen() == before
    assert "scip-typescript is not installed" in await told(shop)
    assert (await shop.graph()).repo.problem == ""


@pytest.mark.one_database
async def test_an_indexer_that_dies_is_told_and_changes_nothing(
    shop: Bench, programs: Path
) -> None:
    install(programs, "scip-typescript", sys.executable, "-c", "raise SystemExit('no memory')")
    before = await shop.seen()
    await checked(shop)
    assert await shop.seen() == before
    assert "scip-typescript ended with status 1: no memory" in await told(shop)


@pytest.mark.one_database
async def test_an_indexer_that_hangs_is_stopped_and_told(shop: Bench, programs: Path) -> None:
    install(programs, "scip-typescript", sys.executable, "-c", "import time; time.sleep(600)")
    await ScipMerge(shop.store, limit=0.5).check(OWNER.org, OWNER.repo)
    assert "took longer than 0.5 s and was stopped" in await told(shop)


@real
def test_the_command_runs_it_when_asked(tmp_path: Path, programs: Path) -> None:
    install_real(programs, "scip-python")
    root, config = tmp_path / "garden", tmp_path / "config"
    write(root, {"pond.py": "def fill():\n    return 1\n\n\ndef main():\n    return fill()\n"})
    write(config, {"portal.yaml": yaml.safe_dump({"services": {"embedding": "none"}})})

    def porch(*words: str) -> str:
        where = ("--config", str(config), "--data", str(tmp_path / "data"))
        done = forked.run(("codegraph", *words, *where), tmp_path, dict(os.environ), timeout=100)
        done.check_returncode()
        return done.stdout

    assert "scip" not in porch("add", str(root))
    [again] = json.loads(porch("index", "--scip", "--json"))
    assert again["scip"] == [
        "scip-python added 0 edges; it agrees on 100.0% of 1 calls that both resolve."
    ]
    assert "scip-python added 0 edges" in porch("list")


@real
@pytest.mark.parametrize("setting", ["auto", "off"])
async def test_a_portal_runs_it_after_a_full_index(
    tmp_path: Path, programs: Path, setting: str
) -> None:
    install_real(programs, "scip-typescript")
    root = tmp_path / "shop"
    write(root, TREE)
    declared = [{"path": str(root), "tier": "open"}]
    config = {"plugins": {"codegraph": {"repositories": declared, "scip": setting}}}
    async with open_test_portal(plugin, config=config, wait_ready=False) as portal:
        async with asyncio.timeout(100):
            while True:
                answer = await portal.call("get_project_stats", {})
                said = [] if answer.is_error else answer.structured["scip"]
                if said or (setting == "off" and not answer.is_error):
                    break
                await asyncio.sleep(0.1)
        found = await portal.call("get_callers", {"name": "Cart.total"})
    assert bool(said) is (setting == "auto")
    assert ("main" in [each["name"] for each in found.structured["data"]]) is (setting == "auto")
