"""Workflows in the browser: written, changed, walked and undone by forms."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import TestPortal
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.gateway.surfaces.views.painted import EVIL
from tests.plugins.workflows.playing import done, opened, stage

BASE = "http://localhost"
ALL, ONE = "/workflows/workflows", "/workflows/workflow"


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("ben") as portal:
        yield portal


class Person(Browser):
    """Somebody at the pages of the playbook."""

    async def sent(self, path: str, button: str, **typed: Any) -> Any:
        """A form of a page, found by its button, filled in and sent; and where it leads."""
        action, fields = self.form((await self.get(path)).text, button)
        answer = await self.post(action, {**fields, **typed})
        return await self.follow(answer) if answer.status_code == 303 else answer

    def form(self, page: str, button: str) -> tuple[str, dict[str, str]]:
        """Where a page's form with some button goes, and its fields."""
        begin = page.rindex("<form", 0, page.index(button))
        (form,) = forms(page[begin : page.index("</form>", begin) + len("</form>")])
        return form.action.removeprefix(BASE), dict(form.fields)

    async def previewed(self, path: str, button: str, **typed: Any) -> str:
        """The preview of what a form would do."""
        answer = await self.sent(path, f">{button}<", **typed)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    async def saved(self, preview: str) -> Any:
        """Where saving leads what was previewed."""
        answer = await self.post(*self.form(preview, ">Save it<"))
        assert answer.status_code == 303, answer.text
        return await self.follow(answer)

    async def written(self, name: str, **more: Any) -> str:
        """A workflow with two steps, written by the form; the path of its page."""
        fields = {
            "name": name,
            "stages.0.name": "Work",
            "stages.0.prompts.0.name": "First",
            "stages.0.prompts.0.content": "Do *this*.",
            "stages.0.prompts.1.name": "Second",
            "stages.0.prompts.1.content": "Do that.",
            "stages.0.prompts.2.name": "",
            **more,
        }
        preview = await self.previewed(ALL, "Preview the workflow", **fields)
        answer = await self.follow(await self.post(*self.form(preview, "Write it, for you alone")))
        assert answer.status_code == 200, answer.text
        assert "yours alone until you publish it" in answer.text
        return f"{ONE}?{answer.url.query.decode()}"


@pytest.fixture
async def ana(portal: TestPortal) -> AsyncIterator[Person]:
    person = Person(portal.app, BASE)
    await person.sign_in()
    yield person
    await person.aclose()


async def test_a_workflow_is_written_and_walked_to_its_end(ana: Person) -> None:
    path = await ana.written("Prune the trees", **{"tags,": "trees, winter"})
    page = (await ana.get(path)).text
    assert "Prune the trees" in page
    assert "winter" in page
    begun = await ana.sent(path, "Walk it")
    run = f"/workflows/run?{begun.url.query.decode()}"
    first = await ana.sent(run, "Begin with the first step")
    assert "Do <em>this</em>." in first.text
    second = await ana.sent(run, "Done: the next step")
    assert "Do that." in second.text
    assert "Done: the next step" not in second.text
    back = await ana.sent(f"{run}&step_index=0", "I am at this step")
    assert "Do <em>this</em>." in back.text
    ended = await ana.sent(run, "Finish it", note="All well.", outcome="done")
    assert "The run is finished" in ended.text
    assert "All well." in ended.text
    assert "Prune the trees" in (await ana.get("/workflows/runs?state=finished")).text


async def test_a_new_workflow_is_shown_before_it_is_written(ana: Person) -> None:
    fields = {
        "name": EVIL,
        "tags,": "trees, winter",
        "stages.0.name": "Work",
        "stages.0.prompts.0.name": "First",
        "stages.0.prompts.0.content": "Do *this*.\n\n\u202eTwice.",
    }
    preview = await ana.previewed(ALL, "Preview the workflow", **fields)
    assert "as it would be</h1>" in preview
    assert "Do <em>this</em>." in preview
    assert "<script>alert" not in preview
    mine = f"{ALL}?scope=mine"
    assert "No workflow fits" in (await ana.get(mine)).text, "nothing is written yet"
    written = await ana.follow(await ana.post(*ana.form(preview, "Write it, for you alone")))
    assert "yours alone until you publish it" in written.text
    assert "winter" in written.text
    assert "Do <em>this</em>." in written.text
    refused = await ana.sent(ALL, ">Preview the workflow<", **fields | {"name": "x" * 300})
    assert refused.status_code == 400
    secret = {"stages.0.prompts.0.content": "Use ghp_" + "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"}
    scrubbed = await ana.previewed(ALL, "Preview the workflow", **fields | secret)
    assert "It cannot be written from here" in scrubbed


