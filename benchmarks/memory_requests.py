"""The requests that are sent to the Knowledge Provider API at 10,000 entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from typing import Any

from benchmarks.memories import SHARES, Filled
from benchmarks.rest_client import Request
from plugins.knowledge.memory.model.entry import Layer

PREFIX = "/openspec/v1/knowledge"
PAD = 200
"""Entries of working memory, which is as many as a caller can have."""
LONG = 4
"""Parts of a text that the model reads no further than 256 tokens."""


def queries(filled: Filled, layers: Sequence[Layer], number: int) -> Iterator[Request]:
    """Questions in the words of the layers' entries; of working memory by words alone.

    Args:
        filled: what the portal remembers.
        layers: which ones are asked; none means those that the protocol asks then.
        number: how many.
    """
    mode = "keyword" if list(layers) == [Layer.WORKING] else "hybrid"
    asked = [
        filled.questions[Layer.SEMANTIC][:PAD] if each is Layer.WORKING else filled.questions[each]
        for each in layers or SHARES
    ]
    every = [question for some in asked for question in some]
    named = {"types": [str(each) for each in layers]}
    for question in islice(cycle(every[:: max(1, len(every) // number)]), number):
        yield "POST", f"{PREFIX}/query", {"query": question, "mode": mode, "layer": named}


def in_turns(filled: Filled, number: int) -> Iterator[Request]:
    """Questions to one layer each, every layer in its turn."""
    each = [queries(filled, [layer], number // len(SHARES) + 1) for layer in SHARES]
    yield from islice((one for some in zip(*each, strict=True) for one in some), number)


def pad(filled: Filled) -> Iterator[Request]:
    """Entries for working memory."""
    for text in filled.texts[Layer.SEMANTIC][:PAD]:
        yield create(text, {"layer": {"type": "working"}})


def creates(texts: Iterable[str]) -> Iterator[Request]:
    """Entries of semantic memory, each with its vector in the answer."""
    for text in texts:
        yield create(text, {"generate_embedding": True})


def create(text: str, options: dict[str, Any]) -> Request:
    """One entry to keep."""
    return "POST", f"{PREFIX}/create", {"entry": {"content": text}, "options": options}


def long(texts: Sequence[str], number: int) -> list[str]:
    """Texts of more than 256 tokens, made of shorter ones."""
    return [
        "\n\n".join(texts[(first + part * 7) % len(texts)] for part in range(LONG))
        for first in range(number)
    ]


def updates(ids: Iterable[str], texts: Iterable[str]) -> Iterator[Request]:
    """New versions without a vector."""
    for id, text in zip(ids, texts, strict=False):
        body = {"entry": {"content": text}, "options": {"generate_embedding": False}}
        yield "PUT", f"{PREFIX}/{id}", body


def deletes(ids: Iterable[str]) -> Iterator[Request]:
    """Entries put out of sight."""
    for id in ids:
        yield "DELETE", f"{PREFIX}/{id}", None


def batch(texts: Iterable[str], *, embedded: bool) -> Any:
    """The body of a batch of creates."""
    options = {"generate_embedding": embedded}
    entries = [{"entry": {"content": text}, "options": options} for text in texts]
    return {"operation": "create", "entries": entries}
