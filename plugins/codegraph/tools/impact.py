"""The tool that shows what a change may break, by file and by test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Listing, Page, Tier, Tool, ToolResult
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.model import EdgeKind, Entity, EntityKind, shown_key
from plugins.codegraph.owners.owners import Owners
from plugins.codegraph.store.graph import Reached, Walk
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools import http_routes
from plugins.codegraph.tools.access import Access, Opened
from plugins.codegraph.tools.base import (
    READS,
    RESULTS,
    Branch,
    Depth,
    File,
    Kind,
    MinConfidence,
    Name,
    Repo,
)
from plugins.codegraph.tools.entity_lookup import TYPES, Found, find
from plugins.codegraph.tools.judgements import Judgements
from plugins.codegraph.tools.notes import Note, completeness, noted
from plugins.codegraph.tools.other_repositories import imports_elsewhere
from plugins.codegraph.tools.overrides import overridden, overriding
from plugins.codegraph.tools.paths import is_test_file
from plugins.codegraph.tools.result_models import Ref
from plugins.codegraph.tools.through import Through
from plugins.codegraph.tools.uses import use_of
from plugins.codegraph.tools.who_works import Working, who_works

DEPENDS = (EdgeKind.CALLS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS, EdgeKind.REFERENCES)
"""Edges whose source may break when their target changes."""
_FEW = 5
_MANY = 40


class Dependent(Ref):
    """One entity that a change may break."""

    depth: int = Field(description="0: it only imports the name.")
    at: str = Field(description="Where it depends on it: file:line.")
    by: str = Field(
        description="How: called, extended, implemented, imported, overridden, or a reference's "
        "sort: value, type, constructed, read, written, raised, decorated, macro."
    )
    strategy: str
    confidence: float
    type: EntityClass | None = Field(None, description="With `business`: its class.")
    feature: str | None = Field(None, description="With `business`: its feature or technology.")
    purpose: str | None = Field(None, description="With `business`: what it is for.")


class ImpactFile(ToolResult):
    """One file that a change may break."""

    file: str
    is_test: bool
    nearest: int = Field(description="The fewest steps by which something in it depends on it.")
    count: int = Field(description="How many entities in it are affected.")
    entities: list[Dependent] = Field(description="The nearest of them.")


class AffectedFeature(ToolResult):
    """A feature that a change may break."""

    name: str
    affected: int = Field(description="How many affected entities belong to it.")
    entry_points: list[str] = Field(description="Affected routes and commands of it.")


class ImpactNote(Note):
    """What an impact comes to."""

    files: int = Field(description="Affected files that are no tests.")
    test_files: int
    affected: int = Field(description="Affected functions, methods and classes, tests included.")
    tests: list[str] = Field(description="Tests to run, nearest first: file::name.")
    requests: list[str] | None = Field(
        None,
        description="Requests to the routes that it serves: repository/file:line, function, route.",
    )
    capped: bool | None = Field(None, description="true: there are more than were counted.")
    features: list[AffectedFeature] | None = Field(
        None, description="With `business`: the features that may break, the most affected first."
    )
    owners: list[Working] | None = Field(
        None, description="With `business`: who works on the nearest files, as far as is known."
    )


def _brief(item: ImpactFile) -> ImpactFile:
    return item.model_copy(update={"entities": item.entities[:_FEW]})


PAGE = Page(size=RESULTS, summarize=_brief, item=ImpactFile, note=ImpactNote)


def tools(access: Access, judgements: Judgements, owners: Owners | None = None) -> list[Tool]:
    """The tools of this group."""

    async def analyze_impact(  # noqa: PLR0913 - a client names each
        name: Name,
        file: File = None,
        kind: Kind = None,
        depth: Depth = 3,
        min_confidence: MinConfidence = 0.0,
        business: Annotated[
            bool,
            Field(
                description="Also say what each is for, in meta.features what breaks, and in "
                "meta.owners who works on it."
            ),
        ] = False,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[ImpactFile]:
        """What may break when you change or remove a function, class, variable or whole file: all
        that calls, names, constructs, extends or imports it, directly and through others, by file,
        with the tests to run in meta.tests. Use it before a refactoring. Read meta.completeness:
        dynamic calls may be missing."""
        opened = await access(caller, repo, branch)
        graph, kinds = opened.graph, () if kind is None else (kind,)
        found = await find(graph, name, file, kinds, prefer=kind is None)
        # A call of a method that it overrides may reach it, and its overrides must stay compatible.
        above = (await overridden(graph, found.all)).methods
        below = await overriding(graph, found.all)
        keys = [*await changed(graph, found), *(each.key for each in above)]
        walk = await graph.walk(keys, DEPENDS, True, depth, min_confidence=min_confidence)
        importers = await graph.walk(keys, EdgeKind.IMPORTS, True, min_confidence=min_confidence)
        items = _by_file(walk.reached, importers.reached, below)
        complete = await completeness(graph, found.all, references=True)
        elsewhere = await imports_elsewhere(access, caller, opened, found.all)
        sent = await http_routes.requesters(access, caller, opened, keys)
        note = _note(noted(opened, complete, found.note, elsewhere), items, walk)
        note = note.model_copy(update={"requests": _requests(sent)})
        if business:
            items, affected = await with_purposes(judgements, opened, items, walk)
            nearest = [each.file for each in items if not each.is_test]
            paths = list(dict.fromkeys([found.entity.path, *nearest]))
            working = await who_works(owners, graph.repo.id, paths)
            note = note.model_copy(update={"features": affected, "owners": working})
        return Listing(items, key=lambda item: item.file, note=note)

    return [
        Tool.of(
            analyze_impact,
            title="What a change breaks",
            page=PAGE,
            tier=Tier.OPEN,
            annotations=READS,
        )
    ]


async def changed(graph: Graph, found: Found) -> list[int]:
    """The keys that change with something: of a class its members too, of a file everything in
    it."""
    if found.entity.kind is EntityKind.FILE:
        return [each.key for each in await graph.in_file(found.entity.path)]
    keys = found.keys
    if found.entity.kind in TYPES:
        keys += [each.key for key in found.keys for each in await graph.contained(key)]
    return keys


async def with_purposes(
    judgements: Judgements, opened: Opened, items: Sequence[ImpactFile], walk: Walk
) -> tuple[list[ImpactFile], list[AffectedFeature] | None]:
    """Files with what each entity is for, and the features that are affected."""
    await judgements.note(opened)
    said = await judgements.of(opened, [each.entity for each in walk.reached])
    by_key = {shown_key(key): each for key, each in said.items()}
    told = [
        item.model_copy(update={"entities": [_told(one, by_key) for one in item.entities]})
        for item in items
    ]
    groups: defaultdict[str, list[Statement]] = defaultdict(list)
    for each in said.values():
        if each.shown().feature_area:
            groups[each.feature].append(each)
    affected = [
        AffectedFeature(
            name=name,
            affected=len(some),
            entry_points=sorted({one.entry for one in some if one.entry})[:_FEW],
        )
        for name, some in groups.items()
    ]
    affected.sort(key=lambda each: (-each.affected, each.name))
    return told, affected[:_MANY]


def _told(one: Dependent, said: Mapping[str, Statement]) -> Dependent:
    statement = said.get(one.key)
    if statement is None:
        return one
    shown = statement.shown()
    area = shown.feature_area or shown.technology_type
    fields = {"type": shown.type, "feature": area, "purpose": statement.purpose or None}
    return one.model_copy(update=fields)


def _by_file(
    reached: Sequence[Reached], importers: Sequence[Reached], below: Sequence[Entity]
) -> list[ImpactFile]:
    found: dict[str, list[Dependent]] = {}
    tests: set[str] = set()
    for each in reached:
        found.setdefault(each.entity.path, []).append(_dependent(each, each.depth))
        if each.entity.test:
            tests.add(each.entity.path)
    for entity in below:
        if entity.key not in {each.entity.key for each in reached}:
            found.setdefault(entity.path, []).append(_overriding(entity))
    for each in importers:
        if each.entity.path not in found:
            found[each.entity.path] = [_dependent(each, 0)]
            if is_test_file(each.entity.path):
                tests.add(each.entity.path)
    items = [
        ImpactFile(
            file=path,
            is_test=path in tests or is_test_file(path),
            nearest=min(one.depth or 1 for one in some),
            count=len([one for one in some if one.depth]),
            entities=sorted(some, key=lambda one: (one.depth or 1, one.line))[:_MANY],
        )
        for path, some in found.items()
    ]
    return sorted(items, key=lambda item: (item.is_test, item.nearest, item.file))


def _dependent(reached: Reached, depth: int) -> Dependent:
    said = Ref.of(reached.entity).model_dump(by_alias=False)
    return Dependent(
        **said,
        depth=depth,
        at=f"{reached.path}:{reached.line}",
        by=use_of(reached),
        strategy=reached.strategy.value,
        confidence=reached.confidence,
    )


def _overriding(entity: Entity) -> Dependent:
    said = Ref.of(entity).model_dump(by_alias=False)
    at = f"{entity.path}:{entity.line}"
    return Dependent(**said, depth=1, at=at, by="overridden", strategy="overrides", confidence=1.0)


def _requests(sent: Sequence[Through]) -> list[str] | None:
    """The requests to the routes that are served by what changes."""
    return [
        f"{each.graph.repo.name}/{each.reached.path}:{each.reached.line} "
        f"{each.reached.entity.qualified}: {each.by}"
        for each in sent[:_MANY]
    ] or None


def _note(note: Note, items: Sequence[ImpactFile], walk: Walk) -> ImpactNote:
    tests = [
        (one.depth or 1, f"{item.file}::{one.name}")
        for item in items
        if item.is_test
        for one in item.entities
        if one.kind is not EntityKind.FILE
    ]
    only = [item.file for item in items if item.is_test and not item.count]
    named = [name for _, name in sorted(tests)][:20]
    return ImpactNote(
        **note.model_dump(by_alias=False),
        files=len([item for item in items if not item.is_test]),
        test_files=len([item for item in items if item.is_test]),
        affected=walk.total,
        tests=named + only[: max(0, 20 - len(named))],
        capped=walk.capped or walk.total > len(walk.reached) or None,
    )
