"""How well memory finds what long conversations ask for, and what holds after it has changed.

300 questions over dialogues of 14 weeks between eight people (``dialogues.py``), and 200 facts that
change among 200 pairs that do not contradict each other (``updates.py``), as many again that are
said more freely, questions that take two entries (``linked.py``), and small talk
(``small_talk.py``), on a real memory with the embedded model. A part of the families of
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
from typing import Literal, TypeVar

from benchmarks.dialogues import WEEKS, Asked, dialogues
from benchmarks.dialogues import Turn as Line
from benchmarks.linked import chains
from benchmarks.small_talk import small_talk
from benchmarks.table import Bar, Row, Unmeasurable
from benchmarks.updates import FREE, PLAIN, Pair, Update, pairs, updates
from gateway.config.portal_keys import Services
from gateway.contract import Caller, Tier
from gateway.plugin_host import make_host
from gateway.services import open_services
from plugins.knowledge.knowledge import MIGRATIONS, Knowledge
from plugins.knowledge.memory.algorithms.extraction import Turn
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.requests import (
    CreateRequest,
    Mode,
    QueryOptions,
    QueryRequest,
)
from plugins.knowledge.memory.model.responses import CreateResponse
from plugins.knowledge.memory.rights.roles import Roles
from plugins.knowledge.store import Store

SECTION = "memory_quality"
SHOWN = 10
Said = TypeVar("Said", Update, Pair)
BESIDE = (
    "{}",
    "{} Talk to you later.",
    "By the way, the coffee machine is broken again, can somebody look at it? {}",
    "I will be away on Thursday afternoon because of the dentist. {}",
)
"""What else is said in a turn."""
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
        *await _told(PLAIN),
        *await _told(FREE),
        *await _small_talk(),
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


async def _kept(memory: Memory, turn: Line) -> str:
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
    changed: list[tuple[Update, _Outcome]] = []
    for _, group in groupby(updates(data), key=lambda each: each.turn):
        changed += await _round(list(group))
    apart = [each for some in _rounds(pairs(data)) for each in await _round(some)]
    rows: list[Row] = []
    for part, wanted in (("all", None), ("kept apart", True)):
        rows += _outcomes(
            part if data == PLAIN else f"freely said, {part}",
            [each for update, each in changed if wanted in (None, update.held_out)],
            [each for pair, each in apart if wanted in (None, pair.held_out)],
        )
    return rows


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of something after something else was said.

    Attributes:
        later: whether what was said later comes first.
        earlier: whether what was said before does.
        named: whether the writer was told that the later seems to replace the earlier.
        wrongly: how many other entries they were told of as replaced.
    """

    later: bool
    earlier: bool
    named: bool
    wrongly: int


def _outcomes(part: str, changed: Sequence[_Outcome], apart: Sequence[_Outcome]) -> list[Row]:
    """The rows of facts that changed, and of pairs that both hold."""
    right = sum(each.named for each in changed)
    told = right + sum(each.wrongly for each in (*changed, *apart))
    told += sum(each.named for each in apart)
    first, stale, named = (
        100 * mean(getattr(each, what) for each in changed)
        for what in ("later", "earlier", "named")
    )
    flagged, stays = (
        100 * mean(getattr(each, what) for each in apart) for what in ("named", "earlier")
    )
    facts, both = f"of {len(changed)}", f"of {len(apart)} pairs that both hold"
    return [
        _share(f"what holds comes first after a change, {part}", first, facts, "at least", 95),
        _share(f"what held before comes first (stale), {part}", stale, facts, "under", 3),
        _share(f"near and wrongly said to be replaced, {part}", flagged, both, "under", 5),
        _share(f"a change is named as it is written, {part}", named, facts),
        _share(f"what is named is a change, {part}", 100 * right / told, f"of {told} named"),
        _share(f"an answer stays first after something else was said, {part}", stays, both),
    ]


def _rounds(some: Sequence[Pair]) -> list[list[Pair]]:
    """Pairs, in each round those of other families: two of one may be about the same."""
    rounds: list[list[Pair]] = []
    for each in some:
        fits = (group for group in rounds if all(one.family != each.family for one in group))
        if (group := next(fits, None)) is None:
            rounds.append(group := [])
        group.append(each)
    return rounds


