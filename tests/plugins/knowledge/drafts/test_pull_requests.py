"""Drafts as pull requests, through a whole portal and a GitHub with a real repository behind it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from auth import Account
from plugins.knowledge.drafts import drafts
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.plugins.knowledge.drafts.garden import (
    CHANGE,
    NO_QUESTION,
    OLD,
    PAGE,
    WATER,
    Garden,
    Ground,
)
from tests.plugins.skills_repo.waiting import until

PATH = "artifacts/patterns/water-rights.md"
BASE = "http://localhost"


@pytest.fixture(autouse=True)
def asks_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer of a source is told twice."""
    monkeypatch.setattr(drafts, "FRESH", timedelta(seconds=-1))


def branch(garden: Garden) -> str:
    (found,) = [each for each in garden.writes.branches() if each != "main"]
    return found


async def test_a_draft_becomes_a_page_by_review_and_merge(begun: Ground) -> None:
    async with begun.opened() as garden:
        shown = await garden.done("preview_draft", WATER)
        assert garden.writes.branches() == ["main"]
        assert (shown["draft"]["path"], shown["draft"]["status"]) == (PATH, "proposed")
        assert "+publish: true" in shown["diff"]
        made = (await garden.done("create_draft", WATER | {"agent": "Claude Code"}))["draft"]
        assert (made["status"], made["url"]) == ("open", "https://github.test/garden/kb/pull/1")
        name = branch(garden)
        assert name.startswith("drafts/water-rights-")
        text = garden.file(name, PATH)
        assert text.startswith("---\ntitle: Water rights\ntype: pattern\ndate: ")
        assert text.endswith("publish: true\n---\n\nWho may use the well.\n")
        told = garden.history.git("log", "-1", "--format=%an|%ae|%B", name)
        assert told == (
            "ana|member@members.invalid|Add Water rights\n\n"
            "Co-authored-by: Claude Code <claude-code@agents.invalid>\n"
        ).strip("\n")

        garden.writes.review(1, "bo", "CHANGES_REQUESTED", "Say when.", PATH, 8)
        (waits,) = (await garden.done("list_drafts", {}))["drafts"]
        assert (waits["status"], waits["id"]) == ("changes_requested", made["id"])
        assert [(each["by"], each["text"], each.get("line")) for each in waits["remarks"]] == [
            ("bo", "", None),
            ("bo", "Say when.", 8),
        ]
        later = WATER | {"body": "Who may use the well, and when.\n", "draft": made["id"]}
        again = (await garden.done("create_draft", later))["draft"]
        assert (again["version"], again["url"]) == (2, made["url"])
        assert "and when" in garden.file(name, PATH)
        assert garden.history.git("rev-list", "--count", f"main..{name}") == "2"

        before = garden.history.resolve("main") or ""
        after = garden.writes.merge(1)
        await garden.push(before, after)

        async def found() -> bool:
            answer = await garden.done("search_knowledge", {"query": "who may use the well"})
            return [each["id"] for each in answer["results"]] == ["water-rights"]

        await until(found)
        (ended,) = (await garden.done("list_drafts", {}))["drafts"]
        assert ended["status"] == "merged"
        assert ended["permalink"].endswith(f"/{after}/{PATH}")


async def test_a_page_is_changed_where_it_stands_and_keeps_its_fields(begun: Ground) -> None:
    async with begun.opened() as garden:
        made = await garden.done("create_draft", CHANGE)
        name = branch(garden)
        assert garden.history.git("diff", "--name-status", f"main..{name}") == f"M\t{OLD}"
        assert garden.file(name, OLD) == (
            "---\ntitle: Coordination\ntype: pattern\npublish: true\ntags: [work]\n---\n\n"
            "# How\n\nTalk, and write it down.\n"
        )
        assert (
            "-Talk.\n+Talk, and write it down."
            in (await garden.done("preview_draft", CHANGE | {"slug": None}))["diff"]
            or made["draft"]["version"] == 1
        )
        assert garden.writes.pulls[1]["title"] == "Change: Coordination"


async def test_the_same_call_made_again_opens_nothing_twice(begun: Ground) -> None:
    async with begun.opened() as garden:
        fields = WATER | {"frontmatter": "tags: [water]"}
        made = [(await garden.done("create_draft", fields))["draft"] for _ in range(3)]
        assert [each["id"] for each in made] == [made[0]["id"]] * 3
        assert [each["version"] for each in made] == [1, 1, 1]
        assert (len(garden.writes.pulls), len(garden.writes.branches())) == (1, 2)
        assert garden.history.git("rev-list", "--count", f"main..{branch(garden)}") == "1"


