"""Whether a failure is the database's or the object store's, and not of what was asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.exc import DBAPIError

_CLASSES = frozenset({"08", "25", "28", "3D", "40", "53", "55", "57", "58"})
"""Classes of PostgreSQL's error codes: no connection, read-only, not let in, no such database, a
lost race, no room, locked, stopped, broken."""


class DatabaseAway(ConnectionError):
    """The database does not answer, and nobody waits for it until it does."""


def is_outage(error: BaseException) -> bool:
    """Whether a service is to blame: it does not answer, is locked, full, or being stopped.

    Args:
        error: what a call of ``Database`` or ``Objects`` raised.
    """
    from sqlalchemy import exc

    if isinstance(error, exc.DBAPIError):
        return error.connection_invalidated or _is_servers(error)
    if state := getattr(error, "sqlstate", None):  # a driver's own, asked past SQLAlchemy
        return str(state)[:2] in _CLASSES
    return isinstance(error, OSError | exc.TimeoutError)


def _is_servers(error: DBAPIError) -> bool:
    from sqlalchemy import exc

    state = getattr(error.orig, "sqlstate", None)
    if state is not None:
        return str(state)[:2] in _CLASSES
    if isinstance(getattr(error.orig, "__cause__", None), ValueError):
        return False  # a value that asyncpg cannot send
    # Internal without a code: the driver read the server's farewell in the middle of another word.
    return isinstance(error, exc.InterfaceError | exc.InternalError | exc.OperationalError)


def is_database_away(error: BaseException | None) -> bool:
    """Whether a failure comes of a database that cannot do its work just now.

    Args:
        error: what something raised that uses the database, perhaps from an error of it.
    """
    from sqlalchemy.exc import SQLAlchemyError

    while error is not None:
        if isinstance(error, DatabaseAway):
            return True
        if isinstance(error, SQLAlchemyError) and is_outage(error):
            return True
        error = error.__cause__
    return False
