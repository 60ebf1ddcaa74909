"""The index follows the database, in pieces, and is made anew when much of it is given up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import event, update

from plugins.workflows.model import TargetType
from plugins.workflows.search.index import Query
from plugins.workflows.search.index_sync import IndexSync
from plugins.workflows.store.sequence import next_value
from plugins.workflows.store.tables import workflow_embeddings
from tests.plugins.workflows.search.conftest import ANA, Replica
from tests.plugins.workflows.search.lessons import lessons, shelve
from tests.plugins.workflows.search.words_model import WordsModel


@dataclass
class Statements:
    """Counts what an engine is asked."""

    said: list[str] = field(default_factory=list)

    def watch(self, replica: Replica) -> None:
        engine = replica.database.engine.sync_engine

        @event.listens_for(engine, "before_cursor_execute")
        def heard(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
            self.said.append(statement)

    @property
    def selects(self) -> int:
        return sum(each.startswith("SELECT") for each in self.said)


def best(index: Any, words: str) -> list[str]:
    return [id for id, _ in index.best(Query.of(words, None), 10)]


async def test_where_nothing_changed_one_query_is_asked(replica: Replica) -> None:
    await replica.add("Mend the roof")
    following = IndexSync(replica.database, TargetType.WORKFLOW, None)
    first = await following.index()
    statements = Statements()
    statements.watch(replica)
    assert await following.index() is first
    assert statements.selects == 1


async def test_rows_of_one_transaction_are_read_in_pieces_and_none_is_missed(
    replica: Replica,
) -> None:
    await shelve(replica.database, list(lessons(450)))
    following = IndexSync(replica.database, TargetType.WORKFLOW, None)
    assert len(await following.index()) == 450


async def test_without_items_nothing_is_held(replica: Replica) -> None:
    index = await IndexSync(replica.database, TargetType.SKILL, WordsModel()).index()
    assert len(index) == 0


async def test_an_index_of_much_that_is_given_up_is_made_anew_and_finds_the_same(
    replica: Replica,
) -> None:
    await shelve(replica.database, list(lessons(400)))
    following = IndexSync(replica.database, TargetType.WORKFLOW, None)
    first = await following.index()
    for turn in range(3):
        async with replica.database.begin() as connection:
            text = workflow_embeddings.c.text
            changed = update(workflow_embeddings).values(
                text=text + f" turn{turn}", stamp=await next_value(connection)
            )
            await connection.execute(changed)
        await following.index()
    last = await following.index()
    assert last is not first
    assert len(last) == 400
    assert best(last, "turn0 turn2 cello") == best(first, "turn0 turn2 cello")


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
async def test_a_row_that_is_written_while_it_is_read_is_not_missed(replica: Replica) -> None:
    following = IndexSync(replica.database, TargetType.WORKFLOW, None)
    for number in range(5):
        id = await replica.add(f"Mend {number}")
        assert best(await following.index(), f"Mend {number}")[0] == id
        await replica.playbook.edit_workflow(ANA, id, 1, {"name": f"Paint {number}"})
        assert best(await following.index(), f"Paint {number}")[0] == id
