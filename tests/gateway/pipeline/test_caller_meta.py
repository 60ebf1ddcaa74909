"""Of what a client says beside its request, only what is for somebody else goes on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.pipeline.caller_meta import handed_on

SECRETS = (
    "authorization",
    "Authorization",
    "example.org/access_token",
    "apiKey",
    "x-api-key",
    "oauthToken",
    "cookie",
    "db-password",
    "example.org/token",
    "client_secret",
)


@pytest.mark.parametrize(
    "key",
    [
        "progressToken",
        "baggage",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/anything",
        "com.mcp.tools/x",
        "porch/redacted",
        *SECRETS,
    ],
)
def test_what_is_of_this_hop_of_ours_or_a_credential_stays_here(key: str) -> None:
    assert handed_on({key: "x"}) == {}


@pytest.mark.parametrize("key", ["example.org/topic", "traceparent", "author", "tokens_left", "a"])
def test_all_else_goes_on_as_it_is(key: str) -> None:
    assert handed_on({key: {"deep": [1, None, "x"]}}) == {key: {"deep": [1, None, "x"]}}


@given(st.sampled_from(SECRETS), st.lists(st.sampled_from(["a", "b"]), max_size=3))
def test_a_credential_stays_here_however_deep_it_is(key: str, path: list[str]) -> None:
    value: object = {key: "hunter2", "kept": 1}
    for each in path:
        value = [{each: value}]
    assert "hunter2" not in str(handed_on({"example.org/x": value}))


def test_nothing_of_what_is_too_large_goes_on() -> None:
    assert handed_on({"a": "x" * 9_000, "b": 1}) == {}
