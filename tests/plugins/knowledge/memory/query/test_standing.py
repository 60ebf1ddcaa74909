"""What holds comes first, and the rest says why it may not."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway.contract import Tier
from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.record import UPKEEP
from plugins.knowledge.memory.model.requests import CreateRequest, RelationDraft
from plugins.knowledge.memory.model.responses import CreateResponse, QueryResponse
from plugins.knowledge.memory.model.validity import Relation, Validity
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.retrieval.filters import SearchFilters
from tests.plugins.knowledge.memory.conftest import ANA, BEN, CY, NOON, World
from tests.plugins.knowledge.retrieval.conftest import document

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]
SHARED = {"policy": "shared", "allowed_teams": ["garden"]}


async def write(world: World, content: str, who: Any = ANA, **entry: Any) -> CreateResponse:
    request = CreateRequest.model_validate({"entry": {"content": content, **entry}})
    return await world.memory.governed.create(request, who)


async def relate(
    world: World, entry: KnowledgeEntry, kind: str, target: KnowledgeEntry, who: Any = ANA
) -> Any:
    draft = RelationDraft(kind=Relation(kind), target=target.id)
    return await world.memory.governed.relate(entry.id, draft, who)


def contents(answer: QueryResponse) -> list[str]:
    return [each.entry.content for each in answer.results]


def standings(answer: QueryResponse) -> dict[str, str]:
    return {
        each.entry.content: "" if each.standing is None else each.standing.text
        for each in answer.results
    }


async def test_what_seems_to_replace_an_entry_is_named_and_goes_first(world: World) -> None:
    old = await write(world, "The code of the gate is 1111.")
    new = await write(world, "The code of the gate is 2222.")
    (near,) = new.near
    assert (near.id, near.seems) == (old.entry.id, Relation.SEEMS_TO_REPLACE)
    assert near.why == "the same thing has another value"
    answer = await world.ask(ANA, "code of the gate 1111")
    assert contents(answer)[0] == "The code of the gate is 2222."
    assert standings(answer)[old.entry.content] == f"seems replaced by {new.entry.id}"


async def test_what_seems_to_replace_an_entry_and_answers_far_less_stays_behind(
    world: World,
) -> None:
    old = (await write(world, "The projector stands in the office.")).entry
    new = (await write(world, "Spare keys moved from the office to the reception desk.")).entry
    store = world.memory.entries.relations.store
    async with world.host.database.begin() as connection:
        await store.add_in(connection, new.id, [(old.id, Relation.SEEMS_TO_REPLACE)], UPKEEP)
    answer = await world.ask(ANA, "Where does the projector stand?")
    assert contents(answer)[0] == old.content
    assert standings(answer)[old.content] == f"seems replaced by {new.id}"


@pytest.mark.parametrize(
    ("kind", "word"), [("supersedes", "superseded"), ("corrects", "corrected")]
)
async def test_the_writer_decides_and_answers_say_so(world: World, kind: str, word: str) -> None:
    old = (await write(world, "The code of the gate is 1111.")).entry
    new = (await write(world, "The code of the gate is 2222.")).entry
    assert (await relate(world, new, kind, old)).status == "done"
    answer = await world.ask(ANA, "code of the gate 1111")
    assert contents(answer) == [new.content, old.content]
    standing = answer.results[1].standing
    assert standing is not None
    assert not standing.holds
    assert f"{word} by {new.id}" in standing.text
    assert answer.results[0].standing is None


@pytest.mark.parametrize("layer", ["episodic", "organization", "procedural", "user"])
async def test_what_stands_in_another_layer_is_compared_as_well(world: World, layer: str) -> None:
    old = (await write(world, "The code of the gate is 1111.")).entry
    request = {"entry": {"content": "The code of the gate is 2222."}}
    options = {"options": {"layer": {"type": layer}}}
    new = await world.memory.governed.create(CreateRequest.model_validate(request | options), ANA)
    assert [each.id for each in new.near] == [old.id]
    answer = await world.ask(ANA, "code of the gate 1111")
    assert standings(answer)[old.content] == f"seems replaced by {new.entry.id}"


@pytest.mark.parametrize("kind", ["both_hold", "apart"])
async def test_what_was_decided_to_hold_as_well_is_not_marked(world: World, kind: str) -> None:
    old = (await write(world, "The code of the gate is 1111.")).entry
    new = (await write(world, "The code of the gate is 2222.")).entry
    await relate(world, new, kind, old)
    answer = await world.ask(ANA, "code of the gate 1111")
    assert contents(answer) == [old.content, new.content]
    assert set(standings(answer).values()) == {""}


async def test_a_successor_answers_although_it_shares_no_word_with_the_question(
    world: World,
) -> None:
    old = (await write(world, "Rosa waters the beds.")).entry
    new = await write(
        world, "Jonas has that duty.", relations=[{"kind": "supersedes", "target": old.id}]
    )
    assert await world.found(ANA, "Rosa waters the beds", mode="keyword") == [
        new.entry.content,
        old.content,
    ]


async def test_as_of_a_day_is_answered_with_what_held_then(world: World) -> None:
    old = (await write(world, "Tea costs 2 euros.", validity={"valid_from": "2026-01-01"})).entry
    new = {"validity": {"valid_from": "2026-02-01"}}
    await write(
        world,
        "Tea costs 3 euros.",
        relations=[{"kind": "supersedes", "target": old.id}],
        **new,
    )
    for day, held in (("2025-12-31", []), ("2026-01-15", ["2"]), ("2026-02-02", ["3"])):
        found = await world.found(ANA, "tea costs euros", filters={"as_of": day})
        assert [each.split()[2] for each in found] == held


async def test_what_has_ended_or_not_begun_stands_behind_what_holds(world: World) -> None:
    await write(world, "Open tea house at noon.", validity={"valid_until": "2026-02-01"})
    await write(world, "Open tea house at nine.", validity={"valid_from": "2026-05-01"})
    await write(world, "Open tea house at ten, said somebody who was there.")
    answer = await world.ask(ANA, "open tea house")
    assert "ten" in contents(answer)[0]
    assert sorted(standings(answer).values()) == [
        "",
        "held until 2026-02-01",
        "holds from 2026-05-01",
    ]


async def test_imports_say_when_they_were_written(world: World) -> None:
    made = await write(world, "An old letter.", created_at="2019-05-01T10:00:00Z")
    assert made.entry.created_at.year == 2019
    assert await world.found(ANA, "letter", filters={"created_before": "2020-01-01"})
    answer = await world.ask(ANA, "letter")
    assert "not verified for" in standings(answer)["An old letter."]
    await world.memory.verify(made.entry.id, ANA, "the letter itself")
    assert standings(await world.ask(ANA, "letter")) == {"An old letter.": ""}


async def test_a_clock_in_the_future_is_refused(world: World) -> None:
    with pytest.raises(MemoryFailed, match=r"created_at .* lies in the future"):
        await write(world, "From tomorrow.", created_at=str(NOON + timedelta(days=2)))


@given(st.datetimes(), st.datetimes())
def test_validity_never_ends_before_it_begins(one: Any, other: Any) -> None:
    begins, ends = sorted((one, other))
    given = {"valid_from": ends.isoformat(), "valid_until": begins.isoformat()}
    with pytest.raises(ValidationError, match="later than valid_from"):
        Validity.model_validate(given)


async def test_nothing_supersedes_in_a_circle(world: World) -> None:
    one, two, three = [
        (await write(world, f"The plan for bed {each} is beans.")).entry for each in "abc"
    ]
    await relate(world, two, "supersedes", one)
    await relate(world, three, "supersedes", two)
    with pytest.raises(MemoryFailed, match="in a circle"):
        await relate(world, one, "supersedes", three)
    with pytest.raises(MemoryFailed, match="itself"):
        await relate(world, one, "supersedes", one)
    assert contents(await world.ask(ANA, "plan for bed beans"))[0] == three.content


async def test_of_two_who_supersede_an_entry_the_second_hears_of_the_first(world: World) -> None:
    old, one, two = [(await write(world, f"Bed {each}.")).entry for each in ("old", "one", "two")]
    await relate(world, one, "supersedes", old)
    with pytest.raises(MemoryFailed, match=f"superseded already, by {one.id}") as failed:
        await relate(world, two, "supersedes", old)
    assert failed.value.number is ErrorCode.CONFLICT


async def test_nobody_ends_what_they_may_not_change(world: World) -> None:
    old = await world.remember(ANA, "The gate is blue.", "organization")
    new = await world.remember(CY, "The gate is green.", "organization")
    with pytest.raises(MemoryFailed, match="Say contests") as failed:
        await relate(world, new, "supersedes", old, CY)
    assert failed.value.number is ErrorCode.FORBIDDEN
    await relate(world, new, "contests", old, CY)
    answer = await world.ask(ANA, "gate blue")
    assert standings(answer)[old.content] == f"contested with {new.id}"
    (pair,) = [each for each in (await world.memory.review(ANA)).pairs if each.kind == "contests"]
    assert (pair.newer.id, pair.older.id) == (new.id, old.id)
    assert (await world.memory.review(CY)).pairs == []


async def test_where_others_see_it_a_person_decides(world: World) -> None:
    old = await world.remember(ANA, "The gate is blue.", "organization")
    new = await world.remember(ANA, "The gate is green.", "organization")
    asked = await relate(world, new, "supersedes", old)
    assert asked.status == "pending_approval"
    assert contents(await world.ask(CY, "gate is blue")).index(old.content) >= 0
    standing = standings(await world.ask(CY, "gate is blue"))[old.content]
    assert "superseded" not in standing
    await world.memory.approvals.decide(asked.approval_required.request_id, CY, approve=True)
    answer = await world.ask(CY, "gate is blue")
    assert contents(answer)[0] == new.content
    assert f"superseded by {new.id}" in standings(answer)[old.content]


async def test_a_new_entry_that_ends_what_others_read_waits_too(world: World) -> None:
    old = await world.remember(ANA, "The gate is blue.", SHARED)
    request = CreateRequest.model_validate(
        {
            "entry": {
                "content": "The gate is green.",
                "relations": [{"kind": "supersedes", "target": old.id}],
            },
            "options": {"access_policy": SHARED},
        }
    )
    made = await world.memory.governed.create(request, ANA)
    assert made.status == "pending_approval"
    assert standings(await world.ask(BEN, "gate is blue")) == {"The gate is blue.": ""}


async def test_a_mark_tells_nothing_of_an_entry_that_its_reader_may_not_see(world: World) -> None:
    old = await world.remember(ANA, "The gate is blue.", SHARED)
    new = await world.remember(ANA, "The gate is green.")
    await relate(world, new, "supersedes", old)
    theirs = await world.ask(BEN, "gate is blue")
    assert standings(theirs) == {"The gate is blue.": ""}
    assert new.id not in theirs.model_dump_json()
    assert contents(await world.ask(ANA, "gate is blue"))[0] == new.content


async def test_nothing_supersedes_everything(world: World) -> None:
    ids = [(await write(world, f"Plan number {each}.")).entry.id for each in range(25)]
    with pytest.raises(ValidationError, match="at most 20"):
        await write(
            world,
            "All plans are void.",
            relations=[{"kind": "supersedes", "target": each} for each in ids],
        )


async def test_what_was_true_before_can_be_said_anew(world: World) -> None:
    one = (await write(world, "The code of the gate is 1111.")).entry
    two = (await write(world, "The code of the gate is 2222.")).entry
    await relate(world, two, "supersedes", one)
    three = (await write(world, "The code of the gate is 1111.")).entry
    assert three.id != one.id
    assert (await world.ask(ANA, "code of the gate")).results[0].entry.id == three.id


async def test_a_note_says_that_another_stands_in_its_place(world: World) -> None:
    old = document("practice/gate", "The gate opens at eight.", title="Gate")
    said = {"superseded_by": "practice/door", "valid_until": NOON - timedelta(days=1)}
    old = old.model_copy(update={"metadata": old.metadata.model_copy(update=said)})
    await world.base.put(old)
    (result,) = (await world.ask(ANA, "gate opens")).results
    assert result.standing is not None
    assert not result.standing.holds
    assert result.standing.text == "superseded; held until 2026-02-28"
    await world.base.put(document("practice/door", "The door opens at nine.", title="Door"))
    found = {each.entry.id: each for each in (await world.ask(ANA, "gate opens")).results}
    assert list(found) == ["note:practice/door", "note:practice/gate"]
    standing = found["note:practice/gate"].standing
    assert standing is not None
    assert standing.superseded_by == ["note:practice/door"]
    assert standing.text.startswith("superseded by note:practice/door; held until ")


async def test_a_note_has_the_standing_that_the_knowledge_base_tells_of_it(world: World) -> None:
    looked: Any = {"verified_at": "2024-11-01", "verified_against": "practice/source"}
    await world.base.put(
        document("practice/one", "Compost is turned.", superseded_by="practice/two"),
        document("practice/two", "Compost rests.", superseded_by="practice/one"),
        document("practice/three", "Compost is sieved.", valid_until="2025-02-01", **looked),
        document("practice/source", "Soil.", date="2024-11-02"),
    )
    found = (await world.ask(ANA, "compost")).results
    told = {each.entry.id: each.standing for each in found if each.standing is not None}
    read = [await world.memory.reader.entry(id, ANA) for id in told]
    assert await world.memory.standing.of_each(read, caller_keys(ANA)) == told
    searched = await world.base.knowledge.search("compost", SearchFilters(), Tier.MEMBERS)
    assert {id: each.text for id, each in told.items()} == {
        f"note:{each.content_type}/{each.id}": each.standing.text.replace("prac", "note:prac")
        for each in searched.results
        if each.standing is not None
    }
    circle, ended = told["note:practice/one"], told["note:practice/three"]
    assert (circle.holds, circle.text) == (True, "contested with note:practice/two")
    assert (ended.holds, ended.source_changed) == (False, True)
    assert "; note:practice/source has changed since it was verified" in ended.text


async def test_who_leaves_is_named_by_no_relation_and_no_verification(world: World) -> None:
    old = await world.remember(ANA, "The gate is blue.", "organization")
    new = await world.remember(CY, "The gate is green.", "organization")
    await relate(world, new, "contests", old, CY)
    await world.memory.verify(old.id, CY)
    await world.memory.personal_data.erase(CY.person or "")
    assert CY.person not in await world.memory.personal_data.people()
    (result,) = (await world.ask(ANA, "gate blue")).results
    assert result.entry.verified is not None
    assert result.entry.verified.by == "former"
    assert result.standing is None


async def test_an_entry_that_is_forgotten_marks_nothing(world: World) -> None:
    old = (await write(world, "The code of the gate is 1111.")).entry
    new = (await write(world, "The code of the gate is 2222.")).entry
    await relate(world, new, "supersedes", old)
    await world.memory.entries.writes.forget([new.id])
    assert standings(await world.ask(ANA, "code of the gate")) == {old.content: ""}


async def test_the_newer_goes_first_where_it_says_as_much_of_the_subject(world: World) -> None:
    await write(world, "Igor is on call for the printers.")
    newer = await write(world, "Bea is on call for the printers this month.")
    assert newer.near == [] or newer.near[0].seems is None
    answer = await world.ask(ANA, "Who is on call for the printers?")
    assert contents(answer)[0] == newer.entry.content
    assert standings(answer)["Igor is on call for the printers."] == ""


async def test_the_newer_stays_behind_where_it_is_about_something_else(world: World) -> None:
    older = await write(world, "Igor is on call for the printers.")
    await write(world, "Bea is on call for the network and no more.")
    answer = await world.ask(ANA, "Who is on call for the printers?")
    assert contents(answer)[0] == older.entry.content


@pytest.mark.parametrize(
    "later",
    [
        "Responsibility for the member list went from Tomas to Ingrid.",
        "Tomas asked Ingrid to be responsible for the member list.",
    ],
)
async def test_what_names_the_value_before_goes_first_though_that_leads_to_it(
    world: World, later: str
) -> None:
    await write(world, "Tomas is responsible for the member list.")
    await write(world, later)
    answer = await world.ask(ANA, "Who is responsible for the member list?")
    assert contents(answer)[0] == later


async def test_what_is_said_later_of_another_property_stays_behind(world: World) -> None:
    earlier = "The index rebuild starts in the night."
    await write(world, earlier)
    await write(world, "The index rebuild writes a log.")
    answer = await world.ask(ANA, "When does the index rebuild start?")
    assert contents(answer)[0] == earlier


async def test_of_two_that_contest_each_other_both_are_marked(world: World) -> None:
    old = await world.remember(ANA, "The yearly fee is 40 euros.", SHARED)
    new = await world.remember(BEN, "The yearly fee is 60 euros.", SHARED)
    assert (await relate(world, new, "contests", old, BEN)).status == "done"
    told = {old.content: f"contested with {new.id}", new.content: f"contested with {old.id}"}
    assert standings(await world.ask(ANA, "yearly fee")) == told
    records = [await world.memory.reader.entry(each.id, ANA) for each in (old, new)]
    shown = await world.memory.standing.of_each(records, caller_keys(ANA))
    assert {id: each.text for id, each in shown.items()} == {
        old.id: told[old.content],
        new.id: told[new.content],
    }
    assert all(each.holds for each in shown.values())
    await relate(world, new, "both_hold", old, ANA)
    assert set(standings(await world.ask(ANA, "yearly fee")).values()) == {""}


async def test_what_contests_an_entry_is_unmarked_for_who_may_not_read_that_one(
    world: World,
) -> None:
    old = await world.remember(ANA, "The yearly fee is 40 euros.", SHARED)
    new = await world.remember(BEN, "The yearly fee is 60 euros.", "organization")
    await relate(world, new, "contests", old, BEN)
    assert standings(await world.ask(CY, "yearly fee")) == {new.content: ""}