async def _round(some: Sequence[Said]) -> list[tuple[Said, _Outcome]]:
    begin = datetime.now(UTC) - timedelta(weeks=20)
    async with _memory() as memory:
        old = await _written(memory, [each.before for each in some], begin)
        new = await _written(memory, [each.after for each in some], begin + timedelta(weeks=8))
        found = [await _found(memory, each.question) for each in some]
    return [
        (each, _outcome(earlier, later, first[0] if first else ""))
        for each, earlier, later, first in zip(some, old, new, found, strict=True)
    ]


async def _written(memory: Memory, texts: Sequence[str], at: datetime) -> list[CreateResponse]:
    """Entries, an hour apart."""
    return [await _remember(memory, text, at + timedelta(hours=n)) for n, text in enumerate(texts)]


async def _told(data: str) -> list[Row]:
    """The same facts, told among other things in turns of conversations."""
    first: list[set[str]] = []
    holds: list[tuple[set[str], set[str]]] = []
    begin = datetime.now(UTC) - timedelta(weeks=20)
    for _, group in groupby(updates(data), key=lambda each: each.turn):
        some = list(group)
        async with _memory() as memory:
            old = await _talked(memory, [each.before for each in some], begin)
            new = await _talked(memory, [each.after for each in some], begin + timedelta(weeks=8))
            first += [set((await _found(memory, each.question))[:1]) for each in some]
            holds += zip(old, new, strict=True)
    later, earlier = (
        100 * mean(not one.isdisjoint(ids[at]) for one, ids in zip(first, holds, strict=True))
        for at in (1, 0)
    )
    part = "told in conversations" if data == PLAIN else "freely told in conversations"
    note = f"of {len(first)}"
    return [
        _share(f"what holds comes first after a change, {part}", later, note),
        _share(f"what held before comes first (stale), {part}", earlier, note),
    ]


async def _talked(memory: Memory, said: Sequence[str], at: datetime) -> list[set[str]]:
    """The ids of each turn and of what was found in it, an hour apart."""
    turns = [
        Turn(
            ("Ana", "Ben")[number % 2],
            BESIDE[number % len(BESIDE)].format(text),
            at + timedelta(hours=number),
        )
        for number, text in enumerate(said)
    ]
    kept = await memory.conversations(turns, ME, f"talk of {at:%B}")
    found = {id: {id} for id in kept.turns}
    for each in kept.found:
        found[each.turn].add(each.id)
    return [found[id] for id in kept.turns]


async def _small_talk() -> list[Row]:
    """Small talk, of which nothing replaces anything, and what is said once among it."""
    lines, told = small_talk()
    begin = datetime.now(UTC) - timedelta(weeks=2)
    async with _memory() as memory:
        made = [
            await _remember(memory, line, begin + timedelta(minutes=7 * number))
            for number, line in enumerate(lines)
        ]
        first = [(await _found(memory, each.asked))[:1] for each in told]
    replaced = {each.id for one in made for each in one.near if each.seems is not None}
    ids = {line: one.entry.id for line, one in zip(lines, made, strict=True)}
    found = [some == [ids[each.said]] for some, each in zip(first, told, strict=True)]
    seem, among = "lines of small talk that seem replaced", "what is said once among small talk"
    return [
        _share(seem, 100 * len(replaced) / len(lines), f"of {len(lines)}", "under", 5),
        _share(f"{among} comes first", 100 * mean(found), f"of {len(found)}"),
    ]


def _outcome(earlier: CreateResponse, later: CreateResponse, first: str) -> _Outcome:
    seem = [each.id for made in (earlier, later) for each in made.near if each.seems is not None]
    named = earlier.entry.id in seem
    return _Outcome(
        first == later.entry.id,
        first == earlier.entry.id,
        named,
        len(seem) - seem.count(earlier.entry.id),
    )


def _share(
    what: str,
    value: float,
    note: str,
    kind: Literal["at least", "under"] | None = None,
    limit: float = 0.0,
) -> Row:
    bar = None if kind is None else Bar(kind, limit)
    return Row(SECTION, what, value, "%", bar, note, headline=bar is not None)
