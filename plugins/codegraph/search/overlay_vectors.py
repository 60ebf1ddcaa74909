"""Vectors of an overlay while somebody waits for it; without them it is found by its words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from structlog.typing import FilteringBoundLogger

from plugins.codegraph.search.embedder import EntityEmbedder
from plugins.codegraph.store.graph import RepositoryView

EMBEDDING_TIMEOUT_S = 8.0
"""Seconds that who waits for an overlay waits for its vectors."""


async def embed_in_time(
    embedder: EntityEmbedder,
    view: RepositoryView,
    paths: Sequence[str],
    log: FilteringBoundLogger,
) -> None:
    """Embed what differs in an overlay, as far as there is time; a failing model fails nothing.

    Args:
        embedder: makes the vectors.
        view: the repository with the overlay.
        paths: the files that differ.
        log: is told why there are none.
    """
    try:
        async with asyncio.timeout(EMBEDDING_TIMEOUT_S):
            await embedder.embed_overlay(view, paths)
    except Exception as error:
        log.warning("codegraph_overlay_not_embedded", reason=str(error) or type(error).__name__)
