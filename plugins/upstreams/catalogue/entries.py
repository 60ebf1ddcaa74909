"""What a server offers, as it wrote it, entry by entry: one that is malformed is left out alone."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import jsonschema_rs

from plugins.upstreams.catalogue.skills import EXTENSION, offers_skills, skill_reason
from plugins.upstreams.wire import HttpRefused, NotMcp, RpcError, TooLarge
from plugins.upstreams.wording import visible

Kind = Literal["tool", "prompt", "resource", "template", "skill"]
Entry = Mapping[str, Any]
Ask = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""``await ask(method, params)``: a server's result."""


@dataclass(frozen=True, slots=True)
class EntryList:
    """Where a kind of entry is listed.

    Attributes:
        method: the MCP method.
        key: where its result has the entries.
        capability: what a server declares that has the list.
        id: the field that tells one entry from another.
    """

    method: str
    key: str
    capability: str
    id: str


LISTS: Mapping[Kind, EntryList] = {
    "tool": EntryList("tools/list", "tools", "tools", "name"),
    "prompt": EntryList("prompts/list", "prompts", "prompts", "name"),
    "resource": EntryList("resources/list", "resources", "resources", "uri"),
    "template": EntryList(
        "resources/templates/list", "resourceTemplates", "resources", "uriTemplate"
    ),
    "skill": EntryList("skills/list", "skills", EXTENSION, "uri"),
}
MAX_PAGES = 200
"""Pages of one list that are read."""
MAX_SCHEMA_CHARACTERS = 200_000
"""Characters of a schema, as Python writes it."""
MAX_ID_CHARACTERS = 2_000
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+")
_METHOD_NOT_FOUND = -32601
_MAX_REASON_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Malformed:
    """An entry that is not served.

    Attributes:
        kind: what it is.
        id: its name or URI, or its place in the list where it has none.
        reason: what is wrong with it, for the server's author.
    """

    kind: Kind
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a server offered when it was asked.

    Attributes:
        entries: by kind, in the server's order.
        malformed: what is left out.
        cut: the kinds of which it offers more than is taken.
        failed: why a list could not be read, by kind; its entries are those of the time before.
    """

    entries: Mapping[Kind, tuple[Entry, ...]] = field(default_factory=dict)
    malformed: tuple[Malformed, ...] = ()
    cut: tuple[Kind, ...] = ()
    failed: Mapping[Kind, str] = field(default_factory=dict)

    def of(self, kind: Kind) -> tuple[Entry, ...]:
        """The entries of a kind."""
        return self.entries.get(kind, ())


async def fetch(
    ask: Ask, capabilities: Mapping[str, Any], most: int, before: Catalogue | None = None
) -> Catalogue:
    """Ask a server for all its lists; one that it cannot give stays as it was.

    Args:
        ask: sends a request; of what it raises, an error of the connection is raised here, and
            so is an HTTP error where no list could be read at all.
        capabilities: what the server declared: lists that it has not are not asked for.
        most: entries of a kind that are taken.
        before: what it offered before.
    """
    entries: dict[Kind, tuple[Entry, ...]] = {}
    malformed: list[Malformed] = []
    cut: list[Kind] = []
    failed: dict[Kind, str] = {}
    refused: HttpRefused | None = None
    offered = {*capabilities, *([EXTENSION] if offers_skills(capabilities) else [])}
    for kind, where in LISTS.items():
        if where.capability not in offered:
            continue
        try:
            found, is_cut = await _listed(ask, where, most)
        except (RpcError, HttpRefused, NotMcp, TooLarge) as error:
            entries[kind] = before.of(kind) if before else ()
            refused = error if isinstance(error, HttpRefused) else refused
            if not (isinstance(error, RpcError) and error.code == _METHOD_NOT_FOUND):
                failed[kind] = visible(error.message[:_MAX_REASON_CHARACTERS])
            continue
        entries[kind] = tuple(_checked(kind, found, malformed))
        if is_cut:
            cut.append(kind)
    if refused is not None and len(failed) == len(entries):
        raise refused
    return Catalogue(entries, tuple(malformed), tuple(cut), failed)


async def _listed(ask: Ask, where: EntryList, most: int) -> tuple[list[Any], bool]:
    found: list[Any] = []
    params: dict[str, Any] = {}
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await ask(where.method, params)
        entries = page.get(where.key)
        if not isinstance(entries, list):
            raise NotMcp(f"the answer to {where.method} has no list called {where.key}")
        found += entries
        cursor = page.get("nextCursor")
        if len(found) > most:
            return found[:most], True
        if not isinstance(cursor, str) or cursor in seen:
            return found, False
        seen.add(cursor)
        params = {"cursor": cursor}
    return found, True


def _checked(kind: Kind, entries: Iterable[Any], malformed: list[Malformed]) -> Iterable[Entry]:
    field_name, seen = LISTS[kind].id, set[str]()
    for place, entry in enumerate(entries):
        given = entry.get(field_name) if isinstance(entry, dict) else None
        reason = _reason(kind, entry) or (given in seen and "it is listed twice") or ""
        if reason:
            name = given[:100] if isinstance(given, str) else f"number {place + 1}"
            malformed.append(Malformed(kind, visible(name), visible(reason)))
        else:
            seen.add(str(given))
            yield entry


def _reason(kind: Kind, entry: Any) -> str:
    """What is wrong with an entry; nothing where it can be served."""
    if not isinstance(entry, dict):
        return "it is no object"
    given = entry.get(LISTS[kind].id)
    if not isinstance(given, str) or not given.strip():
        return f"it has no {LISTS[kind].id}"
    if len(given) > MAX_ID_CHARACTERS:
        return f"its {LISTS[kind].id} has {len(given):,} characters"
    if not isinstance(entry.get("description", ""), str | None):
        return "its description is no text"
    if kind == "tool":
        return _schema_reason(entry.get("inputSchema"), "inputSchema") or (
            _schema_reason(entry["outputSchema"], "outputSchema", any_root=True)
            if entry.get("outputSchema") is not None
            else ""
        )
    if kind == "skill":
        return skill_reason(entry)
    if kind == "prompt":
        return _arguments_reason(entry.get("arguments"))
    return "" if _URI.fullmatch(given) or "{" in given else f"its {LISTS[kind].id} has no scheme"


def _schema_reason(schema: Any, what: str, *, any_root: bool = False) -> str:
    if not isinstance(schema, dict):
        return f"its {what} is missing" if schema is None else f"its {what} is no object"
    if not any_root and schema.get("type") != "object":
        return f'its {what} must have "type": "object" at the root'
    if len(str(schema)) > MAX_SCHEMA_CHARACTERS:
        return f"its {what} is larger than {MAX_SCHEMA_CHARACTERS:,} characters"
    try:
        jsonschema_rs.meta.validate(schema)
    except (jsonschema_rs.ValidationError, ValueError, RecursionError) as error:
        return f"its {what} is not a JSON schema: {str(error).splitlines()[0][:200]}"
    return ""


def _arguments_reason(arguments: Any) -> str:
    if arguments is None:
        return ""
    named = isinstance(arguments, list) and all(
        isinstance(each, dict) and isinstance(each.get("name"), str) for each in arguments
    )
    return "" if named else "its arguments are no list of named ones"
