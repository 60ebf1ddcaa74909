"""What an entity is known by."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.model import EntityKind, entity_key, parse_key, shown_key

PART = st.text(st.characters(exclude_characters="\0"), max_size=12)
IDENTITY = st.tuples(
    PART, PART, st.sampled_from(EntityKind), PART, PART, st.integers(min_value=0, max_value=3)
)


@given(IDENTITY, IDENTITY)
def test_two_entities_have_one_key_only_where_all_of_them_is_the_same(
    one: tuple[str, str, EntityKind, str, str, int],
    other: tuple[str, str, EntityKind, str, str, int],
) -> None:
    assert (entity_key(*one) == entity_key(*other)) == (one == other)


def test_a_colon_in_a_path_does_not_make_two_entities_one() -> None:
    kind = EntityKind.FUNCTION
    assert entity_key("r", "a:b", kind, "c", "") != entity_key("r", "a", kind, "b:c", "")
    assert entity_key("r", "a", kind, "f", "()") != entity_key("r", "a", kind, "f", "()", 1)


@given(IDENTITY)
def test_a_key_is_shown_in_sixteen_digits_and_read_again(
    identity: tuple[str, str, EntityKind, str, str, int],
) -> None:
    key = entity_key(*identity)
    assert len(shown_key(key)) == 16
    assert parse_key(shown_key(key)) == key
