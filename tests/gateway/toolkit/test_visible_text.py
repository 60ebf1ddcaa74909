"""What the eye does not see is named; what it sees stays as it is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit.visible_text import pieces, visible


@pytest.mark.parametrize(
    "unseen",
    [
        *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",  # bidi controls
        *"\u200e\u200f\u061c",  # bidi marks
        *"\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u115f\u3164\u2800",  # without a width
        *"\0\x07\x1b\x7f\x85\u2028\u2029\r\xa0\u2003",  # controls, ends of lines, other spaces
        *("\U000e0041", "\ufe0f", "\ud800", "\ue000"),  # tags, selectors, no characters
    ],
)
def test_what_cannot_be_seen_is_named(unseen: str) -> None:
    assert visible(f"a{unseen}b") == f"a[U+{ord(unseen):04X}]b"


@pytest.mark.parametrize("seen", ["plain", "Zürich", "日本語", "שלום", "مرحبا", "🌱", "a\n\tb c"])
def test_what_is_seen_stays(seen: str) -> None:
    assert visible(seen) == seen


@given(st.text())
def test_nothing_is_lost_and_nothing_unseen_is_left(text: str) -> None:
    shown = list(pieces(text))
    back = "".join(chr(int(each[3:-1], 16)) if named else each for each, named in shown)
    assert back == text
    left = set("".join(each for each, named in shown if not named)) - set("\n\t ")
    assert not {unicodedata.category(each) for each in left} & {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
