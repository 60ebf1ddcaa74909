from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from gateway.repositories import Deliveries, Push, pushed
from gateway.services.cache import MemoryCache

SECRET = "the-webhooks-secret"
HEADERS = {"x-github-event": "push", "x-github-delivery": "7"}
BEFORE, AFTER = "1" * 40, "2" * 40
PUSH = {
    "ref": "refs/heads/main",
    "before": BEFORE,
    "after": AFTER,
    "forced": False,
    "repository": {"full_name": "Garden/Tools", "private": False},
    "commits": [
        {
            "id": AFTER,
            "message": "plant",
            "timestamp": "2026-11-22T03:00:00+01:00",
            "added": ["data/new.md"],
            "modified": ["data/fig.md"],
            "removed": ["data/old.md"],
        }
    ],
}


def deliveries() -> Deliveries:
    return Deliveries(SECRET, MemoryCache())


def signed(body: bytes, secret: str = SECRET) -> dict[str, str]:
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return HEADERS | {"x-hub-signature-256": f"sha256={signature}"}


def read(**changes: Any) -> Push:
    push = pushed(json.dumps(PUSH | changes).encode(), HEADERS)
    assert push is not None
    return push


@given(st.binary())
def test_only_the_shared_secret_signs_and_only_these_bytes(body: bytes) -> None:
    taken = deliveries()
    assert taken.verify(body, signed(body))
    assert not taken.verify(body + b" ", signed(body))
    assert not taken.verify(body, signed(body, "another"))


@pytest.mark.parametrize("signature", [None, "", "sha256=", "sha1=abc", "sha256=\udcff", "é"])
def test_what_is_no_signature_is_refused(signature: str | None) -> None:
    headers = {} if signature is None else {"x-hub-signature-256": signature}
    assert not deliveries().verify(b"{}", headers)


async def test_a_delivery_is_known_again_by_its_id_and_by_its_body() -> None:
    taken = deliveries()
    assert not await taken.is_replayed(b"one", {"x-github-delivery": "7"})
    assert await taken.is_replayed(b"another", {"x-github-delivery": "7"})
    assert await taken.is_replayed(b"one", {"x-github-delivery": "8"})
    assert not await taken.is_replayed(b"two", {"x-github-delivery": "9"})


def test_a_push_says_what_was_pushed_where() -> None:
    push = read()
    assert (push.repository, push.before, push.after) == ("Garden/Tools", BEFORE, AFTER)
    assert push.is_of("garden/tools", "main")
    assert not push.is_of("garden/tools", "other")
    assert not push.is_of("garden/other", "main")
    (commit,) = push.commits
    assert commit.timestamp == datetime(2026, 11, 22, 2, tzinfo=UTC)
    assert (commit.added, commit.modified) == (("data/new.md",), ("data/fig.md",))
    assert commit.removed == ("data/old.md",)


def test_a_tag_of_the_same_name_is_no_branch() -> None:
    assert not read(ref="refs/tags/main").is_of("garden/tools", "main")


def test_where_there_is_no_commit_none_is_named() -> None:
    assert read(before="0" * 40).before == ""
    assert read(after="0" * 40, commits=[]).after == ""


def test_any_other_event_is_none_of_ours() -> None:
    assert pushed(b"{}", {"x-github-event": "ping"}) is None
    assert pushed(b"{}", {}) is None


@pytest.mark.parametrize("delivery", ["", "x" * 101])
def test_a_delivery_has_an_id(delivery: str) -> None:
    with pytest.raises(ToolFailed, match="X-GitHub-Delivery"):
        pushed(json.dumps(PUSH).encode(), HEADERS | {"x-github-delivery": delivery})


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"payload=%7B%7D",
        b"[]",
        b"\xff",
        b'{"ref": "refs/heads/main", "repository": null}',
        b'{"repository": {"full_name": "a/b"}}',
        b'{"ref": 7, "repository": {"full_name": "a/b"}}',
        b"[" * 100_000,
        json.dumps(PUSH | {"commits": [{"id": "x", "timestamp": "yesterday"}]}).encode(),
        json.dumps(PUSH | {"commits": [{"id": "x", "added": {}}]}).encode(),
    ],
)
def test_what_is_no_push_is_refused(body: bytes) -> None:
    with pytest.raises(ToolFailed) as refused:
        pushed(body, HEADERS)
    assert refused.value.code == "bad_delivery"
