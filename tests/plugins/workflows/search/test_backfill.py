"""Items without a vector by the model in use get one, once, and whenever it is interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import func, select

from plugins.workflows.model import TargetType
from plugins.workflows.search.embedding import vector_from_bytes
from plugins.workflows.store.search_rows import SearchRows
from plugins.workflows.store.tables import skill_embeddings, workflow_embeddings
from tests.plugins.workflows.search.conftest import ANA, Opener, Replica
from tests.plugins.workflows.search.words_model import WordsModel


class Failing(WordsModel):
    """A model that reads so many texts and then fails, or waits for ever."""

    def __init__(self, texts: int, waits: bool = False) -> None:
        super().__init__()
        self.left = texts
        self.waits = waits
        self.reached = asyncio.Event()

    async def passages(self, texts: Sequence[str]) -> Any:
        self.left -= len(texts)
        if self.left < 0:
            self.reached.set()
            if self.waits:
                await asyncio.Event().wait()
            raise RuntimeError("out of memory")
        return await super().passages(texts)


async def embedded(replica: Replica, model: str = "words") -> int:
    """How many items have a vector by a model."""
    counted = 0
    async with replica.database.engine.connect() as connection:
        for table in (workflow_embeddings, skill_embeddings):
            which = (table.c.model == model, table.c.vector.is_not(None))
            counted += await connection.scalar(select(func.count()).where(*which)) or 0
    return counted


async def written(replica: Replica, count: int) -> None:
    """Write some workflows."""
    for number in range(count):
        await replica.add(f"Item {number}", description=f"About {number}.")


async def test_what_was_written_without_a_model_is_embedded_once(
    replica: Replica, wordless: Replica, model: WordsModel
) -> None:
    await written(wordless, 40)
    await wordless.add_card("Sharpen a chisel", content="Lay it on a wet stone.")
    assert await wordless.search.backfill() == 0
    assert await replica.search.backfill() == 41
    assert await embedded(replica) == 41
    read = len(model.read)
    assert await replica.search.backfill() == 0
    assert len(model.read) == read
    after = await replica.found("about the item 7")
    assert after.hits[0].summary.name == "Item 7"
    assert after.note is None


async def test_items_without_a_vector_are_found_by_their_words(
    replica: Replica, wordless: Replica
) -> None:
    await replica.add("Mend the roof", description="Put new tiles there.")
    await wordless.add("Feed the goat", description="Hay and water.")
    found = await replica.found("hay for the goat", limit=1)
    assert found.hits[0].summary.name == "Feed the goat"
    assert "no vector yet" in (found.note or "")


async def test_another_model_embeds_all_anew_and_does_not_compare_before(
    replica: Replica, open_replica: Opener
) -> None:
    await written(replica, 20)
    longer = open_replica(WordsModel("longer", dimensions=96))
    found = await longer.found("about the item 7")
    assert found.mode == "semantic"
    assert "no vector yet" in (found.note or "")
    assert await longer.search.backfill() == 20
    assert (await embedded(longer, "longer"), await embedded(longer)) == (20, 0)
    assert (await longer.found("about the item 7")).note is None


async def test_what_one_replica_embeds_the_other_compares(
    replica: Replica, other: Replica, wordless: Replica
) -> None:
    await written(wordless, 20)
    assert "no vector yet" in ((await other.found("item")).note or "")
    assert await replica.search.backfill() == 20
    assert (await other.found("item")).note is None


async def test_replicas_that_embed_at_once_do_no_harm(
    replica: Replica, other: Replica, wordless: Replica
) -> None:
    await written(wordless, 40)
    done = await asyncio.gather(replica.search.backfill(), other.search.backfill())
    assert sum(done) == 40
    assert await embedded(replica) == 40


@pytest.mark.parametrize("waits", [False, True], ids=["fails", "is cancelled"])
async def test_an_interrupted_one_keeps_what_is_done_and_the_next_goes_on(
    replica: Replica, wordless: Replica, open_replica: Opener, waits: bool
) -> None:
    await written(wordless, 40)
    failing = Failing(texts=20, waits=waits)
    work = asyncio.create_task(open_replica(failing).search.backfill())
    await failing.reached.wait()
    if waits:
        work.cancel()
    with pytest.raises(asyncio.CancelledError if waits else RuntimeError):
        await work
    done = await embedded(replica)
    assert 0 < done < 40
    assert await replica.search.backfill() == 40 - done


async def test_a_vector_of_an_older_text_is_not_kept(replica: Replica, wordless: Replica) -> None:
    id = await wordless.add("Mend the roof")
    rows = SearchRows(replica.database, TargetType.WORKFLOW)
    (lacking,) = await rows.lacking("words", "", 10)
    await wordless.playbook.edit_workflow(ANA, id, 1, {"name": "Mend the chair"})
    assert await rows.complete("words", [(*lacking, b"\0" * 256)]) == 0
    assert await embedded(replica) == 0


async def test_deleted_items_are_left_alone(replica: Replica, wordless: Replica) -> None:
    id = await wordless.add("Mend the roof")
    await wordless.playbook.delete_workflow(ANA, id, 1)
    assert await replica.search.backfill() == 0


async def test_the_vector_made_later_is_the_one_that_writing_makes(
    replica: Replica, wordless: Replica
) -> None:
    first = await replica.add("Mend the roof", description="Put new tiles there.")
    second = await wordless.add("Mend the roof", description="Put new tiles there.")
    await replica.search.backfill()
    rows = SearchRows(replica.database, TargetType.WORKFLOW)
    stored = await rows.read([first, second], "words")
    vectors = {each.id: vector_from_bytes(each.vector or b"") for each in stored}
    assert vectors[first].tolist() == vectors[second].tolist()
