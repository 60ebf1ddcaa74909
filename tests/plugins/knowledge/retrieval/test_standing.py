"""What holds goes first, and the rest says why it does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import Tier
from plugins.knowledge.listing import ListFilters
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.note import Origin, Rules, parse
from plugins.knowledge.notes.paths import PATH_TYPES
from plugins.knowledge.retrieval.filters import SearchFilters
from plugins.knowledge.retrieval.names import Names
from plugins.knowledge.standing import Standings

TODAY = datetime.now(UTC)


def day(days: int) -> str:
    """A day so many days from now."""
    return f"{TODAY + timedelta(days=days):%Y-%m-%d}"


async def found(base, question: str = "bread", tier: Tier = Tier.MEMBERS, **filters):
    narrowed = SearchFilters.model_validate({"limit": 20} | filters)
    results = (await base.knowledge.search(question, narrowed, tier)).results
    return {one.id: one.standing.text if one.standing else "" for one in results}


async def test_a_document_says_what_stands_in_its_place_and_comes_behind_it(base, make) -> None:
    await base.put(
        make("practice/old", "Bread, bread and bread.", title="Bread", superseded_by="New way"),
        make("practice/new", "Rolls.", title="New way"),
    )
    seen = await found(base)
    assert list(seen) == ["new", "old"]
    assert seen == {"new": "", "old": "superseded by practice/new; held until 2024-10-16"}


async def test_nothing_is_said_to_have_ended_before_it_began(base, make) -> None:
    await base.put(
        make("practice/old", "Bread.", title="Bread", superseded_by="New", valid_from=day(-2)),
        make("practice/new", "Rolls of bread.", title="New", valid_from=day(-9)),
    )
    assert (await found(base))["old"] == "superseded by practice/new"


async def test_a_new_document_can_say_what_it_supersedes_by_name_path_or_link(base, make) -> None:
    named = ["[[Old bread]]", "pattern/rye", "practice/flat.md"]
    await base.put(
        make("practice/old", "Bread, bread.", title="Old bread"),
        make("pattern/rye", "Bread of rye, bread."),
        make("practice/flat", "Flat bread, bread."),
        make("practice/new", "Bread.", supersedes=named),
    )
    seen = await found(base)
    assert next(iter(seen)) == "new"
    assert [one for one, text in seen.items() if text.startswith("superseded by practice/new")] == [
        *list(seen)[1:]
    ]


async def test_a_successor_that_keeps_the_title_means_the_other_document(base, make) -> None:
    await base.put(
        make("practice/z-old", "Bread.", title="The fee"),
        make("practice/a-new", "Rolls.", title="The fee", supersedes=["The fee"]),
    )
    seen = await found(base, "the fee")
    assert list(seen) == ["a-new", "z-old"]
    assert seen["z-old"].startswith("superseded by practice/a-new")


async def test_of_several_of_one_name_the_one_in_the_same_folder_is_meant(base, make) -> None:
    here, there, new = (
        make(f"practice/{id}", "Bread.", title=title, **more).model_copy(update={"path": path})
        for id, title, path, more in (
            ("a", "Setup", "docs/bread/setup.md", {}),
            ("b", "Setup", "docs/cake/setup.md", {}),
            ("c", "New setup", "docs/cake/new.md", {"supersedes": ["Setup"]}),
        )
    )
    await base.put(here, there, new)
    seen = await found(base)
    assert (seen["a"], seen["b"].partition(";")[0]) == ("", "superseded by practice/c")


@pytest.mark.parametrize("field", ["supersedes", "contests"])
async def test_a_name_that_several_have_ends_none_of_them_and_the_author_is_asked(
    base, make, field: str
) -> None:
    await base.put(
        make("practice/a", "Bread.", title="Setup"),
        make("practice/b", "Bread.", title="Setup"),
        make("practice/c", "Bread.", title="New setup", **{field: ["Setup"]}),
    )
    assert set((await found(base)).values()) == {""}
    (asked,) = base.knowledge.standings.wanting_look(Tier.MEMBERS)
    assert (asked.entry.id, asked.cause) == ("c", "unclear")
    assert "several are called 'Setup'" in asked.reason


@pytest.mark.parametrize(
    "said",
    [
        {"supersedes": ["Wholly else"]},
        {"contests": ["Wholly else"]},
        {"verified_against": "Wholly else"},
    ],
)
async def test_a_document_that_speaks_of_none_asks_its_author(base, make, said) -> None:
    await base.put(make("practice/a", "Bread.", **said), make("practice/b", "Bread."))
    (asked,) = base.knowledge.standings.wanting_look(Tier.MEMBERS)
    assert (asked.entry.id, asked.cause) == ("a", "lost")
    assert asked.reason == "it says something of 'Wholly else', which is not here"
    assert set((await found(base)).values()) == {""}
    await base.put(make("practice/c", "Boats.", title="Wholly else"))
    assert "lost" not in {one.cause for one in base.knowledge.standings.wanting_look(Tier.MEMBERS)}


async def test_what_is_verified_against_other_things_asks_nobody(base, make) -> None:
    for against in ("https://example.org/a", "schema.yaml"):
        await base.put(make("practice/a", "Bread.", verified_against=against))
        assert not base.knowledge.standings.wanting_look(Tier.MEMBERS)


async def test_a_document_in_the_root_of_a_source_is_named_by_its_path(base, make) -> None:
    old = make("practice/old", "Bread, bread.", superseded_by="newer.md")
    new = make("practice/new", "Rolls.")
    await base.put(
        old.model_copy(update={"path": "old.md"}), new.model_copy(update={"path": "newer.md"})
    )
    assert (await found(base))["old"].startswith("superseded by practice/new")


async def test_the_end_of_a_chain_answers_also_where_the_question_did_not_find_it(
    base, make
) -> None:
    await base.put(
        make("practice/a", "Bread.", superseded_by="practice/b"),
        make("practice/b", "Cake.", superseded_by="practice/c"),
        make("practice/c", "Rolls."),
        *(make(f"practice/other{each}", "Boats.") for each in range(5)),
    )
    assert list(await found(base))[:3] == ["c", "b", "a"]
    assert "c" not in await found(base, group="bakers")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"valid_until": day(-3)}, f"held until {day(-3)}"),
        ({"valid_from": day(3)}, f"holds from {day(3)}"),
        ({"superseded_by": "practice/nowhere"}, "superseded"),
    ],
)
async def test_what_does_not_hold_now_says_so_and_comes_behind(base, make, fields, text) -> None:
    await base.put(make("practice/a", "Bread, bread.", **fields), make("practice/b", "Some bread."))
    seen = await found(base)
    assert (list(seen), seen["a"]) == (["b", "a"], text)


async def test_what_supersedes_from_a_later_day_on_ends_nothing_yet(base, make) -> None:
    await base.put(
        make("practice/a", "Bread.", superseded_by="practice/b"),
        make("practice/b", "Bread.", valid_from=day(9)),
    )
    assert await found(base) == {"a": "", "b": f"holds from {day(9)}"}


async def test_as_of_a_day_finds_what_held_then(base, make) -> None:
    await base.put(
        make("practice/old", "Bread.", date="2023-01-01"),
        make("practice/mid", "Bread.", date="2024-03-01", supersedes=["practice/old"]),
        make("practice/brief", "Bread.", date="2023-05-01", valid_until="2023-06-01"),
    )
    assert set(await found(base, asOf="2022-12-31")) == set()
    assert set(await found(base, asOf="2023-05-20")) == {"old", "brief"}
    assert set(await found(base, asOf="2024-02-29")) == {"old"}
    assert set(await found(base, asOf="2024-03-01")) == {"mid"}
    listed = base.knowledge.listed(ListFilters(as_of="2023-05-20"), "title", 0, 9, Tier.MEMBERS)
    assert [one.id for one in listed.documents] == ["brief", "old"]


async def test_what_is_superseded_by_a_document_that_is_gone_holds_at_no_day_from_today_on(
    base, make
) -> None:
    await base.put(
        make("practice/rule", "Bread.", superseded_by="practice/gone"),
        make("practice/old", "Bread.", superseded_by="practice/new"),
        make("practice/new", "Rolls."),
    )
    await base.remove("practice/new")
    for moment in (day(0), datetime.now(UTC).isoformat(), day(1)):
        assert list(await found(base, asOf=moment)) == []
        filters = ListFilters.model_validate({"asOf": moment})
        assert not base.knowledge.listed(filters, "title", 0, 9, Tier.MEMBERS).documents
    assert set(await found(base, asOf=day(-1))) == {"rule", "old"}


async def test_of_what_only_the_end_is_known_it_held_before(base, make) -> None:
    await base.put(make("practice/a", "Bread.", valid_until="2019-12-31"))
    assert await found(base) == {"a": "held until 2019-12-31"}
    assert list(await found(base, asOf="2018-01-01")) == ["a"]
    assert list(await found(base, asOf="2020-01-01")) == []


async def test_a_day_that_is_an_end_counts_whole(base, make) -> None:
    today = {"valid_from": day(0), "valid_until": day(0)}
    await base.put(
        make("practice/a", "Bread.", valid_until="2024-12-31"),
        make("practice/b", "Bread.", **today),
    )
    assert list(await found(base, asOf="2024-12-31")) == ["a"]
    assert list(await found(base, asOf="2025-01-01")) == []
    assert (await found(base))["b"] == ""
    assert list(await found(base, asOf=day(0))) == ["b"]
    asked = base.knowledge.standings.wanting_look(Tier.MEMBERS)
    assert [(one.entry.id, one.reason) for one in asked] == [("a", "it held until 2024-12-31")]


async def test_documents_in_a_circle_all_hold_and_ask_for_a_look(base, make) -> None:
    await base.put(
        make("practice/a", "Bread.", superseded_by="practice/b"),
        make("practice/b", "Bread.", superseded_by="practice/c"),
        make("practice/c", "Bread.", superseded_by="practice/a"),
        make("practice/self", "Bread.", superseded_by="practice/self"),
    )
    seen = await found(base)
    assert seen == {
        "a": "contested with practice/b",
        "b": "contested with practice/c",
        "c": "contested with practice/a",
        "self": "",
    }
    asked = base.knowledge.standings.wanting_look(Tier.MEMBERS)
    assert [one.entry.id for one in asked] == ["a", "b", "c", "self"]
    assert asked[0].reason == "it is superseded by practice/b, in a circle; nothing of that counts"


async def test_two_that_supersede_one_are_both_named(base, make) -> None:
    await base.put(
        make("practice/a", "Bread."),
        make("practice/b", "Bread.", supersedes=["practice/a"]),
        make("practice/c", "Bread.", supersedes=["practice/a"]),
    )
    seen = await found(base)
    assert list(seen)[-1] == "a"
    assert seen["a"].startswith("superseded by practice/b, practice/c;")


async def test_nobody_is_told_of_what_they_may_not_read(base, make) -> None:
    await base.put(
        make("practice/a", "Bread."),
        make("practice/b", "Bread.", tier=Tier.MEMBERS, supersedes=["practice/a"]),
    )
    assert await found(base, tier=Tier.OPEN) == {"a": ""}
    assert list(await found(base)) == ["b", "a"]


async def test_another_source_contests_and_ends_nothing(base, make) -> None:
    mine = make("practice/a", "Bread.").model_copy(update={"path": "ours/a.md"})
    theirs = make("practice/b", "Bread.", supersedes=["practice/a"])
    await base.put(mine, theirs.model_copy(update={"path": "theirs/b.md"}))
    knowledge = base.knowledge
    knowledge.standings._sources = frozenset({"ours", "theirs"})
    assert (await found(base))["a"] == "contested with practice/b"
    (asked,) = knowledge.standings.wanting_look(Tier.MEMBERS)
    assert (asked.entry.id, asked.reason) == ("a", "it is contested with practice/b")


async def test_who_contests_is_named_on_both(base, make) -> None:
    await base.put(
        make("practice/a", "Bread."), make("practice/b", "Bread.", contests=["practice/a"])
    )
    assert await found(base) == {"a": "contested with practice/b", "b": "contested with practice/a"}


async def test_a_document_says_how_long_nobody_has_looked_and_what_changed_since(
    base, make
) -> None:
    looked = {"verified_at": "2024-11-01", "verified_against": "practice/source"}
    await base.put(
        make("practice/a", "Bread.", **looked),
        make("practice/source", "Boats.", date="2024-11-01"),
    )
    days = (TODAY - datetime(2024, 11, 1, tzinfo=UTC)).days
    assert (await found(base))["a"] == f"not verified for {days} days"
    changed = "practice/source has changed since it was verified against it"
    await base.put(make("practice/source", "Boats.", date="2024-11-02"))
    assert (await found(base))["a"] == f"not verified for {days} days; {changed}"
    source = make("practice/source", "Ships.", date="2024-10-01")
    for day, says in (("2024-11-01T20:00Z", ""), ("2024-11-02T20:00Z", f"; {changed}")):
        moment = datetime.fromisoformat(day)
        await base.put(source.model_copy(update={"changed_at": moment}))
        assert (await found(base))["a"] == f"not verified for {days} days{says}"


async def test_a_document_whose_source_has_changed_asks_for_a_look(base, make) -> None:
    looked = {"verified_at": "2024-11-01", "verified_against": "practice/source"}
    await base.put(
        make("practice/a", "Bread.", **looked),
        make("practice/source", "Boats.", date="2024-11-02"),
    )
    (asked,) = base.knowledge.standings.wanting_look(Tier.MEMBERS)
    assert (asked.entry.id, asked.cause) == ("a", "source")
    assert asked.reason == "practice/source has changed since it was verified against it"


async def test_a_document_ends_few_however_many_it_says_to_supersede(base, make) -> None:
    everything = [f"practice/p{each}" for each in range(21)]
    await base.put(*(make(key, "Bread.") for key in everything))
    text = yaml.safe_dump({"publish": True, "type": "practice", "supersedes": everything})
    origin = Origin("all.md", "all.md", TODAY)
    note = parse(f"---\n{text}---\nBread.".encode(), origin, Rules(PATH_TYPES, {}))
    assert note.document is not None
    assert [each.reason for each in note.problems] == [
        "supersedes: it names 21 documents; 20 are the most; left out"
    ]
    await base.put(note.document)
    assert not [one for one in (await found(base)).values() if "superseded" in one]


async def test_a_type_with_an_age_marks_what_is_older(base, make) -> None:
    await base.put(make("practice/a", "Bread.", date="2024-12-31"))
    store, entry = base.knowledge.store, base.knowledge.store.entry("practice/a", Tier.MEMBERS)

    def told(days: int) -> str:
        now = datetime(2024, 12, 31, tzinfo=UTC) + timedelta(days=days)
        ages = {ContentType.RESOURCE: 400}
        standing = Standings(store, Names(store), (), ages, lambda: now).of(entry, Tier.MEMBERS)
        return standing.text if standing else ""

    assert (told(399), told(401)) == ("", "not verified for 401 days")


async def test_every_answer_about_a_document_says_it(base, make) -> None:
    await base.put(
        make("tag/old", "## Use\n\nBread.", title="Old", superseded_by="tag/new"),
        make("tag/new", "Bread. See [[Old]].", title="New"),
    )
    knowledge, tag = base.knowledge, ContentType.TAG
    whole = await knowledge.answer(tag, "old", Tier.MEMBERS)
    section = await knowledge.section(tag, "old", "Use", Tier.MEMBERS)
    listed = knowledge.listed(ListFilters(), "title", 0, 9, Tier.MEMBERS).documents[1]
    term = (await knowledge.lexicon.define("old", Tier.MEMBERS)).entry
    (linked,) = (await knowledge.related(tag, "new", Tier.MEMBERS)).links
    for one in (whole, section, listed, term, linked):
        assert one.standing.superseded_by == ["tag/new"]
    assert '"standing"' not in (await knowledge.answer(tag, "new", Tier.MEMBERS)).model_dump_json()


async def test_a_reranker_does_not_bring_back_what_is_superseded(open_base, word_embedder, make):
    class Likes:
        model = "likes"

        async def scores(self, question, passages):
            return [1.0 if "old" in one else 0.5 for one in passages]

    base = await open_base(embedder=word_embedder(), reranker=Likes())
    await base.put(
        make("practice/old", "Bread of old.", superseded_by="practice/new"),
        make("practice/new", "Bread."),
    )
    assert list(await found(base)) == ["new", "old"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(named=st.lists(st.integers(0, 7), max_size=8), by=st.lists(st.integers(0, 7), max_size=8))
async def test_whatever_is_claimed_every_document_is_found_once(base, make, named, by) -> None:
    documents = [
        make(
            f"practice/p{each}",
            "Bread.",
            supersedes=[f"practice/p{other}" for other in named if (other + each) % 3 == 0],
            superseded_by=f"practice/p{by[each]}" if each < len(by) else None,
        )
        for each in range(8)
    ]
    await base.knowledge.store.put(documents)
    if await base.knowledge.index.collection.count([]) == 0:
        await base.put(*documents)
    seen = await found(base)
    assert sorted(seen) == sorted(one.id for one in documents)
    ended = [one for one, text in seen.items() if "superseded" in text]
    assert list(seen)[len(seen) - len(ended) :] == ended
