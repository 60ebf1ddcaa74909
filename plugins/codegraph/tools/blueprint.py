"""The tool that shows what a system does for whom, and on what it rests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolFailed, ToolResult
from plugins.codegraph.justification.taxonomy import EntityClass, EntryKind
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import READS, MaxBytes, Repo, Wire
from plugins.codegraph.tools.judgements import Judgements
from plugins.codegraph.tools.notes import Note

FEW = 5
"""Entry points and flows that are shown of each of several features."""


class EntryPoint(ToolResult):
    """How the outside starts a feature."""

    key: str = Field(description="The entity's key, which every tool takes as a name.")
    kind: EntryKind
    label: str = Field(description="The route, the command, the event.")
    file: str


class FlowSummary(ToolResult):
    """A flow that users see."""

    name: str
    steps: int = Field(description="How many entities of the feature it comes through.")
    actors: list[str]


class Feature(ToolResult):
    """A feature, or a technology that features share."""

    id: str = Field(description="Stays the same when the repository is indexed again.")
    name: str
    type: EntityClass
    entity_count: int
    file_count: int
    entry_points: list[EntryPoint] = Field(description="Some; with `feature`, all that are kept.")
    entry_point_count: int
    user_flows: list[FlowSummary] = Field(description="Those with the most steps.")
    flow_count: int
    horizontal_dependencies: list[str] = Field(description="Technologies that it rests on.")
    consumers: list[str] = Field(description="Of shared code: the features that use it.")
    tested_count: int = Field(description="Entities that a test uses directly.")
    confidence_avg: float


class BlueprintAnswer(ToolResult):
    """What a system does for whom, and on what it rests."""

    verticals: list[Feature] = Field(description="Features, the largest first.")
    horizontals: list[Feature] = Field(description="Infrastructure by technology.")
    utilities: Feature | None = Field(None, description="Helpers.")
    unknown_count: int = Field(description="Entities of which nothing tells what they are for.")
    left_out: int = Field(description="How many features did not fit; ask with `feature`.")
    meta: Note


def tools(access: Access, judgements: Judgements) -> list[Tool]:
    """The tools of this group."""

    async def get_blueprint(
        feature: Annotated[
            str | None,
            Field(description="Only this feature or technology, in whole: its name or its id."),
        ] = None,
        max_bytes: MaxBytes = 16_000,
        repo: Repo = None,
        *,
        caller: Caller,
    ) -> Wire:
        """What a system does for whom, on the indexed branch alone: its features with entry points
        and user flows, the infrastructure beneath with the features that use it, and its helpers,
        with counts. Use it first to explain or to plan in a system that you do not know; then
        search_by_purpose lists the code of one feature."""
        opened = await access(caller, repo)
        note = await judgements.note(opened)
        found = await judgements.store.features(opened.graph.repo)
        state = await judgements.store.state(opened.graph.repo)
        unknown = int(state.counts.get("unknown", 0)) if state is not None else 0
        named = _named(found, feature, opened.graph.repo.name)
        shown, left = _fitting(named, max_bytes, whole=feature is not None)
        helpers = [each for each in shown if each.type is EntityClass.UTILITY]
        return BlueprintAnswer(
            verticals=[each for each in shown if each.type is EntityClass.VERTICAL],
            horizontals=[each for each in shown if each.type is EntityClass.HORIZONTAL],
            utilities=helpers[0] if helpers else None,
            unknown_count=unknown,
            left_out=left,
            meta=note,
        ).wire()

    return [
        Tool.of(
            get_blueprint,
            title="What the system does",
            result=BlueprintAnswer,
            tier=Tier.OPEN,
            annotations=READS,
        )
    ]


def _named(
    found: Mapping[str, Mapping[str, Any]], feature: str | None, repo: str
) -> dict[str, Mapping[str, Any]]:
    """Those with a name or an id, or all."""
    if feature is None:
        return dict(found)
    wanted = feature.strip().lower()
    some = {key: each for key, each in found.items() if wanted in (key, each["name"].lower())}
    if not some:
        names = ", ".join(sorted(each["name"] for each in found.values())[:40])
        text = f"{repo} has no feature or technology {feature!r}. There are: {names or 'none'}."
        raise ToolFailed("unknown_feature", text)
    return some


def _fitting(
    found: Mapping[str, Mapping[str, Any]], most: int, *, whole: bool
) -> tuple[list[Feature], int]:
    """The first features that fit, and the number of others."""
    order = {EntityClass.VERTICAL: 0, EntityClass.HORIZONTAL: 1, EntityClass.UTILITY: 2}
    features = [_feature(key, each, whole=whole) for key, each in found.items()]
    features.sort(key=lambda each: (order[each.type], -each.entity_count, each.id))
    # Infrastructure and helpers are few and small: they come first for room, and last in the list.
    shown: list[Feature] = []
    for each in sorted(features, key=lambda one: -order[one.type]):
        size = len(each.model_dump_json(exclude_none=True))
        if size <= most or not shown:
            most -= size
            shown.append(each)
    chosen = {each.id for each in shown}
    return [each for each in features if each.id in chosen], len(features) - len(shown)


def _feature(key: str, data: Mapping[str, Any], *, whole: bool) -> Feature:
    entries: Sequence[Mapping[str, Any]] = data["entry_points"]
    flows: Sequence[Mapping[str, Any]] = data["user_flows"]
    most = len(entries) + len(flows) if whole else FEW
    return Feature(
        id=key,
        name=data["name"],
        type=EntityClass(data["type"]),
        entity_count=data["entity_count"],
        file_count=data["file_count"],
        entry_points=[EntryPoint(**each) for each in entries[:most]],
        entry_point_count=len(entries),
        user_flows=[FlowSummary(**each) for each in flows[:most]],
        flow_count=data["flow_count"],
        horizontal_dependencies=list(data["horizontal_dependencies"]),
        consumers=list(data["consumers"]),
        tested_count=data["tested_count"],
        confidence_avg=data["confidence_avg"],
    )
