"""What a draft is prepared from: no more than its person may read when they ask."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugins.knowledge.drafts.garden import CHANGE, OLD, PAGE, Ground
from tests.plugins.skills_repo.waiting import until

PUBLIC: dict[str, Any] = {
    "knowledge": "public",
    "knowledge/create_draft": {"tier": "public", "approve": "nobody"},
}
CLOSED = {"knowledge/document:pattern/coordination": {"tier": "members", "hidden": True}}


@pytest.mark.parametrize(
    ("tool", "fields", "rule"),
    [
        ("preview_draft", b"publish: false", {}),
        ("preview_draft", b"publish: true\ntier: members", {}),
        ("preview_draft", b"publish: true", CLOSED),
        ("create_draft", b"publish: false", {}),
    ],
    ids=["withdrawn", "raised", "closed by a line", "proposed before"],
)
async def test_a_draft_shows_nothing_more_of_a_page_that_was_withdrawn_or_closed(
    begun: Ground, tool: str, fields: bytes, rule: dict[str, Any]
) -> None:
    later = PAGE.replace(b"publish: true", fields).replace(b"work", b"hushed")
    later = later.replace(b"Talk.", b"Rita is paid 9000.")
    async with begun.opened({"items": PUBLIC}) as garden:
        draft = (await garden.done(tool, CHANGE))["draft"]["id"]
        before = begun.history.resolve("main") or ""
        await garden.push(before, begun.history.commit({OLD: later}))
    async with begun.opened({"items": PUBLIC | rule}) as garden:

        async def is_gone() -> bool:
            asked = {"contentType": "pattern", "id": "coordination"}
            return (await garden.call("get_document", asked)).is_error

        await until(is_gone)
        shown = await garden.done("get_draft", {"draft": draft})
        assert (shown["diff"], shown.get("base")) == ("", None)
        assert "Talk, and write it down." in shown["text"]
        assert "tags: [work]" in shown["text"]
        assert "not served to you" in shown["draft"]["note"]
        assert "hushed" not in str(shown)
        for again in ("preview_draft", "create_draft"):
            failed = await garden.fails(again, CHANGE | {"draft": draft, "updates": None})
            assert failed["code"] == "not_found"
            assert "9000" not in str(failed)
        assert "Talk, and write" in (await garden.done("get_draft", {"draft": draft}))["preview"]


async def test_a_name_that_is_not_free_says_what_is_there_to_who_may_read_it(
    begun: Ground,
) -> None:
    folder, new = "artifacts/patterns", {**CHANGE, "updates": None}
    begun.history.commit(
        {
            f"{folder}/salaries.md": PAGE.replace(b"true", b"false"),
            f"{folder}/Pay.md": PAGE.replace(b"true", b"false"),
            f"{folder}/board.md": PAGE.replace(b"true", b"true\ntier: members"),
        }
    )
    async with begun.opened({"items": PUBLIC}) as garden:
        hidden = [
            await garden.fails("preview_draft", new | {"slug": slug})
            for slug in ("salaries", "pay", "board")
        ]
        told = {(each["code"], each["message"], str(each["details"])) for each in hidden}
        assert told == {
            ("bad_slug", "A new page cannot have this name here. Give another slug.", "{}")
        }
        for who, slug in (("ana", "coordination"), ("members", "board")):
            error = await garden.fails("preview_draft", new | {"slug": slug}, who)
            assert (error["code"], error["details"]["document"]) == ("taken", f"pattern/{slug}")
