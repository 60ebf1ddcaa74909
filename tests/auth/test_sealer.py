"""Sealed texts: nobody else makes, changes, moves or keeps one."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth.sealer import BadSeal, Sealer
from tests.auth.clocks import Clock

KEY = b"k" * 32
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sealer(clock: Clock) -> Sealer:
    return Sealer(KEY, "consent", clock)


@given(payload=st.dictionaries(st.text(), json_values, max_size=4), bound_to=st.text())
def test_what_is_sealed_is_opened_with_what_it_is_bound_to(payload, bound_to):
    sealer = Sealer(KEY, "consent")
    sealed = sealer.seal(payload, 60, bound_to)
    assert sealer.open(sealed, bound_to) == payload
    with pytest.raises(BadSeal):
        sealer.open(sealed, bound_to + "x")


@given(place=st.integers(0), character=st.characters())
def test_a_changed_character_breaks_the_seal(place, character):
    sealer = Sealer(KEY, "consent")
    sealed = sealer.seal({"scope": "public"}, 60)
    place %= len(sealed)
    changed = sealed[:place] + character + sealed[place + 1 :]
    if changed != sealed:
        with pytest.raises(BadSeal):
            sealer.open(changed)


@given(st.text(), st.text())
def test_any_other_text_is_refused(text, bound_to):
    with pytest.raises(BadSeal):
        Sealer(KEY, "consent").open(text, bound_to)


@pytest.mark.parametrize("text", ["", ".", "..", "\ud800", "a.\ud800", "é.é"])
def test_a_text_that_is_no_unicode_is_refused_like_any_other(sealer, text):
    with pytest.raises(BadSeal):
        sealer.open(text, text)


def test_what_a_text_is_bound_to_never_passes_for_its_body(sealer):
    white = base64.urlsafe_b64encode(b"   ").decode()
    for padding in ("", "x", "xx", "xxx"):
        body, _, signature = sealer.seal({"p": padding}, 60, white).partition(".")
        for joint in ("\0", ""):
            with pytest.raises(BadSeal):
                sealer.open(f"{body}{joint}{white}.{signature}")


def test_a_text_ends_with_its_lifetime(sealer, clock):
    sealed = sealer.seal({}, 60)
    clock.pass_(60)
    assert sealer.open(sealed) == {}
    clock.pass_(1)
    with pytest.raises(BadSeal, match="expired"):
        sealer.open(sealed)


def test_another_purpose_and_another_key_open_nothing(sealer, clock):
    sealed = sealer.seal({}, 60)
    for other in (Sealer(KEY, "nonce", clock), Sealer(b"x" * 32, "consent", clock)):
        with pytest.raises(BadSeal):
            other.open(sealed)
        assert other.mark("a") != sealer.mark("a")


def test_a_mark_is_no_seal_and_is_always_the_same(sealer):
    assert sealer.mark("a") == sealer.mark("a") != sealer.mark("b")
    body = sealer.seal({}, 60).partition(".")[0]
    with pytest.raises(BadSeal):
        sealer.open(f"{body}.{sealer.mark(body)}")
