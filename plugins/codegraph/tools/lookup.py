"""The tools that return one named thing: a function, a class, a file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field
from pydantic_core import to_json

from gateway.contract import Caller, Piece, Tier, Tool, ToolFailed, ToolResult, piece
from plugins.codegraph.model import EdgeKind, Entity, EntityKind
from plugins.codegraph.store.graph import Walk
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import (
    CALLERS,
    MAX_WHOLE_BYTES,
    READS,
    Branch,
    File,
    Kind,
    MaxBytes,
    Name,
    Offset,
    Repo,
    Wire,
)
from plugins.codegraph.tools.entity_detail import INHERITS, EntityDetail
from plugins.codegraph.tools.entity_lookup import CALLABLE, TYPES, Found, file_path, find
from plugins.codegraph.tools.notes import Note, completeness, noted
from plugins.codegraph.tools.overrides import overridden
from plugins.codegraph.tools.result_models import Brief, Linked, Ref

MIN_SOURCE_BYTES = 4_096
"""The least room for source, in bytes, whatever else the answer contains."""
MAX_SYMBOLS = 150
"""The most entities of a file, or members of a class, that are listed."""
_MAX_CHAIN = 5


class Text(ToolResult):
    """A text, or the part of it that begins at the offset."""

    text: str
    offset: int = Field(description="Where this part begins, in bytes.")
    next_offset: int | None = Field(None, description="Give it as offset for what follows.")
    bytes: int = Field(description="The length of the whole text.")


class FunctionAnswer(ToolResult):
    """A function or method."""

    entity: Brief
    end_line: int
    language: str
    documentation: str | None = None
    definitions: list[int] | None = Field(
        None, description="Lines of all definitions of this name in the file, where several."
    )
    source: Text
    caller_count: int
    callers: list[Linked] = Field(description="The first of them; get_callers lists all.")
    callee_count: int
    callees: list[Linked] = Field(description="The first of them; get_callees lists all.")
    meta: Note


class ClassAnswer(ToolResult):
    """A class or interface."""

    entity: Brief
    end_line: int
    language: str
    documentation: str | None = None
    bases: list[Ref] = Field(description="What it extends and implements, nearest first.")
    subclasses: list[Ref] = Field(description="What extends or implements it.")
    subclass_count: int
    member_count: int
    members: list[Brief]
    source: Text
    meta: Note


class FileAnswer(ToolResult):
    """A file."""

    path: str
    language: str | None = None
    lines: int
    size: int
    problem: str | None = Field(None, description="Why it is not, or not wholly, in the graph.")
    secrets: str | None = Field(
        None, description="What was taken out of the source, which says [REDACTED] there."
    )
    symbol_count: int
    symbols: list[Brief] | None = Field(
        None, description="What it defines; with the first part of the source alone."
    )
    source: Text
    meta: Note


def tools(access: Access) -> list[Tool]:
    """The tools, in the order in which an agent should consider them."""
    return [_function(access), _class(access), _file(access)]


def _function(access: Access) -> Tool:
    async def get_function(  # noqa: PLR0913 - a client names each
        name: Name,
        file: File = None,
        kind: Kind = None,
        offset: Offset = 0,
        max_bytes: MaxBytes = MAX_WHOLE_BYTES,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Read one function or method whose name you know: its whole source, documentation, and
        the first of its callers and callees. Use it instead of reading the file. For all callers
        use get_callers; where you do not know the name, use search_code or semantic_search."""
        opened = await access(caller, repo, branch)
        kinds = _of(kind, CALLABLE, "get_class or get_file")
        found = await find(opened.graph, name, file, kinds, prefer=kind is None)
        detail = EntityDetail(opened.graph)
        walks = [
            await opened.graph.walk(found.keys, EdgeKind.CALLS, incoming, limit=CALLERS)
            for incoming in (True, False)
        ]
        above = await overridden(opened.graph, found.all)
        complete = await completeness(opened.graph, found.all, above)
        fields = {
            **_about(found),
            **_linked("caller", walks[0]),
            **_linked("callee", walks[1]),
            "meta": noted(opened, complete, found.note),
        }
        source = await detail.source(found.entity)
        return _filled(FunctionAnswer, fields, source, offset, max_bytes)

    return _tool(get_function, "Read a function", FunctionAnswer)


