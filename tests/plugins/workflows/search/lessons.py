"""Ten thousand generated workflows about other things than the real ones: pieces of music."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice, product
from typing import Any

from sqlalchemy import insert

from gateway.contract import Database
from plugins.workflows.inputs import PromptDraft, StageDraft, StageItemDraft, WorkflowDraft
from plugins.workflows.model import Visibility
from plugins.workflows.store import tables
from plugins.workflows.store.item_texts import workflow_text
from plugins.workflows.store.sequence import next_value

_PIECES = (
    "waltz sonata lullaby reel march tango fugue hymn polka mazurka minuet nocturne serenade "
    "ballad rondo gavotte bolero prelude barcarole sarabande jig chorale bourree gigue carol"
)
_INSTRUMENTS = (
    "cello flute harp accordion clarinet lute trumpet viola oboe bassoon guitar mandolin organ "
    "piano violin recorder horn zither dulcimer banjo"
)
_WAYS = (
    "slowly|by heart|from the score|with a friend|for the recital|by ear|with the metronome|"
    "in a trio|at dawn|in the church|in another key|without the pedal|for the wedding|"
    "with ornaments|softly|in the garden|with a singer|at the festival|in the old style|"
    "twice as fast"
)


def lessons(most: int) -> Iterator[WorkflowDraft]:
    """At most 10,000, each with another name."""
    every = product(_PIECES.split(), _INSTRUMENTS.split(), _WAYS.split("|"))
    for piece, instrument, way in islice(every, most):
        yield WorkflowDraft(
            name=f"Learn a {piece} on the {instrument} {way}",
            description=f"Practise a {piece} on the {instrument} {way}, bar by bar.",
            visibility=Visibility.PUBLIC,
            tags=(piece, instrument),
            stages=(_stage("Listen", f"Tune the {instrument}"), _stage("Play", f"The {piece}")),
        )


def _stage(name: str, prompt: str) -> StageDraft:
    item = StageItemDraft(PromptDraft(name=prompt, content=f"{prompt}."))
    return StageDraft(name=name, items=(item,))


async def shelve(database: Database, drafts: Sequence[WorkflowDraft]) -> None:
    """Write what search reads of workflows, all at once and without vectors."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    ids = [f"lesson{number:05}" for number in range(len(drafts))]
    common = {"owner": "person:teacher", "version": 1, "created": now, "updated": now}
    common |= {"include_multi_agent_chat": False, "extra": {}}
    rows: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    tags: list[dict[str, Any]] = []
    for id, draft in zip(ids, drafts, strict=True):
        fields = {"name": draft.name, "description": draft.description}
        rows.append({"id": id, "key": id, "visibility": draft.visibility, **fields, **common})
        tags += [{"workflow": id, "tag": each} for each in draft.tags]
        texts.append({"workflow": id, "text": workflow_text(draft)})
    async with database.begin() as connection:
        await connection.execute(insert(tables.workflows), rows)
        await connection.execute(insert(tables.workflow_tags), tags)
        stamp = await next_value(connection)
        stamped = [{**each, "stamp": stamp} for each in texts]
        await connection.execute(insert(tables.workflow_embeddings), stamped)
