"""Fifty writers at once: nothing is lost, nobody waits for each other in a circle."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

import pytest
from sqlalchemy import select

from gateway.contract import Objects, ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.inputs import PromptDraft, Reference, StageItemDraft, Writer
from plugins.workflows.model import TargetType, Visibility, Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.revisions import MAX_REVISIONS
from plugins.workflows.store.tables import revisions
from tests.plugins.workflows.conftest import Clock, embed, prompt, skill, stage, workflow
from tests.plugins.workflows.store.test_workflows import prompts_in

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

WRITERS, SECONDS, LEAST = 50, 5.0, 4
FLOW, CARD = TargetType.WORKFLOW, TargetType.SKILL


class Log:
    """What was accepted, and what was refused as stale."""

    def __init__(self) -> None:
        self.versions: dict[str, list[int]] = {}
        self.refused = 0

    def accepted(self, id: str, version: int) -> None:
        self.versions.setdefault(id, []).append(version)


class Crowd:
    """Writers that edit the same workflows, the cards in them, and workflows of their own."""

    def __init__(self, playbooks: list[Playbook], shared: list[Workflow], card: str) -> None:
        self.log = Log()
        self.owners: dict[str, str] = {}
        self._playbooks, self._shared, self._card = playbooks, shared, card

    async def write(self, number: int, owner: Writer) -> None:
        chance = random.Random(number)
        playbook = self._playbooks[number % len(self._playbooks)]
        person = Writer(f"person:{number}", f"Writer {number}", may_publish=True)
        mine = await playbook.add_workflow(person, workflow(name=f"Mine {number}"))
        self.owners[mine.id] = person.person
        end = time.monotonic() + SECONDS
        count = 0
        while count < LEAST or time.monotonic() < end or not self.log.refused:
            count += 1
            text = f"{number}.{count}"
            kind = chance.random()
            try:
                if kind < 0.5:
                    await self._edit(playbook, owner, chance.choice(self._shared).id, text)
                elif kind < 0.6:
                    await self._edit_card(playbook, owner, text)
                elif kind < 0.7:
                    added = await playbook.add_workflow(person, workflow(name=text))
                    await playbook.delete_workflow(person, added.id, 1)
                else:
                    await self._edit(playbook, person, mine.id, text)
            except ToolFailed as failed:
                assert failed.code == "stale"  # noqa: PT017
                self.log.refused += 1

    async def _edit(self, playbook: Playbook, owner: Writer, id: str, text: str) -> None:
        read = await playbook.workflow(id, owner.person)
        before = read.stages[0]
        words = PromptDraft(name="First", content=text, id=prompts_in(read)[0].id)
        held = [each.item.id for each in before.items if each.item.id == self._card]
        items = (
            StageItemDraft(words),
            *(StageItemDraft(Reference(CARD, each)) for each in held),
            prompt(text),
        )
        changes = {"description": text, "stages": (stage(*items, name=before.name),)}
        edited = await playbook.edit_workflow(owner, id, read.version, changes)
        assert edited.description == text
        self.log.accepted(id, edited.version)

    async def _edit_card(self, playbook: Playbook, owner: Writer, text: str) -> None:
        read = await playbook.skill(self._card, owner.person)
        edited = await playbook.edit_skill(owner, read.id, read.version, {"content": text})
        self.log.accepted(read.id, edited.version)


async def test_no_edit_is_lost(
    database: OwnedDatabase,
    open_another: Callable[[], OwnedDatabase],
    objects: Objects,
    clock: Clock,
    alice: Writer,
) -> None:
    playbooks = [Playbook(database, objects, embed, clock)]
    if database.engine.dialect.name == "postgresql":
        playbooks.append(Playbook(open_another(), objects, embed, clock))
    playbook = playbooks[0]
    card = await playbook.add_skill(alice, skill(visibility=Visibility.PUBLIC))
    held = StageItemDraft(Reference(CARD, card.id))
    shared = [
        await playbook.add_workflow(
            alice, workflow(stage(prompt("First"), held), name=f"Shared {number}")
        )
        for number in range(4)
    ]
    crowd = Crowd(playbooks, shared, card.id)
    await asyncio.gather(*(crowd.write(number, alice) for number in range(WRITERS)))
    versions = crowd.log.versions
    cards = versions.pop(card.id, [])
    assert sorted(cards) == list(range(2, len(cards) + 2))
    for id, accepted in versions.items():
        _, version = await playbook.workflow_version(id, crowd.owners.get(id, alice.person))
        bumps = 0 if id in crowd.owners else len(cards)
        assert len(set(accepted)) == len(accepted)
        assert version == 1 + len(accepted) + bumps
        history = await _history(database, id)
        assert history == list(range(max(1, version - MAX_REVISIONS + 1), version + 1))
    assert crowd.log.refused > 0
    assert len(versions) > WRITERS / 2


async def _history(database: OwnedDatabase, id: str) -> list[int]:
    async with database.engine.connect() as connection:
        of = revisions.c.target == id
        query = select(revisions.c.version).where(of).order_by(revisions.c.version)
        return list(await connection.scalars(query))
