"""The MCP Skills extension (SEP-2640), as both eras speak it: shapes of requests and results.

The catalog (:mod:`gateway.catalog.skills`) decides what is served, and to whom; the methods are in
:mod:`gateway.surfaces.mcp.methods`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from auth import Caller
from gateway.catalog.items import Item
from gateway.catalog.skills import declared_skill, uri_of
from gateway.contract import SkillFile, ToolFailed
from gateway.observability.logs import get_logger
from gateway.surfaces.mcp.envelope import INVALID_PARAMS, WireError
from gateway.surfaces.mcp.results import LIST_TTL_MS, Era

EXTENSION = "io.modelcontextprotocol/skills"
"""The extension's identifier in the server's capabilities."""
SETTINGS: Mapping[str, Any] = {"directoryRead": True}

METHODS: Mapping[str, tuple[str, ...]] = {
    "skills/list": (),
    "skills/get": ("uri",),
    "resources/directory/read": ("uri",),
}
"""The extension's methods, and the parameters that each must have."""

log = get_logger(__name__)


def check(method: str, params: Mapping[str, Any]) -> None:
    """Check the parameters of one of the extension's methods.

    Raises:
        WireError: one is missing, or is no text.
    """
    for name in METHODS[method]:
        if name not in params:
            raise WireError(INVALID_PARAMS, f"Invalid parameters: {name}: is required")
    for name in ("uri", "cursor"):
        if not isinstance(params.get(name, ""), str):
            raise WireError(INVALID_PARAMS, f"Invalid parameters: {name}: must be a string")


def skill_entry(item: Item, files: Sequence[SkillFile]) -> dict[str, Any]:
    """The extension's ``Skill`` entry.

    Args:
        item: the skill.
        files: its manifest, as the caller may read it.
    """
    skill = declared_skill(item)
    further = skill.origin.entry if skill.origin else {}
    return {
        **further,
        "uri": item.name,
        "frontmatter": skill.frontmatter,
        "resources": [
            {
                "uri": uri_of(f"{skill.path}/{file.path}"),
                "digest": f"sha256:{file.digest}",
                "size": file.size,
            }
            for file in files
        ],
    }


def skill_result(entry: Mapping[str, Any], era: Era) -> bytes:
    """A ``GetSkillResult``."""
    return _result(_cached({"skill": entry}), era)


def skills_page(entries: Sequence[Any], cursor: str | None, era: Era) -> bytes:
    """A ``ListSkillsResult``: one page."""
    return _result(_cached(_page("skills", entries, cursor)), era)


def directory_page(entries: Sequence[Any], cursor: str | None, era: Era) -> bytes:
    """A ``ReadResourceDirectoryResult``: one page."""
    # The extension asks for no lifetime here; the Inspector (2.12) takes no answer without one.
    return _result(_cached(_page("resources", entries, cursor)), era)


def _page(key: str, entries: Sequence[Any], cursor: str | None) -> dict[str, Any]:
    return {key: list(entries)} | ({"nextCursor": cursor} if cursor is not None else {})


def _cached(value: dict[str, Any]) -> dict[str, Any]:
    # What a caller sees depends on the tier, so no one may replay it to another.
    return value | {"ttlMs": LIST_TTL_MS, "cacheScope": "private"}


def _result(value: Mapping[str, Any], era: Era) -> bytes:
    # The models of the specification's revisions do not know this extension's results.
    return era.close(to_json(value)[:-1])


def file_reader(
    item: Item,
) -> Callable[[Mapping[str, str], Caller], Awaitable[str | bytes]]:
    """What reads a file of a skill: text where its bytes are UTF-8, so that none is lost.

    The bytes are those of the manifest, or none: a host that verifies them would refuse others,
    and one that does not verify would take instructions that nobody has approved.
    """

    async def read(variables: Mapping[str, str], caller: Caller) -> str | bytes:
        path = variables["path"]
        raw = await declared_skill(item).read(path, caller)
        file = item.files[path]
        if len(raw) != file.size or hashlib.sha256(raw).hexdigest() != file.digest:
            log.warning("skill_file_changed", skill=item.key, file=path)
            raise ToolFailed(
                "changed",
                "The file has changed since the skill was listed. List the skills again in a "
                "while, and read it then.",
            )
        return _text_or_bytes(raw)

    return read


def _text_or_bytes(raw: bytes) -> str | bytes:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return raw
    return raw if "\0" in text else text
