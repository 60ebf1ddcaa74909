"""Who may read, write and delete at all is the admin's to say, whatever entries say themselves."""

from typing import Any

import pytest

from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.requests import CreateRequest, DeleteRequest, UpdateRequest
from plugins.knowledge.memory.rights.roles import Roles
from tests.plugins.knowledge.memory.conftest import ANA, BEN, Opener, World

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def reads(world: World, who: Any, id: str) -> None:
    await world.ask(who, "gate")


async def looks(world: World, who: Any, id: str) -> None:
    await world.memory.reader.metadata(id, who)


async def looks_back(world: World, who: Any, id: str) -> None:
    await world.memory.reader.history(id, who)


async def writes(world: World, who: Any, id: str) -> None:
    await world.memory.entries.create(
        CreateRequest.model_validate({"entry": {"content": "a"}}), who
    )


async def changes(world: World, who: Any, id: str) -> None:
    await world.keep(id, UpdateRequest.model_validate({"entry": {"content": "a"}}), who)


async def removes(world: World, who: Any, id: str) -> None:
    await world.memory.entries.delete(DeleteRequest(id=id), who)


@pytest.mark.parametrize(
    ("role", "audit_record"),
    [
        ("read", reads),
        ("read", looks),
        ("read", looks_back),
        ("write", writes),
        ("write", changes),
        ("delete", removes),
    ],
)
async def test_whoever_lacks_the_role_is_refused_and_whoever_has_it_is_not(
    open_world: Opener, role: str, audit_record: Any
) -> None:
    world = await open_world(roles=Roles.model_validate({role: ["members"]}))
    shared = {"policy": "shared", "allowed_teams": ["garden"]}
    kept = await world.remember(ANA, "The gate opens at nine.", shared)
    with pytest.raises(MemoryFailed, match="members") as refused:
        await audit_record(world, BEN, kept.id)
    assert refused.value.number is ErrorCode.FORBIDDEN
    await audit_record(world, ANA, kept.id)
