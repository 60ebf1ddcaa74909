"""The playbook while its database, its files or its rows are in trouble: clear words, no harm."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text

from gateway.contract import Database
from gateway.testing import RequestRefused, TestPortal
from plugins.workflows.store import tables
from tests.faults.conftest import Place, eventually
from tests.faults.playbook import Person, configure, tokens
from tests.faults.playbook import stage as work
from tests.faults.test_outages import _fill, _small_disk
from tests.plugins.workflows.conftest import NOON
from tests.plugins.workflows.playing import ANYONE, done, opened, refused, stage
from tests.servers.cable import cabled

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600), pytest.mark.one_database]

AWAY = "The playbook cannot be read or written at the moment."
DAMAGED = "What is stored of this is damaged"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where the database is."""
    at: str = "sqlite" if request.param == "sqlite" else request.getfixturevalue("postgres")
    return at


@pytest.fixture
async def portal(address: str, tmp_path: Path) -> AsyncIterator[TestPortal]:
    """A portal on each database, whose files are in ``tmp_path / "objects"``."""
    services = {"database": address, "objects": str(tmp_path / "objects")}
    config = {"services": services}
    async with opened("ana", "ben", config=config, data_dir=tmp_path / "data") as portal:
        yield portal


def database(portal: TestPortal) -> Database:
    return portal.running.services.for_plugin("workflows").database


async def execute(portal: TestPortal, statement: str, **values: Any) -> int:
    """Do something to rows by hand, as somebody with a shell might; how many it was."""
    async with database(portal).begin() as connection:
        return (await connection.execute(text(statement), values)).rowcount


async def add(portal: TestPortal, who: str = "ana", **more: Any) -> dict[str, Any]:
    given = {"name": "Prune trees", "stages": [stage("Look", "Cut")], **more}
    return await done(portal, who, "add_workflow", **given)


async def listed(portal: TestPortal, who: str = ANYONE) -> list[str]:
    resources = await portal.mcp(who).list("resources")
    return [each["uri"].rpartition("/")[2] for each in resources]


# The database is away.


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
async def test_connections_that_are_ended_in_mid_service_lose_nothing_that_was_acknowledged(
    portal: TestPortal, address: str
) -> None:
    import asyncpg

    acknowledged: dict[str, str] = {}
    told: list[str] = []

    async def write(number: int) -> None:
        for turn in range(6):
            name = f"Tree {number}.{turn}"
            given = {"name": name, "stages": [stage("Look", "Cut")]}
            try:
                answer = await portal.call("add_workflow", given, tier="ana")
            except RequestRefused as refusal:
                told.append(refusal.message)
                continue
            if answer.is_error:
                told.append(answer.text)
            else:
                acknowledged[answer.structured["id"]] = name

    other = await asyncpg.connect(address)
    ended = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    writers = asyncio.gather(*(write(number) for number in range(8)))
    for _ in range(6):
        await other.execute(ended)
        await asyncio.wait([writers], timeout=0.1)
    await writers
    await other.close()
    assert all(each.startswith((AWAY, "The portal cannot look up who")) for each in told), told
    there = set(await listed(portal, "ana"))
    assert acknowledged.keys() <= there
    for id in there:
        plan = await done(portal, "ana", "select_workflow", workflow_id=id)
        assert [each["name"] for each in plan["executionPlan"]["items"]] == ["Look", "Cut"]
    assert (await add(portal))["version"] == 1


