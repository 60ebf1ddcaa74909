"""Which vector store an address names."""

from __future__ import annotations

from pathlib import Path

from auth.portal_addresses import is_safe
from gateway.services.clients import need
from gateway.services.database.service import is_postgres
from gateway.services.vectors.store import VectorStore

__all__ = ["open_vectors", "vectors_address"]


def open_vectors(address: str, data_dir: Path, *, api_key: str | None = None) -> VectorStore:
    """The store that ``services.vectors`` names; nothing is opened or connected yet.

    Args:
        address: ``embedded``, the URL of a Qdrant cluster, or the ``postgresql://`` URL of a
            database with pgvector.
        data_dir: the portal's data directory; the embedded store lives in ``vectors`` below it.
        api_key: the cluster's key, where it asks for one.

    Raises:
        ValueError: the address is none of them, or the client is not installed.
    """
    if address == "embedded":
        from gateway.services.vectors.qdrant_edge import EdgeVectors

        return EdgeVectors(data_dir / "vectors")
    if address.startswith(("http://", "https://")):
        if api_key is not None and not is_safe(address):
            raise ValueError(
                "must begin with https:// unless it is on this machine: it is told vectors_key"
            )
        need("qdrant_client", "Qdrant")
        from gateway.services.vectors.qdrant import QdrantVectors

        return QdrantVectors.connect(address, api_key)
    if is_postgres(address):
        need("asyncpg", "PostgreSQL")
        from gateway.services.vectors.pgvector import PgVectors

        return PgVectors(address)
    shown = address.partition("://")[0]
    raise ValueError(
        "vectors must be 'embedded', 'database', the URL of a Qdrant cluster or a postgresql:// "
        f"URL, not {shown!r}"
    )


def vectors_address(vectors: str, database: str) -> str:
    """The address of the store, where ``database`` means the portal's own.

    Args:
        vectors: as ``services.vectors`` says, resolved.
        database: as ``services.database`` says, resolved.

    Raises:
        ValueError: the portal's own database is not PostgreSQL.
    """
    if vectors != "database":
        return vectors
    if not is_postgres(database):
        raise ValueError(
            "is 'database', which is for PostgreSQL with pgvector; services.database names none"
        )
    return database
