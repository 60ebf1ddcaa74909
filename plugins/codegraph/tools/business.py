"""The tools that say why code exists, and find code by what it is for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Listing, Page, Tier, Tool, ToolResult
from gateway.toolkit.questions import Question
from plugins.codegraph.changes.entity_history import history_of
from plugins.codegraph.changes.history import ChangeHistory
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.justification.taxonomy import EntityClass, Taxonomy
from plugins.codegraph.model import EdgeKind, Entity, shown_key
from plugins.codegraph.owners.owners import Owners
from plugins.codegraph.search.search import Search
from plugins.codegraph.tools.access import Access, Opened
from plugins.codegraph.tools.base import READS, RESULTS, Branch, File, Kind, Name, Repo, Wire
from plugins.codegraph.tools.entity_lookup import CALLABLE, TYPES, find
from plugins.codegraph.tools.entity_past import Past, past_of
from plugins.codegraph.tools.judgements import UNSAID, Judged, Judgements, judged
from plugins.codegraph.tools.notes import Note, completeness
from plugins.codegraph.tools.result_models import Brief
from plugins.codegraph.tools.who_works import Working, who_works

MAX_TESTS = 20
"""The most tests that an answer names."""
MAX_LISTED, MAX_SEARCHED = 500, 200
"""The most results of a feature or a class, and of a question."""
_NO_CLASS = "Only functions, methods, classes and interfaces that are no tests are classified."


def _brief(item: Judged) -> Judged:
    return item


PAGE = Page(size=RESULTS, summarize=_brief, item=Judged, note=Note)


class AnsweredBy(ToolResult):
    """Who was asked where facts are unsure or silent; what they say is marked model or agent."""

    model: str = Field(description="The model, as it calls itself.")
    provider: str = Field(description="The provider in portal.yaml; agent: a member's agent.")
    person: str | None = Field(None, description="Whose agent it was.")
    at: datetime
    refused: str | None = Field(
        None, description="What the graph contradicts in the answer, so that it does not count."
    )


class ContextAnswer(ToolResult):
    """Why one entity exists."""

    entity: Brief
    justification: Taxonomy
    correction_version: int = Field(
        description="How often members corrected it; correct_justification asks for it."
    )
    corrected_at: datetime | None = None
    answered_by: AnsweredBy | None = None
    tests: list[str] = Field(description="Tests that use it directly: file::name.")
    past: Past = Field(description="What the last indexes changed of it.")
    owners: list[Working] | None = Field(
        None, description="Who works on its file, as far as is known."
    )
    meta: Note


def tools(
    access: Access,
    search: Search,
    judgements: Judgements,
    history: ChangeHistory,
    owners: Owners | None,
) -> list[Tool]:
    """The tools of this group."""
    return [
        _context(access, judgements, history, owners),
        _by_purpose(access, search, judgements),
    ]


def _context(
    access: Access, judgements: Judgements, history: ChangeHistory, owners: Owners | None
) -> Tool:
    async def get_business_context(
        name: Name,
        file: File = None,
        kind: Kind = None,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Why a function, method or class exists: its purpose in its author's words, whether it is
        a feature (VERTICAL), shared infrastructure (HORIZONTAL) or a helper (UTILITY), the feature
        area and user flows or the technology and its consumers, the tests that use it, the
        evidence, what the last pushes changed of it, and who works on it. Use it before you change
        code that you do not know, so that what you write fits."""
        opened = await access(caller, repo, branch)
        graph, kinds = opened.graph, () if kind is None else (kind,)
        found = await find(graph, name, file, kinds, prefer=kind is None)
        said = (await judgements.of(opened, found.all)).get(found.entity.key)
        correction = await judgements.correction(opened, found.entity)
        meta = await judgements.note(opened, found.note or "", "" if said else _NO_CLASS)
        complete = await completeness(graph, found.all)
        return ContextAnswer(
            entity=Brief.of(found.entity),
            justification=UNSAID if said is None else said.shown(),
            correction_version=0 if correction is None else correction.version,
            corrected_at=None if correction is None else correction.at,
            answered_by=await _answered(judgements, opened, found.entity, said),
            tests=await _tests(opened, found.keys),
            past=past_of(await history_of(history, graph.repo, found.entity)),
            owners=await who_works(owners, graph.repo.id, [found.entity.path]),
            meta=meta.model_copy(update={"completeness": complete}),
        ).wire()

    return Tool.of(
        get_business_context,
        title="Why code exists",
        result=ContextAnswer,
        tier=Tier.OPEN,
        annotations=READS,
    )