async def test_several_calls_at_once_open_nothing_twice(begun: Ground) -> None:
    async with begun.opened() as garden:
        calls = [garden.call("create_draft", WATER) for _ in range(5)]
        answers = await asyncio.gather(*calls)
        assert any(not each.is_error for each in answers)
        assert (len(garden.writes.pulls), len(garden.writes.branches())) == (1, 2)
        assert len((await garden.done("list_drafts", {}))["drafts"]) == 1


@pytest.mark.parametrize("slug", ["coordination", "Coordination", "COORDINATION"])
async def test_no_page_is_written_over(begun: Ground, slug: str) -> None:
    async with begun.opened() as garden:
        error = await garden.fails("create_draft", WATER | {"slug": slug})
        assert error["code"] == "taken"
        assert garden.writes.branches() == ["main"]
        assert garden.file("main", OLD) == PAGE.decode()


async def test_a_file_that_the_portal_does_not_serve_is_not_written_over_either(
    begun: Ground,
) -> None:
    begun.history.commit({"artifacts/patterns/Water-Rights.md": b"hidden\n"})
    async with begun.opened() as garden:
        error = await garden.fails("create_draft", WATER)
        assert error["code"] == "bad_slug"
        assert garden.writes.branches() == ["main"]


async def test_a_page_that_somebody_has_changed_meanwhile_is_not_written_over(
    begun: Ground,
) -> None:
    async with begun.opened() as garden:
        shown = await garden.done("preview_draft", CHANGE)
        theirs = PAGE.replace(b"Talk.", b"Listen first.")
        begun.history.commit({OLD: theirs})
        for base in ({"base": shown["base"]}, {}):
            error = await garden.fails("create_draft", CHANGE | base)
            assert error["code"] == "changed_meanwhile"
        assert garden.writes.branches() == ["main"]
        (kept,) = (await garden.done("list_drafts", {"mine": True}))["drafts"]
        assert kept["status"] == "proposed"
        again = await garden.done("preview_draft", CHANGE | {"draft": kept["id"]})
        assert "-Listen first." in again["diff"]
        assert any("Somebody has changed this page" in each for each in again["notices"])
        mine = CHANGE | {"base": again["base"], "draft": kept["id"]}
        assert (await garden.done("create_draft", mine))["draft"]["status"] == "open"


async def test_a_branch_that_a_reviewer_has_pushed_to_is_built_upon_or_told(
    begun: Ground,
) -> None:
    async with begun.opened() as garden:
        made = (await garden.done("create_draft", WATER))["draft"]
        name = branch(garden)
        begun.history.git("checkout", "-q", name)
        begun.history.commit({"artifacts/patterns/other.md": b"beside\n"})
        begun.history.git("checkout", "-q", "main")
        next_one = WATER | {"body": "Two.\n", "draft": made["id"]}
        await garden.done("create_draft", next_one)
        assert garden.file(name, "artifacts/patterns/other.md") == "beside\n"
        assert garden.file(name, PATH).endswith("Two.\n")
        begun.history.git("checkout", "-q", name)
        begun.history.commit({PATH: b"theirs\n"})
        begun.history.git("checkout", "-q", "main")
        third = WATER | {"body": "Three.\n", "draft": made["id"]}
        error = await garden.fails("create_draft", third)
        assert error["code"] == "changed_meanwhile"
        assert garden.file(name, PATH) == "theirs\n"
        shown = await garden.done("preview_draft", third)
        assert "-theirs" in shown["diff"]
        await garden.done("create_draft", third | {"base": shown["base"]})
        assert garden.file(name, PATH).endswith("Three.\n")


