"""Working memory is small, whatever is written to it, and each caller's own."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.layers import working
from plugins.knowledge.memory.layers.working import IDLE_TIMEOUT_S, WorkingLayer
from plugins.knowledge.memory.model.entry import KnowledgeMetadata, KnowledgeSource, Layer
from plugins.knowledge.memory.model.policy import AccessPolicyConfig, person_key
from plugins.knowledge.memory.model.query_context import Question
from plugins.knowledge.memory.model.record import Record, new_id
from plugins.knowledge.memory.model.requests import Mode
from plugins.knowledge.memory.store.words import term_ids
from tests.plugins.knowledge.memory.conftest import NOON

pytestmark = pytest.mark.anyio


class Seconds:
    time = 0.0

    def __call__(self) -> float:
        return self.time


def record(owner: str, content: str, id: str = "") -> Record:
    return Record(
        id=id or new_id(),
        layer=Layer.WORKING,
        owner=owner,
        agent=None,
        content=content,
        metadata=KnowledgeMetadata(),
        source=KnowledgeSource(),
        access=AccessPolicyConfig(policy="public"),
        created=NOON,
        placed=NOON,
        used=NOON + timedelta(seconds=1),
    )


async def read(layer: WorkingLayer, one: Record, owner: str = "") -> bool:
    keys = frozenset({person_key(owner or one.owner)})
    return one.id in await layer.read([one.id], keys)


async def test_a_callers_oldest_entries_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "MAX_BYTES", 100_000)
    layer = WorkingLayer()
    entries = [record("ana", f"{number} " + "x" * 20_000) for number in range(5)]
    layer.put(entries)
    assert [await read(layer, each) for each in entries] == [False, False, False, True, True]
    assert layer.size <= 100_000


async def test_one_entry_is_kept_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "MAX_BYTES", 1000)
    monkeypatch.setattr(working, "MAX_TOTAL_BYTES", 1000)
    layer = WorkingLayer()
    large = record("ana", "x" * 5000)
    layer.put([large])
    assert await read(layer, large)
    layer.put([record("ana", "small")])
    assert not await read(layer, large)


async def test_who_was_away_longest_makes_room_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(working, "MAX_TOTAL_BYTES", 100_000)
    layer = WorkingLayer()
    ana, ben, cy = (record(name, "x" * 20_000) for name in ("ana", "ben", "cy"))
    layer.put([ana, ben])
    layer.put([record("ana", "still here")])
    layer.put([cy])
    assert [await read(layer, each) for each in (ana, ben, cy)] == [True, False, True]


async def test_what_nobody_uses_for_an_hour_is_gone_and_takes_no_memory() -> None:
    clock = Seconds()
    layer = WorkingLayer(clock)
    one = record("ana", "A note.")
    layer.put([one])
    clock.time = IDLE_TIMEOUT_S - 1
    assert layer.holds(one.id)
    assert not await read(layer, one, "ben")
    clock.time = IDLE_TIMEOUT_S
    assert not layer.holds(one.id)
    assert layer.take([one.id]) == layer.everything() == []
    assert layer.size == 0


PLANTS = ("rose", "tulip", "moss", "fern", "oak")


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 7), st.lists(st.sampled_from(PLANTS), max_size=4)), max_size=25
    ),
    asked=st.lists(st.sampled_from(PLANTS), min_size=1, max_size=3),
    limit=st.integers(1, 8),
)
async def test_a_search_answers_as_a_layer_that_never_held_anything_else_would(
    steps: list[tuple[int, list[str]]], asked: list[str], limit: int
) -> None:
    layer = WorkingLayer()
    for number, (place, words) in enumerate(steps):
        if words:  # also anew under an id that is there, with other words
            at = NOON + timedelta(seconds=number)
            layer.put([replace(record("ana", " ".join(words), f"ana/{place}"), updated=at)])
        else:
            layer.take([f"ana/{place}"])
    anew = WorkingLayer()
    anew.put(held := layer.everything())
    text = " ".join(asked)
    question = Question(text, Mode.KEYWORD, frozenset(), "ana", limit, term_ids(text))
    found = (await layer.search(question)).found
    assert found == (await anew.search(question)).found
    having = {each.id for each in held if set(asked) & set(each.content.split())}
    assert len(found) == min(limit, len(having))
    assert {one.id for one in found} <= having
    every = (await layer.search(replace(question, limit=100))).found
    assert list(found) == list(every)[:limit]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["put", "take", "forget", "late"]),
            st.sampled_from(["ana", "ben", "cy"]),
            st.integers(0, 5),
            st.integers(0, 3000),
        ),
        max_size=40,
    )
)
def test_whatever_happens_it_holds_no_more_than_it_may_and_counts_that_rightly(
    steps: list[tuple[str, str, int, int]],
) -> None:
    clock = Seconds()
    layer = WorkingLayer(clock)
    limits = {"MAX_ENTRIES": 3, "MAX_BYTES": 12_000, "MAX_TOTAL_BYTES": 20_000}
    for what, owner, place, size in steps:
        id = f"{owner}/{place}"
        with pytest.MonkeyPatch.context() as limited:
            for name, limit in limits.items():
                limited.setattr(working, name, limit)
            if what == "put":
                layer.put([record(owner, "x" * size, id)])
                assert layer.holds(id)
            elif what == "take":
                layer.take([id])
                assert not layer.holds(id)
            elif what == "forget":
                layer.forget(owner)
            else:
                clock.time += IDLE_TIMEOUT_S / 2
        held = layer.everything()
        alike = WorkingLayer(clock)
        alike.put(held)
        assert layer.size == alike.size
        owners = [each.owner for each in held]
        assert layer.size <= limits["MAX_TOTAL_BYTES"] or len(set(owners)) == 1
        assert all(owners.count(one) <= limits["MAX_ENTRIES"] for one in owners)
