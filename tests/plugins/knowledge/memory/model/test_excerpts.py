"""A long text is shown by its beginning, and says that it goes on."""

import pytest

from plugins.knowledge.memory.model.excerpts import beginning


@pytest.mark.parametrize(
    ("text", "shown"), [("", ""), ("four", "four"), ("five!", "five…"), ("água!", "água…")]
)
def test_what_is_cut_ends_in_a_sign(text: str, shown: str) -> None:
    assert beginning(text, 4) == shown