async def test_what_is_wrong_is_told_by_field_and_line_and_the_draft_is_kept(
    begun: Ground,
) -> None:
    fields = "tags: [water]\ndate: some day\nvalidUntil: 1999-01-01\nvalidFrom: 2020-01-01\n"
    bad = WATER | {"frontmatter": fields + "releese: one", "body": "See [[Nowhere]].\n"}
    async with begun.opened() as garden:
        shown = await garden.done("preview_draft", bad)
        assert [(each["line"], each.get("field")) for each in shown["problems"]] == [
            (6, "date"),
            (7, "validUntil"),
        ]
        text = shown["text"].split("\n")
        assert (text[5], text[6]) == ("date: some day", "validUntil: 1999-01-01")
        assert any("did you mean release?" in each for each in shown["notices"])
        assert any("leads nowhere: [[Nowhere]]" in each for each in shown["notices"])
        error = await garden.fails("create_draft", bad)
        assert error["code"] == "draft_problems"
        assert f"{PATH}:6: date:" in error["message"]
        assert garden.writes.branches() == ["main"]
        assert (await garden.done("list_drafts", {}))["drafts"][0]["status"] == "proposed"


async def test_links_that_lead_to_pages_are_resolved(begun: Ground) -> None:
    async with begun.opened() as garden:
        body = "See [[Coordination|how]] and [the file](coordination.md).\n"
        shown = await garden.done("preview_draft", WATER | {"body": body})
        address = f"https://github.com/garden/kb/blob/{garden.history.resolve('main')}/{OLD}"
        assert shown["preview"] == f"See [how](<{address}>) and [the file](<{address}>)."
        assert {each["document"] for each in shown["links"]} == {"pattern/coordination"}


async def test_a_secret_goes_nowhere(begun: Ground) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    async with begun.opened() as garden:
        for tool in ("preview_draft", "create_draft"):
            result = await garden.call(tool, WATER | {"body": f"The key is {secret}.\n"})
            assert secret not in result.text
        for each in garden.writes.branches():
            assert secret not in garden.history.git("grep", "-c", "", each)
        kept = await garden.call("list_drafts", {})
        assert secret not in kept.text


async def test_withdrawn_it_is_closed_and_its_branch_is_gone(begun: Ground) -> None:
    async with begun.opened() as garden:
        made = (await garden.done("create_draft", WATER))["draft"]
        gone = (await garden.done("withdraw_draft", {"draft": made["id"]}))["draft"]
        assert gone["status"] == "withdrawn"
        assert garden.writes.branches() == ["main"]
        assert garden.writes.pulls[1]["state"] == "closed"
        assert (await garden.fails("withdraw_draft", {"draft": made["id"]}))["code"] == (
            "draft_ended"
        )
        error = await garden.fails("create_draft", WATER | {"draft": made["id"]})
        assert error["code"] == "draft_ended"
        anew = (await garden.done("create_draft", WATER))["draft"]
        assert anew["id"] != made["id"]
        assert len(garden.writes.pulls) == 2


async def test_what_is_merged_or_closed_is_neither_changed_nor_withdrawn(begun: Ground) -> None:
    async with begun.opened() as garden:
        made = (await garden.done("create_draft", WATER))["draft"]
        garden.writes.merge(1)
        later = WATER | {"body": "Too late.\n", "draft": made["id"]}
        ended = (await garden.done("create_draft", later))["draft"]
        assert ended["status"] == "merged"
        assert "Too late" not in garden.file("main", PATH)
        other = WATER | {"title": "Wells", "slug": "wells"}
        second = (await garden.done("create_draft", other))["draft"]
        garden.writes.close(2)
        (shown,) = [
            each
            for each in (await garden.done("list_drafts", {}))["drafts"]
            if each["id"] == second["id"]
        ]
        assert shown["status"] == "closed"


async def test_a_missing_permission_is_told_and_the_draft_takes_another_yes(
    begun: Ground,
) -> None:
    begun.writes.withheld = {"pull_requests"}
    async with begun.opened() as garden:
        result = await garden.call("create_draft", WATER)
        assert result.is_error
        assert "Pull requests: read and write" in result.text
        (kept,) = (await garden.done("list_drafts", {}))["drafts"]
        assert kept["status"] == "proposed"
        assert "Permissions & events" in kept["problem"]
        begun.writes.withheld = set()
        made = (await garden.done("create_draft", WATER))["draft"]
        assert made["status"] == "open"
        assert (len(garden.writes.pulls), len(garden.writes.branches())) == (1, 2)


