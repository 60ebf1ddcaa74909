from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.repositories.tokens import is_plain
from plugins.skills_repo.credentials import PREFIXES, bearer_token


def encoded(token: str) -> str:
    return base64.urlsafe_b64encode(token.encode()).decode()


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_token_is_read_with_and_without_padding(prefix: str) -> None:
    for length in range(30, 40):
        token = prefix + "A" * length
        assert bearer_token(encoded(token)) == token
        assert bearer_token(encoded(token).rstrip("=")) == token


REFUSED = [
    ("", "not URL-safe Base64"),
    ("ghp_not+base64/", "not URL-safe Base64"),
    ("Z2hwX", "not URL-safe Base64"),
    ("Z2hw X0E", "not URL-safe Base64"),
    ("Z2hwX0FC====", "not URL-safe Base64"),
    ("Z2hwX0E==", "padding"),
    ("Z2hwX0F", "stray bits"),
    (encoded("ghs_" + "A" * 36), "GitHub token"),
    (encoded("hello"), "GitHub token"),
    (encoded("xghp_" + "A" * 36), "GitHub token"),
    (encoded("ghp_"), "characters that none has"),
    (encoded("ghp_abc\r\nx: y"), "characters that none has"),
    (encoded("ghp_é"), "characters that none has"),
    (encoded("ghp_" + "A" * 600), "not URL-safe Base64"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_no_token_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as refused:
        bearer_token(text)
    assert not text or text not in str(refused.value)


@given(st.text())
def test_anything_is_a_token_or_a_value_error(text: str) -> None:
    try:
        token = bearer_token(text)
    except ValueError:
        return
    assert token.startswith(PREFIXES)
    assert is_plain(token)
