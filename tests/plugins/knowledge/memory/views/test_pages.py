"""Memory in the browser: what is remembered is read, mended, shared and forgotten by its owner."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from eth_account import Account as Key

from auth import Account
from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.gateway.surfaces.views.painted import EVIL
from tests.plugins.knowledge.views.directions import Reader

BASE = "http://localhost"
MEMORY, ENTRY, HISTORY = "/knowledge/memory", "/knowledge/entry", "/knowledge/entry-history"


@pytest.fixture
async def portal(tmp_path: Path) -> AsyncIterator[TestPortal]:
    (tmp_path / "note.md").write_text("---\ntitle: A note\npublish: true\n---\nWater.\n")
    source = {"directory": str(tmp_path), "tier": "open"}
    config = {
        "services": {"embedding": "none"},
        "plugins": {"knowledge": {"sources": [source]}},
    }
    tiers = {"access": {"members": {"any_of": ["signed_in"]}}}
    async with open_test_portal(plugin, config=config, tiers=tiers) as opened:
        yield opened


class Person(Browser):
    """Somebody at the pages of memory."""

    async def sent(self, path: str, button: str, **typed: Any) -> Any:
        """A form of a page, found by its button, filled in and sent; and where it leads."""
        page = (await self.get(path)).text
        begin = page.rindex("<form", 0, page.index(button))
        (form,) = forms(page[begin : page.index("</form>", begin) + len("</form>")])
        answer = await self.post(form.action.removeprefix(BASE), {**form.fields, **typed})
        return await self.follow(answer) if answer.status_code == 303 else answer

    async def keep(self, content: str, **typed: Any) -> str:
        """Keep something by the form; the path of its page."""
        kept = await self.sent(MEMORY, "Keep it, for you alone", content=content, **typed)
        assert kept.status_code == 200, kept.text
        assert "It is kept." in kept.text
        return f"{ENTRY}?{kept.url.query.decode()}"


@pytest.fixture
async def people(portal: TestPortal) -> AsyncIterator[list[Person]]:
    both = [Person(portal.app, BASE), Person(portal.app, BASE)]
    for each in both:
        await each.sign_in()
    yield both
    for each in both:
        await each.aclose()


async def test_what_is_kept_is_listed_by_layer_and_read(people: list[Person]) -> None:
    noa, _ = people
    path = await noa.keep("The gate code changes in May.", layer="user", **{"tags,": "gate, May"})
    page = (await noa.get(path)).text
    assert "The gate code changes in May." in page
    assert "You alone" in page
    assert "About you" in page
    listed = (await noa.get(f"{MEMORY}?mine=true&layers=user")).text
    assert "The gate code changes in May." in listed
    assert "gate</span>" in listed
    assert "The gate code" not in (await noa.get(f"{MEMORY}?layers=procedural")).text


async def test_a_correction_is_a_new_version_and_the_old_words_can_come_back(
    people: list[Person],
) -> None:
    noa, _ = people
    path = await noa.keep("It changes in May.")
    corrected = await noa.sent(path, "Save it as a new version", content="It changes in June.")
    assert "Its history has what it said before." in corrected.text
    assert "It changes in June." in corrected.text
    history = path.replace(ENTRY, HISTORY)
    assert "It changes in May." in (await noa.get(history)).text
    again = await noa.sent(history, "Say this again")
    assert "It changes in May." in again.text


async def test_a_long_version_is_read_whole_before_it_is_said_again(people: list[Person]) -> None:
    noa, _ = people
    path = await noa.keep("It changes in May. " * 40)
    await noa.sent(path, "Save it as a new version", content="It changes in June.")
    history = path.replace(ENTRY, HISTORY)
    listed = (await noa.get(history)).text
    assert "Say this again" not in listed
    assert "All 760 characters" in listed
    again = await noa.sent(f"{history}&version=1", "Say this again")
    assert again.text.count("It changes in May. It changes in May.") >= 1


async def test_a_form_that_is_older_than_the_entry_changes_nothing(people: list[Person]) -> None:
    noa, _ = people
    path = await noa.keep("It changes in May.")
    page = (await noa.get(path)).text
    fields = next(each.fields for each in forms(page) if "version" in each.fields)
    await noa.sent(path, "Save it as a new version", content="It changes in June.")
    late = await noa.post(ENTRY, {**fields, "content": "It changes in July, at last."})
    assert late.status_code == 400
    assert "It changes in July, at last." in late.text, "what was typed is not lost"
    assert "It changes in June." in (await noa.get(path)).text


async def test_a_form_that_is_refused_comes_back_as_it_was_sent_with_words_for_people(
    people: list[Person],
) -> None:
    noa, _ = people
    path = await noa.keep("It changes in May.")
    typed = {"policy": "shared", "allowed_teams,": "gardn, <b>", "approved_users,": ""}
    page = await noa.sent(path, "Save who may read it", **typed)
    assert page.status_code == 400
    assert "There is no group &#x27;gardn&#x27; that you could share with." in page.text
    assert 'name="allowed_teams," value="gardn, &lt;b&gt;"' in page.text
    assert '<option value="shared" selected="">' in page.text
    assert page.text.count("<details open") == 1
    assert "find_people" not in page.text
    assert "It changes in May." in page.text
    nobody = await noa.sent(path, "Save who may read it", policy="restricted")
    assert "Nobody but you would read it: name the people who may" in nobody.text
    fields = next(each.fields for each in forms(page.text) if "version" in each.fields)
    saved = await noa.follow(await noa.post(ENTRY, {**fields, "policy": "public"}))
    assert "yes" in saved.text, "what came back can be sent again"


async def test_a_new_entry_that_is_too_long_comes_back(people: list[Person]) -> None:
    noa, _ = people
    long = "x" * 300_000
    page = await noa.sent(
        f"{MEMORY}?mine=true", "Keep it, for you alone", content=long, layer="user"
    )
    assert page.status_code == 400
    assert "262,144 is the limit" in page.text
    assert f"\n{long}</textarea>" in page.text
    assert '<option value="user" selected="">' in page.text


async def test_a_conflict_says_what_to_do_and_the_form_that_comes_back_can_be_saved(
    people: list[Person],
) -> None:
    noa, _ = people
    path = await noa.keep("It changes in May.")
    fields = next(
        each.fields for each in forms((await noa.get(path)).text) if "version" in each.fields
    )
    await noa.sent(path, "Save it as a new version", content="It changes in June.")
    late = await noa.post(ENTRY, {**fields, "content": "It changes in July."})
    assert "Save it again if that is to stand." in late.text
    assert "send the update" not in late.text
    assert "It changes in June." in late.text
    again = next(each.fields for each in forms(late.text) if "version" in each.fields)
    saved = await noa.follow(await noa.post(ENTRY, {**again, "content": "It changes in July."}))
    assert "Its history has what it said before." in saved.text
    assert "It changes in July." in (await noa.get(path)).text


async def test_what_is_superseded_says_so_and_leads_to_what_holds(people: list[Person]) -> None:
    noa, _ = people
    old = await noa.keep("The code of the gate is 1111.")
    new = await noa.keep("The code of the gate is 2222.")
    (later,) = re.findall(r"id=([^&]+)", new)
    await noa.sent("/knowledge/review", "Settle it", decision="supersedes")
    page = (await noa.get(old)).text
    assert "What stands in its place" in page
    asked = (await noa.get("/knowledge/recall?query=code+of+the+gate")).text
    for shown in (page, (await noa.get(MEMORY)).text, asked):
        leads = re.search(r'superseded by <a href="([^"]+)"[^>]*>another entry</a>', shown)
        assert leads is not None, shown
        assert leads[1].endswith(f"{ENTRY}?id={later}")
    assert "may not hold" not in (await noa.get(new)).text


async def test_who_keeps_a_contradiction_is_told_and_decides_on_the_entry_s_page(
    people: list[Person],
) -> None:
    noa, _ = people
    old = await noa.keep("The code of the gate is 1111.")
    assert "At odds" not in (await noa.get(old)).text
    kept = await noa.sent(MEMORY, "Keep it, for you alone", content="The code of the gate is 2222.")
    told = "It seems at odds with “The code of the gate is 1111.”: say below how they go together."
    assert told in kept.text
    new = f"{ENTRY}?{kept.url.query.decode()}"
    for page, other in ((new, "At odds with an older entry"), (old, "At odds with a newer")):
        shown = (await noa.get(page)).text
        assert other in shown
        assert "1111" in shown
        assert "2222" in shown
    await noa.sent(new, "Settle it", decision="both_hold")
    for page in (new, old):
        assert "At odds" not in (await noa.get(page)).text


async def test_what_a_person_writes_is_not_said_to_come_from_an_agent(
    people: list[Person],
) -> None:
    noa, _ = people
    page = (await noa.get(await noa.keep("The well is dry."))).text
    assert "agent generated" not in page
    assert "<dt>From" not in page


async def test_pages_of_what_is_somebody_else_s_speak_to_people(
    portal: TestPortal, people: list[Person]
) -> None:
    noa, ben = people
    path = await noa.keep("The shed has a new roof.")
    stores = portal.running.authentication.stores
    *_, id = [each.id async for each in stores.people.everyone()]
    await noa.sent(path, "Save who may read it", policy="restricted", **{"approved_users,": id})
    assert "You and people you name" in (await noa.get(path)).text
    asked = "/knowledge/recall?query=new+roof+of+the+shed"
    for page in (path, f"{MEMORY}?mine=false", asked):
        shown = (await ben.get(page)).text
        assert "The people it names" in shown
        assert "people you name" not in shown
        assert "not to follow" not in shown
    assert shown.count("<mark>roof</mark>") == 1, "a short answer stands once"
    assert "“This conversation”, “Today”" in shown
    assert "working" not in shown


async def test_who_asks_for_a_yes_is_called_by_name(portal: TestPortal) -> None:
    account = Account("oidc:https://id.example.org#rosa", "oidc", "Rosa", None, {})
    rosa = await portal.sign_in("rosa", account)
    said = {"content": "The well is dry.", "policy": "organization"}
    waits = await portal.call("remember", said, tier="rosa")
    assert waits.structured is not None
    reader = Person(portal.app, BASE)
    await reader.sign_in()
    listed = (await reader.get("/approvals")).text
    assert "Asked for by Rosa on" in listed
    assert rosa.id not in listed
    one = (await reader.get(f"/approvals/knowledge/{waits.structured['approval']}")).text
    assert f'Rosa <span class="faint">({rosa.id})</span>' in one
    await reader.aclose()


async def test_pages_say_when_it_happens_and_holds(people: list[Person]) -> None:
    noa, _ = people
    days = {"event_at": "2026-03-01", "valid_until": "2126-03-09"}
    path = await noa.keep("Ana broke her arm.", **days)
    for page in (MEMORY, "/knowledge/recall?query=arm"):
        assert "· event 2026-03-01 · holds until 2126-03-09" in (await noa.get(page)).text
    assert "2026-03-01" in (await noa.get(path)).text


async def test_a_page_says_who_last_verified_an_entry(people: list[Person]) -> None:
    noa, _ = people
    path = await noa.keep("The gate is blue.")
    (id,) = re.findall(r"id=([^&]+)", path)
    assert "Last verified" not in (await noa.get(path)).text
    before = datetime.now(UTC).date()
    await noa.sent(path, "It still holds", id=id)
    days = {before, datetime.now(UTC).date()}  # it may be midnight
    shown = (await noa.get(path)).text
    assert any(f"{day} by you" in shown for day in days)


async def test_sharing_is_changed_and_what_members_would_read_waits(people: list[Person]) -> None:
    noa, ben = people
    path = await noa.keep("The well is dry.")
    shared = await noa.sent(path, "Save who may read it", policy="organization")
    assert "It is not done yet" in shared.text
    assert (await ben.get(path)).status_code == 404


async def test_what_is_forgotten_is_gone(people: list[Person]) -> None:
    noa, _ = people
    path = await noa.keep("The gate code changes in May.")
    gone = await noa.sent(path, '<button class="danger">Forget it')
    assert "It is forgotten" in gone.text
    assert (await noa.get(path)).status_code == 404


async def test_another_person_reads_mends_and_forgets_nothing_of_it(people: list[Person]) -> None:
    noa, ben = people
    path, own = await noa.keep("The gate code changes in May."), await ben.keep("Mine.")
    id = re.findall(r"id=([^&]+)", path)[0]
    assert (await ben.get(path)).status_code == 404
    assert (await ben.get(path.replace(ENTRY, HISTORY))).status_code == 404
    for button in (
        "Save it as a new version",
        "It still holds",
        '<button class="danger">Forget it',
    ):
        answer = await ben.sent(own, button, id=id, content="Owned.")
        assert answer.status_code == 400, button
    assert "The gate code changes in May." in (await noa.get(path)).text


async def test_who_forgets_by_the_page_is_told_where_the_words_still_are(
    portal: TestPortal,
) -> None:
    key = Key.create()
    await portal.sign_in("noa", Account.of_key(key.address))
    said = {"name": "tea", "turns": [{"speaker": "Noa", "text": "I prefer peanuts with tea."}]}
    kept = await portal.call("remember_conversation", said, tier="noa")
    noa = Person(portal.app, BASE)
    await noa.sign_in(key)
    path = f"{ENTRY}?id={kept.structured['found'][0]['id']}"
    told = (await noa.sent(path, '<button class="danger">Forget it')).text
    assert "It is forgotten: nobody finds it any more." in told
    assert "still stand in 1 other entry: “Noa: I prefer peanuts with tea.”" in told
    await noa.aclose()


async def test_what_is_remembered_reads_in_its_own_direction(people: list[Person]) -> None:
    owner, _ = people
    entry = await owner.keep("כולם שותים מן הבאר.", title="באר")
    history = entry.replace(ENTRY, HISTORY)
    for path in (entry, history, f"{MEMORY}?mine=true", f"/knowledge/recall?query={quote('באר')}"):
        read = Reader((await owner.get(path)).text)
        assert read.marked, path
        assert read.unmarked == [], path


async def test_markup_in_what_is_remembered_is_text(people: list[Person]) -> None:
    noa, _ = people
    path = await noa.keep(EVIL, title=EVIL, **{"tags,": EVIL})
    for page in (path, MEMORY, path.replace(ENTRY, HISTORY), f"/search?query={quote(EVIL)}"):
        text = (await noa.get(page)).text
        assert "<script>alert" not in text
        assert "<img src=x" not in text


async def test_memory_is_found_by_the_portal_s_search_by_its_owner_alone(
    people: list[Person],
) -> None:
    noa, ben = people
    await noa.keep("The gate code changes in May.")
    assert "gate code" in (await noa.get("/search?query=gate")).text.replace("</mark>", "").replace(
        "<mark>", ""
    )
    assert "code changes" not in (await ben.get("/search?query=gate")).text


async def test_what_wants_a_look_is_settled(people: list[Person]) -> None:
    noa, _ = people
    page = (await noa.get("/knowledge/review")).text
    assert "Nothing. What is at odds" in page
    assert 'href="../approvals"' in page


async def test_who_has_not_signed_in_is_told_how(portal: TestPortal) -> None:
    answer = await portal.http("open").get(MEMORY, headers={"accept": "text/html"})
    assert answer.status_code == 403
    assert "/signin?next=" in answer.text
