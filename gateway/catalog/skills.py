"""Skills as the catalog holds them: what makes one servable, and where each file is.

The format is that of the Agent Skills specification, the addresses and limits are those of the
MCP Skills extension (SEP-2640). A skill is the directory ``skill://PATH``; skills can nest.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as mcp
from pydantic_core import from_json, to_json

from gateway.catalog.items import Item
from gateway.catalog.schemas import BadDeclaration
from gateway.contract import Skill, SkillFile

SCHEME = "skill://"
ROOT_FILE = "SKILL.md"
DIRECTORY = "inode/directory"
"""The media type of a directory resource."""
MAX_SKILL_FILES = 512
MAX_SKILL_BYTES = 16 * 1024 * 1024
"""What every host accepts in one skill (SEP-2640, "Limits")."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MAX_NAME_CHARACTERS, _MAX_DESCRIPTION_CHARACTERS = 64, 1024
_DIGEST = re.compile(r"[0-9a-f]{64}")
_UNESCAPED = "/!$&'()*+,;=:@"  # what RFC 3986 allows in a path segment, and the slash between two


def uri_of(path: str) -> str:
    """The URI of a file or directory, from its path below ``skill://``."""
    return SCHEME + quote(path, safe=_UNESCAPED)


def path_of(uri: str) -> str | None:
    """The path in a skill URI; None where the URI is another's, or written in an odd way."""
    if not uri.startswith(SCHEME):
        return None
    try:
        path = unquote(uri.removeprefix(SCHEME), errors="strict")
    except UnicodeDecodeError:
        return None
    return path if uri in (SCHEME + path, uri_of(path)) else None


# What makes a skill servable.


def skill_item(plugin: str, skill: Skill) -> Item:
    """Check a skill and make it an item.

    Raises:
        BadDeclaration: it breaks the naming rules or the limits, or its manifest is not whole.
    """
    frontmatter = _frontmatter(skill)
    _check_path(skill.path)
    if skill.path.rpartition("/")[2] != frontmatter["name"]:
        raise BadDeclaration(
            f"the last segment of its path {skill.path!r} must be its name, {frontmatter['name']!r}"
        )
    files = {file.path: file for file in skill.files}
    _check_manifest(skill.files, files)
    uri = uri_of(f"{skill.path}/{ROOT_FILE}")
    entry = mcp.Resource(
        uri=uri,
        name=frontmatter["name"],
        description=frontmatter["description"],
        mime_type=files[ROOT_FILE].mime_type,
        size=files[ROOT_FILE].size,
    )
    return Item(
        plugin,
        "skill",
        uri,
        replace(skill, frontmatter=frontmatter, files=tuple(skill.files)),
        entry.model_dump(mode="json", by_alias=True, exclude_none=True),
        dict,
        files=MappingProxyType(files),
        opaque=None,  # the path of a file is one of the manifest's, or there is no such file
    )


def _frontmatter(skill: Skill) -> dict[str, Any]:
    """The frontmatter as JSON values; YAML's dates become the texts they were written as."""
    read: Any = from_json(to_json(skill.frontmatter, inf_nan_mode="null"))
    name, description = read.get("name"), read.get("description")
    if not isinstance(name, str) or len(name) > _MAX_NAME_CHARACTERS or not _NAME.fullmatch(name):
        raise BadDeclaration(
            f"the name {str(name)[:100]!r} must be 1 to {_MAX_NAME_CHARACTERS} of a-z, 0-9 and "
            "single hyphens between them"
        )
    if not isinstance(description, str) or not 1 <= len(description) <= _MAX_DESCRIPTION_CHARACTERS:
        raise BadDeclaration(
            f"its description must be 1 to {_MAX_DESCRIPTION_CHARACTERS} characters"
        )
    return dict(read)


def _check_path(path: str) -> None:
    if any(part in ("", ".", "..") for part in path.split("/")) or not path.isprintable():
        raise BadDeclaration(f"the path {path[:200]!r} has an empty or relative segment")


def _check_manifest(listed: Sequence[SkillFile], files: Mapping[str, SkillFile]) -> None:
    if ROOT_FILE not in files:
        raise BadDeclaration(f"its manifest lists no {ROOT_FILE}")
    if len(files) != len(listed):
        raise BadDeclaration("its manifest lists a file twice")
    if len(files) > MAX_SKILL_FILES:
        raise BadDeclaration(f"it has {len(files)} files; a skill may have {MAX_SKILL_FILES}")
    for file in listed:
        _check_path(file.path)
        if not _DIGEST.fullmatch(file.digest) or file.size < 0:
            raise BadDeclaration(
                f"{file.path!r} needs a digest of 64 hexadecimal digits and a size in bytes"
            )
    if (size := sum(file.size for file in listed)) > MAX_SKILL_BYTES:
        raise BadDeclaration(f"its files have {size} bytes; a skill may have {MAX_SKILL_BYTES}")


