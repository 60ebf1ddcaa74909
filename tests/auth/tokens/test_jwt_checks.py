from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth.credentials import BadCredential
from auth.tokens.jwt_checks import MAX_TOKEN_LENGTH, audiences, check_times, unverified

NOW = 1_800_000_000.0

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def encoded(value: Any) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@given(st.text() | st.from_regex(r"[\w-]*\.[\w-]*\.[\w-]*", fullmatch=True))
def test_whatever_is_sent_as_a_token_is_read_or_is_none(text: str):
    read = unverified(text)
    assert read is None or isinstance(read.claims, dict)


@given(json_values, json_values)
def test_only_two_objects_make_a_token(header: Any, claims: Any):
    read = unverified(f"{encoded(header)}.{encoded(claims)}.x")
    if read is not None:
        assert isinstance(header, dict)
        assert isinstance(claims, dict)
        for text in (read.issuer, read.kid, read.algorithm):
            assert text is None or isinstance(text, str)


def test_a_token_of_the_greatest_length_is_read_and_a_longer_one_is_not():
    start = f"{encoded({})}.{encoded({})}."
    assert unverified(start + "x" * (MAX_TOKEN_LENGTH - len(start))) is not None
    assert unverified(start + "x" * (MAX_TOKEN_LENGTH - len(start) + 1)) is None


@pytest.mark.parametrize("nested", ["[" * 5000, '{"a":' * 5000])
def test_deep_nesting_is_no_token(nested: str):
    part = urlsafe_b64encode(nested.encode()).rstrip(b"=").decode()
    assert unverified(f"{part}.{part}.x") is None


@given(json_values)
def test_a_token_ends_at_a_time_or_is_refused(exp: Any):
    try:
        end = check_times({"exp": exp}, NOW, 0, "token")
    except BadCredential:
        return
    assert isinstance(exp, int | float)
    assert not isinstance(exp, bool)
    assert NOW < end < float("inf")


@given(st.floats(0, 2**40), st.floats(0, 120), st.floats(-1000, 1000))
def test_a_token_is_good_until_its_end_and_the_skew(end: float, skew: float, late: float):
    claims = {"exp": end}
    if end + late >= end + skew:
        with pytest.raises(BadCredential, match="expired"):
            check_times(claims, end + late, skew, "token")
    else:
        assert check_times(claims, end + late, skew, "token") == end


@pytest.mark.parametrize(
    ("aud", "read"),
    [("a", ("a",)), (["a", "b"], ("a", "b")), (["a", 1, None], ("a",)), (None, ()), ({}, ())],
)
def test_an_audience_is_one_text_or_a_list(aud: Any, read: tuple[str, ...]):
    assert audiences({"aud": aud}) == read
