"""Conversations, work and calls of models leave with their person: taken along, and then erased."""

from __future__ import annotations

import json
import zipfile
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

import pytest
from sqlalchemy import select

from gateway.assistant.personal import with_conversations
from gateway.identity.keepers import keepers
from gateway.identity.personal_archive import Archive
from gateway.services.models.table import model_calls
from gateway.testing import TestPortal
from tests.gateway.assistant.garden import ask, open_garden
from tests.gateway.work.clerk import Clerk
from tests.servers.openai_compatible import OpenAICompatible, Reply

TIERS = """
access:
  members: signed_in
items:
  garden: open
"""


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    clerk = Clerk(publishes=("one",))
    with OpenAICompatible() as server:
        server.rule(lambda body: Reply(text="So it is."))
        async with open_garden(server, None, clerk.module(), tiers=TIERS) as portal:
            yield portal


async def works(portal: TestPortal, who: str) -> None:
    """Do what there is to do."""
    taken: Any = (await portal.call("take_work", tier=who)).structured
    (item,) = taken["items"]
    answer = {"verdict": "good", "quote": item["context"]["text"]}
    brought = {"id": item["id"], "answer": answer, "model": "my own"}
    told = await portal.call("return_work", brought, tier=who)
    assert not told.is_error, told.text


async def test_it_is_in_the_archive_and_goes_with_the_account(portal: TestPortal) -> None:
    running = portal.running
    await ask(portal, "Mine?", who="ann")
    await ask(portal, "Bob's?", who="bob")
    await works(portal, "ann")
    people = {"ann": await _id_of(portal, "Mine?"), "bob": await _id_of(portal, "Bob's?")}
    kept = keepers(running.plugins.offers, running.services.models, running.work.offers)
    archive = Archive(with_conversations(kept, running.assistant))
    pieces = [each async for each in archive.of(people["ann"], {"id": people["ann"]})]
    with zipfile.ZipFile(BytesIO(b"".join(pieces))) as found:
        names = found.namelist()
        calls = json.loads(found.read("models/calls-1.json"))
        work = [json.loads(found.read(each)) for each in names if each.startswith("porch/")]
        talks = [found.read(each).decode() for each in names if each.endswith(".md")]
    assert [each["operation"] for each in calls] == ["assistant"]
    assert "my own" in json.dumps(work)
    assert len(talks) == 1
    assert "Mine?" in talks[0]
    assert "Bob's?" not in "".join(talks)

    gone = people["ann"]
    assert await running.erasures.sweep(frozenset({gone}))
    async with running.services.shared_database.read() as connection:
        left = list(await connection.scalars(select(model_calls.c.person)))
    assert left.count(people["bob"]) == 1, "what others asked is theirs"
    assert gone not in left
    assert len(left) == 2, "the cost stays, and no longer says whose it was"
    assert gone not in await running.assistant.store.people()
    assert gone not in await running.work.upkeep.people()


async def _id_of(portal: TestPortal, asked: str) -> str:
    """Who has asked something."""
    store = portal.running.assistant.store
    titles = {each: (await store.list(each))[0].title for each in await store.people()}
    (found,) = [person for person, title in titles.items() if title == asked]
    return found
