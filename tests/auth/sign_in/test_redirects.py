from __future__ import annotations

import pytest

from auth.credentials import BadCredential
from auth.sign_in.redirects import returned_code


def test_the_code_of_an_answer_to_this_browser():
    assert returned_code({"state": "s", "code": "c"}, {"state": "s"}, "Example") == "c"


@pytest.mark.parametrize("remembered", [{}, {"state": ""}, {"state": None}, {"state": "other"}])
@pytest.mark.parametrize("query", [{}, {"state": ""}, {"state": "s"}])
def test_no_answer_counts_that_this_browser_did_not_ask_for(query, remembered):
    for more in [{"code": "c"}, {"error": "access_denied"}]:
        with pytest.raises(BadCredential, match="not begun in this browser"):
            returned_code({**query, **more}, remembered, "Example")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("access_denied", "You did not agree to sign in with Example"),
        ("server_error", "Example cannot sign anyone in right now"),
        ("invalid_scope", "Example refused the portal's request (invalid_scope)"),
        ("redirect_uri_mismatch", "An admin must look"),
        ("<b>your password?</b>", "an unknown error"),
    ],
)
def test_a_refusal_is_told_in_plain_words(error, words):
    query = {"state": "s", "error": error, "error_description": "<b>Enter your password</b>"}
    with pytest.raises(BadCredential) as refusal:
        returned_code(query, {"state": "s"}, "Example")
    assert words in refusal.value.reason
    assert "password" not in refusal.value.reason


def test_an_answer_without_a_code_is_none():
    with pytest.raises(BadCredential, match="no answer that can be used"):
        returned_code({"state": "s"}, {"state": "s"}, "Example")
