"""Which vector store an address names."""

from __future__ import annotations

from pathlib import Path

from auth.site import is_safe
from gateway.services.clients import need
from gateway.services.vectors.store import VectorStore

__all__ = ["open_vectors"]


def open_vectors(address: str, data_dir: Path, *, api_key: str | None = None) -> VectorStore:
    """The store that ``services.vectors`` names; nothing is opened or connected yet.

    Args:
        address: ``embedded``, or the URL of a Qdrant cluster.
        data_dir: the portal's data directory; the embedded store lives in ``vectors`` below it.
        api_key: the cluster's key, where it asks for one.

    Raises:
        ValueError: the address is neither, or the client is not installed.
    """
    if address == "embedded":
        from gateway.services.vectors.edge import EdgeVectors

        return EdgeVectors(data_dir / "vectors")
    if address.startswith(("http://", "https://")):
        if api_key is not None and not is_safe(address):
            raise ValueError(
                "must begin with https:// unless it is on this machine: it is told vectors_key"
            )
        need("qdrant_client", "Qdrant")
        from gateway.services.vectors.qdrant import QdrantVectors

        return QdrantVectors.connect(address, api_key)
    raise ValueError(f"vectors must be 'embedded' or the URL of a Qdrant cluster, not {address!r}")
