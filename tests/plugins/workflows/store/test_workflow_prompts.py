"""Which workflows are somebody's prompts, and by which names."""

from __future__ import annotations

import itertools
import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert

from gateway.services.database.service import OwnedDatabase
from plugins.workflows.ids import new_id
from plugins.workflows.model import PORTAL, TargetType
from plugins.workflows.store.tables import library, workflows
from plugins.workflows.store.workflow_prompts import PromptWorkflows
from tests.examples import examples
from tests.plugins.workflows.conftest import NOON

ALICE, BOB = "person:alice", "person:bob"
NAME = re.compile(r"workflow-[A-Za-z0-9_-]{1,36}")
KEYS = (
    "a",
    "b",
    "a-b",
    "A",
    "a_b",
    "a.b",
    "x" * 36,
    "x" * 37,
    "x" * 100,
    "y" * 27 + "-" + "z" * 60,
)

Row = tuple[str, str, bool, bool, bool]
"""A workflow: its owner, its key, whether it is published, deleted, and in Alice's library."""
ROWS = st.lists(
    st.tuples(
        st.sampled_from((ALICE, BOB, PORTAL)),
        st.sampled_from(KEYS),
        st.booleans(),
        st.booleans(),
        st.booleans(),
    ),
    max_size=20,
    unique_by=lambda row: row[:2],
)


async def write(database: OwnedDatabase, rows: list[Row]) -> dict[str, Row]:
    """Fill the tables; the rows by their ids."""
    written = {new_id(): row for row in rows}
    async with database.begin() as connection:
        await connection.execute(delete(library))
        await connection.execute(delete(workflows))
        for id, (owner, key, public, gone, kept) in written.items():
            new: dict[str, Any] = {
                "id": id,
                "key": f"{key}~{id}" if gone else key,
                "owner": owner,
                "name": key,
                "visibility": "PUBLIC" if public else "PRIVATE",
                "version": 1,
                "created": NOON,
                "updated": NOON,
                "deleted": NOON if gone else None,
                "include_multi_agent_chat": False,
                "extra": {},
            }
            await connection.execute(insert(workflows).values(new))
            if kept:
                row = {"person": ALICE, "type": TargetType.WORKFLOW, "target": id, "added": NOON}
                await connection.execute(insert(library).values(row))
    return written


async def all_pages(
    shortlist: PromptWorkflows, viewer: str | None, limit: int
) -> list[tuple[str, str]]:
    """The names and ids of all pages."""
    found: list[tuple[str, str]] = []
    while True:
        last = found[-1][0] if found else None
        page = await shortlist.page(viewer, last, limit)
        found += [(each.prompt, each.id) for each in page]
        if len(page) < limit:
            return found


@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=ROWS, limit=st.integers(1, 5))
async def test_each_is_listed_once_under_a_name_that_finds_it(
    database: OwnedDatabase, rows: list[Row], limit: int
) -> None:
    written = await write(database, rows)
    shortlist = PromptWorkflows(database)
    for viewer in (ALICE, BOB, None):
        wanted = {
            id
            for id, (owner, _, public, gone, kept) in written.items()
            if not gone
            and (public or owner == viewer)
            and (owner in (viewer, PORTAL) or (kept and viewer == ALICE))
        }
        found = await all_pages(shortlist, viewer, limit)
        assert {id for _, id in found} == wanted
        assert len({name for name, _ in found}) == len(found) == len(wanted)
        for name, id in found:
            assert NAME.fullmatch(name), name
            again = await shortlist.find(name, viewer)
            assert again is not None
            assert again.id == id


async def test_the_name_of_one_s_own_does_not_depend_on_anything_else(
    database: OwnedDatabase,
) -> None:
    mine: Row = (ALICE, "a", False, False, False)
    others = [(PORTAL, "a", True, False, False), (BOB, "a", True, False, True)]
    for some in itertools.chain.from_iterable(itertools.combinations(others, n) for n in range(3)):
        written = await write(database, [mine, *some])
        found = await PromptWorkflows(database).find("workflow-a", ALICE)
        assert found is not None
        assert written[found.id] == mine


async def test_the_pages_go_on_where_the_last_one_was_deleted_meanwhile(
    database: OwnedDatabase,
) -> None:
    shortlist = PromptWorkflows(database)
    await write(database, [(ALICE, key, False, False, False) for key in ("a", "c", "d")])
    page = await shortlist.page(ALICE, "workflow-b", 9)
    assert [each.key for each in page] == ["c", "d"]
