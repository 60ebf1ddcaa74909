"""Skills of a server (MCP Skills extension, SEP-2640): checked, and read as what they list."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from mimetypes import guess_type
from typing import Any
from urllib.parse import unquote

from plugins.upstreams.catalogue.suspicion import suspicions

EXTENSION = "io.modelcontextprotocol/skills"
SCHEME = "skill://"
_ROOT_FILE = "/SKILL.md"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_OTHER = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file as its skill lists it.

    Attributes:
        path: below the skill's root.
        uri: where its server has it.
        digest: of its bytes, 64 hexadecimal digits of SHA-256.
        size: its bytes.
        mime_type: its media type.
    """

    path: str
    uri: str
    digest: str
    size: int
    mime_type: str


def offers_skills(capabilities: Mapping[str, Any]) -> bool:
    """Whether a server has the extension: newer ones say so in ``extensions``."""
    places = (capabilities.get(key) for key in ("extensions", "experimental"))
    return any(isinstance(place, Mapping) and EXTENSION in place for place in places)


def skill_reason(entry: Mapping[str, Any]) -> str:
    """What is wrong with an entry of ``skills/list``; nothing where it can be served."""
    if not _is_root(entry["uri"]):
        return "its uri is not skill://…/SKILL.md"
    if not isinstance(entry.get("frontmatter"), Mapping):
        return "it has no frontmatter"
    listed = entry.get("resources")
    if not isinstance(listed, list) or not listed:
        return "it lists no files"
    if any(_file(entry["uri"], each) is None for each in listed):
        return "it lists a file that is not below it, or without its digest and size"
    found = suspicions(entry["frontmatter"])
    return f"its frontmatter {' and '.join(found)}" if found else ""


def path_of(entry: Mapping[str, Any]) -> str:
    """Where a skill is below ``skill://`` at its server."""
    return unquote(_root(entry["uri"]).removeprefix(SCHEME))


def files_of(entry: Mapping[str, Any]) -> list[ListedFile]:
    """The files of a skill."""
    found = (_file(entry["uri"], each) for each in entry["resources"])
    return [each for each in found if each is not None]


def _is_root(uri: str) -> bool:
    is_named = len(_root(uri)) > len(SCHEME)
    return uri.startswith(SCHEME) and uri.endswith(_ROOT_FILE) and is_named


def _root(uri: str) -> str:
    return uri.removesuffix(_ROOT_FILE)


def _file(skill: str, listed: Any) -> ListedFile | None:
    if not isinstance(listed, Mapping):
        return None
    uri, digest, size = (listed.get(key) for key in ("uri", "digest", "size"))
    if not isinstance(uri, str) or not uri.startswith(f"{_root(skill)}/"):
        return None
    found = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
    if found is None or not isinstance(size, int) or isinstance(size, bool):
        return None
    path, said = unquote(uri[len(_root(skill)) + 1 :]), listed.get("mimeType")
    guessed = "text/markdown" if path.endswith(".md") else guess_type(path)[0] or _OTHER
    return ListedFile(path, uri, found[1], size, said if isinstance(said, str) else guessed)
