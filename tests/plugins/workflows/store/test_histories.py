"""Whatever happens to a playbook, everyone sees what they should, and no version changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.workflows.bin import Bin
from plugins.workflows.inputs import PromptDraft, Reference, StageItemDraft, Writer
from plugins.workflows.model import PORTAL, TargetType, Viewer, Visibility, Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.tables import metadata
from tests.examples import examples
from tests.plugins.workflows.conftest import skill, stage, workflow

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

FLOW, CARD, PROMPT = TargetType.WORKFLOW, TargetType.SKILL, TargetType.MINI_PROMPT
PUBLIC, PRIVATE = Visibility.PUBLIC, Visibility.PRIVATE
PEOPLE = ("person:alice", "person:bob", PORTAL)
T = TypeVar("T")
VIEWERS: tuple[Viewer, ...] = (*PEOPLE, "person:carol", None)


@dataclass
class Thing:
    """An item as it should be; ``items`` are the ids in a workflow."""

    type: TargetType
    id: str
    owner: str
    public: bool
    words: str
    items: list[str] = field(default_factory=list)

    def is_seen(self, viewer: Viewer) -> bool:
        return self.public or self.owner == viewer


class Model:
    """A playbook in memory, by the rules alone."""

    def __init__(self) -> None:
        self.things: dict[str, Thing] = {}
        self.bin: list[Thing] = []
        self.gone: dict[str, Thing] = {}

    def of(self, type: TargetType) -> list[Thing]:
        return [each for each in self.things.values() if each.type is type]

    def using(self, id: str) -> list[Thing]:
        return [each for each in self.of(FLOW) if id in each.items]

    def may_hold(self, owner: str, items: list[str], public: bool) -> bool:
        """Whether someone may write a workflow with these items."""
        held = [self.things[each] for each in items]
        if not all(each.is_seen(owner) for each in held):
            return False
        cards = [each for each in held if each.type is CARD and each.owner == owner]
        return not public or all(each.public for each in cards)

    def settle(self, owner: str) -> None:
        """Let an owner's mini-prompts follow their workflows; nobody's stay without any."""
        for each in self.of(PROMPT):
            using = self.using(each.id)
            if each.owner == owner:
                each.public = any(flow.public and flow.owner == owner for flow in using)
            if not using:
                self.gone[each.id] = self.things.pop(each.id)

    def restore(self, flow: Thing) -> None:
        """Have a deleted workflow back, for its owner alone, with the prompts that are theirs."""
        self.bin.remove(flow)
        flow.public = False
        self.things[flow.id] = flow
        for id in flow.items:
            if id in self.gone and self.gone[id].owner == flow.owner:
                self.things[id] = self.gone.pop(id)
        self.settle(flow.owner)


class Choices:
    """Decisions that follow from numbers, the first of the options when these are used up."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = iter(numbers)

    def one(self, options: Sequence[T]) -> T:
        return options[next(self._numbers, 0) % len(options)]

    def some(self, options: Sequence[T], most: int) -> list[T]:
        count = self.one(range(most + 1)) if options else 0
        return [self.one(options) for _ in range(count)]

    def flag(self) -> bool:
        return self.one((False, True))


