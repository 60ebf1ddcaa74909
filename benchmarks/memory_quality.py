"""How well memory finds what long conversations ask for, and what holds after it has changed.

300 questions over dialogues of 14 weeks between eight people (``dialogues.py``), and 200 facts that
change among 200 pairs that do not contradict each other (``updates.py``), as many again that are
said more freely, and questions that take two entries (``linked.py``), on a real memory with the
embedded model. A part of the families of
each is kept apart by hash, and nothing was tuned on it.
"""

from __future__ import annotations

import asyncio
import math
import random
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from benchmarks.dialogues import WEEKS, Asked, Turn, dialogues
from benchmarks.linked import chains
from benchmarks.table import Bar, Row, Unmeasurable
from benchmarks.updates import FREE, PLAIN, Pair, Update, pairs, updates
from gateway.config.portal_keys import Services
from gateway.contract import Caller, Tier
from gateway.plugin_host import make_host
from gateway.services import open_services
from plugins.knowledge.knowledge import MIGRATIONS, Knowledge
from plugins.knowledge.memory.algorithms.contradictions import compare
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.requests import (
    CreateRequest,
    Mode,
    QueryOptions,
    QueryRequest,
)
from plugins.knowledge.memory.model.responses import CreateResponse
from plugins.knowledge.memory.rights.roles import Roles
from plugins.knowledge.memory.write.drafts import new_record
from plugins.knowledge.store import Store

SECTION = "memory_quality"
SHOWN = 10
ME = Caller("person:bench", Tier.MEMBERS, name="Bench")


def measure() -> list[Row]:
    """Write both, ask, and count."""
    return asyncio.run(_measured())


async def _measured() -> list[Row]:
    return [
        *await _recall(),
        *await _led(),
        *await _changes(PLAIN),
        *await _changes(FREE),
        *await _others(),
    ]


@asynccontextmanager
async def _memory() -> AsyncGenerator[Memory]:
    """An empty memory beside an empty knowledge base, with the embedded model."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        services = await stack.enter_async_context(open_services(Services(), folder))
        if services.embedder is None:
            raise Unmeasurable("The embedded model is missing: " + " ".join(services.notices))
        host = make_host(services.for_plugin("knowledge"), "knowledge", "Benchmark")
        await host.database.migrate(MIGRATIONS)
        knowledge = await Knowledge.open(host, Store.of(host), "benchmark")
        stack.push_async_callback(knowledge.index.close)
        yield await stack.enter_async_context(Memory.opened(host, knowledge, Roles()))


async def _remember(memory: Memory, text: str, at: datetime) -> CreateResponse:
    entry = {"content": text, "created_at": at.isoformat()}
    return await memory.entries.create(CreateRequest.model_validate({"entry": entry}), ME)


async def _found(memory: Memory, question: str, mode: Mode = Mode.HYBRID) -> list[str]:
    """The ids that answer a question, best first."""
    request = QueryRequest(query=question, mode=mode, options=QueryOptions(limit=SHOWN))
    answer = await memory.query(request, ME)
    return [each.entry.id for each in answer.results]


async def _recall() -> list[Row]:
    made = dialogues()
    async with _memory() as memory:
        ids = {turn.number: await _kept(memory, turn) for turn in made.turns}
        scores = {
            mode: [
                _score(ids, each, await _found(memory, each.text, mode)) for each in made.questions
            ]
            for mode in (Mode.HYBRID, Mode.KEYWORD, Mode.SEMANTIC)
        }
    apart = [each.held_out for each in made.questions]
    rows = []
    for part, wanted in (("all", None), ("kept apart", True)):
        chosen = [at for at, held in enumerate(apart) if wanted in (None, held)]
        for name, place, least in (("recall@10", 0, 0.72), ("nDCG@10", 1, 0.54)):
            values = {mode: mean(some[at][place] for at in chosen) for mode, some in scores.items()}
            note = (
                f"{len(chosen)} questions; words alone {values[Mode.KEYWORD]:.3f}, "
                f"meaning alone {values[Mode.SEMANTIC]:.3f}"
            )
            what = f"{name} on dialogues of {WEEKS} weeks, {part}"
            bar = Bar("at least", least)
            rows.append(Row(SECTION, what, values[Mode.HYBRID], "", bar, note, headline=True))
    return rows


async def _kept(memory: Memory, turn: Turn) -> str:
    return (await _remember(memory, f"{turn.speaker}: {turn.text}", turn.at)).entry.id


def _score(ids: Mapping[int, str], asked: Asked, found: Sequence[str]) -> tuple[float, float]:
    """Recall and nDCG of the first ten."""
    wanted = {ids[number] for number in asked.evidence}
    hits = [id in wanted for id in found[:SHOWN]]
    gain = sum(hit / math.log2(place + 2) for place, hit in enumerate(hits))
    best = sum(1 / math.log2(place + 2) for place in range(min(SHOWN, len(wanted))))
    return sum(hits) / len(wanted), gain / best


async def _led() -> list[Row]:
    """Whether both entries are among ten that a question takes, of which one leads to the other."""
    made = chains()
    begin = datetime.now(UTC) - timedelta(weeks=20)
    said = [text for each in made for text in (each.first, each.second, *each.others)]
    said += [each.before for each in updates() if each.turn == 0]
    random.Random(17).shuffle(said)
    async with _memory() as memory:
        ids = {
            text: (await _remember(memory, text, begin + timedelta(hours=number))).entry.id
            for number, text in enumerate(said)
        }
        found = [set(await _found(memory, each.question)) for each in made]
    both = [
        {ids[each.first], ids[each.second]} <= some for each, some in zip(made, found, strict=True)
    ]
    rows = []
    for part, wanted in (("all", None), ("kept apart", True)):
        chosen = [
            hit for hit, each in zip(both, made, strict=True) if wanted in (None, each.held_out)
        ]
        what = f"both of two entries that a question takes among ten, {part}"
        rows.append(Row(SECTION, what, mean(chosen), "", None, f"{len(chosen)} questions"))
    return rows


async def _changes(data: str) -> list[Row]:
    """Each fact among others, said before and after; nobody decides how they go together."""
    outcomes: list[tuple[Update, _Outcome]] = []
    for _, some in groupby(updates(data), key=lambda each: each.turn):
        outcomes += await _round(list(some))
    flagged = await _flagged(pairs(data))
    rows = []
    for part, wanted in (("all", None), ("kept apart", True)):
        part = part if data == PLAIN else f"freely said, {part}"
        chosen = [each for update, each in outcomes if wanted in (None, update.held_out)]
        first = 100 * mean(each.right for each in chosen)
        stale = 100 * mean(each.stale for each in chosen)
        named = 100 * mean(each.named for each in chosen)
        apart = [each for pair, each in flagged if wanted in (None, pair.held_out)]
        note = f"of {len(chosen)}; {named:.0f} % were named as they were written"
        rows += [
            _share(f"what holds comes first after a change, {part}", first, "at least", 95, note),
            _share(f"what held before comes first (stale), {part}", stale, "under", 3, note),
            _share(
                f"near in meaning and wrongly said to be replaced, {part}",
                100 * mean(apart),
                "under",
                5,
                f"of {len(apart)} pairs that both hold",
            ),
        ]
    return rows


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of a fact that changed.

    Attributes:
        right: whether what holds came first.
        stale: whether what held before did.
        named: whether the writer was told that it seems to replace the other.
    """

    right: bool
    stale: bool
    named: bool


