"""Which tools a search finds among those of real servers: by words, by meaning and by both.

The requests are our own, and judged by us. The weights were chosen on every other one, and the bars
are for the rest, which nothing was chosen by.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from auth import Caller, Tier
from benchmarks.table import Bar, Row, Unmeasurable
from benchmarks.tool_collection import collected
from gateway.catalog.catalog import Catalog
from gateway.catalog.items import Item
from gateway.catalog.tier_rule import TierRules
from gateway.contract import Offer, Origin, Tool
from gateway.discovery.ranking import MEANING, Ranking, in_full, words_of
from gateway.services.embedding.service import ThreadedEmbedder, open_embedder
from gateway.toolkit.vectors import embed_parts

SECTION = "tool_search"
REQUESTS = Path(__file__).parent / "data" / "tool_requests.json"
LEAST_TOOLS = 527
_MAX_NAME_CHARACTERS = 45
_WAYS: Mapping[str, float | None] = {"BM25 alone": None, "dense alone": 1.0, "product": MEANING}


class Asked(NamedTuple):
    """A request, the tools that do it as ``server/tool``, and its vector."""

    text: str
    tools: frozenset[str]
    vector: Any


class Found(NamedTuple):
    """How often the first, and one of the first five, was right; and milliseconds, at p50."""

    top1: float
    top5: float
    milliseconds: float


def measure() -> list[Row]:
    """Rank the collected tools for the requests that nothing was chosen by."""
    return asyncio.run(_measure(collected()))


async def _measure(servers: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Row]:
    items, embedder = _items(servers), open_embedder("embedded")
    if embedder is None or len(items) < LEAST_TOOLS:
        raise Unmeasurable(f"{len(items)} tools were collected, and it takes {LEAST_TOOLS}.")
    try:
        said = [words_of(item) for item in items]
        ranking = Ranking(items, said)
        ranking.learn(await embed_parts(embedder, [each.texts for each in said]))
        asked = await _asked(embedder)
    finally:
        await embedder.close()
    # Requests lie together by server: every other one gives two halves that are alike.
    found = {name: _found(ranking, asked[1::2], meaning) for name, meaning in _WAYS.items()}
    everything = {name: _found(ranking, asked, meaning) for name, meaning in _WAYS.items()}
    about = f"{len(items)} tools of {len(servers)} servers"
    return [row for name in _WAYS for row in _rows(name, found[name], everything[name], about)]


def _rows(name: str, held: Found, every: Found, about: str) -> list[Row]:
    is_product = name == "product"
    bars = (Bar("at least", 45.0), Bar("at least", 93.0)) if is_product else (None, None)
    note = f"{about}; over all requests {every.top1:.1f} and {every.top5:.1f}"
    rows = [
        Row(SECTION, f"{name}: the first is right", held.top1, "%", bars[0], note, is_product),
        Row(SECTION, f"{name}: one of five is right", held.top5, "%", bars[1], "", is_product),
    ]
    if is_product:
        quick = "beside the embedding of the question"
        rows.append(
            Row(SECTION, "search, p50", held.milliseconds, "ms", Bar("under", 5), quick, True)
        )
    return rows


def _found(ranking: Ranking, asked: Sequence[Asked], meaning: float | None) -> Found:
    first, five, times = 0, 0, []
    for each in asked:
        vector = None if meaning is None else each.vector
        begun = time.perf_counter()
        best = ranking.best(each.text, 5, vector, meaning or 0.0)
        times.append((time.perf_counter() - begun) * 1000)
        keys = [item.identity for item in best]
        first += keys[:1] != [] and keys[0] in each.tools
        five += not each.tools.isdisjoint(keys)
    return Found(100 * first / len(asked), 100 * five / len(asked), median(times))


async def _asked(embedder: ThreadedEmbedder) -> list[Asked]:
    requests = json.loads(REQUESTS.read_text(encoding="utf-8"))["requests"]
    return [
        Asked(each["ask"], frozenset(each["tools"]), await embedder.query(in_full(each["ask"])))
        for each in requests
    ]


def _items(servers: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Item]:
    async def never(args: Any, caller: Caller) -> str:
        raise RuntimeError("What is measured calls nothing.")

    catalog = Catalog(TierRules())
    tools = [
        Tool(
            f"{server}__{entry['name']}"[:_MAX_NAME_CHARACTERS],
            entry.get("description", ""),
            never,
            input_schema=entry["inputSchema"],
            origin=Origin(f"{server}/{entry['name']}", entry),
        )
        for server, entries in servers.items()
        for entry in entries
    ]
    catalog.add("upstreams", Offer(tools))
    return catalog.listed("tool", Caller(person=None, tier=Tier.MEMBERS))