async def _answered(
    judgements: Judgements, opened: Opened, entity: Entity, said: Statement | None
) -> AnsweredBy | None:
    """Who was asked about an entity; None where nothing that they said counts any more."""
    opinion = None if said is None else await judgements.opinion(opened, entity)
    if opinion is None:
        return None
    names = await judgements.people.names([opinion.person]) if opinion.person else {}
    return AnsweredBy(
        model=opinion.model or "unknown",
        provider=opinion.provider,
        person=names.get(opinion.person) if opinion.person else None,
        at=opinion.at,
        refused=opinion.refused or None,
    )


def _by_purpose(access: Access, search: Search, judgements: Judgements) -> Tool:
    async def search_by_purpose(
        query: Annotated[
            Question | None,
            Field(description="What the code is for, in your words: `taking back a payment`."),
        ] = None,
        feature: Annotated[
            str | None,
            Field(description="Only this feature area or technology, as get_blueprint names it."),
        ] = None,
        type: Annotated[EntityClass | None, Field(description="Only this class.")] = None,
        repo: Repo = None,
        *,
        caller: Caller,
    ) -> Listing[tuple[Entity, Statement]]:
        """Find code of the indexed branch by what it is for: all of a feature ("billing"), of a
        technology ("authentication"), of a class, or what answers a question, each with its purpose
        and its place in the system; all of it, the surest first, where nothing is asked for."""
        opened = await access(caller, repo)
        note, total = "", None
        if query is None:
            found, total = await _listed(judgements, opened, feature, type)
        else:
            ranked = await search.meaning(opened.graph, query, MAX_SEARCHED, (*CALLABLE, *TYPES))
            said = await judgements.of(opened, [each.entity for each in ranked.ranked])
            pairs = [(each.entity, said.get(each.entity.key)) for each in ranked.ranked]
            found = [(one, each) for one, each in pairs if each and _fits(each, feature, type)]
            note = ranked.note
        return Listing(
            found,
            key=lambda pair: shown_key(pair[0].key),
            note=await judgements.note(opened, note),
            ready=_ready,
            total=total,
        )

    return Tool.of(
        search_by_purpose,
        title="Find code by purpose",
        page=PAGE,
        tier=Tier.OPEN,
        annotations=READS,
    )


async def _listed(
    judgements: Judgements, opened: Opened, feature: str | None, kind: EntityClass | None
) -> tuple[list[tuple[Entity, Statement]], int]:
    """The code of a feature or a class, the surest first, and how much there is."""
    some, total = await judgements.store.matching(
        opened.graph.repo, kind=kind, area=feature, limit=MAX_LISTED
    )
    entities = await opened.graph.entities([each.key for each in some])
    now = await judgements.of(opened, list(entities.values()))
    fitting = [
        (entities[each.key], now[each.key])
        for each in some
        if each.key in entities and _fits(now[each.key], feature, kind)
    ]
    return fitting, total - (len(some) - len(fitting))


def _fits(statement: Statement, feature: str | None, kind: EntityClass | None) -> bool:
    shown = statement.shown()
    named = {(shown.feature_area or "").lower(), (shown.technology_type or "").lower()}
    return (kind is None or shown.type is kind) and (feature is None or feature.lower() in named)


async def _ready(shown: Sequence[tuple[Entity, Statement]]) -> list[Judged]:
    return [judged(entity, statement) for entity, statement in shown]


async def _tests(opened: Opened, keys: Sequence[int]) -> list[str]:
    """The tests that use some entities directly."""
    walk = await opened.graph.walk(keys, (EdgeKind.CALLS, EdgeKind.REFERENCES), True)
    named = [each.entity for each in walk.reached if each.entity.test]
    return [f"{each.path}::{each.qualified}" for each in named[:MAX_TESTS]]
