"""Nothing that the plugin answers ever shows what another owner keeps private.

People write, share, take back, rewrite and delete; then everyone asks for everything, by every
tool, prompt and resource, by ids and keys that they guessed, and the raw answers are searched for
the marks of what they may not see. ``secrets_world.py`` has the people and the marks.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gateway.testing import RequestRefused
from tests.examples import examples
from tests.plugins.workflows.playing import ANYONE, opened
from tests.plugins.workflows.secrets_world import OWNERS, Thing, World

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

READERS = ("alice", "bob", "carol", ANYONE)
ACTIONS = ("skill", "workflow", "folder", "put", "show", "hide", "rewrite", "delete", "keep", "run")


@asynccontextmanager
async def world(database: str = "sqlite") -> AsyncIterator[World]:
    services = {"services": {"database": database}}
    async with opened("alice", "bob", "carol", config=services) as portal:
        yield World(portal)


async def act(world: World, data: st.DataObject) -> None:
    """Do one thing that somebody may do, which the portal may refuse."""
    action = data.draw(st.sampled_from(ACTIONS), "action")
    owner = data.draw(st.sampled_from(OWNERS), "owner")
    public = data.draw(st.booleans(), "public")
    if action == "skill":
        await world.add_skill(owner, public)
    elif action == "workflow":
        uses = some_of(world, data, "skill", "prompt")
        folder = one_of(world, data, "folder")
        await world.add_workflow(owner, public, uses, folder)
    elif action == "folder":
        await world.add_folder(owner, public, one_of(world, data, "folder"))
    elif action == "put":
        await act_on_two(world, data)
    elif thing := one_of(world, data, "workflow", "skill", "folder"):
        await act_on(world, data, action, thing)


async def act_on(world: World, data: st.DataObject, action: str, thing: Thing) -> None:
    who = data.draw(st.sampled_from(READERS[:3]), "who")
    if action in ("show", "hide"):
        await world.show(thing, action == "show")
    elif action == "rewrite":
        await world.rewrite(thing)
    elif action == "delete":
        await world.delete(thing)
    elif action == "keep":
        await world.keep(who, thing)
    elif thing.kind == "workflow":
        await world.run(who, thing)


async def act_on_two(world: World, data: st.DataObject) -> None:
    folder = one_of(world, data, "folder")
    item = one_of(world, data, "workflow", "skill", "prompt")
    if folder is not None and item is not None:
        await world.put(folder, item)


def one_of(world: World, data: st.DataObject, *kinds: str) -> Thing | None:
    found = world.of(*kinds)
    return data.draw(st.sampled_from(found), "which") if found else None


def some_of(world: World, data: st.DataObject, *kinds: str) -> list[Thing]:
    found = world.of(*kinds)
    if not found:
        return []
    picked: list[Thing] = data.draw(st.lists(st.sampled_from(found), max_size=2), "uses")
    return picked


@settings(max_examples=examples(12), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data())
async def test_nobody_learns_what_others_keep_to_themselves(data: st.DataObject) -> None:
    async with world() as made:
        for _ in range(data.draw(st.integers(8, 24), "length")):
            await act(made, data)
        for who in READERS:
            await ask_for_everything(made, who)
        assert sorted(set(made.leaks)) == []


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where a whole portal puts its rows, at first empty."""
    if request.param == "sqlite":
        return "sqlite"
    url: str = request.getfixturevalue("postgres")
    return url


async def test_what_was_shown_to_all_is_hidden_again_wherever_it_went(address: str) -> None:
    async with world(address) as made:
        await made.add_folder("alice", True, None)
        await made.add_skill("alice", True)
        await made.add_workflow("alice", True, made.of("skill"), made.of("folder")[0])
        card, prompt = made.of("skill")[0], made.of("prompt")[0]
        workflow = made.of("workflow")[0]
        await made.add_workflow("bob", True, [card, prompt], None)
        (theirs,) = made.of("workflow", owner="bob")
        assert theirs.uses == [card.id, prompt.id]
        for who in ("bob", "carol"):
            for thing in (workflow, theirs, card):
                await made.keep(who, thing)
            await made.run(who, workflow)
            await made.run(who, theirs)
        assert len(made.runs) == 4
        for thing in (workflow, card):
            await made.show(thing, False)
            assert not thing.public
            await made.rewrite(thing)
        for who in READERS:
            await ask_for_everything(made, who)
        assert sorted(set(made.leaks)) == []


async def test_the_marks_are_there_for_those_who_may_see_them() -> None:
    """So that the absence of a mark elsewhere says something."""
    async with world() as made:
        for owner in OWNERS:
            await made.add_folder(owner, False, None)
            await made.add_skill(owner, False)
            await made.add_workflow(owner, True, [], None)
        for who in READERS:
            told = "".join([answer async for answer in told_everything(made, who)])
            for thing in made.things:
                assert (thing.mark in told) is not thing.hidden_from(who), (who, thing)


async def ask_for_everything(world: World, who: str) -> None:
    """Ask for all that there is, and try to write to what is others'."""
    async for _ in told_everything(world, who):
        pass
    for thing in list(world.things):
        if thing.owner != who:
            for tool, arguments in attacks(thing):
                await world.call(who, tool, **arguments)


