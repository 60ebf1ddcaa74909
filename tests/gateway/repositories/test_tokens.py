from __future__ import annotations

from gateway.repositories import is_plain


def test_a_token_that_cannot_stand_in_a_header_is_not_sent() -> None:
    assert is_plain("ghu_abc")
    for token in ("", "a b", "a\nb", "é", "x" * 600):
        assert not is_plain(token)
