"""Headings are told apart in addresses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.anchors import UniqueNames, anchor


def test_headings_have_the_anchors_that_github_gives_them() -> None:
    assert anchor("Who pays, and when?") == "who-pays-and-when"
    assert anchor("सेवा (क्या है?)") == "सेवा-क्या-है"
    assert anchor("\u0e02\u0e49\u0e2d_1!") == "\u0e02\u0e49\u0e2d_1"


@given(st.lists(st.sampled_from(["a", "a-1", "a-2", "b", ""])))
def test_no_name_is_given_twice(said: list[str]) -> None:
    names = UniqueNames()
    given = [names.of(each) for each in said]
    assert len({*given}) == len(given)
    assert all(own.startswith(each) for own, each in zip(given, said, strict=True))
