"""10,000 entries of memory in a portal's database, and what is asked and written beside them.

The entries are parts of tldr pages, of 200 to 300 characters. The model reads some of them; the
vectors of the others are mixtures of theirs, since embedding all would take longer than everything
that is measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.playbook import mixed
from benchmarks.processes import ROOT
from gateway.assembly import open_portal
from gateway.config.portal import load_portal
from gateway.plugin_host import make_host
from plugins.knowledge.memory.model.entry import (
    LAYERS_WITH_VECTORS,
    KnowledgeMetadata,
    KnowledgeSource,
    Layer,
)
from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig
from plugins.knowledge.memory.model.record import Record

if TYPE_CHECKING:
    from gateway.contract import Database
    from gateway.open_portal import OpenPortal

SHARES: Mapping[Layer, int] = {
    Layer.SESSION: 1_000,
    Layer.EPISODIC: 1_500,
    Layer.PROCEDURAL: 1_500,
    Layer.SEMANTIC: 2_500,
    Layer.USER: 1_000,
    Layer.ORGANIZATION: 1_500,
    Layer.ARCHIVAL: 1_000,
}
"""The entries of each layer; working memory, which is not kept, is filled over HTTP."""
EMBEDDED = 300
"""Entries that the model reads."""
PEOPLE = 20
"""Whose the entries are that all members read; the other ones are the caller's own."""
OWN = frozenset({Layer.SESSION, Layer.USER})
SHORTEST, LONGEST = 200, 300
"""Characters of an entry."""
_BULK = 1_000
_TASK = re.compile(r"^- (?P<task>[^:`]{12,80}):?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Filled:
    """What a portal remembers.

    Attributes:
        ids: the entries of each layer.
        texts: what they say.
        questions: for each layer, questions in the words of its entries.
        unused: texts of the same kind that are in none of them.
    """

    ids: Mapping[Layer, Sequence[str]]
    texts: Mapping[Layer, Sequence[str]]
    questions: Mapping[Layer, Sequence[str]]
    unused: Sequence[str]


@cache
def texts(sets: Path) -> tuple[str, ...]:
    """Parts of tldr pages, each another one.

    Args:
        sets: the directory of data sets.
    """
    with (sets / "scale-tldr" / "pages.jsonl").open(encoding="utf-8") as lines:
        return tuple(dict.fromkeys(part for line in lines for part in _parts(line)))


def _parts(line: str) -> Iterator[str]:
    """Whole paragraphs of a page, as many as make an entry."""
    part = ""
    for paragraph in [*json.loads(line)["text"].split("\n\n"), "-" * LONGEST]:
        if len(part) + len(paragraph) + 2 > LONGEST:
            if SHORTEST <= len(part) <= LONGEST:
                yield part
            part = ""
        part = f"{part}\n\n{paragraph.strip()}".strip()


async def filled(content: Path, data: Path, sets: Path, owner: str) -> Filled:
    """Put the entries into the data of a portal that does not run, in bulk.

    Args:
        content: the portal's notes.
        data: its data directory.
        sets: the directory of data sets.
        owner: whose the entries are that others do not read.
    """
    sources = {"plugins": {"knowledge": {"sources": [{"directory": str(content)}]}}}
    portal = load_portal(ROOT / "config", sources)
    parts = iter(texts(sets))
    records = {
        layer: [
            _record(layer, number, owner, text)
            for number, text in enumerate(islice(parts, share), 1)
        ]
        for layer, share in SHARES.items()
    }
    async with open_portal(portal, data, wait_ready=True) as running:
        await _kept(running, [each for layer in records.values() for each in layer])
    return Filled(
        ids={layer: [each.id for each in kept] for layer, kept in records.items()},
        texts={layer: [each.content for each in kept] for layer, kept in records.items()},
        questions={
            layer: [question(each.content) for each in kept] for layer, kept in records.items()
        },
        unused=list(parts),
    )


def question(text: str) -> str:
    """A question in a text's own words: the first task that it names, or how it begins."""
    found = _TASK.search(text)
    return found["task"] if found else " ".join(re.findall(r"\w+", text)[:8])


def _record(layer: Layer, number: int, owner: str, text: str) -> Record:
    at = datetime.now(UTC) - timedelta(minutes=number)
    own = layer in OWN
    policy = AccessPolicy.PRIVATE if own else AccessPolicy.ORGANIZATION
    return Record(
        id=f"mem_{layer}_{number:08d}",
        layer=layer,
        owner=owner if own else f"person:{number % PEOPLE}",
        agent=f"agent-{number % 5}",
        content=text,
        metadata=KnowledgeMetadata(tags=(f"topic-{number % 40}",)),
        source=KnowledgeSource(identifier="benchmark"),
        access=AccessPolicyConfig(policy=policy),
        created=at,
        placed=at,
        used=at,
        embedded=layer in LAYERS_WITH_VECTORS,
        expires=at + timedelta(days=2) if layer is Layer.SESSION else None,
    )


async def _kept(running: OpenPortal, records: Sequence[Record]) -> None:
    from plugins.knowledge.memory.store.vectors import MemoryVectors
    from plugins.knowledge.memory.store.writes import Writes

    services = running.services
    if services.embedder is None:
        raise RuntimeError("The embedded model is missing: " + " ".join(services.notices))
    host = make_host(services.for_plugin("knowledge"), "knowledge", "Benchmark")
    having = [each for each in records if each.embedded]
    read = await services.embedder.passages([each.text for each in having[:EMBEDDED]])
    made = list(zip(having, mixed(read, len(having)), strict=True))
    given = {record.id: vector for record, vector in made}
    vectors = MemoryVectors(host, services.embedder)
    writes = Writes(host.database, lambda: datetime.now(UTC), vectors.kept)
    for first in range(0, len(records), _BULK):
        some = records[first : first + _BULK]
        own = {each.id: given[each.id] for each in some if each.embedded}
        await writes.add(some, "benchmark", own)
    await vectors.put(made)


async def bare(database: Database, ids: Sequence[str]) -> tuple[list[float], list[float]]:
    """How long the database alone takes: milliseconds of reading an entry's version, and of one
    row written in a transaction of its own.

    Args:
        database: the plugin's, of a portal that does not run.
        ids: the entries that are read, one after the other.
    """
    import sqlalchemy as sa

    from plugins.knowledge.memory.store.audit import AuditLog, AuditRecord
    from plugins.knowledge.memory.store.tables import entries

    audit = AuditLog(database, lambda: datetime.now(UTC))
    one = sa.select(entries.c.version).where(entries.c.id == sa.bindparam("own"))
    reads, writes = [], []
    for id in ids:
        begun = perf_counter()
        async with database.read() as connection:
            (await connection.execute(one, {"own": id})).one()
        read = perf_counter()
        await audit.add(AuditRecord("benchmark", "read", id, "done"))
        reads.append((read - begun) * 1000)
        writes.append((perf_counter() - read) * 1000)
    return reads, writes
