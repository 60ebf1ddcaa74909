"""What a process of its own says of a whole graph is what this one would say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from gateway.services.database.service import OwnedDatabase
from gateway.toolkit.child_process import spawn
from plugins.codegraph.apart import whole_graph
from plugins.codegraph.apart.whole_graph import AnalysisFailed
from plugins.codegraph.health.analysis import health_report
from plugins.codegraph.health.reports import HealthReports
from plugins.codegraph.indexer.worker_pool import WorkerPool
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.offer import now
from plugins.codegraph.store.graph import RepositoryView
from tests.plugins.codegraph.indexer.bench import OWNER, Bench, bench, write
from tests.plugins.codegraph.justification.shops import SHOP

SPAWN = f"{whole_graph.__name__}.spawn"


@pytest.fixture
async def shop(
    database: OwnedDatabase, tmp_path: Path, workers: WorkerPool
) -> AsyncIterator[Bench]:
    """The index of a shop."""
    root = tmp_path / "shop"
    root.mkdir()
    for path, text in SHOP.items():
        write(root, path, text)
    async with bench(database, tmp_path / "kept", root, workers) as found:
        await found.index()
        yield found


async def view_of(shop: Bench) -> RepositoryView:
    found = await shop.store.view(OWNER.org, OWNER.repo)
    assert found is not None
    return found


async def test_the_rules_say_the_same_in_a_process_of_their_own(
    shop: Bench, database: OwnedDatabase
) -> None:
    view, justifier = await view_of(shop), Justifier(database, shop.store)
    await justifier.read(OWNER.org, OWNER.repo, lambda done, total, message: None)
    here = await justifier.said(view)
    assert len(here.statements) > 5
    assert await whole_graph.rules(database, view) == (here.outline, here.statements)


async def test_a_report_is_the_same_from_a_process_of_its_own(
    shop: Bench, database: OwnedDatabase
) -> None:
    view = await view_of(shop)
    here = await health_report(database, view, shop.root)
    assert await whole_graph.health(database, view, shop.root) == here


async def test_a_large_repository_is_judged_and_reported_on_apart(
    shop: Bench, database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def noted(*command: str, **more: Any) -> Any:
        asked.append(command[-1])
        return await spawn(*command, **more)

    monkeypatch.setattr(SPAWN, noted)
    justifier = Justifier(database, shop.store)
    reports = HealthReports(database, shop.store, now)
    assert (await justifier.run(OWNER.org, OWNER.repo))["written"] > 5
    assert asked == []
    monkeypatch.setattr(whole_graph, "LARGE", 5)
    assert (await justifier.run(OWNER.org, OWNER.repo))["written"] == 0  # all of it was the same
    assert await reports.make(OWNER.org, OWNER.repo, shop.root) is not None
    assert asked == ["plugins.codegraph.apart.child"] * 2


async def test_a_process_that_dies_says_what_may_be_the_reason(
    shop: Bench, database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def killed(*command: str, **more: Any) -> Any:
        child = await spawn(*command, **more)
        child.kill()
        return child

    monkeypatch.setattr(SPAWN, killed)
    with pytest.raises(AnalysisFailed, match=r"ended with code -9.* too little memory"):
        await whole_graph.rules(database, await view_of(shop))


async def test_what_goes_wrong_in_it_is_said_here_without_the_password(
    shop: Bench, database: OwnedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere:
        url = make_url("postgresql+asyncpg://ada:a-secret@127.0.0.1:1/nothing")

    class Moved:
        engine = Elsewhere()

    moved: Any = Moved()
    with pytest.raises(AnalysisFailed) as failed:
        await whole_graph.rules(moved, await view_of(shop))
    assert "a-secret" not in str(failed.value)