def _class(access: Access) -> Tool:
    async def get_class(  # noqa: PLR0913 - a client names each
        name: Name,
        file: File = None,
        kind: Kind = None,
        offset: Offset = 0,
        max_bytes: MaxBytes = MAX_WHOLE_BYTES,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Read one class or interface whose name you know: its whole source, members with their
        signatures, what it extends and implements, and what extends or implements it."""
        opened = await access(caller, repo, branch)
        graph, kinds = opened.graph, _of(kind, TYPES, "get_function or get_file")
        found = await find(graph, name, file, kinds, prefer=kind is None)
        above = await graph.walk(found.keys, INHERITS, False, depth=_MAX_CHAIN, limit=CALLERS)
        below = await graph.walk(found.keys, INHERITS, True, limit=CALLERS)
        members = await graph.contained(found.entity.key)
        about = _about(found)
        about.pop("definitions")
        fields = {
            **about,
            "bases": [Ref.of(each.entity) for each in above.reached],
            "subclasses": [Ref.of(each.entity) for each in below.reached],
            "subclass_count": below.total,
            "member_count": len(members),
            "members": [Brief.of(each) for each in members[:MAX_SYMBOLS]] if not offset else [],
            "meta": noted(opened, note=found.note),
        }
        source = await EntityDetail(graph).source(found.entity)
        return _filled(ClassAnswer, fields, source, offset, max_bytes)

    return _tool(get_class, "Read a class", ClassAnswer)


def _file(access: Access) -> Tool:
    async def get_file(
        file: Annotated[
            str, Field(description="Its path from the repository's root, or the end of it.")
        ],
        offset: Offset = 0,
        max_bytes: MaxBytes = MAX_WHOLE_BYTES,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Read one file: its source, and what it defines with signatures. Prefer get_function or
        get_class where you need one definition; use it for what stands outside of any."""
        opened = await access(caller, repo, branch)
        path = await file_path(opened.graph, file)
        report = await opened.graph.file(path)
        if report is None:
            raise ToolFailed("unknown_name", f"The file {path} is not in the repository any more.")
        source = await opened.graph.source(path) or b""
        symbols = (await opened.graph.in_file(path))[1:]
        fields: dict[str, Any] = {
            "path": path,
            "language": report.language or None,
            "lines": report.lines,
            "size": report.size,
            "problem": report.problem or None,
            "secrets": report.secrets or None,
            "symbol_count": len(symbols),
            "symbols": [Brief.of(each) for each in symbols[:MAX_SYMBOLS]] if not offset else None,
            "meta": noted(opened, note=_left_out(symbols)),
        }
        return _filled(FileAnswer, fields, source.decode("utf-8", "replace"), offset, max_bytes)

    return _tool(get_file, "Read a file", FileAnswer)


def _of(
    kind: EntityKind | None, allowed: tuple[EntityKind, ...], other: str
) -> tuple[EntityKind, ...]:
    """The kinds that a tool looks for, restricted to ``kind`` if it is given.

    Raises:
        ToolFailed: that kind is read by another tool.
    """
    if kind is None:
        return allowed
    if kind not in allowed:
        kinds = " and ".join(each.value for each in allowed)
        raise ToolFailed("bad_input", f"This tool reads kind {kinds}; for {kind} use {other}.")
    return (kind,)


def _about(found: Found) -> dict[str, Any]:
    entity = found.entity
    several = [each.line for each in found.all] if len(found.all) > 1 else None
    return {
        "entity": Brief.of(entity),
        "end_line": entity.end_line,
        "language": entity.language,
        "documentation": entity.doc or None,
        "definitions": several,
    }


def _linked(what: str, walk: Walk) -> dict[str, Any]:
    return {
        f"{what}_count": walk.total,
        f"{what}s": [Linked.of(each) for each in walk.reached],
    }


def _filled(
    model: type[ToolResult], fields: dict[str, Any], source: str, offset: int, most: int
) -> Wire:
    """An answer with as much of the source as fits."""
    empty = model(**fields, source=Text(text="", offset=0, bytes=0))
    room = max(MIN_SOURCE_BYTES, most - len(to_json(_sent(empty))))
    shown = _within(source, offset, room)
    text = Text(
        text=shown.text, offset=shown.offset, next_offset=shown.next_offset, bytes=shown.total
    )
    return _sent(model(**fields, source=text))


def _sent(answer: BaseModel) -> Wire:
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


def _within(source: str, offset: int, room: int) -> Piece:
    """The part of a source whose JSON takes at most ``room`` bytes; a newline takes two."""
    limit = room
    while True:
        shown = piece(source, offset, limit)
        size = len(to_json(shown.text))
        if size <= room or limit <= 256:
            return shown
        limit = min(limit - 1, limit * room // size)


def _left_out(symbols: list[Entity]) -> str | None:
    left = len(symbols) - MAX_SYMBOLS
    return None if left <= 0 else f"{left} more symbols are not listed; search_code finds them."


def _tool(run: Callable[..., Awaitable[Wire]], title: str, result: type[BaseModel]) -> Tool:
    return Tool.of(run, title=title, result=result, tier=Tier.OPEN, annotations=READS)
