"""A document as points of the vector store: one for its head, one for each passage.

The head is what a document is called and says of itself: title, description, aliases, tags and
the first lines of its body. It stands beside the passages because a paraphrased question is often
nearer to what a document is about than to any sentence in it. It also holds the terms of the whole
document, where title and headings count double: what is asked may be said in several passages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.contract import CollectionSpec, Condition, Hit, Point, Sparse
from gateway.toolkit.languages import language_of
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.retrieval import bm25
from plugins.knowledge.retrieval.markup import one_line
from plugins.knowledge.retrieval.passages import Passage, cut, fingerprint
from plugins.knowledge.retrieval.readable import reads

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAYOUT = 13
"""The version of what is stored here; a new one has every document indexed again."""

HEADS = Condition("ordinal", at_most=0)
"""The points that say what documents are about, one of each."""
MEANING = "meaning"
"""The vectors of heads and passages alike, so that one comparison finds the nearest of both."""
TERMS = "terms"
WHOLE = "whole"
"""The terms of a whole document, on its head."""
MARK = "mark"
"""The payload field that names what a point was made of."""

_LEAD_CHARACTERS = 200
"""Characters of a document's first passage that its head has."""
_AVERAGE_TERMS = 56.0
"""Terms of a passage, about; a constant, so that no document's scores hang on the others."""
_AVERAGE_WHOLE = 150.0
"""The same of a whole document.

It is below what documents have: who says everything twice pays for its length (test_hubness.py).
"""
_W_TITLE = _W_HEADING = 2.0
"""How often a word in a title or a heading counts, where one in the text counts once."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document cut up for the index.

    Attributes:
        document: the document.
        head: the text of its head.
        passages: its passages.
        headed: the passages' texts with title and heading trail, as embedded and indexed.
        language: the document's, as its author says or its words show.
    """

    document: Document
    head: str
    passages: tuple[Passage, ...]
    headed: tuple[str, ...]
    language: str

    def readable(self, model: str) -> dict[str, str]:
        """Its texts that a model can read, by their fingerprints; no other one has a vector.

        What a model cannot read it finds near to anything.

        Args:
            model: its name.
        """
        texts = (self.head, *self.headed)
        return {fingerprint(text): text for text in texts if reads(model, text)}


def prepare(document: Document) -> Prepared:
    """Cut a document up for the index."""
    passages = tuple(cut(document.content))
    title = one_line(document.title)
    lead = passages[0].text[:_LEAD_CHARACTERS] if passages else ""
    aliases = ", ".join(alias.lstrip("#") for alias in document.aliases)
    tags = ", ".join(document.tags)
    parts = (f"{title}.", document.description, aliases, lead, tags)
    return Prepared(
        document=document,
        head=" ".join(part for part in parts if part),
        passages=passages,
        headed=tuple(passage.headed(title) for passage in passages),
        language=_language(document),
    )


def _language(document: Document) -> str:
    stated = next(
        (said for name in ("lang", "language") if (said := getattr(document.metadata, name, None))),
        None,
    )
    return language_of(f"{document.title}\n{document.content}", stated)


def spec(dimensions: int | None, vectors: Sequence[str] = (MEANING,)) -> CollectionSpec:
    """The collection's shape.

    Args:
        dimensions: the length of the model's vectors, or None where there is no model.
        vectors: the names of its vectors; a former layout had others.
    """
    return CollectionSpec(
        dense={} if dimensions is None else dict.fromkeys(vectors, dimensions),
        sparse=(TERMS, WHOLE),
        indexed={
            "key": "keyword",
            "ordinal": "integer",
            "contentType": "keyword",
            "group": "keyword",
            "release": "keyword",
            "status": "keyword",
            "tags": "keyword",
            "date": "integer",
            "tier": "keyword",
            "language": "keyword",
        },
    )


def points(prepared: Prepared, vectors: Mapping[str, NDArray[np.float32]]) -> Iterable[Point]:
    """The points of a document.

    Args:
        prepared: the document.
        vectors: a vector for each fingerprint of its texts that the model can read; empty where
            there is no model.
    """
    for id, text, payload in _texts(prepared):
        vector = vectors.get(fingerprint(text))
        yield Point(
            id=id,
            dense={} if vector is None else {MEANING: vector},
            sparse=_sparse(prepared, " ".join((text, *payload.get("under", ()))), payload),
            payload=payload | {MARK: _mark(text, payload)},
        )


def _sparse(prepared: Prepared, text: str, payload: Mapping[str, Any]) -> dict[str, Sparse]:
    terms = {TERMS: bm25.document(text, _AVERAGE_TERMS, prepared.language)}
    if not payload["ordinal"]:
        terms[WHOLE] = bm25.fields(_fields(prepared), _AVERAGE_WHOLE, prepared.language)
    return terms


def _fields(prepared: Prepared) -> Iterator[tuple[float, str]]:
    """The fields of a whole document, each with what it counts."""
    document = prepared.document
    yield _W_TITLE, one_line(document.title)
    yield (
        _W_HEADING,
        " ".join({each: None for one in prepared.passages for each in (*one.trail, *one.under)}),
    )
    yield 1.0, " ".join((document.description, *document.tags, *document.aliases))
    for passage in prepared.passages:
        yield 1.0, passage.text


def placed(hits: Iterable[Hit]) -> list[Hit]:
    """Hits with the key and the ordinal that their ids name, as their payloads do.

    A payload holds the text too, and stores read it whole.
    """
    return [Hit(hit.id, hit.score, _place(hit.id)) for hit in hits]


def _place(id: str) -> dict[str, Any]:
    key, _, ordinal = id.rpartition("#")
    return {"key": key, "ordinal": int(ordinal)}


def marks(prepared: Prepared) -> dict[str, str]:
    """What tells each point of a document, by its id, from one made of anything else."""
    return {id: _mark(text, payload) for id, text, payload in _texts(prepared)}


def _texts(prepared: Prepared) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The id, the text and the payload of each point."""
    payload = _payload(prepared.document) | {"language": prepared.language}
    for ordinal, text in enumerate((prepared.head, *prepared.headed)):
        passage = prepared.passages[ordinal - 1] if ordinal else None
        yield (
            f"{prepared.document.key}#{ordinal}",
            text,
            payload
            | {
                "ordinal": ordinal,
                "text": passage.text if passage else "",
                "section": list(passage.trail) if passage else [],
                **({"under": list(passage.under)} if passage and passage.under else {}),
                **({"following": passage.following} if passage and passage.following else {}),
                **_places(passage),
            },
        )


def _places(passage: Passage | None) -> dict[str, Any]:
    """Where the sections of a passage stand, as they are cited, and begin in it."""
    if passage is None or not (passage.place or passage.places):
        return {}
    known = (passage.place, *passage.places)
    places = [[] if one is None else [*one.trail, *one[1:]] for one in known]
    return {"places": places, **({"starts": list(passage.starts)} if passage.starts else {})}


def _mark(text: str, payload: Mapping[str, Any]) -> str:
    written = json.dumps([text, payload], sort_keys=True)
    return hashlib.blake2b(written.encode(), digest_size=12).hexdigest()


def _payload(document: Document) -> dict[str, Any]:
    return {
        "key": document.key,
        "contentType": str(document.content_type),
        "group": document.group.strip().lower(),
        "release": document.release.strip().lower(),
        "status": document.status.strip().lower(),
        "tags": [tag.lower() for tag in document.tags],
        "date": document.date_ms,
        "tier": str(document.tier),
    }