async def test_the_start_page_shows_where_somebody_is(ana: Person) -> None:
    path = await ana.written("Prune the trees")
    assert 'aria-labelledby="workflows-runs"' not in (await ana.get("/")).text
    await ana.sent(path, "Walk it")
    assert 'aria-labelledby="workflows-runs"' in (await ana.get("/")).text


async def test_a_step_is_changed_and_the_older_version_comes_back(ana: Person) -> None:
    path = await ana.written("Prune the trees")
    preview = await ana.previewed(
        path,
        "Preview the step",
        **{"stages.0.items.0.name": "First", "stages.0.items.0.content": "Do something else."},
    )
    assert "+" in preview
    assert "Do something else." in preview
    assert "Do something else." not in (await ana.get(path)).text, "nothing is written yet"
    changed = await ana.saved(preview)
    assert "Do something else." in changed.text
    assert "Do that." in changed.text, "the other steps stay"
    id = re.findall(r"workflow_id=([^&]+)", path)[0]
    versions = f"/workflows/versions?id={id}"
    await ana.sent(versions, "Have it back")
    assert "Do <em>this</em>." in (await ana.get(path)).text


async def test_an_edit_is_undone_in_one_click(ana: Person) -> None:
    path = await ana.written("Prune the trees", **{"tags,": "trees"})
    preview = await ana.previewed(path, "Preview", name="Prune the roses", **{"tags,": ""})
    assert "-name: Prune the trees" in preview
    saved = await ana.saved(preview)
    assert "It is changed." in saved.text
    assert "+name: Prune the roses" in saved.text
    assert "Prune the roses</h1>" in saved.text
    assert saved.text.count("trees") == saved.text.count("-name: Prune the trees") + 1, "tags went"
    undone = await ana.sent(f"{ONE}?{saved.url.query.decode()}", "Undo")
    assert "It is as it was." in undone.text
    assert "Prune the trees</h1>" in undone.text
    assert "What you changed" not in undone.text


async def test_a_preview_has_the_plan_as_a_picture_and_refuses_what_an_edit_would(
    ana: Person,
) -> None:
    path = await ana.written("Prune the trees")
    stage_two = {
        "stages.0.name": EVIL,
        "stages.0.prompts.0.name": "\u202eSweep",
        "stages.0.prompts.0.content": "Sweep up.\n\nTwice.",
    }
    preview = await ana.previewed(path, "Preview the stage", **stage_two)
    assert "<svg" in preview
    assert "<script>alert" not in preview
    saved = await ana.saved(preview)
    assert "Sweep up." in saved.text
    again = await ana.follow(await ana.post(*ana.form(preview, "Save it")))
    assert "You sent it twice, and it was done once." in again.text
    stale = await ana.sent(path, "Preview", name="Other", version="1")
    assert stale.status_code == 400
    assert "has changed since version 1" in stale.text


async def test_a_stage_is_added_and_all_of_it_published_and_deleted(ana: Person) -> None:
    path = await ana.written("Prune the trees")
    stage_two = {
        "stages.0.name": "Afterwards",
        "stages.0.prompts.0.name": "Sweep",
        "stages.0.prompts.0.content": "Sweep up.",
    }
    added = await ana.saved(await ana.previewed(path, "Preview the stage", **stage_two))
    assert "Afterwards" in added.text
    assert "First" in added.text
    shown = await ana.sent(path, "Show it to everyone")
    assert "Everyone sees it now." in shown.text
    gone = await ana.sent(path, '<button class="danger">Delete it')
    assert "It is in your bin, until " in gone.text
    assert (await ana.get(path)).status_code == 404


async def test_what_is_another_s_is_kept_and_not_changed(portal: TestPortal, ana: Person) -> None:
    made = await done(
        portal, "ben", "add_workflow", name=EVIL, stages=[stage("One")], visibility="PUBLIC"
    )
    path = f"{ONE}?workflow_id={made['id']}&include_content=true"
    page = (await ana.get(path)).text
    assert "<script>alert" not in page
    assert "Preview the step" not in page
    assert "Delete it" not in page
    assert "It is in your library." in (await ana.sent(path, "Keep it in your library")).text
    own = await ana.written("Mine")
    refused = await ana.sent(
        own, '<button class="danger">Delete it', workflow_id=made["id"], version="1"
    )
    assert refused.status_code == 400
    assert (await ana.get(path)).status_code == 200


async def test_a_run_of_another_is_not_there(portal: TestPortal, ana: Person) -> None:
    made = await done(
        portal, "ben", "add_workflow", name="B", stages=[stage("One")], visibility="PUBLIC"
    )
    selected = await done(portal, "ben", "select_workflow", workflow_id=made["id"], start_run=True)
    run = selected["run"]["runId"]
    assert (await ana.get(f"/workflows/run?run_id={run}")).status_code == 404
