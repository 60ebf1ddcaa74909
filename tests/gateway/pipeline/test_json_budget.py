"""A JSON value that is made to fit stays one, with whole characters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.pipeline.json_budget import shorten, size

values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=30,
)


@given(values, st.integers(40, 400))
def test_what_is_shortened_has_the_same_shape_and_fits_where_it_can(value: Any, limit: int) -> None:
    short = shorten(value, limit)
    assert type(short) is type(value)
    if isinstance(value, Mapping):
        assert short.keys() == value.keys()
    if size(value) <= limit:
        assert short == value
    if isinstance(value, str):
        assert size(short) <= limit
        assert value.startswith(short.removesuffix("…"))


def test_long_lists_are_cut_where_their_texts_are_short() -> None:
    short = shorten({"name": "Big", "methods": [f"method_{n}" for n in range(500)]}, 300)
    assert short["name"] == "Big"
    assert short["methods"][0] == "method_0"
    assert 250 < size(short) <= 300
