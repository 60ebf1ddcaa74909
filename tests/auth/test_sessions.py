"""Browser sessions: a value made by us, kept as a digest."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from auth.callers import Account
from auth.sessions import BrowserSessions
from auth.stores import Stores
from tests.auth.stores import empty_stores

WEEK = timedelta(days=7)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with empty_stores(tmp_path) as stores:
        yield stores


@pytest.fixture
async def alice(stores: Stores) -> str:
    return (await stores.people.signed_in(Account("github:1", "github"))).id


async def test_a_session_is_found_by_its_cookie_until_it_is_ended(
    stores: Stores, alice: str
) -> None:
    sessions = BrowserSessions(stores.sessions, WEEK)
    first, second = [await sessions.begin(alice, "A browser " * 100) for _ in range(2)]
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", first)
    assert first != second
    found = await sessions.find(first)
    assert found is not None
    assert (found.person, found.expires - found.created, len(found.agent)) == (alice, WEEK, 200)
    await sessions.end(first)
    await sessions.end("never begun")
    assert await sessions.find(first) is None
    assert await sessions.find(second) is not None


async def test_a_session_ends_by_itself(stores: Stores, alice: str) -> None:
    long_ago = BrowserSessions(stores.sessions, WEEK, lambda: datetime.now(UTC) - WEEK)
    assert await long_ago.find(await long_ago.begin(alice)) is None


@pytest.mark.parametrize("value", ["", "x" * 43, "\ud800", "' OR 1=1 --"])
async def test_a_value_that_a_browser_made_up_is_no_session(
    stores: Stores, alice: str, value: str
) -> None:
    sessions = BrowserSessions(stores.sessions, WEEK)
    await sessions.begin(alice)
    assert await sessions.find(value) is None


async def test_the_value_is_nowhere_in_the_database(
    stores: Stores, alice: str, tmp_path: Path
) -> None:
    value = await BrowserSessions(stores.sessions, WEEK).begin(alice)
    with sqlite3.connect(tmp_path / "porch.db") as connection:
        dump = "\n".join(connection.iterdump())
    connection.close()
    assert alice in dump
    assert value not in dump


async def test_nobody_gets_no_session(stores: Stores) -> None:
    with pytest.raises(LookupError):
        await BrowserSessions(stores.sessions, WEEK).begin("person:nobody")