class History:
    """A playbook and its model, to which the same things happen."""

    def __init__(self, playbook: Playbook, kept: Bin) -> None:
        self.playbook, self.model, self.choose = playbook, Model(), Choices(())
        self.kept = kept
        self.versions: dict[str, int] = {}
        self.seen: dict[tuple[str, int], Workflow] = {}
        self.count = 0

    def words(self) -> str:
        self.count += 1
        return f"words {self.count}"

    async def step(self, numbers: Sequence[int]) -> None:
        self.choose = Choices(numbers)
        things = [*self.model.of(FLOW), *self.model.of(CARD)]
        acts = ("flow", "card", "edit", "show", "edit", "delete", "delete", "restore")
        act = self.choose.one(acts)
        owner = self.choose.one(PEOPLE)
        if act == "restore":
            await self.restore()
        elif act == "card":
            await self.add_card(owner)
        elif act == "flow" or not things:
            await self.write_flow(owner, None)
        else:
            thing = self.choose.one(things)
            await self.change(act, thing)

    async def change(self, act: str, thing: Thing) -> None:
        if act == "delete":
            await self.delete(thing)
        elif act == "show":
            await self.show(thing)
        elif thing.type is CARD:
            await self.edit_card(thing)
        else:
            await self.write_flow(thing.owner, thing)

    async def add_card(self, owner: str) -> None:
        public, words = self.choose.flag(), self.words()
        visibility = PUBLIC if public else PRIVATE
        draft = skill(words, content=words, visibility=visibility)
        added = await self.playbook.add_skill(writer(owner), draft)
        self.model.things[added.id] = Thing(CARD, added.id, owner, public, words)

    async def edit_card(self, thing: Thing) -> None:
        words = self.words()
        version = (await self.playbook.skill(thing.id, thing.owner)).version
        await self.playbook.edit_skill(writer(thing.owner), thing.id, version, {"content": words})
        thing.words = words

    async def write_flow(self, owner: str, thing: Thing | None) -> None:
        """Add a workflow, or give one other stages: old items, and new and reworded prompts."""
        there = [*self.model.of(PROMPT), *self.model.of(CARD)]
        held = self.choose.some(there, 4)
        new = [self.words() for _ in range(self.choose.one(range(3)))]
        reworded = {
            each.id: self.words()
            for each in held
            if each.type is PROMPT and each.owner == owner and self.choose.flag()
        }
        public = self.choose.flag() if thing is None else thing.public
        items = [_item(each, reworded.get(each.id)) for each in held]
        items += [StageItemDraft(PromptDraft(name=each, content=each)) for each in new]
        cut = self.choose.one(range(len(items) + 1))
        stages = (stage(*items[:cut]), stage(*items[cut:]))
        ids = [each.id for each in held]
        allowed = self.model.may_hold(owner, ids, public)
        if not allowed:
            with pytest.raises(ToolFailed):
                await self._write(owner, thing, stages, public)
            return
        written = await self._write(owner, thing, stages, public)
        found = [each.item for stage in written.stages for each in stage.items]
        for each in found[len(held) :]:
            self.model.things[each.id] = Thing(PROMPT, each.id, owner, public, each.name)
        for id, words in reworded.items():
            self.model.things[id].words = words
        flow = thing or Thing(FLOW, written.id, owner, public, "")
        flow.items = [*ids, *(each.id for each in found[len(held) :])]
        self.model.things[flow.id] = flow
        self.model.settle(owner)

    async def _write(
        self, owner: str, thing: Thing | None, stages: tuple[Any, ...], public: bool
    ) -> Workflow:
        if thing is None:
            visibility = PUBLIC if public else PRIVATE
            draft = replace(workflow(name=self.words(), visibility=visibility), stages=stages)
            return await self.playbook.add_workflow(writer(owner), draft)
        _, version = await self.playbook.workflow_version(thing.id, owner)
        changes = {"stages": stages}
        return await self.playbook.edit_workflow(writer(owner), thing.id, version, changes)

    async def show(self, thing: Thing) -> None:
        """Publish something, or take it back."""
        changes = {"visibility": PRIVATE if thing.public else PUBLIC}
        who = writer(thing.owner)
        if thing.type is CARD:
            version = (await self.playbook.skill(thing.id, thing.owner)).version
            await self.playbook.edit_skill(who, thing.id, version, changes)
            thing.public = not thing.public
            return
        cards = [self.model.things[each] for each in thing.items if each in self.model.things]
        hidden = any(
            each.type is CARD and each.owner == thing.owner and not each.public for each in cards
        )
        _, version = await self.playbook.workflow_version(thing.id, thing.owner)
        if hidden and not thing.public:
            with pytest.raises(ToolFailed, match="Publish first"):
                await self.playbook.edit_workflow(who, thing.id, version, changes)
            return
        await self.playbook.edit_workflow(who, thing.id, version, changes)
        thing.public = not thing.public
        self.model.settle(thing.owner)

    async def delete(self, thing: Thing) -> None:
        if thing.type is CARD:
            version = (await self.playbook.skill(thing.id, thing.owner)).version
            await self.playbook.delete_skill(writer(thing.owner), thing.id, version)
        else:
            _, version = await self.playbook.workflow_version(thing.id, thing.owner)
            await self.playbook.delete_workflow(writer(thing.owner), thing.id, version)
        del self.model.things[thing.id]
        if thing.type is FLOW:
            self.model.bin.append(thing)
        self.model.settle(thing.owner)

    async def restore(self) -> None:
        """Have something back from a bin, if anything is there."""
        if not self.model.bin:
            return
        thing = self.choose.one(self.model.bin)
        for other in set(PEOPLE) - {thing.owner}:
            with pytest.raises(ToolFailed, match="not found"):
                await self.kept.restore(writer(other), thing.id)
        await self.kept.restore(writer(thing.owner), thing.id)
        self.model.restore(thing)

    async def check_sight(self) -> None:
        """Compare what everyone sees."""
        for viewer in VIEWERS:
            for type in (FLOW, CARD, PROMPT):
                wanted = {each.id for each in self.model.of(type) if each.is_seen(viewer)}
                assert set(await self.playbook.matching(type, viewer)) == wanted
            for flow in self.model.of(FLOW):
                await self._check_flow(flow, viewer)
            for flow in self.model.bin:
                with pytest.raises(ToolFailed, match="not found"):
                    await self.playbook.workflow(flow.id, viewer)

    async def check_versions(self) -> None:
        """One version is always the same, and versions only grow."""
        for flow in self.model.of(FLOW):
            whole = await self.playbook.whole_workflow(flow.id, flow.owner)
            assert whole.version >= self.versions.get(flow.id, 1)
            self.versions[flow.id] = whole.version
            assert self.seen.setdefault((flow.id, whole.version), whole) == whole

    async def _check_flow(self, flow: Thing, viewer: Viewer) -> None:
        if not flow.is_seen(viewer):
            with pytest.raises(ToolFailed, match="Access denied"):
                await self.playbook.workflow(flow.id, viewer)
            return
        read = await self.playbook.workflow(flow.id, viewer)
        shown = [each.item for stage in read.stages for each in stage.items]
        assert [(each.id, each.content) for each in shown] == list(self._shown(flow, viewer))

    def _shown(self, flow: Thing, viewer: Viewer) -> Iterator[tuple[str, str]]:
        for id in flow.items:
            item = self.model.things.get(id)
            if item is not None and item.is_seen(viewer):
                yield id, item.words


def writer(person: str) -> Writer:
    return Writer(person, person, may_publish=True)


def _item(thing: Thing, words: str | None) -> StageItemDraft:
    if words is None:
        return StageItemDraft(Reference(thing.type, thing.id))
    return StageItemDraft(PromptDraft(name="Reworded", content=words, id=thing.id))


STEPS = st.lists(st.integers(0, 999), min_size=3, max_size=20)


@settings(max_examples=examples(20, ordinary=6), suppress_health_check=[*HealthCheck])
@given(st.lists(STEPS, min_size=8, max_size=20))
async def test_everyone_sees_what_they_should_after_any_history(
    playbook: Playbook, database: OwnedDatabase, steps: list[list[int]]
) -> None:
    async with database.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            await connection.execute(table.delete())
    history = History(playbook, Bin(database, playbook, timedelta(days=30)))
    for numbers in steps:
        await history.step(numbers)
        await history.check_versions()
    await history.check_sight()
