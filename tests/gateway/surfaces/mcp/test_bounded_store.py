"""What is kept stays within its bounds, whoever keeps how much."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.surfaces.mcp.bounded_store import Bound, Room

EACH, ALL = Bound(4, 50), Bound(8, 100)

steps = st.lists(
    st.tuples(
        st.sampled_from(["begin", "add", "add", "add", "touch", "forget", "wait"]),
        st.integers(0, 2),
        st.integers(0, 3),
        st.integers(0, 60),
    ),
    max_size=60,
)


@given(steps)
def test_nobody_has_more_than_their_bound_nor_all_together(taken: list[tuple[str, int, int, int]]):
    now = 0.0
    room = Room(EACH, ALL, lifetime=10, clock=lambda: now)
    known: dict[str, Bound] = {}
    for what, owner, number, size in taken:
        name = f"{owner}/{number}"
        if what == "wait":
            now += size
        elif what == "begin" and name not in room:
            room.begin(str(owner), name)
            known[name] = Bound(0, 0)
        elif what == "touch":
            room.touch(name)
        elif what == "forget":
            room.forget(name)
        elif what == "add":
            if name in room:
                known[name] = Bound(known[name].parts + 1, known[name].bytes + size)
            for gone in room.add(name, size):
                assert gone.size == known[gone.name], "its parts are told, so that they can go"
                assert gone.name not in room
        held = {each: known[each] for each in known if each in room}
        assert room.used == Bound(
            sum(each.parts for each in held.values()), sum(each.bytes for each in held.values())
        )
        assert room.used.parts <= ALL.parts
        assert room.used.bytes <= ALL.bytes
        for one in "012":
            owned = [held[each] for each in room.of(one)]
            assert sum(each.parts for each in owned) <= EACH.parts
            assert sum(each.bytes for each in owned) <= EACH.bytes


def test_what_was_touched_longest_ago_goes_first_and_the_owners_own_before_others():
    room = Room(EACH, ALL, lifetime=10)
    for name in ("a/1", "b/1", "a/2"):
        room.begin(name[0], name)
        assert room.add(name, 20) == []
    assert [each.name for each in room.add("a/2", 20)] == ["a/1"]
    room.begin("c", "c/1")
    assert [each.name for each in room.add("c/1", 45)] == ["b/1"]


def test_what_nobody_touched_for_a_lifetime_is_counted_no_more():
    now = 0.0
    room = Room(EACH, ALL, lifetime=10, clock=lambda: now)
    room.begin("a", "a/1")
    room.begin("a", "a/2")
    room.add("a/1", 20)
    now = 8.0
    room.touch("a/2")
    now = 12.0
    room.add("a/2", 1)
    assert "a/1" not in room
    assert room.used == Bound(1, 1)
