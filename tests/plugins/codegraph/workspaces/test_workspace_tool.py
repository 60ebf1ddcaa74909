"""A person sees their uncommitted work, and of others' the branch and the time alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace

from gateway.contract.people import Nobody
from tests.plugins.codegraph.workspaces.desk import Desk


class Called(Nobody):
    """People who are called as their ids are, with a capital."""

    async def names(self, ids: Collection[str]) -> Mapping[str, str]:
        return {each: each.title() for each in ids}


SHOP = {"a.py": b"def one():\n    return 1\n", "b.py": b"def two():\n    return 2\n"}


async def test_what_differs_is_shown_line_by_line(ada: Desk) -> None:
    await ada.commit(SHOP)
    await ada.sync(SHOP | {"a.py": b"def one():\n    return 3\n\n\ndef new():\n    pass\n"})
    seen = await ada.world.call("get_workspace", "ada")
    assert seen["branch"] == "main"
    (changed,) = seen["changed"]
    assert (changed["file"], changed["added"], changed["removed"]) == ("a.py", 5, 1)
    assert "-    return 1\n+    return 3" in changed["diff"]
    assert seen["others"] == []


async def test_others_are_named_with_their_branch_and_nothing_of_their_work(ada: Desk) -> None:
    await ada.commit(SHOP)
    await ada.sync(SHOP | {"a.py": b"SECRET_PLAN = 1\n"}, "ada", "plans")
    ada.world.host = replace(ada.world.host, people=Called())
    ada.world.__post_init__()
    seen = await ada.world.call("get_workspace", "bob")
    assert seen["branch"] is None
    assert [(each["name"], each["branch"]) for each in seen["others"]] == [("Ada", "plans")]
    assert "SECRET_PLAN" not in json.dumps(seen)
    assert "a.py" not in json.dumps(seen)


async def test_who_has_sent_nothing_sees_nothing_and_nobody_hears_of_nobody(ada: Desk) -> None:
    await ada.commit(SHOP)
    assert (await ada.world.call("get_workspace", "bob"))["changed"] == []
    await ada.sync(SHOP | {"c.py": b"x = 1\n"})
    ada.world.host = replace(ada.world.host, people=Called())
    ada.world.__post_init__()
    stranger = await ada.world.call("get_workspace", None)
    assert (stranger["changed"], stranger["others"]) == ([], [])


async def test_a_file_that_is_new_or_gone_is_all_lines(ada: Desk) -> None:
    await ada.commit(SHOP)
    await ada.sync({"a.py": SHOP["a.py"], "c.py": b"x = 1\n"})
    seen = await ada.world.call("get_workspace", "ada")
    told = {each["file"]: (each["added"], each["removed"]) for each in seen["changed"]}
    assert told == {"b.py": (0, 2), "c.py": (1, 0)}
