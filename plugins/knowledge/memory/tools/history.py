"""The tool that shows what an entry was: its versions in pages, and one of them whole."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Listing, Page, Tier, Tool, piece
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.errors import ErrorCode, MemoryFailed
from plugins.knowledge.memory.model.excerpts import beginning
from plugins.knowledge.memory.store.reads import Version
from plugins.knowledge.memory.tools.annotations import READ_ONLY

MAX_EXCERPT = 400
"""Characters of a version in a list of them."""
MAX_PIECE_BYTES = 8_000
"""Bytes of a version's content in one answer."""


class PastVersion(BaseModel):
    """One version of an entry."""

    version: int
    written: datetime
    by: str = Field(description="Who wrote it.")
    content: str | None = Field(
        None, description="What it said, or its beginning; none where only this is kept."
    )
    length: int | None = Field(
        None, description="Characters of the whole, where this is a part: give its version."
    )
    next_offset: int | None = Field(
        None, description="Of one version: give it as offset for what follows."
    )


PAGE = Page(size=50, summarize=lambda each: each, item=PastVersion)


class AskedHistory(BaseModel):
    """What `memory_history` takes."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(description="The entry's id, as `query_memory` gives it.")
    version: int | None = Field(None, description="Only this version, as much as fits.")
    offset: int = Field(
        0, description="Where to begin in that version: the next_offset of an earlier answer."
    )


def history_tool(memory: Memory) -> Tool:
    """The tool."""

    async def run(asked: AskedHistory, caller: Caller) -> Listing[Any]:
        versions = await memory.reader.history(asked.id, caller)
        if asked.version is not None:
            versions = [each for each in versions if each.number == asked.version]
            if not versions:
                raise MemoryFailed(
                    ErrorCode.NOT_FOUND,
                    "There is no such version, or you could not read it then; working memory keeps "
                    "the present one alone. Leave version out to see which there are.",
                )

        async def ready(some: Sequence[Version]) -> Sequence[PastVersion]:
            names = await memory.authors.names({each.by for each in some})
            return [
                _shown(
                    each, "you" if each.by == caller.person else names.get(each.by, each.by), asked
                )
                for each in some
            ]

        # The newest is first, and what is written meanwhile goes before it.
        return Listing(versions, key=lambda each: -each.number, ordered=True, ready=ready)

    return Tool(
        "memory_history",
        "See what an entry said before, who changed it, and when, the newest version first: each "
        "with its beginning, or one version whole. Working memory keeps the present version alone.",
        run,
        args=AskedHistory,
        annotations=READ_ONLY,
        floor=Tier.PUBLIC,
        title="Memory history",
        page=PAGE,
    )


def _shown(version: Version, by: str, asked: AskedHistory) -> PastVersion:
    said = None if version.fields is None else str(version.fields["content"])
    shown = PastVersion(version=version.number, written=version.at, by=by, content=said)
    if said is None:
        return shown
    if asked.version is not None:
        part = piece(said, asked.offset, MAX_PIECE_BYTES)
        cut = part.offset > 0 or part.next_offset is not None
        update = {"content": part.text, "next_offset": part.next_offset}
        return shown.model_copy(update={**update, "length": len(said) if cut else None})
    if len(said) > MAX_EXCERPT:
        update = {"content": beginning(said, MAX_EXCERPT), "length": len(said)}
        return shown.model_copy(update=update)
    return shown
