"""The tool that outlines a repository by importance."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolResult
from plugins.codegraph.model import Entity, EntityKind
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import MAX_WHOLE_BYTES, READS, Branch, MaxBytes, Repo, Wire
from plugins.codegraph.tools.notes import Note, noted
from plugins.codegraph.tools.paths import is_test_file, plain
from plugins.codegraph.tools.result_models import MAX_SIGNATURE_LENGTH, cut, purpose

MAX_ENTITIES = 2_000
"""The most entities that are ranked."""


class MapEntry(ToolResult):
    """One entity of an outline."""

    name: str
    kind: EntityKind
    line: int
    signature: str | None = None
    purpose: str | None = None
    used_by: int = Field(description="How many entities use it.")


class MapFile(ToolResult):
    """One file of an outline."""

    file: str
    used_by: int = Field(description="How often what is in it is used.")
    entities: list[MapEntry] = Field(description="The most used first.")


class MapAnswer(ToolResult):
    """An outline of a repository: its most used parts first."""

    files: list[MapFile]
    left_out: int = Field(description="How many more files have something that is used.")
    meta: Note


def tools(access: Access) -> list[Tool]:
    """The tools of this group."""

    async def get_code_map(
        path: Annotated[
            str, Field(description="Only below this folder, from the repository's root.")
        ] = "",
        max_bytes: MaxBytes = 8_000,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Wire:
        """An outline of a repository, or of a folder, by importance: the files and the functions,
        classes and variables that most of the other code uses, with signatures, in as many bytes
        as you allow. Use it first in code that you do not know. Tests are left out."""
        opened = await access(caller, repo, branch)
        ranked = await opened.graph.most_used(MAX_ENTITIES)
        below = plain(path).rstrip("/") if path else ""
        files = _by_file([each for each in ranked if _is_below(each[0], below)])
        shown = _fitting(files, max_bytes)
        return MapAnswer(files=shown, left_out=len(files) - len(shown), meta=noted(opened)).wire()

    return [
        Tool.of(
            get_code_map,
            title="Outline by importance",
            result=MapAnswer,
            tier=Tier.OPEN,
            annotations=READS,
        )
    ]


def _is_below(entity: Entity, folder: str) -> bool:
    if entity.test or is_test_file(entity.path) or entity.kind is EntityKind.FILE:
        return False
    return not folder or entity.path == folder or entity.path.startswith(f"{folder}/")


def _by_file(ranked: list[tuple[Entity, int]]) -> list[MapFile]:
    found: dict[str, list[MapEntry]] = {}
    for entity, count in ranked:
        entry = MapEntry(
            name=entity.qualified,
            kind=entity.kind,
            line=entity.line,
            signature=cut(entity.signature, MAX_SIGNATURE_LENGTH) or None,
            purpose=purpose(entity.doc),
            used_by=count,
        )
        found.setdefault(entity.path, []).append(entry)
    files = [
        MapFile(file=path, used_by=sum(each.used_by for each in some), entities=some)
        for path, some in found.items()
    ]
    return sorted(files, key=lambda each: (-each.used_by, each.file))


def _fitting(files: list[MapFile], most: int) -> list[MapFile]:
    """The first files that fit, each with as many entities as leave room for the others."""
    shown: list[MapFile] = []
    room = min(most, MAX_WHOLE_BYTES)
    for file in files:
        share = max(3, room // 1_500)
        part = file.model_copy(update={"entities": file.entities[:share]})
        size = len(part.model_dump_json(exclude_none=True))
        if size > room:
            break
        room -= size
        shown.append(part)
    return shown
