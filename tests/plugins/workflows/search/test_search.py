"""Search finds what a viewer may see, by meaning and by words, as it is at that moment."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plugins.workflows.model import Complexity, TargetType, Visibility
from plugins.workflows.search.search import MAX_QUERY_CHARS
from plugins.workflows.store.library import Library
from plugins.workflows.store.queries import Filters
from tests.plugins.workflows.search.conftest import ANA, BEN, NOON, PRIVATE, Opener, Replica, names
from tests.plugins.workflows.search.words_model import WordsModel


class Failing(WordsModel):
    """A model that reads texts and no questions."""

    async def query(self, text: str) -> Any:
        raise RuntimeError("out of memory")


class Hanging(WordsModel):
    """A model that answers no question, now or ever."""

    async def query(self, text: str) -> Any:
        await asyncio.Event().wait()


async def three(replica: Replica, **fields: Any) -> None:
    await replica.add("Tidy the shed", description="Carry all out and sweep.", **fields)
    await replica.add("Walk the hound", description="Through the garden.", **fields)
    await replica.add("Mend the roof", description="Put new tiles there.", **fields)


async def test_a_task_is_compared_by_meaning(replica: Replica) -> None:
    await three(replica)
    found = await replica.found("take out the dog", limit=1)
    assert names(found) == ["Walk the hound"]
    assert (found.mode, found.note) == ("semantic", None)
    assert 0 < (found.hits[0].score or 0) < 1


async def test_what_is_far_from_the_task_is_no_answer_and_is_named(replica: Replica) -> None:
    await three(replica)
    found = await replica.found("tiles " + " ".join(f"zebra{number}" for number in range(64)))
    assert names(found) == []
    said = "Nothing here fits that. Nearest, though far from it: Mend the roof (mend-the-roof)"
    assert (found.note or "").startswith(said)


async def test_without_a_model_words_are_compared_and_the_answer_says_so(
    replica: Replica, wordless: Replica
) -> None:
    await three(replica)
    found = await wordless.found("sweeping in a garden")
    assert set(names(found)) == {"Tidy the shed", "Walk the hound"}
    assert found.mode == "text"
    assert "no embedding model" in (found.note or "")
    assert await wordless.names("zebra") == []


async def test_a_name_finds_its_item_first_with_a_score_of_one(
    replica: Replica, wordless: Replica
) -> None:
    await three(replica)
    for each in (replica, wordless):
        found = await each.found("MEND the roof!")
        assert (names(found)[0], found.hits[0].score) == ("Mend the roof", 1.0)


async def test_without_a_task_items_are_listed_by_name(replica: Replica) -> None:
    await three(replica)
    for query in (None, "", " \n\t\u2028 "):
        found = await replica.found(query)
        assert names(found) == ["Mend the roof", "Tidy the shed", "Walk the hound"]
        assert (found.mode, found.note) == (None, None)
        assert {hit.score for hit in found.hits} == {None}
    short = await replica.found(None, limit=2)
    assert names(short) == ["Mend the roof", "Tidy the shed"]
    assert "There are more" in (short.note or "")


async def test_stop_words_alone_are_compared_by_meaning_or_find_what_is_called_so(
    replica: Replica, wordless: Replica
) -> None:
    await three(replica)
    await replica.add("What to do")
    assert (await replica.found("what to do")).hits[0].summary.name == "What to do"
    assert (await replica.found("how is it")).mode == "semantic"
    assert await wordless.names("what to do") == ["What to do"]
    found = await wordless.found("how is it")
    assert found.hits == ()
    assert "no word in it" in (found.note or "")


async def test_a_very_long_question_is_read_from_its_beginning_and_the_answer_says_so(
    replica: Replica, wordless: Replica
) -> None:
    await three(replica)
    for each in (replica, wordless):
        found = await each.found("mend the roof " * 20 + "zebra stripes " * 10_000, limit=1)
        assert names(found) == ["Mend the roof"]
        assert str(MAX_QUERY_CHARS) in (found.note or "")


@pytest.mark.parametrize("query", ["roof\x00tiles", "\ud800 roof", "roof' OR 1=1 --", "%roof_\\"])
async def test_no_character_of_a_question_does_harm(
    replica: Replica, wordless: Replica, query: str
) -> None:
    await three(replica)
    for each in (replica, wordless):
        assert "Mend the roof" in await each.names(query)


@pytest.mark.parametrize("model", [Failing, Hanging])
async def test_a_model_that_fails_leaves_words_and_the_answer_says_so(
    replica: Replica,
    open_replica: Opener,
    model: type[WordsModel],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plugins.workflows.search.search.EMBED_TIMEOUT_S", 0.1)
    await three(replica)
    found = await open_replica(model()).found("new tiles", limit=1)
    assert names(found) == ["Mend the roof"]
    assert found.mode == "text"
    assert "did not answer" in (found.note or "")


async def test_filters_leave_what_has_all_tags_and_the_size(
    replica: Replica, wordless: Replica
) -> None:
    await replica.add("Mend the roof", tags=("house", "high"), complexity=Complexity.L)
    await replica.add("Mend the chair", tags=("house",), complexity=Complexity.S)
    await replica.add("Mend the bike", tags=("road",), complexity=Complexity.S)
    for each in (replica, wordless):
        assert set(await each.names("mend", tags=("house",))) == {"Mend the roof", "Mend the chair"}
        assert await each.names("mend", tags=("house", "high")) == ["Mend the roof"]
        assert await each.names("mend", complexity=Complexity.S, tags=("road",)) == [
            "Mend the bike"
        ]
        assert await each.names("mend", tags=("sea",)) == []
        listed = await each.found(None, complexity=Complexity.S)
        assert names(listed) == ["Mend the bike", "Mend the chair"]
        assert "There are more" in (
            (await each.found(None, complexity=Complexity.S, limit=1)).note or ""
        )


async def test_scopes_are_ones_own_and_ones_library(replica: Replica) -> None:
    mine = await replica.add("Mend the roof", visibility=PRIVATE)
    kept = await replica.add("Mend the chair", BEN)
    await replica.add("Mend the bike", BEN)
    library = Library(replica.database, lambda: NOON)
    await library.add(ANA.person, kept, TargetType.WORKFLOW)
    found = await replica.found("mend", ANA.person, scope="mine")
    assert [hit.summary.id for hit in found.hits] == [mine]
    assert await replica.names("mend", ANA.person, scope="library") == ["Mend the chair"]
    assert await replica.names(None, ANA.person, scope="library") == ["Mend the chair"]
    assert len(await replica.names("mend", ANA.person)) == 3


async def test_cards_are_found_apart_from_workflows(replica: Replica, wordless: Replica) -> None:
    await replica.add("Mend the roof")
    await replica.add_card("Sharpen a chisel", content="Lay it flat on the wet stone.")
    for each in (replica, wordless):
        found = await each.search.skills("a wet stone", None, Filters(), 10)
        assert names(found) == ["Sharpen a chisel"]
        assert names(await each.search.skills(None, None, Filters(), 10)) == ["Sharpen a chisel"]
        assert "Sharpen a chisel" not in await each.names("a wet stone")


async def test_another_owners_private_items_are_never_found(replica: Replica) -> None:
    await replica.add("Mend the roof", BEN, visibility=PRIVATE)
    await replica.add("Mend the chair", ANA)
    assert await replica.names("Mend the roof", ANA.person) == ["Mend the chair"]
    assert await replica.names("Mend the roof") == ["Mend the chair"]
    assert (await replica.names("Mend the roof", BEN.person))[0] == "Mend the roof"


async def test_all_that_is_visible_is_found_among_many_private_ones(replica: Replica) -> None:
    for number in range(230):
        await replica.add("Mend the roof", BEN, visibility=PRIVATE, tags=(f"t{number}",))
    await replica.add("Mend the roof", ANA, visibility=PRIVATE)
    await replica.add("Mend the chair", ANA)
    assert await replica.names("Mend the roof", ANA.person) == ["Mend the roof", "Mend the chair"]
    assert await replica.names("Mend the roof", BEN.person, tags=("t229",)) == ["Mend the roof"]


async def test_what_one_replica_writes_the_other_finds_at_its_next_search(
    replica: Replica, other: Replica
) -> None:
    await three(replica)
    assert await other.names("sweep the shed", limit=1) == ["Tidy the shed"]
    id = await replica.add("Bake a cake")
    assert await other.names("bake", limit=1) == ["Bake a cake"]
    await replica.playbook.edit_workflow(ANA, id, 1, {"name": "Boil an egg"})
    assert await other.names("an egg", limit=1) == ["Boil an egg"]
    assert "Bake a cake" not in await other.names("Bake a cake")
    await other.playbook.edit_workflow(ANA, id, 2, {"visibility": PRIVATE})
    assert "Boil an egg" not in await replica.names("an egg")
    await other.playbook.delete_workflow(ANA, id, 3)
    assert "Boil an egg" not in await replica.names("an egg", ANA.person)


async def test_searches_at_the_same_time_read_the_index_once(
    replica: Replica, other: Replica
) -> None:
    await three(replica)
    found = await asyncio.gather(*(other.names("mend a roof", limit=1) for _ in range(30)))
    assert found == [["Mend the roof"]] * 30


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
async def test_a_search_that_is_given_up_leaves_the_next_one_whole(
    replica: Replica, other: Replica
) -> None:
    await three(replica)
    for steps in range(12):
        search = asyncio.create_task(other.names("mend a roof"))
        for _ in range(steps):
            await asyncio.sleep(0)
        search.cancel()
        await asyncio.wait([search])
    assert await other.names("mend a roof") == await replica.names("mend a roof")


async def test_what_others_keep_private_changes_no_score(
    replica: Replica, wordless: Replica
) -> None:
    await three(replica)
    queries = ("sweep with marmalade", "mend", "Tidy the shed", "dog")
    before = [[await each.found(query) for query in queries] for each in (replica, wordless)]
    await replica.add("Marmalade", BEN, visibility=Visibility.PRIVATE, description="marmalade dog")
    after = [[await each.found(query) for query in queries] for each in (replica, wordless)]
    assert after == before
