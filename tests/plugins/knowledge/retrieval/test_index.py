"""What is embedded, what is kept, and what a search sees while things change."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import anyio
import pytest

from gateway.contract import Condition, Tier
from plugins.knowledge.retrieval.filters import SearchFilters

ANY = SearchFilters(limit=20)
LONG = "The quick brown fox jumps over the lazy dog and goes home again. " * 40


async def test_a_text_that_was_embedded_is_never_embedded_again(base, embedder, make) -> None:
    page = make("pattern/cells", "## One\n\nAlpha beta.\n\n" + LONG + "\n\n## Two\n\nGamma delta.")
    await base.put(page)
    before = len(embedder.read)
    await base.put(page)
    assert len(embedder.read) == before


async def test_an_edit_embeds_only_the_passages_that_changed(base, embedder, make) -> None:
    head = "## One\n\n" + "First section, long enough to stand alone. " * 15
    await base.put(make("pattern/cells", head + "\n\n## Two\n\nOld words."))
    embedder.read.clear()
    await base.put(make("pattern/cells", head + "\n\n## Two\n\nNew words."))
    assert len(embedder.read) == 1
    assert "New words." in embedder.read[0]


async def test_the_same_passage_in_another_document_is_not_embedded_again(
    base, embedder, make
) -> None:
    await base.put(make("pattern/a", "Same words.", title="Same"))
    before = len(embedder.read)
    await base.put(make("practice/a", "Same words.", title="Same"))
    assert len(embedder.read) == before


async def test_equal_passages_of_one_run_are_embedded_once(base, embedder, make) -> None:
    index = base.knowledge.index
    for number in range(4):
        await index.replace([make(f"pattern/p{number}", "Same words.", title="Same")])
    await index.finish()
    assert len(embedder.read) == len(set(embedder.read)) == 2


async def test_vectors_of_a_removed_document_are_forgotten(base, embedder, make) -> None:
    page = make("pattern/cells", "Alpha beta.")
    await base.put(page)
    await base.remove("pattern/cells")
    before = len(embedder.read)
    await base.put(page)
    assert len(embedder.read) == 2 * before


async def test_a_restart_embeds_nothing_again(open_base, word_embedder, make, tmp_path) -> None:
    first, second = word_embedder(), word_embedder()
    page = make("pattern/cells", LONG)
    base = await open_base(embedder=first)
    await base.put(page)
    vectors = base.host.database
    from plugins.knowledge.retrieval.embeddings import Embeddings
    from plugins.knowledge.retrieval.index import Index

    again = Index(base.knowledge.index.collection, second, Embeddings(vectors, second.model))
    await again.replace([page])
    await again.finish()
    assert first.read
    assert not second.read


async def test_a_lost_collection_is_noticed_and_filled_without_the_model(
    base, embedder, make
) -> None:
    from plugins.knowledge.retrieval.index import Index, collection_name

    page = make("pattern/cells", LONG)
    await base.put(page)
    read = len(embedder.read)
    same = await Index.open(replace(base.host, embedder=embedder))
    assert same.fingerprint == base.knowledge.index.fingerprint
    await base.host.vectors.drop(collection_name(embedder.model))
    anew = await Index.open(replace(base.host, embedder=embedder))
    assert anew.fingerprint != same.fingerprint
    await anew.replace([page])
    await anew.finish()
    assert await anew.collection.count() > 1
    assert len(embedder.read) == read


async def test_vectors_are_kept_in_postgresql_too(postgres_url, base, word_embedder, make) -> None:
    from gateway.services.database.service import open_database
    from plugins.knowledge.knowledge import MIGRATIONS
    from plugins.knowledge.retrieval.embeddings import Embeddings
    from plugins.knowledge.retrieval.index import Index

    service = open_database(postgres_url, base.host.data_dir)
    database = service.for_owner("knowledge")
    try:
        await database.migrate(MIGRATIONS)
        reads = []
        for _ in range(2):
            model = word_embedder()
            model.model = f"words of {base.host.data_dir}"[-255:]
            index = Index(base.knowledge.index.collection, model, Embeddings(database, model.model))
            await index.replace([make("pattern/kept-in-postgresql", LONG)])
            await index.finish()
            reads.append(len(model.read))
        await index.remove(["pattern/kept-in-postgresql"])
    finally:
        await service.close()
    assert reads[0] > 1
    assert reads[1] == 0


async def test_two_processes_keep_the_same_vectors_at_once(postgres, tmp_path) -> None:
    import numpy as np
    import sqlalchemy as sa

    from gateway.services.database.service import open_database
    from plugins.knowledge.knowledge import MIGRATIONS
    from plugins.knowledge.retrieval.embeddings import Embeddings

    service = open_database(postgres, tmp_path)
    database = service.for_owner("knowledge")
    waiting = sa.text(
        "SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    )
    row = "INSERT INTO knowledge_embeddings VALUES ('tag/dao', 'text', 'words', '')"
    kept = Embeddings(database, "words")
    try:
        await database.migrate(MIGRATIONS)
        async with database.begin() as other:
            await other.execute(sa.text(row))
            keeping = asyncio.create_task(kept.keep({"tag/dao": {"text": np.ones(1, np.float32)}}))
            with anyio.fail_after(60):
                while not (await other.execute(waiting)).scalar():
                    pass
        await keeping
        assert list(await kept.find(["text"])) == ["text"]
    finally:
        await service.close()


async def test_another_model_embeds_everything_anew(base, word_embedder, make) -> None:
    from plugins.knowledge.retrieval.embeddings import Embeddings
    from plugins.knowledge.retrieval.index import Index

    page = make("pattern/cells", "Alpha beta.")
    await base.put(page)
    other = word_embedder()
    other.model = "other words"
    kept = Embeddings(base.host.database, other.model)
    index = Index(base.knowledge.index.collection, other, kept)
    assert index.fingerprint != base.knowledge.index.fingerprint
    await index.replace([page])
    await index.finish()
    assert len(other.read) == 2


async def test_a_shorter_version_leaves_no_passage_behind(base, make) -> None:
    await base.put(make("pattern/cells", LONG))
    await base.put(make("pattern/cells", "Short."))
    collection = base.knowledge.index.collection
    assert await collection.count([Condition("key", any_of=("pattern/cells",))]) == 2


async def test_a_removed_document_is_not_found(base, make) -> None:
    await base.put(make("pattern/cells", "Autonomous cells."), make("pattern/hats", "Hats."))
    await base.remove("pattern/cells")
    found = await base.knowledge.search("autonomous cells", ANY, Tier.MEMBERS, floor=False)
    assert [result.id for result in found.results] == ["hats"]
    assert await base.knowledge.index.collection.count() == 2


async def test_the_last_of_several_versions_in_one_run_is_the_one_found(base, make) -> None:
    index, store = base.knowledge.index, base.knowledge.store
    for words in ("first", "second", "third"):
        page = make("pattern/cells", f"The {words} version.")
        await store.put([page])
        await index.replace([page])
    await index.finish()
    (result,) = (await base.knowledge.search("version", ANY, Tier.OPEN)).results
    assert result.passage == "The third version."


async def test_a_failure_is_told_at_the_end_and_what_follows_is_indexed(
    base, embedder, make, monkeypatch
) -> None:
    index = base.knowledge.index
    passages = embedder.passages

    async def full(texts):
        raise OSError("No space left on device")

    monkeypatch.setattr(embedder, "passages", full)
    await index.replace([make("pattern/a", "Alpha.")])
    with pytest.raises(OSError, match="No space left"):
        await index.finish()
    monkeypatch.setattr(embedder, "passages", passages)
    await base.put(make("pattern/b", "Beta."))
    assert await index.collection.count() == 2


async def test_without_a_model_words_are_indexed_and_searched(open_base, make) -> None:
    base = await open_base()
    await base.put(make("pattern/cells", "Autonomous cells decide."), make("pattern/hats", "Hats."))
    found = await base.knowledge.search("autonomous deciding", ANY, Tier.OPEN)
    assert [result.id for result in found.results] == ["cells"]
    assert found.mode == "keyword"
    assert "no embedding model" in found.note


async def test_what_is_taken_in_is_told_once_it_is_found(base, make) -> None:
    index, told = base.knowledge.index, list[str]()
    page = make("pattern/cells", "The word zyx stands here.")
    await index.replace([page], lambda: told.append("found"))
    assert told == []
    await index.finish()
    assert told == ["found"]
    assert await index.collection.count([Condition("key", any_of=(page.key,))])
