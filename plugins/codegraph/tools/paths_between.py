"""The tool that finds how one function comes to call another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolResult
from plugins.codegraph.model import EdgeKind
from plugins.codegraph.store.graph import Reached
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import READS, Branch, MinConfidence, Name, Repo, Wire
from plugins.codegraph.tools.entity_lookup import find
from plugins.codegraph.tools.notes import Note, noted
from plugins.codegraph.tools.result_models import Ref
from plugins.codegraph.tools.traversal import called, members_of
from plugins.codegraph.tools.uses import By, use_of

HALF = 5
"""The most steps from either end: a path has at most twice as many."""


class PathStep(Ref):
    """One entity on a path."""

    at: str | None = Field(None, description="Where it uses the next one: file:line.")
    by: By | None = Field(None, description="How it uses the next one; null at the end.")


class PathAnswer(ToolResult):
    """A shortest path between two entities."""

    found: bool
    steps: list[PathStep] = Field(description="From the first to the last; empty if none is.")
    length: int | None = Field(None, description="The number of edges.")
    meta: Note


def tools(access: Access) -> list[Tool]:
    """The tools of this group."""

    async def find_path(
        source: Name,
        target: Name,
        references: Annotated[
            bool, Field(description="Whether references are steps too, and not calls alone.")
        ] = False,
        min_confidence: MinConfidence = 0.0,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Wire:
        """How one function comes to another: a shortest chain of calls from source to target, of
        at most ten steps, each with its place. With references also values that are passed, types
        and constructions count as steps. Use it to see whether and how an entry point reaches
        something."""
        opened = await access(caller, repo, branch)
        graph = opened.graph
        first = await find(graph, source, prefer=True)
        last = await find(graph, target, prefer=True)
        kinds = (EdgeKind.CALLS, EdgeKind.REFERENCES) if references else (EdgeKind.CALLS,)
        starts = [*first.keys, *await members_of(graph, first)]
        chain = await _between(graph, starts, await called(graph, last), kinds, min_confidence)
        note = " ".join(filter(None, (first.note, last.note))) or None
        return PathAnswer(
            found=bool(chain),
            steps=chain,
            length=len(chain) - 1 if chain else None,
            meta=noted(opened, note=note),
        ).wire()

    return [
        Tool.of(
            find_path, title="Find a path", result=PathAnswer, tier=Tier.OPEN, annotations=READS
        )
    ]


async def _between(
    graph: Graph,
    starts: Sequence[int],
    ends: Sequence[int],
    kinds: Sequence[EdgeKind],
    min_confidence: float,
) -> list[PathStep]:
    """A shortest path, where a walk from the start meets one from the end."""
    if set(starts) & set(ends):
        return []
    away = await graph.walk(starts, kinds, False, HALF, min_confidence=min_confidence)
    back = await graph.walk(ends, kinds, True, HALF, min_confidence=min_confidence)
    forward = {each.entity.key: each for each in away.reached}
    backward = {each.entity.key: each for each in back.reached}
    depths = {key: each.depth for key, each in forward.items()} | dict.fromkeys(starts, 0)
    rest = {key: each.depth for key, each in backward.items()} | dict.fromkeys(ends, 0)
    meeting = min(
        depths.keys() & rest.keys(), key=lambda key: (depths[key] + rest[key], key), default=None
    )
    if meeting is None:
        return []
    before = _chain(meeting, forward)[::-1]
    after = _chain(meeting, backward)
    edges = [*before, *after]
    keys = [*(each.via for each in before), meeting, *(each.via for each in after)]
    entities = await graph.entities(keys)
    steps = []
    for place, key in enumerate(keys):
        edge = edges[place] if place < len(edges) else None
        at = None if edge is None else f"{edge.path}:{edge.line}"
        by = None if edge is None else use_of(edge)
        said = Ref.of(entities[key]).model_dump(by_alias=False)
        steps.append(PathStep(**said, at=at, by=by))
    return steps


def _chain(key: int, reached: Mapping[int, Reached]) -> list[Reached]:
    """The edges from an entity back to where its walk began."""
    found = []
    while key in reached:
        found.append(reached[key])
        key = reached[key].via
    return found
