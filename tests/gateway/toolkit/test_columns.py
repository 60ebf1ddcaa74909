"""What is stored comes back as it was, and sorts the same, on every database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from gateway.toolkit.columns import NUMBER, PLAIN, Json, UtcDateTime

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))


def test_a_time_comes_back_in_utc_and_json_as_it_was() -> None:
    """Also text that PostgreSQL would refuse inside of JSON, since nothing looks inside."""
    table = sa.Table(
        "kept",
        sa.MetaData(),
        sa.Column("number", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("at", UtcDateTime),
        sa.Column("values", Json),
    )
    values = {"text": "a\0b\ud800", "list": [1, None]}
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(sa.insert(table), [{"at": NOON, "values": values}])
        connection.execute(sa.insert(table), [{"at": None, "values": None}])
        rows = connection.execute(sa.select(table).order_by(table.c.number)).all()
    assert [tuple(row) for row in rows] == [
        (1, datetime(2026, 3, 1, 10, tzinfo=UTC), values),
        (2, None, None),
    ]


def test_text_is_compared_by_code_points_where_a_database_would_do_otherwise() -> None:
    """SQLite does so by itself; PostgreSQL is told to."""
    column = sa.Column("name", PLAIN)
    assert "COLLATE" not in str(sa.schema.CreateColumn(column).compile(dialect=sqlite.dialect()))
    text = str(sa.schema.CreateColumn(column).compile(dialect=postgresql.dialect()))
    assert 'COLLATE "C"' in text
