"""Another model under a full index: the old one answers until the new one is whole, by words alone
where its model cannot be had any more."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from gateway.contract import Tier
from gateway.toolkit.words import stem
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.points import points, prepare, spec
from plugins.knowledge.retrieval.succession import LAYOUT_4
from tests.plugins.knowledge.retrieval.conftest import WordEmbedder, opened

OPEN = SearchFilters()
NOTES = {"river": "The river floods in May.", "lunch": "Lunch is at noon."}


def notes(make: Callable[..., Any]) -> list[Any]:
    return [make(f"article/{id}", text) for id, text in NOTES.items()]


async def test_the_old_index_answers_until_the_new_one_is_whole(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    river, lunch = notes(make)
    async with opened(tmp_path, WordEmbedder(model="one")) as base:
        await base.put(river, lunch)
        before = base.knowledge.index.fingerprint
    async with opened(tmp_path, WordEmbedder(model="two")) as base:
        assert base.knowledge.index.fingerprint != before
        await base.knowledge.store.put([river, lunch])
        await base.knowledge.index.replace([river])
        await base.knowledge.index.finish()
        meanwhile = await base.knowledge.search("lunch", OPEN, Tier.OPEN)
        assert [one.id for one in meanwhile.results] == ["lunch"]
        assert meanwhile.mode == "keyword"
        assert "being made anew" in str(meanwhile.note)
        await base.put(lunch)
        after = await base.knowledge.search("lunch", OPEN, Tier.OPEN)
        assert [one.id for one in after.results][:1] == ["lunch"]
        assert (after.mode, after.note) == ("hybrid", None)


class Models:
    """Opens models by their names, and tells which are open."""

    def __init__(self, *models: WordEmbedder) -> None:
        self._models = {each.model: each for each in models}
        self.open: list[str] = []

    @asynccontextmanager
    async def __call__(self, name: str) -> AsyncGenerator[WordEmbedder | None]:
        found = self._models.get(name)
        if found is not None:
            self.open.append(name)
        yield found
        if found is not None:
            self.open.remove(name)


async def test_the_old_model_answers_by_meaning_until_the_new_one_has_made_all(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    river, lunch = notes(make)
    first = WordEmbedder(model="one", meanings={stem("inundations"): stem("floods")})
    models = Models(first)
    async with opened(tmp_path, first) as base:
        await base.put(river, lunch)
    new = WordEmbedder(model="two", dimensions=32)
    async with opened(tmp_path, new, other_model=models) as base:
        await base.knowledge.store.put([river, lunch])
        search = partial(base.knowledge.search, "inundations", OPEN, Tier.OPEN, floor=False)
        meanwhile = await search()
        assert meanwhile.results[0].id == "river"
        assert meanwhile.mode == "hybrid"
        assert "the one before answers" in str(meanwhile.note)
        given = await search(meaning=await new.query("lunch noon"))
        assert given.results[0].id == "river"
        assert models.open == ["one"]
        await base.put(river, lunch)
        after = await base.knowledge.search("river", OPEN, Tier.OPEN)
        assert (after.mode, after.note) == ("hybrid", None)
        await base.knowledge.index.look_after_replaced()
        assert models.open == []


async def test_an_index_of_another_layout_is_asked_by_words(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    river, lunch = notes(make)
    first = WordEmbedder(model="one")
    async with opened(tmp_path, first) as base:
        await base.put(river, lunch)
        file = base.host.data_dir / "index.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"layout": 4}))
    async with opened(tmp_path, WordEmbedder(model="two"), other_model=Models(first)) as base:
        await base.knowledge.store.put([river, lunch])
        found = await base.knowledge.search("river", OPEN, Tier.OPEN)
        assert ([one.id for one in found.results], found.mode) == (["river"], "keyword")


async def test_a_restart_in_between_goes_on_with_the_old_one(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    river, lunch = notes(make)
    async with opened(tmp_path, WordEmbedder(model="one")) as base:
        await base.put(river, lunch)
    for _ in range(2):
        async with opened(tmp_path, WordEmbedder(model="two", dimensions=32)) as base:
            await base.knowledge.store.put([river, lunch])
            found = await base.knowledge.search("river", OPEN, Tier.OPEN)
            assert [one.id for one in found.results] == ["river"]


async def test_the_old_index_answers_in_its_own_languages(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    german = make("article/fluss", "Die Häuser am Fluss werden im Frühling überflutet.", lang="de")
    async with opened(tmp_path, WordEmbedder(model="one")) as base:
        await base.put(german)
    async with opened(tmp_path, WordEmbedder(model="two")) as base:
        await base.knowledge.store.put([german])
        found = await base.knowledge.search("Häusern", OPEN, Tier.OPEN)
        assert [one.id for one in found.results] == ["fluss"]


async def test_the_old_collection_goes_once_the_new_one_answers(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    async with opened(tmp_path, WordEmbedder(model="one")) as base:
        await base.put(*notes(make))
    async with opened(tmp_path, WordEmbedder(model="two")) as base:
        await base.put(*notes(make))
        await base.knowledge.search("river", OPEN, Tier.OPEN)
    kept = [path.name for path in (tmp_path / "vectors").iterdir() if "notes" in path.name]
    assert len(kept) == 1


async def test_a_collection_that_was_given_up_half_filled_goes(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    river, lunch = notes(make)
    async with opened(tmp_path, WordEmbedder(model="one")) as base:
        await base.put(river, lunch)
    async with opened(tmp_path, WordEmbedder(model="two")) as base:
        await base.put(river)
    async with opened(tmp_path, WordEmbedder(model="one")) as base:
        await base.put(river, lunch)
        found = await base.knowledge.search("river", OPEN, Tier.OPEN)
        assert (found.mode, found.note) == ("hybrid", None)
    kept = [path.name for path in (tmp_path / "vectors").iterdir() if "notes" in path.name]
    assert len(kept) == 1


async def test_a_damaged_record_of_the_old_one_costs_only_the_old_one(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    async with opened(tmp_path, WordEmbedder(model="one")) as base:
        await base.put(*notes(make))
        (base.host.data_dir / "index.json").write_text("{")
    async with opened(tmp_path, WordEmbedder(model="two")) as base:
        await base.put(*notes(make))
        found = await base.knowledge.search("river", OPEN, Tier.OPEN)
        assert found.mode == "hybrid"


async def test_a_collection_whose_vectors_had_other_names_answers_until_then(
    tmp_path: Path, make: Callable[..., Any]
) -> None:
    river, lunch = notes(make)
    async with opened(tmp_path, WordEmbedder()) as base:
        await base.knowledge.store.put([river, lunch])
        dimensions = base.host.embedder.dimensions if base.host.embedder else 0
        former = await base.host.vectors.collection("notes-4", spec(dimensions, LAYOUT_4))
        made = [point for one in (river, lunch) for point in points(prepare(one), {})]
        await former.upsert(made)
        state = {"answers": "notes-4", "dimensions": dimensions, "replaced": ""}
        (base.host.data_dir / "index.json").write_text(json.dumps(state))
    async with opened(tmp_path, WordEmbedder()) as base:
        await base.knowledge.store.put([river, lunch])
        found = await base.knowledge.search("river", OPEN, Tier.OPEN)
        assert [one.id for one in found.results] == ["river"]
        assert found.mode == "keyword"