def declared_skill(item: Item) -> Skill:
    """The declaration behind a skill's item; raises ``TypeError`` for another kind of item."""
    if not isinstance(item.declared, Skill):
        raise TypeError(f"{item.key} is not a skill")
    return item.declared


# Where each file is.


@dataclass(frozen=True, slots=True)
class Child:
    """A file or a directory in a directory.

    Attributes:
        owner: the skill that serves it.
        gate: the innermost skill that holds it, whose tier it carries.
        entry: its resource entry.
    """

    owner: Item
    gate: Item
    entry: Mapping[str, Any]


class SkillTree:
    """Finds skills by path, without looking at all of them.

    Args:
        items: every skill of the catalog.
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._by_path = {declared_skill(item).path: item for item in items}
        self._paths = sorted(self._by_path)
        self._longest = max(map(len, self._paths), default=0)

    def around(self, path: str) -> list[Item]:
        """The skills whose directory holds a path, the innermost first."""
        found = []
        # What is longer than any skill's path is none, however many slashes a caller sends.
        end = path.rfind("/", 0, self._longest + 1)
        while end > 0:
            if item := self._by_path.get(path[:end]):
                found.append(item)
            end = path.rfind("/", 0, end)
        return found

    def above(self, item: Item) -> list[Item]:
        """The skills that a skill is nested in, the innermost first."""
        return self.around(declared_skill(item).path)

    def below(self, directory: str) -> list[Item]:
        """The skills in directories below a directory."""
        start = bisect_left(self._paths, f"{directory}/")
        end = bisect_left(self._paths, f"{directory}{chr(ord('/') + 1)}", start)
        return [self._by_path[path] for path in self._paths[start:end]]

    def file(self, uri: str, only: str | None = None) -> tuple[Child, str] | None:
        """The file behind a URI, and its path below the root of the skill that serves it.

        Args:
            uri: any URI.
            only: a plugin's name, where only its skills count.
        """
        path = path_of(uri)
        around = self.around(path) if path else []
        for owner in around:
            inner = (path or "")[len(declared_skill(owner).path) + 1 :]
            if only in (None, owner.plugin) and inner in owner.files:
                return Child(owner, around[0], _file_entry(owner, inner)), inner
        return None

    def manifest(self, item: Item) -> Iterator[tuple[SkillFile, Item]]:
        """A skill's files, each with the innermost skill that holds it."""
        path, nested = declared_skill(item).path, self.below(declared_skill(item).path)
        for file in declared_skill(item).files:
            yield file, self.around(f"{path}/{file.path}")[0] if nested else item

    def children(self, uri: str, only: str | None = None) -> list[Child]:
        """What stands in a directory, by name; nothing where the URI is no directory's.

        A name can appear more than once: each stands for one way in which it is there.
        """
        directory = path_of(uri)
        if not directory:
            return []
        entry = cache(partial(_directory_entry, directory))
        found = [
            Child(item, item, entry(_step(directory, declared_skill(item).path)))
            for item in self.below(directory)
            if only in (None, item.plugin)
        ]
        for item in self.around(f"{directory}/"):
            if only in (None, item.plugin):
                found += self._from(item, directory)
        return sorted(found, key=lambda child: str(child.entry["uri"]))

    def _from(self, item: Item, directory: str) -> Iterator[Child]:
        root = declared_skill(item).path
        before = f"{directory}/"[len(root) + 1 :]
        for inner in item.files:
            if inner.startswith(before):
                path = f"{root}/{inner}"
                is_deeper = "/" in inner[len(before) :]
                step = _directory_entry(directory, _step(directory, path)) if is_deeper else None
                yield Child(item, self.around(path)[0], step or _file_entry(item, inner))


def _file_entry(item: Item, inner: str) -> Mapping[str, Any]:
    if inner == ROOT_FILE:
        return item.entry
    file = item.files[inner]
    return {
        "uri": uri_of(f"{declared_skill(item).path}/{inner}"),
        "name": inner.rpartition("/")[2],
        "mimeType": file.mime_type,
        "size": file.size,
    }


def _step(directory: str, path: str) -> str:
    """The name of the directory's child that leads to a path below it."""
    return path[len(directory) + 1 :].partition("/")[0]


def _directory_entry(directory: str, name: str) -> Mapping[str, Any]:
    return {"uri": uri_of(f"{directory}/{name}"), "name": name, "mimeType": DIRECTORY}
