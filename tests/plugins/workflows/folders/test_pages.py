"""Folders in the browser: made, named, moved and deleted by forms, and what is put into them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from gateway.testing import TestPortal
from tests.gateway.surfaces.views.painted import EVIL
from tests.plugins.workflows.playing import done, opened, stage
from tests.plugins.workflows.test_pages import BASE, Person

ALL = "/workflows/folders"


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with opened("ben") as portal:
        yield portal


@pytest.fixture
async def ana(portal: TestPortal) -> AsyncIterator[Person]:
    person = Person(portal.app, BASE)
    await person.sign_in()
    yield person
    await person.aclose()


async def made(person: Person, name: str, inside: str = ALL) -> str:
    """The path of the page of a folder that was made by the form."""
    answer = await person.sent(inside, "Make it, for you alone", name=name)
    assert "The folder is there" in answer.text
    return f"{ALL}?{answer.url.query.decode()}"


def key(path: str) -> str:
    return str(re.findall(r"folder_key=([^&]+)", path)[0])


async def test_a_folder_is_made_named_moved_and_deleted(ana: Person) -> None:
    outer, inner = await made(ana, "Outer"), await made(ana, "Inner")
    within = await made(ana, "Within", outer)
    assert "Within" in (await ana.get(outer)).text
    named = await ana.sent(inner, ">Save<", name="Renamed", description="What is new.")
    assert "<h1>Renamed</h1>" in named.text
    assert "What is new." in named.text
    moving = f"/workflows/placing?moving={key(inner)}"
    page = (await ana.get(moving)).text
    assert page.count("Move it here") == 2, "into neither itself nor the top, where it is"
    moved = await ana.sent(moving, ", into Within")
    assert f"folder_key={key(within)}" in moved.text
    assert "In <a" in moved.text
    assert "Renamed" in (await ana.get(within)).text
    page = (await ana.get(f"/workflows/placing?moving={key(outer)}")).text
    assert "Move it here" not in page, "everything is inside it"
    back = await ana.sent(moving, "Move it to the top")
    assert "In <a" not in back.text
    gone = await ana.sent(outer, '<button class="danger">Delete it')
    assert "The folder is deleted; what was in it is not." in gone.text
    assert "Renamed" in gone.text
    assert "Outer" not in gone.text


async def test_a_workflow_is_put_into_a_folder_moved_and_taken_out(ana: Person) -> None:
    first, second = await made(ana, "First"), await made(ana, EVIL)
    flow = await ana.written("Prune the trees")
    id = re.findall(r"workflow_id=([^&]+)", flow)[0]
    placing = f"/workflows/placing?id={id}&type=WORKFLOW"
    assert f"id={id}&amp;type=WORKFLOW" in (await ana.get(flow)).text
    put = await ana.sent(placing, "to First")
    assert "in it" in put.text
    assert "<script>alert" not in put.text
    assert "Prune the trees" in (await ana.get(first)).text
    await ana.sent(placing, "Move it here")
    assert "Prune the trees" not in (await ana.get(first)).text
    assert "Prune the trees" in (await ana.get(second)).text
    out = await ana.sent(second, "Take it out")
    assert "Nothing is in it." in out.text
    assert (await ana.get(flow)).status_code == 200


async def test_anothers_folder_has_no_forms(portal: TestPortal, ana: Person) -> None:
    theirs = await done(portal, "ben", "create_folder", name="Ben's", visibility="PUBLIC")
    await done(
        portal, "ben", "add_workflow", name="B", stages=[stage("One")], folder_id=theirs["id"]
    )
    page = (await ana.get(f"{ALL}?folder_key={theirs['id']}")).text
    assert "Ben&#39;s" in page
    assert "Nothing is in it." in page, "what is in it is private"
    for button in ("Make it", "Save", "Delete it", "Take it out"):
        assert f">{button}" not in page
    private = await done(portal, "ben", "create_folder", name="Hush")
    assert (await ana.get(f"{ALL}?folder_key={private['id']}")).status_code in (400, 404)
    assert "Hush" not in (await ana.get("/workflows/placing")).text
