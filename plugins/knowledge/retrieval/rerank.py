"""The second stage of a search: a cross-encoder reads question and passage together.

Scores are kept for an hour (specification, sections 4.5 and 6.3): the same question over the
same passages is judged once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from gateway.contract import Cache, Reranker

SCORES_TTL_S = 3600.0


async def scores(
    reranker: Reranker, cache: Cache, question: str, passages: Sequence[str]
) -> list[float]:
    """How well each passage answers the question.

    Args:
        reranker: the cross-encoder.
        cache: where its judgements are kept.
        question: the question.
        passages: the candidates' passages.

    Returns:
        A score in 0..1 for each passage, in the order given.
    """
    if not passages:
        return []
    asked = json.dumps([reranker.model, question, *passages]).encode()
    key = "rerank:" + hashlib.blake2b(asked, digest_size=20).hexdigest()
    if kept := await cache.get(key):
        return [float(score) for score in json.loads(kept)]
    judged = await reranker.scores(question, passages)
    await cache.set(key, json.dumps(judged).encode(), SCORES_TTL_S)
    return judged
