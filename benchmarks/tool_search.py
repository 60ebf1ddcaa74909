"""Which tools a search finds among those of real servers: by words, by meaning and by both.

The requests are our own, and judged by us. The bars are for what is cross-validated: each tenth of
the requests is ranked by the weights that do best for the other nine.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Mapping, Sequence
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
from gateway.discovery.ranking import WEIGHTS, Ranking, Weights, in_full, words_of
from gateway.services.embedding.service import ThreadedEmbedder, open_embedder
from gateway.toolkit.vectors import embed_parts

SECTION = "tool_search"
REQUESTS = Path(__file__).parent / "data" / "tool_requests.json"
LEAST_TOOLS = 527
_MAX_NAME_CHARACTERS = 45
FOLDS = 10
_ALONE = Weights(0.0, 0.0, 0.0)
_GRID = tuple(Weights(w, d) for w in (0.03, 0.05, 0.08, 0.12) for d in (0.01, 0.02, 0.03))
"""The weights that are chosen among."""
_TOP1_COUNTS = 0.3
"""How much a first that is right counts in that choice beside one of five."""


class Asked(NamedTuple):
    """A request, the tools that do it as ``server/tool``, and its vector."""

    text: str
    tools: frozenset[str]
    vector: Any


class Found(NamedTuple):
    """Of each request, whether the first and one of the first five was right; milliseconds, p50."""

    first: Sequence[bool]
    five: Sequence[bool]
    milliseconds: float


def measure() -> list[Row]:
    """Rank the collected tools for the requests."""
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
    about = f"{len(items)} tools of {len(servers)} servers, {len(asked)} requests"
    rows = _rows("BM25 alone", _found(ranking, asked, _ALONE, by_meaning=False), about)
    rows += _rows("BM25 and intents", _found(ranking, asked, WEIGHTS, by_meaning=False), about)
    rows += _rows("dense alone", _found(ranking, asked, _ALONE), about)
    used = _found(ranking, asked, WEIGHTS)
    rows += _rows("product as it is", used, about)
    validated = _cross_validated({each: _found(ranking, asked, each) for each in _GRID})
    rows += _rows("product, cross-validated", validated, about, bars=(45.0, 93.0))
    quick = "beside the embedding of the question"
    return [
        *rows,
        Row(SECTION, "search, p50", used.milliseconds, "ms", Bar("under", 5), quick, True),
    ]


def _rows(
    name: str, found: Found, about: str, bars: tuple[float, float] | None = None
) -> list[Row]:
    first, five = (Bar("at least", each) for each in bars) if bars else (None, None)
    is_barred = bars is not None
    return [
        Row(
            SECTION,
            f"{name}: the first is right",
            _percent(found.first),
            "%",
            first,
            about,
            is_barred,
        ),
        Row(
            SECTION, f"{name}: one of five is right", _percent(found.five), "%", five, "", is_barred
        ),
    ]


def _percent(right: Iterable[bool]) -> float:
    counted = list(right)
    return 100 * sum(counted) / len(counted)


def _cross_validated(found: Mapping[Weights, Found]) -> Found:
    """What is found where no request has a part in choosing the weights that it is ranked by."""
    count = len(next(iter(found.values())).first)
    first, five = [False] * count, [False] * count
    for fold in range(FOLDS):
        inside = range(fold, count, FOLDS)
        outside = [each for each in range(count) if each % FOLDS != fold]

        def worth(weights: Weights, outside: Sequence[int] = outside) -> float:
            one = found[weights]
            top5, top1 = (
                _percent(right[each] for each in outside) for right in (one.five, one.first)
            )
            return top5 + _TOP1_COUNTS * top1

        best = found[max(found, key=worth)]
        for each in inside:
            first[each], five[each] = best.first[each], best.five[each]
    return Found(first, five, 0.0)


def _found(
    ranking: Ranking, asked: Sequence[Asked], weights: Weights, *, by_meaning: bool = True
) -> Found:
    first, five, times = list[bool](), list[bool](), list[float]()
    for each in asked:
        begun = time.perf_counter()
        best = ranking.best(each.text, 5, each.vector if by_meaning else None, weights)
        times.append((time.perf_counter() - begun) * 1000)
        keys = [item.identity for item in best]
        first.append(keys[:1] != [] and keys[0] in each.tools)
        five.append(not each.tools.isdisjoint(keys))
    return Found(first, five, median(times))


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
