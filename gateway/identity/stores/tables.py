"""The tables of access, in SQLAlchemy Core; imported late, as the audit log's is."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    TypeDecorator,
)

from gateway.observability.audit_table import metadata
from gateway.toolkit.columns import NUMBER, Json, UtcDateTime

_MAX_TEXT_CHARACTERS = 500


class Shown(TypeDecorator[str]):
    """Text that others chose and that is only shown: cut, and without what PostgreSQL refuses."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Store what every database takes."""
        if value is None:
            return None
        return value[:_MAX_TEXT_CHARACTERS].encode("utf-8", "replace").decode().replace("\0", "?")

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Give it back as it is."""
        return value


people = Table(
    "porch_people",
    metadata,
    Column("id", Text, primary_key=True),
    Column("created", UtcDateTime, nullable=False, index=True),
)
"""One row for each person."""

accounts = Table(
    "porch_accounts",
    metadata,
    Column("subject", Text, primary_key=True),
    Column("person", ForeignKey("porch_people.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("place", Integer, nullable=False),
    Column("provider", Text, nullable=False),
    Column("name", Shown),
    Column("known_as", Shown),
    Column("email", Shown),
    Column("claims", Json, nullable=False),
    Column("dated", Json),
    Column("proved", UtcDateTime, nullable=False),
    Column("signer", Text),
    Index("ix_porch_accounts_known_as", "provider", "known_as"),
)
"""Accounts that people have proved to be theirs, in the order of ``place``.

``known_as`` is the name without regard to case, ``proved`` the time of the last proof, ``dated``
when the provider said each claim (seconds since the epoch); a claim that is not in it was said by
``proved``. ``signer`` is who signed for a wallet (``auth.callers.Signer``), or NULL from the time
before that was kept.
"""

forgotten = Table(
    "porch_forgotten",
    metadata,
    Column("person", Text, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
)
"""Whose accounts were deleted and when, for as long as a plugin may still come back with data."""

api_tokens = Table(
    "porch_api_tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True, index=True),
    Column("person", Text, nullable=False, index=True),  # not always one of porch_people
    Column("name", Shown, nullable=False),
    Column("ceiling", Text, nullable=False),
    Column("granted", Text),
    Column("tools", Json),
    Column("created", UtcDateTime, nullable=False),
    Column("expires", UtcDateTime),
    Column("used", UtcDateTime),
    Column("revoked", UtcDateTime),
)
"""API tokens (``auth.stores.ApiToken``)."""

sessions = Table(
    "porch_sessions",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("person", ForeignKey("porch_people.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("created", UtcDateTime, nullable=False),
    Column("expires", UtcDateTime, nullable=False, index=True),
    Column("agent", Shown, nullable=False),
    Column("account", Text, index=True),
    Column("sid", Text),
)
"""Browsers in which people are signed in (``auth.stores.Session``)."""

grants = Table(
    "porch_grants",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", ForeignKey("porch_people.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("client_id", Text, nullable=False),
    Column("client_name", Shown, nullable=False),
    Column("resource", Text, nullable=False),
    Column("scope", Json, nullable=False),
    Column("created", UtcDateTime, nullable=False, index=True),
    Column("used", UtcDateTime),
    Column("revoked", UtcDateTime),
    Column("account", Text, index=True),
    Column("sid", Text),
)
"""Consents to OAuth clients (``auth.stores.Grant``)."""

codes = Table(
    "porch_codes",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("grant", ForeignKey("porch_grants.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("redirect_uri", Text, nullable=False),
    Column("explicit", Boolean, nullable=False),
    Column("challenge", Text, nullable=False),
    Column("expires", UtcDateTime, nullable=False, index=True),
    Column("spent", UtcDateTime),
)
"""Authorization codes (``auth.stores.Code``)."""

refresh_tokens = Table(
    "porch_refresh_tokens",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("grant", ForeignKey("porch_grants.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("expires", UtcDateTime, nullable=False, index=True),
    Column("spent", UtcDateTime),
)
"""Refresh tokens (``auth.stores.RefreshToken``)."""

spent = Table(
    "porch_spent",
    metadata,
    Column("key", Text, primary_key=True),
    Column("until", UtcDateTime, nullable=False, index=True),
)
"""Values that were used and may be used only once, by the digest of their key."""

followed = Table(
    "porch_followed",
    metadata,
    Column("chain", NUMBER, primary_key=True, autoincrement=False),
    Column("turn", NUMBER, nullable=False),
    Column("holder", Text),
    Column("block", NUMBER),
    Column("logs", Json, nullable=False),
    Column("heard", UtcDateTime),
)
"""How far each chain's logs were read (``auth.chain.follower.Place``)."""

revocations = Table(
    "porch_revocations",
    metadata,
    Column("number", NUMBER, primary_key=True),
    Column("subject", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False, index=True),
    sqlite_autoincrement=True,  # a number is never given again, also after a purge
)
"""The log of recent revocations, in order."""
