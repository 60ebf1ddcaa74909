"""Column types that mean the same on SQLite and PostgreSQL, for tables in SQLAlchemy Core.

Import it where tables are declared, in a module that is itself imported late: it takes SQLAlchemy
with it. Alembic's migrations of a plugin name the stored types instead, so that old ones never
change.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, Text, TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC: stored without its zone, which SQLite would drop, and given back with it."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store UTC."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give UTC back."""
        return None if value is None else value.replace(tzinfo=UTC)


class Json(TypeDecorator[Any]):
    """JSON values, as ASCII text: no database looks inside them, and any text is allowed."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Store text."""
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Give the values back."""
        return None if value is None else json.loads(value)


PLAIN = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that every database compares and sorts by its code points."""
NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""A 64-bit number; SQLite counts up a primary key only where it is called INTEGER."""
