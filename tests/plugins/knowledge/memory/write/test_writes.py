"""Whatever is written on whichever surface: others read what rights and a yes cover."""

from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import Caller
from gateway.contract.jobs import Jobs
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.policy import AccessPolicyConfig, readers
from plugins.knowledge.memory.model.requests import BatchRequest, CreateRequest, UpdateRequest
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.tools.entries import tools
from tests.examples import examples
from tests.plugins.knowledge.memory.batches.conftest import Queue
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, DEE, World

pytestmark = pytest.mark.anyio
PEOPLE = [ANA, BEN, CY, DEE]
EVERYBODYS = {"organization", "public"}
POLICIES: list[dict[str, Any]] = [
    {"policy": "private"},
    {"policy": "restricted", "approved_users": ["person:cy"]},
    {"policy": "shared", "allowed_teams": ["garden"]},
    {"policy": "organization"},
    {"policy": "public"},
]
steps = st.tuples(
    st.sampled_from(["api", "batch", "tool", "update", "update", "approve"]),
    st.integers(0, 3),
    st.sampled_from(POLICIES),
)
_number = count()


@dataclass
class Written:
    """What was written under which policy, by its mark, and what somebody said yes to."""

    access: dict[str, AccessPolicyConfig] = field(default_factory=dict)
    entry: dict[str, str] = field(default_factory=dict)
    owner: dict[str, Caller] = field(default_factory=dict)
    agreed: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)

    def may_read(self, mark: str, who: Caller) -> bool:
        owner, access = self.owner[mark].person or "", self.access[mark]
        if who.person == owner:
            return True
        covered = access.policy not in EVERYBODYS or mark in self.agreed
        return covered and bool(caller_keys(who) & readers(owner, access))


async def write(world: World, written: Written, way: str, who: Caller, access: Any) -> None:
    """Write something new, or a new version of the writer's last entry."""
    mark, memory = f"quokka{next(_number)}", world.memory
    content = f"The {mark} sleeps."
    sent = {"entry": {"content": content}, "options": {"access_policy": access}}
    own = [each for each, owner in written.owner.items() if owner is who]
    id = written.entry[own[-1]] if own else ""
    status = ""
    if way == "update" and id:
        try:
            update = UpdateRequest.model_validate(sent)
            status = (await memory.governed.update(id, update, who)).status
        except MemoryFailed:  # its creation waits still
            return
    elif way == "batch":
        request = BatchRequest.model_validate({"operation": "create", "entries": [sent]})
        batches = replace(memory.batches, jobs=cast(Jobs, Queue()))  # it only queues
        batch = (await batches.submit(request, who)).operation_id
        await batches.work(batch)
        (item,) = (await batches.report(batch, who, 0, 1)).entries
        id, status = item.id, item.status
    elif way == "tool":
        tool = next(each for each in tools(memory) if each.name == "remember")
        assert tool.args is not None
        kept: Any = await tool.run(tool.args.model_validate({"content": content, **access}), who)
        id, status = kept.id, kept.status
    else:
        made = await memory.governed.create(CreateRequest.model_validate(sent), who)
        id, status = made.entry.id, made.status
    waits = access["policy"] in EVERYBODYS
    assert status == "pending_approval" if waits else status in {"created", "updated"}
    written.access[mark] = AccessPolicyConfig.model_validate(access)
    written.entry[mark], written.owner[mark] = id, who
    if not waits:
        written.done.add(mark)
        for each in PEOPLE:  # what is answered as done is read by those it names
            if written.may_read(mark, each):
                assert (await memory.reader.entry(id, each)).content == content


async def approve(world: World, written: Written, who: Caller) -> None:
    """Say yes to all that somebody may decide."""
    for each in await world.memory.approvals.visible_to(who):
        request = {} if each.payload is None else each.payload.request
        content = request.get("entry", {}).get("content", "")
        try:
            done = await world.memory.approvals.decide(each.id, who, approve=True)
        except MemoryFailed:
            continue
        if done.state == "approved":
            written.agreed |= {mark for mark in written.access if f"The {mark} " in content}


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(steps, min_size=1, max_size=6))
async def test_nobody_reads_what_neither_the_writers_rights_nor_a_yes_cover(
    world: World, steps: list[Any]
) -> None:
    written = Written()
    for way, which, access in steps:
        if way == "approve":
            await approve(world, written, PEOPLE[which])
        else:
            await write(world, written, way, PEOPLE[which], access)
    for who in PEOPLE:
        for mark, id in written.entry.items():
            said = str(await world.found(who, mark, mode="keyword"))
            try:
                said += str(await world.memory.reader.history(id, who))
            except MemoryFailed as refused:
                said += str(refused)
            if not written.may_read(mark, who):
                assert f"The {mark} " not in said, (who.name, mark, steps)
