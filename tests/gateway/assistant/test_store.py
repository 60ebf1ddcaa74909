"""Conversations on each database: each is its person's alone, and ends with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.assistant.answers import AnswerStore
from gateway.assistant.conversation import Busy, NotTaken
from gateway.assistant.store import ConversationStore
from gateway.errors import NotFound
from gateway.observability import audit
from gateway.services.database.service import OwnedDatabase, open_database
from tests.migrated import Migrated


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migrated]:
    folder = tmp_path_factory.mktemp("migrated")
    with Migrated("gateway", audit.MIGRATIONS, folder) as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, migrated: Migrated, tmp_path: Path) -> str:
    if request.param == "sqlite":
        (tmp_path / "porch.db").write_bytes(migrated.file.read_bytes())
        return "sqlite"
    return migrated.on(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def database(address: str, tmp_path: Path) -> AsyncIterator[OwnedDatabase]:
    service = open_database(address, tmp_path)
    yield service.for_owner("gateway")
    await service.close()


@pytest.fixture
def store(database: OwnedDatabase) -> ConversationStore:
    return ConversationStore(database)


@pytest.fixture
def answers(database: OwnedDatabase) -> AnswerStore:
    return AnswerStore(database)


async def test_somebody_elses_conversation_is_unknown_to_every_read_and_write(
    store: ConversationStore, answers: AnswerStore
) -> None:
    turn = await store.ask("ann", "What is \0 this? " * 50, "run_1")
    id = turn.conversation
    for attempt in (
        store.get("bob", id),
        store.rename("bob", id, "mine"),
        store.delete("bob", id),
        store.ask("bob", "hello", "run_2", id),
        store.get("ann", "chat_\0"),
        answers.take("bob", turn.id, "run_2"),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await store.turn("bob", turn.id) is None
    assert await store.list("bob") == []
    await answers.stop("bob", turn.id)
    assert await answers.save(turn.id, "run_1", []) == "go on"
    kept = await store.get("ann", id)
    assert kept.turns[0].question == "What is \0 this? " * 50
    assert kept.title.endswith(" …")


async def test_one_run_writes_an_answer_and_who_was_overtaken_writes_no_more(
    store: ConversationStore, answers: AnswerStore
) -> None:
    turn = await store.ask("ann", "Why?", "run_1")
    with pytest.raises(Busy):
        await store.ask("ann", "And?", "run_2", turn.conversation)
    with pytest.raises(Busy):
        await answers.take("ann", turn.id, "run_2")
    assert await answers.save(turn.id, "run_1", [{"kind": "text", "text": "So"}], "[]") == "go on"
    assert not await answers.lapse(turn.id, 0)
    assert await answers.lapse(turn.id, 1)
    taken = await answers.take("ann", turn.id, "run_2")
    assert (taken.parts, taken.messages) == ([{"kind": "text", "text": "So"}], "[]")
    assert await answers.save(turn.id, "run_1", []) == "gone"
    assert not await answers.end(turn.id, "run_1", "done", [])
    await answers.stop("ann", turn.id)
    assert await answers.save(turn.id, "run_2", []) == "stop"
    assert await answers.end(turn.id, "run_2", "done", [])
    with pytest.raises(Busy):
        await answers.take("ann", turn.id, "run_3")


async def test_what_is_deleted_erased_or_old_is_gone_with_its_turns(
    store: ConversationStore, answers: AnswerStore
) -> None:
    first = await store.ask("ann", "One", "run_1")
    await store.ask("ann", "Two", "run_2")
    await store.ask("bob", "Three", "run_3")
    await store.delete("ann", first.conversation)
    assert await answers.save(first.id, "run_1", []) == "gone"
    assert sorted(await store.people()) == ["ann", "bob"]
    await store.erase("ann")
    await store.erase("ann")
    assert list(await store.people()) == ["bob"]
    now = store.clock()
    assert await store.forget(now - timedelta(days=1)) == 0
    assert await store.forget(now + timedelta(seconds=1)) == 1
    assert await store.list("bob") == []


async def test_titles_are_short_texts(store: ConversationStore) -> None:
    turn = await store.ask("ann", "Why?", "run_1")
    for wrong in ("", "  ", "a" * 121):
        with pytest.raises(NotTaken):
            await store.rename("ann", turn.conversation, wrong)
    await store.rename("ann", turn.conversation, " On\n reasons ")
    assert (await store.get("ann", turn.conversation)).title == "On reasons"
