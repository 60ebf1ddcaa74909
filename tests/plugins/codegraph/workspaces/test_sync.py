"""What becomes of a diff that is sent: taken in, refused, renewed, forgotten."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tests.plugins.codegraph.workspaces.desk import SHOP, Desk

TREE = {"a.py": b"def run(x):\n    return x\n", "b.py": b"import a\n\ndef go():\n    a.run(1)\n"}
CHANGED = {**TREE, "a.py": b"def run(x):\n    return x\n\n\ndef new():\n    return run(2)\n"}


async def callers(ada: Desk, person: str | None, name: str = "run") -> list[str]:
    answer = await ada.world.call("get_callers", person, name=name)
    return [each["name"] for each in answer["data"]]


async def test_a_function_just_written_is_in_the_answers_which_say_so(ada: Desk) -> None:
    await ada.commit(TREE)
    told = await ada.sync(CHANGED)
    assert (told["files"], told["branch"], told["unchanged"]) == (["a.py"], "main", False)
    assert told["updated"] == 2  # the new function, and the file
    answer = await ada.world.call("get_callers", "ada", name="run")
    assert {each["name"] for each in answer["data"]} == {"go", "new"}
    workspace = answer["meta"]["workspace"]
    assert (workspace["branch"], workspace["files"]) == ("main", 1)
    assert await callers(ada, None) == ["go"]


async def test_a_file_that_could_not_be_read_makes_answers_incomplete(ada: Desk) -> None:
    await ada.commit({**TREE, "bad.py": b"def run():\0\0\0\n" * 50})
    answer = await ada.world.call("get_callers", name="run")
    complete = answer["meta"]["completeness"]
    assert (complete["state"], complete["unreadFiles"]) == ("incomplete", 1)
    assert complete["unread"][0].startswith("bad.py: ")


async def test_a_new_file_is_taken_in_and_a_deleted_one_is_gone(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.sync(
        {"a.py": TREE["a.py"], "c.py": b"from a import run\n\ndef other():\n    run(1)\n"}
    )
    assert await callers(ada, "ada") == ["other"]
    assert (await ada.world.refused("get_file", "ada", file="b.py")).code == "unknown_name"


async def test_the_same_diff_again_only_renews_its_time(ada: Desk) -> None:
    await ada.commit(TREE)
    first = await ada.sync(CHANGED)
    ada.world.time += timedelta(hours=11)
    again = await ada.sync(CHANGED)
    assert again["unchanged"]
    assert again["expiresAt"] > first["expiresAt"]
    ada.world.time += timedelta(hours=11)
    assert set(await callers(ada, "ada")) == {"go", "new"}


async def test_after_twelve_hours_a_workspace_is_forgotten_and_swept(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.sync(CHANGED)
    ada.world.time += timedelta(hours=12, seconds=1)
    assert await callers(ada, "ada") == ["go"]
    assert await ada.world.parts.workspaces.sweep() == 1
    assert await ada.world.parts.workspaces.leftovers(SHOP.org, SHOP.repo) == 0
    told = await ada.sync(CHANGED)
    assert told["unchanged"] is False
    assert set(await callers(ada, "ada")) == {"go", "new"}


async def test_an_empty_diff_ends_the_workspace(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.sync(CHANGED)
    told = await ada.send("")
    assert (told["files"], told["updated"]) == ([], 0)
    assert await callers(ada, "ada") == ["go"]


async def test_the_branch_that_was_sent_last_is_the_one_that_answers(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.sync(CHANGED, branch="feature/auth")
    assert set(await callers(ada, "ada")) == {"go", "new"}
    ada.world.time += timedelta(minutes=1)
    await ada.sync(TREE, branch="main")
    assert await callers(ada, "ada") == ["go"]
    ada.world.time += timedelta(minutes=1)
    told = await ada.sync(CHANGED, branch="feature/auth")
    assert told["unchanged"]
    assert set(await callers(ada, "ada")) == {"go", "new"}


async def test_people_have_workspaces_of_their_own(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.sync(CHANGED)
    await ada.sync({**TREE, "b.py": b"def nothing():\n    pass\n"}, person="bob")
    assert (set(await callers(ada, "ada")), await callers(ada, "bob")) == ({"go", "new"}, [])


async def test_nobody_may_send_without_signing_in(ada: Desk) -> None:
    await ada.commit(TREE)
    failed = await ada.world.refused("sync_local_diff", diff="", branch="main", baseSha=ada.head)
    assert failed.code == "authentication_required"


async def test_lockfiles_and_build_output_are_left_out_and_do_not_count(ada: Desk) -> None:
    await ada.commit(TREE)
    lock = b"\n".join(b'"pkg%d": "%040d"' % (n, n) for n in range(3_000))
    told = await ada.sync({**CHANGED, "web/package-lock.json": lock, "web/dist/app.js": b"x = 1\n"})
    assert told["files"] == ["a.py"]
    assert told["stripped"] == ["web/dist/app.js", "web/package-lock.json"]


async def test_a_diff_that_is_too_large_is_refused_with_its_largest_files(ada: Desk) -> None:
    await ada.commit(TREE)
    ada.worktree.put({**TREE, "big.py": b"x = 1\n" * 10_000})
    arguments = {"diff": ada.worktree.diff(), "branch": "main", "baseSha": ada.head}
    failed = await ada.world.refused("sync_local_diff", "ada", **arguments)
    assert failed.code == "diff_too_large"
    assert "51,200 is the most" in failed.message
    assert "big.py" in failed.message


async def test_where_the_index_is_another_commit_changes_go_where_they_fit(ada: Desk) -> None:
    await ada.commit(TREE)
    moved = {**TREE, "a.py": b"import os\n\n\n" + TREE["a.py"]}
    await ada.index(moved)
    told = await ada.sync(CHANGED)
    assert told["conflicts"] == []
    answer = await ada.world.call("get_function", "ada", name="new")
    assert answer["entity"]["line"] == 8


async def test_what_does_not_fit_is_named_and_the_index_holds(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.index({**TREE, "a.py": b"def run(y, z):\n    return y + z\n"})
    told = await ada.sync({**CHANGED, "b.py": TREE["b.py"] + b"\n\ndef last():\n    go()\n"})
    assert [each["file"] for each in told["conflicts"]] == ["a.py"]
    assert "line 1" in told["conflicts"][0]["reason"]
    assert told["files"] == ["b.py"]
    answer = await ada.world.call("get_function", "ada", name="run")
    assert "y + z" in answer["source"]["text"]


async def test_work_that_is_in_the_index_already_changes_nothing(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.index(CHANGED)
    told = await ada.sync(CHANGED)
    assert (told["files"], told["conflicts"]) == ([], [])


async def test_when_the_repository_is_indexed_anew_the_same_diff_is_laid_over_that(
    ada: Desk,
) -> None:
    await ada.commit(TREE)
    await ada.sync(CHANGED)
    more = {**TREE, "c.py": b"from a import run\n\ndef third():\n    run(3)\n"}
    await ada.index(more)
    stale = await ada.world.call("get_callers", "ada", name="run")
    assert stale["meta"]["workspace"]["stale"] is True
    told = await ada.sync(CHANGED)
    assert told["unchanged"] is False
    assert set(await callers(ada, "ada")) == {"go", "new", "third"}


async def test_two_syncs_at_once_take_turns(ada: Desk) -> None:
    await ada.commit(TREE)
    ada.worktree.put(CHANGED)
    diff = ada.worktree.diff()
    done = await asyncio.gather(*(ada.send(diff) for _ in range(3)), return_exceptions=True)
    codes = {getattr(each, "code", "done") for each in done}
    assert "done" in codes <= {"done", "busy"}
    assert set(await callers(ada, "ada")) == {"go", "new"}


async def test_a_path_out_of_the_repository_is_refused_by_name(ada: Desk) -> None:
    await ada.commit(TREE)
    diff = (
        "diff --git a/../../etc/x.py b/../../etc/x.py\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/../../etc/x.py\n@@ -0,0 +1 @@\n+x = 1\n"
    )
    told = await ada.send(diff)
    assert told["conflicts"][0]["reason"] == "its path leads out of the repository"
    assert told["files"] == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"branch": " "}, "branch must be"),
        ({"baseSha": "main"}, "baseSha must be"),
        ({"diff": "hello"}, "Line 1 is no part of a git diff"),
    ],
)
async def test_what_cannot_be_taken_says_what_to_send(
    ada: Desk, wrong: dict[str, str], said: str
) -> None:
    await ada.commit(TREE)
    arguments = {"diff": "", "branch": "main", "baseSha": ada.head} | wrong
    assert said in (await ada.world.refused("sync_local_diff", "ada", **arguments)).message


async def test_everything_of_a_repository_can_be_purged(ada: Desk) -> None:
    await ada.commit(TREE)
    await ada.world.parts.embedder.embed(SHOP.org, SHOP.repo)
    await ada.sync(CHANGED)
    parts = ada.world.parts
    assert await parts.embedder.leftovers(SHOP.org, SHOP.repo) > 0
    await parts.workspaces.purge(SHOP.org, SHOP.repo)
    await parts.embedder.purge(SHOP.org, SHOP.repo)
    assert await parts.workspaces.leftovers(SHOP.org, SHOP.repo) == 0
    assert await parts.embedder.leftovers(SHOP.org, SHOP.repo) == 0
