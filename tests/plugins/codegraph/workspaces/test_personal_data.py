"""What is kept of people who send their uncommitted work, and that it goes with them."""

from __future__ import annotations

import json
from datetime import timedelta

from sqlalchemy import text

from plugins.codegraph.workspaces.personal_data import WorkspacePersonalData
from tests.plugins.codegraph.workspaces.desk import Desk

TREE = {"a.py": b"def run(x):\n    return x\n"}
CHANGED = {"a.py": b"def run(x):\n    return x + 1\n", "deep/b.py": b"def new():\n    return 2\n"}
NAMED = (
    "SELECT person FROM codegraph_workspaces WHERE person = 'ada'"
    " UNION ALL SELECT person FROM codegraph_layers WHERE person = 'ada'"
    " UNION ALL SELECT created_by FROM codegraph_repositories WHERE created_by = 'ada'"
    " UNION ALL SELECT removed_by FROM codegraph_deletions WHERE removed_by = 'ada'"
)


def personal(desk: Desk) -> WorkspacePersonalData:
    return WorkspacePersonalData(desk.world.host.database, desk.world.parts.workspaces)


async def exported(desk: Desk, person: str) -> dict[str, bytes]:
    return {each.path: each.data async for each in personal(desk).export(person)}


async def test_people_get_the_files_that_they_sent_as_they_sent_them(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.sync(CHANGED)
    await ada.sync({**CHANGED, "a.py": b"x = 1\n"}, person="ben", branch="other")
    found = await exported(ada, "ada")
    assert sorted(found) == ["workspaces/1.json", "workspaces/1/a.py", "workspaces/1/deep/b.py"]
    assert found["workspaces/1/a.py"] == CHANGED["a.py"]
    assert json.loads(found["workspaces/1.json"])["repository"] == "portal-shop"
    assert (await exported(ada, "ben"))["workspaces/1/a.py"] == b"x = 1\n"
    assert await exported(ada, "carol") == {}


async def test_who_is_erased_is_named_nowhere_and_others_stay(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.sync(CHANGED)
    ada.world.time += timedelta(hours=13)  # what has expired, and was not swept yet
    await ada.sync(CHANGED, branch="other")
    await ada.sync(CHANGED, person="ben")
    database = ada.world.host.database
    async with database.begin() as connection:
        await connection.execute(text("UPDATE codegraph_repositories SET created_by = 'ada'"))
    assert set(await personal(ada).people()) == {"ada", "ben"}
    for who in ("ada", "ada", "nobody"):
        await personal(ada).erase(who)
    assert set(await personal(ada).people()) == {"ben"}
    async with database.read() as connection:
        assert (await connection.execute(text(NAMED))).all() == []
    assert (await ada.graph("ada")) is not None
    answer = await ada.world.call("get_function", "ben", name="new")
    assert answer["meta"]["workspace"]["files"] == 2
    assert (await ada.world.refused("get_function", "ada", name="new")).code == "unknown_name"
    assert "workspace" not in (await ada.world.call("get_function", "ada", name="run"))["meta"]