async def _round(some: Sequence[Update]) -> list[tuple[Update, _Outcome]]:
    begin = datetime.now(UTC) - timedelta(weeks=20)
    async with _memory() as memory:
        old, new, named = {}, {}, {}
        for number, each in enumerate(some):
            made = await _remember(memory, each.before, begin + timedelta(hours=number))
            old[number] = made.entry.id
        for number, each in enumerate(some):
            made = await _remember(memory, each.after, begin + timedelta(weeks=8, hours=number))
            new[number] = made.entry.id
            named[number] = any(
                near.id == old[number] and near.seems is not None for near in made.near
            )
        found = [await _found(memory, each.question) for each in some]
    return [
        (each, _Outcome(first[:1] == [new[number]], first[:1] == [old[number]], named[number]))
        for number, (each, first) in enumerate(zip(some, found, strict=True))
    ]


async def _others() -> list[Row]:
    """How often an answer stays the first after something else was said of what it is about."""
    rounds: list[list[Pair]] = []
    for each in pairs(FREE):
        fits = (some for some in rounds if all(one.family != each.family for one in some))
        if (some := next(fits, None)) is None:
            rounds.append(some := [])
        some.append(each)
    stayed = [pair for some in rounds for pair in await _stayed(some)]
    rows = []
    for part, wanted in (("all", None), ("kept apart", True)):
        chosen = [first for pair, first in stayed if wanted in (None, pair.held_out)]
        what = f"an answer stays first after something else was said, {part}"
        rows.append(Row(SECTION, what, 100 * mean(chosen), "%", None, f"of {len(chosen)}"))
    return rows


async def _stayed(some: Sequence[Pair]) -> list[tuple[Pair, bool]]:
    begin = datetime.now(UTC) - timedelta(weeks=20)
    async with _memory() as memory:
        ids = []
        for number, each in enumerate(some):
            made = await _remember(memory, each.before, begin + timedelta(hours=number))
            ids.append(made.entry.id)
        for number, each in enumerate(some):
            await _remember(memory, each.after, begin + timedelta(weeks=8, hours=number))
        found = [await _found(memory, each.question) for each in some]
    return [(each, first[:1] == [id]) for each, first, id in zip(some, found, ids, strict=True)]


async def _flagged(some: Sequence[Pair]) -> list[tuple[Pair, bool]]:
    """Which pairs are said to contradict each other, compared as memory compares them."""
    now = datetime.now(UTC)
    async with _memory() as memory:
        model: Any = memory.entries.vectors
        vectors = await model.embed([text for each in some for text in (each.before, each.after)])
    found = []
    for number, each in enumerate(some):
        old, new = (
            new_record(CreateRequest.model_validate({"entry": {"content": text}}), ME, "", now)
            for text in (each.before, each.after)
        )
        cosine = float(vectors[2 * number] @ vectors[2 * number + 1])
        found.append((each, compare(new, old, cosine).replaces))
    return found


def _share(
    what: str, value: float, kind: Literal["at least", "under"], limit: float, note: str
) -> Row:
    return Row(SECTION, what, value, "%", Bar(kind, limit), note, headline=True)