async def told_everything(world: World, who: str) -> AsyncIterator[str]:
    """The raw answers to every question, which are looked through on the way."""
    for tool, arguments in questions(world):
        yield await asked(world, who, tool, arguments)
    for method, params in requests(world):
        yield await requested(world, who, method, params)
    for kind in ("prompts", "resources"):
        async for answer in walked(world, who, kind):
            yield answer
    ready = await world.portal.get("/readyz", tier=who)
    world.look(who, "/readyz", ready.text)


async def asked(world: World, who: str, tool: str, arguments: dict[str, Any]) -> str:
    result = await world.portal.mcp(who).call(tool, arguments)
    answer = str(result)
    if tool == "get_attachment" and not result.get("isError"):
        answer += base64.b64decode(result["structuredContent"]["content"]).decode()
    world.look(who, f"{tool} {arguments}", answer)
    found = result.get("structuredContent") or {}
    if tool in ("get_available_workflows", "get_skills") and arguments.get("task"):
        only_shown(world, who, arguments["task"], found)
    return answer


def only_shown(world: World, who: str, mark: str, found: Any) -> None:
    """A search for the word of a hidden item finds nothing, not even what holds the item."""
    thing = next(each for each in world.things for one in each.marks if one.lower() == mark)
    if thing.hidden_from(who) and (found.get("workflows") or found.get("skills")):
        world.leaks.append(f"{who} found something by a word of {thing.owner}'s {thing.kind}")


async def requested(world: World, who: str, method: str, params: dict[str, Any]) -> str:
    try:
        answer = str(await world.portal.mcp(who).request(method, params))
    except RequestRefused as refusal:
        answer = f"{refusal} {refusal.data}"
    world.look(who, f"{method} {params}", answer)
    return answer


async def walked(world: World, who: str, kind: str) -> AsyncIterator[str]:
    """A list, and everything in it."""
    listed = await world.portal.mcp(who).list(kind)
    world.look(who, kind, listed)
    yield str(listed)
    for each in listed:
        if kind == "prompts":
            yield await requested(world, who, "prompts/get", {"name": each["name"]})
        else:
            yield await requested(world, who, "resources/read", {"uri": each["uri"]})


def questions(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every way to read with a tool, by every id and key."""
    for tool in ("get_available_workflows", "get_skills"):
        for scope in ("all", "mine", "library"):
            yield tool, {"scope": scope, "limit": 50}
    yield "get_by_folder", {"limit": 100}
    for state in ("open", "all"):
        yield "list_runs", {"state": state}
    for run in world.runs:
        yield "get_next_step", {"run_id": run, "step_index": 0}
        yield "get_next_step", {"run_id": run}
    for thing in world.things:
        yield from questions_about(thing)


def questions_about(thing: Thing) -> Iterator[tuple[str, dict[str, Any]]]:
    for word in (thing.id, thing.key):
        yield "get_workflow", {"workflow_id": word, "include_content": True}
        yield "select_workflow", {"workflow_id": word}
        for step in (0, 1):
            yield "get_next_step", {"workflow_id": word, "step_index": step}
        yield "get_selected_skill", {"skill_id": word}
        for mark in thing.marks:
            yield "get_attachment", {"skill_id": word, "name": f"{mark}.md"}
        yield "get_by_folder", {"folder_key": word, "limit": 100}
        yield "list_runs", {"workflow_id": word, "state": "all"}
    for mark in thing.marks:
        for tool in ("get_available_workflows", "get_skills"):
            yield tool, {"task": mark.lower(), "limit": 50}
            yield tool, {"tags": [mark.lower()], "limit": 50}


def requests(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Prompts and resources by names that somebody guessed."""
    for thing in world.things:
        yield "resources/read", {"uri": f"playbook://workflows/{thing.id}"}
        yield "resources/read", {"uri": f"playbook://workflows/{thing.key}"}
        yield "prompts/get", {"name": f"workflow-{thing.key}"}
        yield "prompts/get", {"name": f"workflow-{thing.key[:27]}_{thing.id[:8]}"}
        yield "prompts/get", {"name": f"workflow-_{thing.id[:8]}"}


def attacks(thing: Thing) -> Iterator[tuple[str, dict[str, Any]]]:
    """Attempts to write to what is another's, or to take it into something of one's own."""
    for version in (1, thing.version):
        edit = {"version": version, "name": "Taken"}
        yield "edit_workflow", {"workflow_id": thing.id, **edit}
        yield "edit_skill", {"skill_id": thing.id, **edit}
        yield "edit_folder", {"folder_key": thing.id, **edit}
        for kind in ("WORKFLOW", "SKILL"):
            yield "publish", {"type": kind, "id": thing.id, "version": version}
    yield "add_to_library", {"id": thing.id}
    yield "remove_from_library", {"id": thing.id}
    yield "create_folder", {"name": "Inside", "parent": thing.id}
    stages = [
        {"name": "S", "skills": [thing.id]},
        {"name": "S", "prompts": [{"prompt_id": thing.id}]},
    ]
    for stage in stages:
        yield "add_workflow", {"name": "Taken in", "stages": [stage]}
    yield "add_workflow", {"name": "Into theirs", "stages": [], "folder_id": thing.id}
    rewritten = {"prompt_id": thing.id, "name": "Mine", "content": "Now."}
    yield "add_workflow", {"name": "Over", "stages": [{"name": "S", "prompts": [rewritten]}]}
