"""The kept vectors of embedded texts, so that none is embedded twice."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "knowledge_embeddings",
        sa.Column("document", sa.String(128), primary_key=True),
        sa.Column("text_hash", sa.String(32), primary_key=True),
        sa.Column("model", sa.String(255), nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
    op.create_index("knowledge_embeddings_text", "knowledge_embeddings", ["text_hash", "model"])
