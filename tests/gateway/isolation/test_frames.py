"""What crosses in parts comes out whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.isolation import frames
from gateway.isolation.frames import HEAD_BYTES, Joined, length, parts_of, read, written
from tests.examples import examples

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(max_size=300)
    | st.binary(max_size=300),
    lambda each: (
        st.lists(each, max_size=9) | st.dictionaries(st.text(max_size=9), each, max_size=9)
    ),
    max_leaves=60,
)


@settings(max_examples=examples(400))
@given(VALUES)
def test_a_value_is_the_same_after_crossing(value: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "PART_CHARACTERS", 60)
        joined = Joined()
        parts = parts_of(value)
        for part in [(frames.Part.VALUE, value)] if parts is None else parts:
            frame = written("part", 1, *part)
            assert length(frame[:HEAD_BYTES]) == len(frame) - HEAD_BYTES < 4_000
            kind, number, *held = read(frame[HEAD_BYTES:])
            assert (kind, number) == ("part", 1)
            joined.take(*held)
        assert joined.value() == value


def test_a_text_that_is_no_unicode_crosses_with_marks_in_it() -> None:
    assert read(written("answer", ["a\ud800"])[HEAD_BYTES:]) == ["answer", ["a?"]]


def test_a_frame_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="a frame of 4294967295 bytes"):
        length(b"\xff" * HEAD_BYTES)
