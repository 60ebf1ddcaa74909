"""The tool that lists every use of an entity: its calls, and what names it otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Listing, Page, Tier, Tool
from plugins.codegraph.model import EdgeKind, Entity, EntityKind, Sort, Strategy
from plugins.codegraph.store.graph import Reached
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import (
    READS,
    RESULTS,
    Branch,
    File,
    Kind,
    MinConfidence,
    Name,
    Repo,
)
from plugins.codegraph.tools.entity_lookup import Found, find
from plugins.codegraph.tools.notes import Note, completeness, noted
from plugins.codegraph.tools.other_repositories import imports_elsewhere
from plugins.codegraph.tools.overrides import overridden
from plugins.codegraph.tools.result_models import Ref
from plugins.codegraph.tools.uses import KINDS, By, use_of

MAX_LINES = 20
"""The most lines of one use that an answer names."""


class Used(Ref):
    """An entity that uses another one, in one way."""

    by: By = Field(
        description="How: called, imported, extended, implemented; or named as a value (passed, "
        "stored, compared), a type, constructed, read, written, raised or caught, as a decorator, "
        "or in a macro or template."
    )
    at: str = Field(description="Where first: file:line.")
    lines: list[int] | None = Field(None, description="All lines, where there are several.")
    sites: int = Field(description="At how many places.")
    strategy: Strategy = Field(description="How it was found.")
    confidence: float
    test: bool | None = Field(None, description="true: it is a test.")


PAGE = Page(size=RESULTS, summarize=lambda item: item, item=Used, note=Note)


def tools(access: Access) -> list[Tool]:
    """The tools of this group."""

    async def find_references(  # noqa: PLR0913 - a client names each
        name: Name,
        file: File = None,
        kind: Kind = None,
        by: Annotated[
            list[By] | None, Field(description="Only uses of these kinds; all if left out.")
        ] = None,
        min_confidence: MinConfidence = 0.0,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Listing[Used]:
        """Who uses a function, class, variable or field, and what for: every place that calls,
        imports, extends, constructs, passes, stores, reads or writes it, or names it as a type, a
        decorator or in a macro. Use it before you rename or delete something. Read
        meta.completeness: it names the places that have the name and could not be read."""
        opened = await access(caller, repo, branch)
        graph, kinds = opened.graph, () if kind is None else (kind,)
        found = await find(graph, name, file, kinds, prefer=kind is None)
        wanted = set(by or By)
        followed = [each for way, each in KINDS.items() if way in wanted]
        sorts = [sort for sort in Sort if By(sort.value) in wanted]
        followed += [EdgeKind.REFERENCES] if sorts else []
        walk = await graph.uses(found.keys, followed, sorts, min_confidence=min_confidence)
        items = await uses_of(graph, found, walk.reached)
        above = await overridden(graph, found.all)
        complete = await completeness(graph, found.all, above, references=True)
        elsewhere = await imports_elsewhere(access, caller, opened, found.all)
        note = noted(opened, complete, found.note, elsewhere)
        total = walk.total - (len(walk.reached) - len(items))
        return Listing(items, key=lambda item: f"{item.key} {item.by}", note=note, total=total)

    return [
        Tool.of(
            find_references, title="Find references", page=PAGE, tier=Tier.OPEN, annotations=READS
        )
    ]


async def uses_of(graph: Graph, found: Found, reached: Sequence[Reached]) -> list[Used]:
    """What a list says of the uses of something."""
    lines = _Lines(graph, {each.name for each in found.all})
    return [await _used(each, lines) for each in _without_repeats(reached)]


def _without_repeats(reached: Sequence[Reached]) -> list[Reached]:
    """The uses without calls of a class where it is constructed, which is said already."""
    made = {each.entity.key for each in reached if each.sort is Sort.CONSTRUCTED}
    return [
        each for each in reached if each.kind is not EdgeKind.CALLS or each.entity.key not in made
    ]


async def _used(reached: Reached, lines: _Lines) -> Used:
    entity = reached.entity
    return Used(
        **Ref.of(entity).model_dump(by_alias=False),
        by=use_of(reached),
        at=f"{reached.path}:{reached.line}",
        lines=await lines.of(entity) if reached.sites > 1 else None,
        sites=reached.sites,
        strategy=reached.strategy,
        confidence=reached.confidence,
        test=True if entity.test else None,
    )


class _Lines:
    """Finds the lines of an entity that have one of some names; reads each file's text once."""

    def __init__(self, graph: Graph, names: set[str]) -> None:
        self._graph = graph
        either = "|".join(re.escape(each) for each in sorted(names))
        self._name = re.compile(rf"(?<![\w$])(?:{either})(?![\w$])")
        self._texts: dict[str, list[str]] = {}

    async def of(self, entity: Entity) -> list[int] | None:
        """The first of the lines; None where no line has the name, as where it has an alias."""
        if entity.path not in self._texts:
            text = await self._graph.source(entity.path) or b""
            self._texts[entity.path] = text.decode("utf-8", "replace").split("\n")
        whole = entity.kind is EntityKind.FILE
        first = 0 if whole else entity.line - 1
        lines = self._texts[entity.path][first : None if whole else entity.end_line]
        found = [first + at for at, line in enumerate(lines, start=1) if self._name.search(line)]
        return found[:MAX_LINES] or None