def test_a_database_that_is_away_is_said_to_be_and_all_works_once_it_is_back(
    place: Place, postgres_url: str
) -> None:
    from tests.journeys.balancer import empty_database

    configure(place, "database: env:ADDRESS")
    plain = re.sub(r"\+\w+://", "://", postgres_url)
    with empty_database(plain) as postgres, cabled(postgres) as cable:
        portal = place.serve(ADDRESS=cable.url, **tokens("ana")).ready()
        ana = Person("ana", portal)
        made = ana.call("add_workflow", name="Prune", stages=[work("Look", "Cut")])
        step = {"workflow_id": made["id"], "step_index": 1}
        cable.cut()
        assert AWAY in ana.refused("get_next_step", **step)
        assert AWAY in ana.refused("add_workflow", name="Lost", stages=[work("Look")])
        assert AWAY in ana.refused("get_available_workflows", task="prune")
        cable.join()
        eventually(lambda: ana.attempt("get_next_step", **step)[0], "it is read again")
        assert ana.call("get_next_step", **step)["content"] == "Do Cut."
        assert ana.found("prune") == [made["id"]]
        assert portal.stop() == 0
        assert "Traceback" not in portal.printed, portal.printed


def test_a_database_that_another_process_has_locked_is_read_and_then_written_again(
    place: Place,
) -> None:
    """Longer than a writer waits, which is 10 s."""
    from concurrent.futures import ThreadPoolExecutor

    configure(place)
    portal = place.serve(**tokens("ana")).ready()
    ana = Person("ana", portal)
    made = ana.call("add_workflow", name="Prune", stages=[work("Look", "Cut")])
    with closing(sqlite3.connect(place.data / "porch.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(ana.attempt, "add_workflow", name="One", stages=[work("Look")])
            second = pool.submit(ana.attempt, "add_workflow", name="Two", stages=[work("Look")])
            step = {"workflow_id": made["id"], "step_index": 1}
            assert ana.call("get_next_step", **step)["content"] == "Do Cut."
            assert ana.found("prune") == [made["id"]]
            while not (first.done() or second.done()):
                assert not ana.found("one two")
            holder.execute("ROLLBACK")
            answers = sorted((first.result(), second.result()), key=lambda each: each[0])
    (late, why), (written, added) = answers
    assert (late, written) == (False, True)
    assert AWAY in why["said"]
    assert len(ana.listed("resources/list", "resources")) == 2
    assert ana.call("get_workflow", workflow_id=added["id"])["version"] == 1
    assert portal.stop() == 0


def test_a_full_disk_refuses_what_is_written_and_serves_what_is_there(place: Place) -> None:
    configure(place)
    with _small_disk(place.data):
        portal = place.serve(**tokens("ana")).ready()
        ana = Person("ana", portal)
        made = ana.call("add_workflow", name="Prune", stages=[work("Look", "Cut")])
        _fill(place.data / "everything-else")
        big = [{"name": "Look", "content": "x" * 90_000} for _ in range(20)]
        refusal = ana.refused("add_workflow", name="Big", stages=[{"name": "W", "prompts": big}])
        assert AWAY in refusal
        files = [{"name": "a.txt", "text": "x" * 200_000}]
        assert AWAY in ana.refused("add_skill", name="Big", content="x", attachments=files)
        assert ana.found("prune big") == [made["id"]]
        assert ana.call("get_next_step", workflow_id=made["id"], step_index=1)["content"]
        (place.data / "everything-else").unlink()
        ana.call("add_workflow", name="Big", stages=[{"name": "W", "prompts": big}])
        ana.call("add_skill", name="Big", content="x", attachments=files)
        assert len(ana.listed("resources/list", "resources")) == 2
        assert portal.stop() == 0
        assert "Traceback" not in portal.printed, portal.printed


# The object store.


async def test_files_that_cannot_be_stored_fail_the_card_and_nothing_else(
    portal: TestPortal, tmp_path: Path
) -> None:
    (tmp_path / "objects").write_text("in the way")
    card = {"name": "Knots", "content": "Tie."}
    files = [{"name": "knot.txt", "text": "over, under"}]
    said = await refused(portal, "ana", "add_skill", **card, attachments=files)
    assert said.startswith(AWAY)
    found = await done(portal, "ana", "get_skills", search="knots")
    assert found["skills"] == []
    made = await done(portal, "ana", "add_skill", **card)
    edit = {"skill_id": made["id"], "version": 1}
    said = await refused(portal, "ana", "edit_skill", **edit, attachments=files, content="No.")
    assert said.startswith(AWAY)
    read = await done(portal, "ana", "get_selected_skill", skill_id=made["id"])
    assert (read["version"], read["content"], read["attachments"]) == (1, "Tie.", [])
    (tmp_path / "objects").unlink()
    await done(portal, "ana", "edit_skill", **edit, attachments=files)


async def test_a_file_whose_bytes_are_gone_is_said_to_be_lost_and_can_be_attached_again(
    portal: TestPortal, tmp_path: Path
) -> None:
    files = [{"name": "a.txt", "text": "one"}, {"name": "b.txt", "text": "two"}]
    made = await done(portal, "ana", "add_skill", name="Knots", content="Tie.", attachments=files)
    flow = await add(portal, stages=[stage("Look", skills=[made["id"]])])
    shutil.rmtree(tmp_path / "objects")
    asked = {"skill_id": made["id"], "name": "a.txt"}
    assert "The file a.txt is lost" in await refused(portal, "ana", "get_attachment", **asked)
    walk = {"workflow_id": flow["id"], "step_index": 1}
    assert (await done(portal, "ana", "get_next_step", **walk))["content"] == "Tie."
    edit = {"skill_id": made["id"], "version": 1}
    kept = [{"name": "a.txt"}, files[1]]
    said = await refused(portal, "ana", "edit_skill", **edit, attachments=kept)
    assert "The file a.txt is lost" in said
    await done(portal, "ana", "edit_skill", **edit, attachments=files)
    assert (await done(portal, "ana", "get_attachment", **asked))["content"] == "b25l"


# Rows that somebody damaged by hand.


async def test_words_that_this_version_does_not_know_spoil_nothing_and_health_tells(
    portal: TestPortal,
) -> None:
    odd = await add(portal, name="Odd one", visibility="PUBLIC", complexity="S")
    fine = await add(portal, name="Fine one", visibility="PUBLIC")
    await execute(
        portal, "UPDATE playbook_workflows SET complexity = 'XXXL' WHERE id = :id", id=odd["id"]
    )
    assert set(await listed(portal)) == {odd["id"], fine["id"]}
    found = await done(portal, ANYONE, "get_available_workflows", task="odd fine one")
    told = {each["id"]: each["complexity"] for each in found["workflows"]}
    assert told == {odd["id"]: None, fine["id"]: None}
    await execute(
        portal, "UPDATE playbook_workflows SET visibility = 'WORLD' WHERE id = :id", id=odd["id"]
    )
    assert await listed(portal) == [fine["id"]]
    assert len(await listed(portal, "ana")) == 2
    health = (await portal.health())["plugins"]["workflows"]
    assert health["state"] == "degraded"
    assert "1 of playbook_workflows.complexity" in health["detail"]
    edit = {"workflow_id": odd["id"], "version": 1, "visibility": "PUBLIC", "complexity": "S"}
    await done(portal, "ana", "edit_workflow", **edit)
    assert (await portal.health())["plugins"]["workflows"]["state"] == "ok"


DAMAGES = (
    "UPDATE playbook_workflows SET extra = '{oh' WHERE id = :id",
    "UPDATE playbook_workflows SET extra = '[]' WHERE id = :id",
    "UPDATE playbook_stages SET extra = '{oh' WHERE workflow = :id",
    "UPDATE playbook_stages SET item_order = '{oh' WHERE workflow = :id",
    "UPDATE playbook_stages SET item_order = '5' WHERE workflow = :id",
    "UPDATE playbook_stage_mini_prompts SET extra = 'null' WHERE stage IN "
    "(SELECT id FROM playbook_stages WHERE workflow = :id)",
)


async def test_a_damaged_row_is_named_as_damaged_and_all_else_is_served(
    portal: TestPortal,
) -> None:
    fine = await add(portal, name="Fine one", visibility="PUBLIC")
    there = {fine["id"]}
    for statement in DAMAGES:
        odd = await add(portal, name="Odd one", visibility="PUBLIC")
        there.add(odd["id"])
        assert await execute(portal, statement, id=odd["id"]) > 0
        for tool in ("select_workflow", "get_workflow"):
            said = await refused(portal, "ben", tool, workflow_id=odd["id"])
            assert DAMAGED in said, statement
        with pytest.raises(RequestRefused, match=DAMAGED):
            await portal.read(f"playbook://workflows/{odd['id']}", tier="ben")
        with pytest.raises(RequestRefused, match=DAMAGED):
            await portal.prompt(f"workflow-{odd['key']}", tier="ana")
    for tool in ("select_workflow", "get_workflow"):
        await done(portal, "ben", tool, workflow_id=fine["id"])
    found = await done(portal, "ben", "get_available_workflows", task="odd fine one", limit=20)
    assert {each["id"] for each in found["workflows"]} == there
    assert set(await listed(portal, "ben")) == there
    await done(portal, "ana", "edit_workflow", workflow_id=fine["id"], version=1, name="Finer")
    await add(portal, "ben")


async def test_a_damaged_plan_costs_the_runs_that_follow_it_and_no_others(
    portal: TestPortal,
) -> None:
    made = await add(portal)
    one = {"workflow_id": made["id"]}
    first = await done(portal, "ana", "select_workflow", **one, start_run=True)
    await done(portal, "ana", "edit_workflow", **one, version=1, name="Newer")
    run = first["run"]["runId"]
    broken = "UPDATE playbook_plans SET plan = :plan WHERE version = 1"
    for plan in ("{oh", "{}", '{"items": [5]}'):
        assert await execute(portal, broken, plan=plan) == 1
        assert DAMAGED in await refused(portal, "ana", "get_next_step", run_id=run)
    again = await done(portal, "ana", "select_workflow", **one, start_run=True)
    assert run in [each["runId"] for each in again["openRuns"]]
    step = await done(portal, "ana", "get_next_step", run_id=again["run"]["runId"])
    assert step["content"] == "Do Look."
    assert len((await done(portal, "ana", "list_runs"))["runs"]) == 2
    assert (await done(portal, "ana", "finish_run", run_id=run))["outcome"] == "done"


# Long lists.


async def fill(portal: TestPortal, number: int) -> None:
    """Put published workflows into the database, in bulk."""
    row = {"owner": "portal", "visibility": "PUBLIC", "version": 1, "extra": {}}
    row |= {"created": NOON, "updated": NOON, "include_multi_agent_chat": False}
    ids = (f"w{each:07d}" for each in range(number))
    rows = [{**row, "id": id, "key": id, "name": f"Kept {id}"} for id in ids]
    async with database(portal).begin() as connection:
        for start in range(0, number, 1_000):
            await connection.execute(insert(tables.workflows), rows[start : start + 1_000])


async def test_ten_thousand_workflows_are_listed_page_by_page(portal: TestPortal) -> None:
    await fill(portal, 10_000)
    found = await listed(portal)
    assert len(found) == 10_000
    assert found == [f"w{each:07d}" for each in range(10_000)]


async def test_what_stays_is_listed_once_while_other_items_come_and_go(
    portal: TestPortal,
) -> None:
    await fill(portal, 1_200)
    stop = asyncio.Event()
    come: list[str] = []

    async def come_and_go(who: str) -> None:
        while not stop.is_set():
            name = f"Kept w{len(come) * 37 % 1200:07d} too"
            made = await add(portal, who, name=name, visibility="PUBLIC")
            gone = {"workflow_id": made["id"], "version": 1, "is_active": False}
            await done(portal, who, "edit_workflow", **gone)
            come.append(made["id"])

    others = asyncio.gather(come_and_go("ana"), come_and_go("ben"))
    while len(come) < 20:
        found = await listed(portal)
        stayed = [id for id in found if id not in come and id.startswith("w0")]
        assert stayed == [f"w{each:07d}" for each in range(1_200)]
        assert len(found) == len(set(found))
    stop.set()
    await others
