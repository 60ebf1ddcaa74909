"""The tools that find code whose name is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from gateway.contract import Caller, Listing, Page, Tier, Tool
from gateway.toolkit.questions import Question
from plugins.codegraph.model import Entity, shown_key
from plugins.codegraph.search.rank import Ranked
from plugins.codegraph.search.search import Search
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access, Opened
from plugins.codegraph.tools.base import (
    MAX_FOUND,
    READS,
    RESULTS,
    Branch,
    File,
    Kind,
    Name,
    OfKind,
    Repo,
)
from plugins.codegraph.tools.entity_detail import EntityDetail
from plugins.codegraph.tools.entity_lookup import CALLABLE, TYPES, find
from plugins.codegraph.tools.notes import Note, noted
from plugins.codegraph.tools.result_models import Scored, WholeScored, brief
from plugins.codegraph.tools.traversal import FULL_BELOW

SEMANTIC = 50
"""The most results of a semantic search: further down there is only noise."""


class SearchNote(Note):
    """How it was searched."""

    mode: str = Field(
        description="keyword: by words alone; hybrid: by meaning and words; similar: by meaning."
    )


def _brief(item: Scored) -> Scored:
    if not isinstance(item, WholeScored):
        return item
    return Scored(**{name: getattr(item, name) for name in Scored.model_fields})


PAGE = Page(size=RESULTS, summarize=_brief, item=WholeScored | Scored, note=SearchNote)
BEST = replace(PAGE, size=10)
"""The page size of a semantic search (kap10, "Hybrid search algorithm": the top 10 with
context)."""


def tools(access: Access, search: Search) -> list[Tool]:
    """The tools, in the order in which an agent should consider them."""
    return [_semantic(access, search), _code(access, search), _similar(access, search)]


def _semantic(access: Access, search: Search) -> Tool:
    async def semantic_search(
        query: Annotated[
            Question,
            Field(
                description="What the code does, as a question or in a few words: `where is the "
                "session cookie signed`."
            ),
        ],
        kind: OfKind = None,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[Ranked]:
        """Find the code for a purpose when you do not know what it is called. It compares meaning
        and words, best first. Use it before you open files at random; where you know a name or a
        word of the code, search_code is exact."""
        opened = await access(caller, repo, branch)
        kinds = () if kind is None else (kind,)
        found = await search.meaning(opened.graph, query, SEMANTIC, kinds)
        return _listed(opened, found.ranked, found.mode, found.note)

    return Tool.of(
        semantic_search, title="Search by meaning", page=BEST, tier=Tier.OPEN, annotations=READS
    )


def _code(access: Access, search: Search) -> Tool:
    async def search_code(
        query: Annotated[
            Question,
            Field(
                description="Words of names, signatures or documentation: `SessionMiddleware`, "
                "`parse range header`."
            ),
        ],
        kind: OfKind = None,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[Ranked]:
        """Find functions, classes, files and variables by words of their names, signatures and
        documentation; names are split, so `user` finds `getUserById`. Use it where you know a word
        that is in the code; for a purpose in your own words use semantic_search."""
        opened = await access(caller, repo, branch)
        kinds = () if kind is None else (kind,)
        found = await search.words(opened.graph, query, MAX_FOUND, kinds)
        return _listed(opened, found, "keyword", "")

    return Tool.of(
        search_code, title="Search by words", page=PAGE, tier=Tier.OPEN, annotations=READS
    )


def _similar(access: Access, search: Search) -> Tool:
    async def find_similar(
        name: Name,
        file: File = None,
        kind: Kind = None,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[Ranked]:
        """Find code like a function or class that you name: duplicates, variants, and examples of
        how this codebase does such a thing. Use it before you write something new."""
        opened = await access(caller, repo, branch)
        kinds = (*CALLABLE, *TYPES) if kind is None else (kind,)
        found = await find(opened.graph, name, file, kinds, prefer=kind is None)
        source = await EntityDetail(opened.graph).source(found.entity)
        near = await search.similar(opened.graph, found.entity, source, SEMANTIC)
        others = [each for each in near.ranked if each.entity.key not in found.keys]
        said = " ".join(each for each in (found.note, near.note) if each)
        return _listed(opened, others, "similar", said)

    return Tool.of(
        find_similar, title="Find similar code", page=BEST, tier=Tier.OPEN, annotations=READS
    )


def _listed(opened: Opened, found: Sequence[Ranked], mode: str, note: str) -> Listing[Ranked]:
    async def ready(shown: Sequence[Ranked]) -> list[Scored]:
        return await _shown(opened.graph, shown, whole=len(found) < FULL_BELOW)

    said = noted(opened, note=note or None)
    return Listing(
        found,
        key=lambda each: shown_key(each.entity.key),
        note=SearchNote(**said.model_dump(by_alias=False), mode=mode),
        ready=ready,
    )


async def _shown(graph: Graph, some: Sequence[Ranked], *, whole: bool) -> list[Scored]:
    """The models of results, with their numbers of callers and callees; in full if ``whole``."""
    degrees = await graph.degrees([each.entity.key for each in some])
    parents = await _parents(graph, [each.entity for each in some])
    detail = EntityDetail(graph)
    shown = []
    for each in some:
        callers, callees = degrees.get(each.entity.key, (0, 0))
        fields: dict[str, Any] = {
            **brief(each.entity),
            "score": round(each.score, 4),
            "container": parents.get(each.entity.parent or 0),
            "caller_count": callers,
            "callee_count": callees,
        }
        if whole:
            fields |= await detail.body(each.entity)
        shown.append(WholeScored(**fields) if whole else Scored(**fields))
    return shown


async def _parents(graph: Graph, found: Sequence[Entity]) -> dict[int, str]:
    """The qualified names of the entities that contain these, other than files."""
    wanted = {each.parent for each in found if each.parent is not None and "." in each.qualified}
    return {key: each.qualified for key, each in (await graph.entities(wanted)).items()}
