"""Clients are told of what changes in skills, and of nothing else."""

from contextlib import asynccontextmanager

import pytest

from gateway.contract import Offer, Plugin, hookimpl
from gateway.testing import open_test_portal
from tests.gateway.surfaces.mcp.test_skills import BAKE, FILES, _skill


@pytest.fixture
async def changing(moods):
    """A portal with one skill, and a function that changes it."""
    hosts = []

    @asynccontextmanager
    async def opened(config, host):
        hosts.append(host)
        yield Offer(skills=[_skill("bake", FILES)])

    class Changing:
        @hookimpl
        def porch_plugin(self):
            return Plugin("changing", "Holds a skill.", opened)

    async with open_test_portal(Changing(), tiers={"default": "open"}) as portal:
        yield moods.Wire(portal), lambda **files: hosts[0].reoffer(Offer(skills=[_with(files)]))


def _with(files):
    return _skill("bake", FILES | {name.replace("_md", ".md"): raw for name, raw in files.items()})


FOLLOWED = [f"{BAKE}/SKILL.md", f"{BAKE}/scripts/run.sh"]
UPDATED = "notifications/resources/updated"
LISTED = "notifications/resources/list_changed"


async def test_a_session_is_told_of_a_followed_file_that_changes_and_of_no_list(changing):
    wire, change = changing
    session = await wire.begin()
    listening = session.send(b"", method="GET")
    await listening.chunk()
    for uri in FOLLOWED:
        await session.legacy("resources/subscribe", {"uri": uri}).reply()
    change(SKILL_md=b"another body, and a longer one")
    told = await listening.event()
    assert (told["method"], told["params"]) == (UPDATED, {"uri": FOLLOWED[0]})
    change(SKILL_md=b"another body, and a longer one", more_md=b"A new file.")
    assert (await listening.event())["method"] == LISTED  # the next one, so nothing else was told
    await listening.leave()


async def test_a_listener_is_told_of_a_followed_file_that_changes_and_of_no_list(changing):
    wire, change = changing
    lists = {f"{kind}ListChanged": True for kind in ("tools", "prompts", "resources")}
    wanted = {"notifications": {"resourceSubscriptions": FOLLOWED, **lists}}
    listening = wire.modern("subscriptions/listen", wanted)
    first = await listening.event()
    assert first["params"]["notifications"]["resourceSubscriptions"] == FOLLOWED
    change(SKILL_md=b"another body, and a longer one")
    told = await listening.event()
    assert (told["method"], told["params"]["uri"]) == (UPDATED, FOLLOWED[0])
    change(more_md=b"A new file.", SKILL_md=b"a third")
    assert [(await listening.event())["method"] for _ in range(2)] == [LISTED, UPDATED]
    await listening.leave()
