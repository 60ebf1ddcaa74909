"""A failure is the database's where it does not answer, whichever library says so."""

from __future__ import annotations

import asyncpg
import pytest
from sqlalchemy.exc import InternalError

from gateway.contract import is_outage

ENDED_IN_MID_WORD = InternalError(
    None, None, asyncpg.InternalClientError("cannot switch to state 15; another operation (2)")
)
"""As when a server ends a connection whose first transaction is being committed."""


@pytest.mark.parametrize(
    ("error", "is_the_databases"),
    [
        (asyncpg.ConnectionDoesNotExistError("connection was closed"), True),
        (asyncpg.CannotConnectNowError("the database system is starting up"), True),
        (asyncpg.TooManyConnectionsError("sorry, too many clients already"), True),
        (ENDED_IN_MID_WORD, True),
        (ConnectionResetError(104, "Connection reset by peer"), True),
        (asyncpg.UndefinedTableError("relation does not exist"), False),
        (asyncpg.UniqueViolationError("duplicate key"), False),
        (ValueError("of our own"), False),
    ],
)
def test_an_outage_is_told_from_a_mistake(error: Exception, is_the_databases: bool) -> None:
    assert is_outage(error) is is_the_databases
