from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import ToolFailed
from gateway.repositories import Deliveries, Installation, Push, installed, pushed
from gateway.services.cache.memory import MemoryCache
from tests.servers.github_history import NOTHING, History

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


async def is_new(taken: Deliveries, body: bytes, id: str, *, fails: bool = False) -> bool:
    """Whether a delivery is new to work that may fail."""
    async with taken.taking(body, {"x-github-delivery": id}) as new:
        if fails:
            raise ConnectionError("the database is away")
    return new


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
    assert await is_new(taken, b"one", "7")
    assert not await is_new(taken, b"another", "7")
    assert not await is_new(taken, b"one", "8")
    assert await is_new(taken, b"two", "9")


async def test_a_delivery_whose_work_failed_may_come_again() -> None:
    taken = deliveries()
    with pytest.raises(ConnectionError):
        await is_new(taken, b"one", "7", fails=True)
    assert await is_new(taken, b"one", "7")
    with pytest.raises(ConnectionError):
        await is_new(taken, b"one", "7", fails=True)
    assert not await is_new(taken, b"one", "7")


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


def delivered(history: History, before: str, after: str) -> Push:
    push = pushed(json.dumps(history.push(before, after, "garden/kb")).encode(), HEADERS)
    assert push is not None
    return push


def test_each_commit_of_a_push_names_its_files_and_its_time(tmp_path: Path) -> None:
    history = History.begun(tmp_path)
    then = datetime(2026, 11, 21, 12, tzinfo=UTC)
    before = history.commit({"a.md": b"one", "b.md": b"two"}, then)
    middle = history.commit({"a.md": b"new", "c.md": b"three"}, then + timedelta(hours=1))
    after = history.commit({"b.md": None, "d.md": b"two"}, then + timedelta(hours=2))
    push = delivered(history, before, after)
    assert (push.before, push.after, push.forced) == (before, after, False)
    first, second = push.commits
    assert (first.id, first.timestamp) == (middle, then + timedelta(hours=1))
    assert (first.added, first.modified, first.removed) == (("c.md",), ("a.md",), ())
    assert (second.id, second.added, second.removed) == (after, ("d.md",), ("b.md",))


def test_a_branch_that_is_made_forced_or_deleted_is_told_apart(tmp_path: Path) -> None:
    history = History.begun(tmp_path)
    base = history.commit({"a.md": b"one"})
    lost = history.commit({"a.md": b"two"})
    history.git("reset", "-q", "--hard", base)
    now = history.commit({"a.md": b"three"})
    made, gone = delivered(history, NOTHING, base), delivered(history, now, NOTHING)
    assert (made.before, made.after, made.forced) == ("", base, False)
    assert (gone.after, gone.commits, gone.forced) == ("", (), False)
    forced = delivered(history, lost, now)
    assert forced.forced
    assert [commit.id for commit in forced.commits] == [now]


@pytest.mark.parametrize(
    ("told", "withdrawn", "granted"),
    [
        ({"action": "deleted", "repositories": ["A/b"]}, {"a/b"}, set()),
        ({"action": "suspend", "repositories": ["a/b", "a/c"]}, {"a/b", "a/c"}, set()),
        ({"action": "created", "repositories": ["a/b"]}, set(), {"a/b"}),
        ({"action": "unsuspend", "repositories": ["a/b"]}, set(), {"a/b"}),
        ({"action": "new_permissions_accepted", "repositories": ["a/b"]}, set(), set()),
        ({"action": "removed", "repositories_removed": ["a/b"]}, {"a/b"}, set()),
        ({"action": "added", "repositories_added": ["a/b"]}, set(), {"a/b"}),
        ({"action": "deleted"}, set(), set()),
    ],
)
def test_an_installation_says_what_may_be_read_no_more_and_what_may_since(
    told: dict[str, Any], withdrawn: set[str], granted: set[str]
) -> None:
    named = {
        name: value if name == "action" else [{"full_name": each} for each in value]
        for name, value in told.items()
    }
    headers = {**HEADERS, "x-github-event": "installation"}
    found = installed(json.dumps(named).encode(), headers)
    assert isinstance(found, Installation)
    assert set(found.withdrawn) == withdrawn
    assert set(found.granted) == granted


def test_an_installation_is_read_of_its_own_events_alone() -> None:
    assert installed(b"{}", HEADERS) is None
    with pytest.raises(ToolFailed, match="event of an installation"):
        installed(b"{}", {**HEADERS, "x-github-event": "installation_repositories"})
