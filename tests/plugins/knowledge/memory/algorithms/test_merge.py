from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.merge import Merged, merge

lines = st.lists(st.sampled_from(["one\n", "two\n", "three\n", "four\n"]), max_size=5)
values = st.none() | st.integers(0, 3)
versions = st.fixed_dictionaries(
    {"content": lines.map("".join)},
    optional={
        "tags": st.lists(st.sampled_from("abc"), unique=True).map(tuple),
        "custom": st.dictionaries(st.sampled_from(["content", "tags", "x"]), values),
        "title": values,
    },
)


@given(versions, versions, versions)
def test_which_side_is_which_makes_no_difference(
    base: dict[str, Any], one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert merge(base, one, other) == merge(base, other, one)


@given(versions, versions)
def test_a_side_that_changed_nothing_leaves_the_other_as_it_is(
    base: dict[str, Any], changed: dict[str, Any]
) -> None:
    assert merge(base, base, changed) == Merged(changed)


@given(versions, versions)
def test_what_both_changed_alike_is_taken_once(
    base: dict[str, Any], changed: dict[str, Any]
) -> None:
    assert merge(base, changed, changed) == Merged(changed)


@given(versions, versions, versions)
def test_a_field_that_one_side_alone_changed_is_that_sides(
    base: dict[str, Any], one: dict[str, Any], other: dict[str, Any]
) -> None:
    result = merge(base, one, other)
    missing = object()
    for name in base.keys() | one.keys() | other.keys():
        before, first, second = (each.get(name, missing) for each in (base, one, other))
        if before in (first, second):
            changed = second if first == before else first
            assert result.fields.get(name, missing) == changed
            assert name not in result.conflicts


@given(versions, versions, versions)
def test_what_is_in_conflict_keeps_the_value_of_the_base(
    base: dict[str, Any], one: dict[str, Any], other: dict[str, Any]
) -> None:
    result = merge(base, one, other)
    missing = object()
    for name in result.conflicts:
        outer, _, inner = name.partition(".")
        if inner:
            before = (base.get(outer) or {}).get(inner, missing)
            assert result.fields[outer].get(inner, missing) == before
        else:
            assert result.fields.get(outer, missing) == base.get(outer, missing)


@given(versions, versions, versions)
def test_tags_are_never_in_conflict_and_each_side_has_its_way(
    base: dict[str, Any], one: dict[str, Any], other: dict[str, Any]
) -> None:
    tags = set(merge(base, one, other).fields.get("tags", ()))
    before, first, second = (set(each.get("tags", ())) for each in (base, one, other))
    assert tags == (before & first & second) | (first - before) | (second - before)
    assert "tags" not in merge(base, one, other).conflicts


def test_text_is_merged_line_by_line() -> None:
    base = {"content": "a\nb\nc\nd\ne\n"}
    one = {"content": "A\nb\nc\nd\ne\n"}
    other = {"content": "a\nb\nc\nd\nE\n"}
    assert merge(base, one, other) == Merged({"content": "A\nb\nc\nd\nE\n"})


def test_the_same_line_changed_twice_is_a_conflict() -> None:
    base = {"content": "a\nb\n", "title": "t"}
    one = {"content": "a\nB\n", "title": "t"}
    other = {"content": "a\nbb\n", "title": "new"}
    result = merge(base, one, other)
    assert result == Merged({"content": "a\nb\n", "title": "new"}, frozenset({"content"}))


def test_custom_fields_are_merged_one_by_one() -> None:
    base = {"custom": {"a": 1, "b": 1, "c": 1}}
    one = {"custom": {"a": 2, "b": 2, "c": 1}}
    other = {"custom": {"a": 1, "b": 3, "d": 4}}
    result = merge(base, one, other)
    assert result == Merged({"custom": {"a": 2, "b": 1, "d": 4}}, frozenset({"custom.b"}))


def test_tags_keep_their_order_and_new_ones_follow_sorted() -> None:
    result = merge({"tags": ("z", "m")}, {"tags": ("z", "m", "c")}, {"tags": ("z", "m", "a")})
    assert result.fields["tags"] == ("z", "m", "a", "c")


@pytest.mark.parametrize("name", ["title", "confidence"])
def test_any_other_field_changed_differently_is_a_conflict(name: str) -> None:
    result = merge({name: 1}, {name: 2}, {name: 3})
    assert result == Merged({name: 1}, frozenset({name}))


def test_a_field_that_both_sides_add_differently_is_a_conflict_and_left_out() -> None:
    assert merge({}, {"title": "a"}, {"title": "b"}) == Merged({}, frozenset({"title"}))


def test_a_field_that_one_side_takes_out_is_gone() -> None:
    assert merge({"title": "a"}, {}, {"title": "a"}) == Merged({})
