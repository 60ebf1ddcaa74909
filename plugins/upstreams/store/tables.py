"""The plugin's tables, in SQLAlchemy Core; imported late.

``migrations/`` creates them; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, MetaData, Table, Text

from gateway.toolkit.columns import PLAIN, Json, UtcDateTime

metadata = MetaData()

catalogues = Table(
    "upstreams_catalogues",
    metadata,
    Column("server", PLAIN, primary_key=True),
    Column("target", Text, nullable=False),
    Column("era", Text, nullable=False),
    Column("about", Json, nullable=False),
    Column("entries", Json, nullable=False),
    Column("malformed", Json, nullable=False),
    Column("fetched", UtcDateTime, nullable=False),
)
"""What each server offered last. ``target`` tells where it was asked: another is another server."""

pins = Table(
    "upstreams_pins",
    metadata,
    Column("server", PLAIN, primary_key=True),
    Column("name", PLAIN, primary_key=True),
    Column("entry", Json, nullable=False),
    Column("state", Text, nullable=False),
    Column("decided", UtcDateTime, nullable=False),
    Column("decided_by", Text),
)
"""Which definition of each tool was accepted or turned down, when and by whom."""

connections = Table(
    "upstreams_connections",
    metadata,
    Column("person", PLAIN, primary_key=True),
    Column("server", PLAIN, primary_key=True),
    Column("target", Text, nullable=False),
    Column("sealed", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("expires", UtcDateTime),
    Column("detail", Text, nullable=False),
    Column("changed", UtcDateTime, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("leased", BigInteger, nullable=False),
)
"""What people were given at servers, sealed. ``leased`` is until when a renewal is somebody's, in
seconds since the epoch by the database's clock."""

clients = Table(
    "upstreams_clients",
    metadata,
    Column("issuer", PLAIN, primary_key=True),
    Column("callback", PLAIN, primary_key=True),
    Column("sealed", Text, nullable=False),
)
"""What authorization servers have registered the portal as, sealed."""