async def test_others_see_what_is_proposed_and_touch_nothing_of_it(begun: Ground) -> None:
    async with begun.opened() as garden:
        await garden.portal.sign_in("bo")
        secretly = await garden.done("preview_draft", WATER)
        id = secretly["draft"]["id"]
        assert (await garden.done("list_drafts", {}, "bo"))["drafts"] == []
        assert (await garden.fails("get_draft", {"draft": id}, "bo"))["code"] == "not_found"
        await garden.done("create_draft", WATER)
        (seen,) = (await garden.done("list_drafts", {}, "bo"))["drafts"]
        assert (seen["id"], seen["by"], seen["mine"]) == (id, "ana", False)
        whole = await garden.done("get_draft", {"draft": id}, "bo")
        assert "arguments" not in whole
        assert "Who may use the well" in whole["text"]
        for tool, fields in (
            ("withdraw_draft", {"draft": id}),
            ("create_draft", WATER | {"draft": id}),
            ("preview_draft", WATER | {"draft": id}),
        ):
            assert (await garden.fails(tool, fields, "bo"))["code"] == "not_found"
        assert (await garden.done("list_drafts", {"mine": True}, "bo"))["drafts"] == []
        assert garden.writes.pulls[1]["state"] == "open"


async def test_a_draft_is_shown_to_whom_its_page_will_be(begun: Ground) -> None:
    items: dict[str, Any] = {**NO_QUESTION["items"], "knowledge": "public"}
    tiers = {"access": {}, "items": items}
    items["knowledge/create_draft"] = {"tier": "public", "approve": "nobody"}
    items["knowledge/document:pattern/wells"] = "members"
    async with begun.opened(tiers) as garden:
        await garden.portal.sign_in("bo")
        names = {"Water rights": "", "Rules": "tier: members", "Wells": ""}
        for title, fields in names.items():
            page = WATER | {"title": title, "frontmatter": fields}
            assert (await garden.done("create_draft", page))["draft"]["status"] == "open"

        async def titles(who: str) -> set[str]:
            found = (await garden.done("list_drafts", {}, who))["drafts"]
            return {each["title"] for each in found}

        assert await titles("ana") == set(names)
        assert await titles("members") == set(names)
        assert await titles("bo") == {"Water rights"}


async def test_an_author_is_named_with_what_their_github_account_gives_and_no_more(
    begun: Ground,
) -> None:
    async with begun.opened() as garden:
        account = Account("github:583231", "github", "octocat", "octo@private.example")
        await garden.portal.sign_in("octo", account)
        await garden.done("create_draft", WATER, "octo")
        told = garden.history.git("log", "-1", "--format=%an|%ae", branch(garden))
        assert told == "octocat|583231+octocat@users.noreply.github.com"
        assert "private.example" not in garden.writes.pulls[1]["body"]


async def test_nothing_leaves_the_portal_before_its_person_says_yes(begun: Ground) -> None:
    signed_in: dict[str, Any] = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with begun.opened(signed_in) as garden:
        error = await garden.fails("create_draft", WATER)
        assert error["code"] == "approval_needed"
        assert garden.writes.branches() == ["main"]
        assert (await garden.done("list_drafts", {}))["drafts"] == []


async def test_a_person_proposes_on_the_page_that_shows_it(begun: Ground) -> None:
    signed_in: dict[str, Any] = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with begun.opened(signed_in) as garden:
        browser = Browser(garden.portal.app, BASE)
        await browser.sign_in()
        await browser.get("/knowledge/drafts")
        typed = {**WATER, "frontmatter": "tags: [water]", "body": "Who may use it.\r\n<b>x</b>"}
        sent = await browser.submit(f"{BASE}/knowledge/drafts", typed)
        page = await browser.follow(sent)
        assert "for your eyes alone" in page.text
        assert "&lt;b&gt;x&lt;/b&gt;" in page.text
        assert garden.writes.branches() == ["main"]
        propose = next(
            number
            for number, form in enumerate(forms(page.text))
            if '"create_draft"' in form.fields.get("request", "")
        )
        fields = forms(page.text)[propose].fields
        token = {"authorization": "Bearer x"}
        assert (await browser.post("/knowledge/draft", fields, token)).status_code != 303
        done = await browser.follow(await browser.post("/knowledge/draft", fields))
        assert "It waits for its reviewers now" in done.text
        assert "waits for review" in done.text
        assert "tags: [water]" in garden.file(branch(garden), PATH)
        assert len(garden.writes.pulls) == 1
        withdraw = next(
            form
            for form in forms(done.text)
            if '"withdraw_draft"' in form.fields.get("request", "")
        )
        gone = await browser.follow(await browser.post("/knowledge/draft", withdraw.fields))
        assert "It is withdrawn" in gone.text
        assert garden.writes.branches() == ["main"]
        await browser.aclose()
