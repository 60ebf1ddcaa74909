"""Gives vectors to the items that have none by the model in use."""

from __future__ import annotations

from gateway.contract import Database, Embedder
from plugins.workflows.model import TargetType
from plugins.workflows.search.embedding import embed_texts
from plugins.workflows.store.search_rows import SearchRows

_BATCH_SIZE = 16
"""Texts that are embedded at once: someone who writes meanwhile waits for half a second."""


async def backfill(database: Database, embedder: Embedder) -> int:
    """Embed the items that have no vector by this model, once through.

    Each batch is kept as it is done, so that whoever is cancelled goes on there the next time.
    Replicas that do this at the same time do each other's work again and change nothing by it.

    Returns:
        How many items were embedded.

    Raises:
        Exception: the model failed; the items without a vector are found by their words.
    """
    done = 0
    for type in (TargetType.WORKFLOW, TargetType.SKILL):
        rows, after = SearchRows(database, type), ""
        while lacking := await rows.lacking(embedder.model, after, _BATCH_SIZE):
            made = await embed_texts(embedder, [text for _, text in lacking])
            fresh = [(id, text, vector) for (id, text), vector in zip(lacking, made, strict=True)]
            done += await rows.complete(embedder.model, fresh)
            after = lacking[-1][0]
    return done
