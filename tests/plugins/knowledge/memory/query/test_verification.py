"""What was verified against a note says when that is not what it was then."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.contract import Caller, Tier
from plugins.knowledge.memory.model.errors import MemoryFailed
from plugins.knowledge.memory.model.validity import Verification
from plugins.knowledge.notes.documents import Document
from tests.plugins.knowledge.memory.conftest import ANA, BEN, NOON, World
from tests.plugins.knowledge.memory.query.test_standing import standings
from tests.plugins.knowledge.retrieval.conftest import document

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
LOCK = "The lock needs oil."
NOTE = document("practice/gate", "The gate opens at eight.", title="Gate")
LATER = {"commit_sha": "b2", "synced_at": NOTE.synced_at + timedelta(days=1)}


async def verified(world: World, note: Document = NOTE, policy: str = "private") -> str:
    """The id of an entry that is verified against a note."""
    await world.base.put(note)
    made = await world.remember(ANA, LOCK, policy)
    await world.memory.verify(made.id, ANA, f"note:{note.key}")
    assert await told(world) == ""
    return made.id


async def told(world: World, who: Caller = ANA) -> str:
    """What an answer says of the entry."""
    return standings(await world.ask(who, "lock oil"))[LOCK]


async def test_a_note_that_says_something_else_is_said_with_what_was_verified_by_it(
    world: World,
) -> None:
    await verified(world)
    await world.base.put(NOTE.model_copy(update={"content": "The gate opens at nine.", **LATER}))
    assert await told(world) == "its source has changed since"


async def test_a_verification_is_in_the_audit_log_by_the_name_that_it_has_everywhere(
    world: World,
) -> None:
    id = await verified(world)
    last, _ = await world.memory.entries.audit.of(id)
    assert (last.person, last.operation, last.outcome) == (ANA.person, "verify", "done")


async def test_a_note_that_was_never_there_verifies_nothing(world: World) -> None:
    made = await world.remember(ANA, LOCK)
    with pytest.raises(MemoryFailed, match="no note"):
        await world.memory.verify(made.id, ANA, "note:practice/none")


async def test_a_note_that_is_gone_is_said_until_it_is_back_as_it_was(world: World) -> None:
    id = await verified(world)
    await world.base.remove(NOTE.key)
    assert await told(world) == "its source is gone"
    assert [each.id for each in (await world.memory.review(ANA)).source_changed] == [id]
    dated = NOTE.metadata.model_copy(update={"date": NOON})
    await world.base.put(NOTE.model_copy(update={"metadata": dated, **LATER}))
    assert await told(world) == ""


async def test_a_note_that_one_may_not_read_is_not_said_to_be_gone(world: World) -> None:
    own = NOTE.model_copy(update={"tier": Tier.MEMBERS})
    await verified(world, own, "public")
    assert await told(world, BEN) == ""
    await world.base.remove(own.key)
    assert await told(world, BEN) == "its source is gone"


async def test_what_was_verified_before_digests_were_kept_is_compared_as_it_was(
    world: World,
) -> None:
    id = await verified(world, NOTE.model_copy(update={"commit_sha": "a1"}))
    former = Verification(at=NOON, by="person:ana", against=f"note:{NOTE.key}", version="a1")
    assert await world.memory.entries.writes.verify(id, 1, former)
    assert await told(world) == ""
    await world.base.put(NOTE.model_copy(update=LATER))
    assert await told(world) == "its source has changed since"


async def test_what_a_note_said_is_told_to_nobody(world: World) -> None:
    await verified(world)
    (result,) = (await world.ask(ANA, "lock oil", layer={"types": ["semantic"]})).results
    assert result.entry.verified is not None
    assert result.entry.verified.digest
    assert "digest" not in result.model_dump_json()
