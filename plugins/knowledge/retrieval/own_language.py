"""Documents in another language than the question's answer after those in its own.

Where a base has one page in several languages, a question in plain words with the name of a product
finds the page in each of them. Who asks in English reads English.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace

from gateway.contract import Condition
from gateway.toolkit.function_words import told_language
from plugins.knowledge.retrieval.asked import MAX_POINTS, Asked, only
from plugins.knowledge.retrieval.points import HEADS, MEANING, TERMS, placed

W_OTHER_LANGUAGE = 0.7
"""What is left of the score of a document in another language than the question's."""


async def language_weights(asked: Asked, keys: Set[str]) -> Mapping[str, float]:
    """What is left of the scores of documents by their language; all of it where none is named.

    Nothing is weighed where the question does not tell its language, or no document is in it: then
    the others are all that there is.

    Args:
        asked: the question.
        keys: the documents.
    """
    own = told_language(asked.question)
    others = tuple(one for one in asked.languages if one != own)
    if own not in asked.languages or not others or not keys:
        return {}
    where = (*only(keys), Condition("language", any_of=others))
    wheres = {TERMS: where, MEANING: (*where, HEADS)}
    queries = [
        replace(query, where=wheres[name], limit=MAX_POINTS, payload=())
        for name, query in asked.queries.items()
        if name in wheres
    ]
    answers = await asked.collection.search(queries) if queries else ()
    found = {hit.payload["key"] for answer in answers for hit in placed(answer)}
    return dict.fromkeys(found, W_OTHER_LANGUAGE)
