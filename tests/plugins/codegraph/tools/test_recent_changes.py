"""What just changed: told as it was and as it is, with whom it concerns, and no more than is so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from plugins.codegraph.changes import log, states
from plugins.codegraph.store.change_tables import updates
from plugins.codegraph.store.owner import Owner
from tests.plugins.codegraph.justification.shops import SHOP, justified
from tests.plugins.codegraph.portal import World, world
from tests.plugins.codegraph.store.graphs import STAMP

OWNER = Owner("portal", "shop")
PLACE = "shop/orders/store.py"


@pytest.fixture
async def shop(tmp_path: Path, codegraph_file: Path) -> AsyncIterator[World]:
    async with world(tmp_path, None, codegraph_file) as made:
        await made.index("shop", SHOP)
        await justified(made, OWNER)
        yield made


async def change(shop: World, **files: Any) -> None:
    """Index the shop with some files changed; None is a file that went."""
    after = {**shop.trees[OWNER], **files["files"]}
    kept = {path: text for path, text in after.items() if text is not None}
    await shop.index("shop", kept)


def of(answer: Mapping[str, Any], kind: str) -> list[str]:
    return [
        (each.get("after") or each["before"])["name"]
        for each in answer["data"]
        if each["change"] == kind
    ]


async def test_a_first_index_is_one_line_and_not_everything_as_added(shop: World) -> None:
    answer = await shop.call("get_recent_changes")
    assert answer["data"] == []
    (first,) = answer["meta"]["indexes"]
    assert first["told"].startswith(f"The first index: {len(SHOP)} files, ")
    assert answer["meta"]["completeness"] == {"state": "complete"}


async def test_an_update_is_told_with_both_signatures_places_and_the_lines_that_differ(
    shop: World,
) -> None:
    text = SHOP["shop/textutils.py"].replace(b"def slugify(text):", b"def slugify(text, by):")
    await change(shop, files={"shop/textutils.py": b"import re\n\n\n" + text})
    answer = await shop.call("get_recent_changes")
    assert of(answer, "updated") == ["shop/textutils.py", "slugify"]
    told = answer["data"][1]
    assert (told["before"]["signature"], told["after"]["signature"]) == ("(text)", "(text, by)")
    assert (told["before"]["line"], told["after"]["line"]) == (1, 4)
    assert told["diff"].splitlines()[:3] == [
        "@@ -1,3 +4,3 @@",
        "-def slugify(text):",
        "+def slugify(text, by):",
    ]
    assert answer["meta"]["indexes"][0]["told"] == "1 file: 2 updated."


async def test_what_is_added_and_what_is_deleted_is_told_with_its_lines(shop: World) -> None:
    await change(shop, files={"new.py": b"def fresh():\n    return 'new'\n", "manage.py": None})
    answer = await shop.call("get_recent_changes")
    assert of(answer, "added") == ["new.py", "fresh"]
    assert of(answer, "deleted") == ["manage.py", "main"]
    fresh = next(each for each in answer["data"] if each["change"] == "added" and each["diff"])
    assert "+def fresh():" in fresh["diff"]
    gone = [each for each in answer["data"] if each["change"] == "deleted"]
    assert all("key" not in each and "after" not in each for each in gone)


async def test_a_rename_is_a_rename_with_the_name_before_and_after(shop: World) -> None:
    text = SHOP["shop/textutils.py"].replace(b"slugify", b"as_address")
    await change(shop, files={"shop/textutils.py": text})
    (told,) = (await shop.call("get_recent_changes"))["data"]
    assert told["change"] == "renamed"
    assert (told["before"]["name"], told["after"]["name"]) == ("slugify", "as_address")
    found = await shop.call("get_function", name=told["key"])
    assert found["entity"]["name"] == "as_address"


async def test_the_callers_of_what_went_are_told_and_which_of_them_changed_meaning(
    shop: World,
) -> None:
    callers = {each["name"] for each in (await shop.call("get_callers", name="connect"))["data"]}
    text = SHOP["shop/database.py"].replace(b"def connect", b"async def begin_something_else")
    await change(shop, files={"shop/database.py": text})
    waiting = (await shop.call("get_recent_changes"))["data"]
    assert {each["cascade"]["state"] for each in waiting if "cascade" in each} == {"waiting"}
    await justified(shop, OWNER)
    answer = await shop.call("get_recent_changes")
    told = next(each for each in answer["data"] if each["change"] == "deleted")
    assert told["before"]["name"] == "connect"
    assert (told["cascade"]["state"], told["cascade"]["meaning"]) == ("done", "gone")
    assert callers <= set(told["cascade"]["named"])
    assert answer["meta"]["indexes"][0]["cascade"] == "done"


async def test_a_change_that_means_the_same_asks_nothing_of_its_callers(shop: World) -> None:
    text = SHOP["shop/textutils.py"].replace(b'" ", "-"', b'" ", "_"')
    await change(shop, files={"shop/textutils.py": text})
    await justified(shop, OWNER)
    (told,) = (await shop.call("get_recent_changes"))["data"]
    assert told["cascade"]["meaning"] == "same"
    assert "changed" not in told["cascade"]


async def test_another_purpose_is_another_meaning_for_which_callers_are_looked_at(
    shop: World,
) -> None:
    text = SHOP["shop/textutils.py"].replace(
        b"Make a text fit for an address.", b"Charge the customer's credit card."
    )
    await change(shop, files={"shop/textutils.py": text})
    await justified(shop, OWNER)
    (told,) = (await shop.call("get_recent_changes"))["data"]
    assert told["cascade"]["meaning"] == "changed"
    assert told["cascade"]["callers"] == len(told["cascade"]["named"]) > 0


async def test_only_what_changed_after_a_time_or_a_commit_is_told(shop: World) -> None:
    first, second = "a" * 40, "b" * 40
    await commit(shop, first, {"one.py": b"def one():\n    return 'first'\n"})
    await commit(shop, second, {"two.py": b"def two():\n    return 'second'\n"})
    assert of(await shop.call("get_recent_changes", since=first[:9]), "added") == ["two.py", "two"]
    assert of(await shop.call("get_recent_changes", since=second[:9]), "added") == []
    assert (await shop.call("get_recent_changes", limit=1))["meta"]["indexes"][0]["commit"] == (
        second[:12]
    )
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert (await shop.call("get_recent_changes", since=soon))["data"] == []
    early = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    answer = await shop.call("get_recent_changes", since=early)
    assert of(answer, "added") == ["two.py", "two", "one.py", "one"]
    assert answer["meta"]["completeness"] == {"state": "complete"}
    unknown = await shop.refused("get_recent_changes", since="abcdef1")
    assert unknown.code == "unknown_commit"
    assert (await shop.refused("get_recent_changes", since="yesterday")).code == "bad_since"


async def commit(shop: World, commit: str, files: Mapping[str, bytes]) -> None:
    """Index the shop as of a commit with other files."""
    await change(shop, files=files)
    newest = (await shop.call("get_recent_changes", limit=1))["meta"]["indexes"][0]["index"]
    values = {"commit": commit, "former_commit": STAMP.commit}
    async with shop.host.database.begin() as connection:
        await connection.execute(update(updates).where(updates.c.id == newest).values(**values))


async def test_only_one_folder_and_one_kind_are_told_where_that_is_asked(shop: World) -> None:
    await change(shop, files={"one.py": b"def one():\n    pass\n", "shop/two.py": b"x = 1\n"})
    answer = await shop.call("get_recent_changes", path="shop")
    assert {each["after"]["file"] for each in answer["data"]} == {"shop/two.py"}
    assert (await shop.call("get_recent_changes", path="sho"))["data"] == []
    assert (await shop.call("get_recent_changes", change=["deleted"]))["data"] == []
    assert len((await shop.call("get_recent_changes", path="/src/town/one.py"))["data"]) == 2


async def test_more_changes_than_are_kept_are_counted_and_the_answer_says_so(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MAX_CHANGES", 5)
    many = b"".join(b"def f%d():\n    return %d\n\n\n" % (n, n) for n in range(20))
    await change(shop, files={"many.py": many})
    answer = await shop.call("get_recent_changes")
    assert len(answer["data"]) == 5
    assert answer["meta"]["indexes"][0]["leftOut"] == 16
    complete = answer["meta"]["completeness"]
    assert complete["state"] == "incomplete"
    assert "changed 21, of which 5 are kept" in complete["why"]


async def test_so_many_files_that_they_cannot_be_compared_are_told_as_files(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "MAX_FILES", 3)
    files = {f"many/f{n}.py": b"def f%d():\n    pass\n" % n for n in range(5)}
    moved = {"manage.py": None, "tool.py": SHOP["manage.py"]}
    await change(shop, files={**files, **moved})
    answer = await shop.call("get_recent_changes")
    assert of(answer, "added") == sorted(files)
    assert of(answer, "renamed") == ["tool.py"]
    assert "only files are told" in answer["meta"]["completeness"]["why"]


async def test_what_is_older_than_it_is_kept_is_gone_and_the_answer_says_so(
    shop: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MAX_UPDATES", 2)
    for n in range(4):
        await change(shop, files={"one.py": b"def one():\n    return %d\n" % n})
    answer = await shop.call("get_recent_changes", since="2020-01-01T00:00:00Z")
    assert len(answer["meta"]["indexes"]) == 2
    assert answer["meta"]["completeness"]["state"] == "incomplete"
    assert "nothing is known of the time before" in answer["meta"]["completeness"]["why"]
    shop.store.layers(OWNER)
    left = await shop.store.leftovers("portal", "shop")
    assert left["codegraph_updates"] == 2
    assert left["codegraph_changes"] == 2


async def test_a_repository_that_is_removed_takes_its_changes_with_it(shop: World) -> None:
    await change(shop, files={"one.py": b"def one():\n    pass\n"})
    await shop.store.purge("portal", "shop")
    assert await shop.store.leftovers("portal", "shop") == {}


async def test_an_index_that_changes_no_file_is_not_told(shop: World) -> None:
    await shop.index("shop", shop.trees[OWNER])
    assert len((await shop.call("get_recent_changes"))["meta"]["indexes"]) == 1


async def test_ones_own_uncommitted_work_is_no_change_of_the_repository(shop: World) -> None:
    diff = (
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n"
        "@@ -0,0 +1,2 @@\n+def mine():\n+    pass\n"
    )
    await shop.call("sync_local_diff", "ada", diff=diff, branch="main", baseSha="c0ffee0")
    answer = await shop.call("get_recent_changes", "ada")
    assert answer["data"] == []
    assert "get_workspace shows that" in answer["meta"]["note"]
    assert "workspace" not in answer["meta"]
