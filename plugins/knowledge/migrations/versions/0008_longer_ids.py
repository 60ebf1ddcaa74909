"""Ids have up to 235 bytes: a document's key fits. SQLite limits no text."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        op.alter_column("knowledge_embeddings", "document", type_=sa.String(255))
