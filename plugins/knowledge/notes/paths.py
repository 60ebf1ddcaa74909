"""Which files are notes, and the type a note gets from its folder (specification, 3.5)."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence

from plugins.knowledge.notes.content_types import ContentType

PATH_TYPES: Mapping[str, ContentType] = {
    "artifacts/patterns": ContentType.PATTERN,
    "artifacts/practices": ContentType.PRACTICE,
    "artifacts/primitives": ContentType.PRIMITIVE,
    "artifacts/protocols": ContentType.PROTOCOL,
    "artifacts/playbooks": ContentType.PLAYBOOK,
    "artifacts/questions": ContentType.QUESTION,
    "artifacts/studies": ContentType.STUDY,
    "artifacts/articles": ContentType.ARTICLE,
    "data/people": ContentType.PERSON,
    "data/groups": ContentType.GROUP,
    "data/projects": ContentType.PROJECT,
    "data/places": ContentType.PLACE,
    "data/gatherings": ContentType.GATHERING,
    "links": ContentType.LINK,
    "tags": ContentType.TAG,
    "notes": ContentType.FILE,
    "drafts": ContentType.FILE,
    # The folders of the knowledge base after its restructuring of 2026-02-07.
    "data/concepts": ContentType.TAG,
    "data/links": ContentType.LINK,
    "data/questions": ContentType.QUESTION,
    "data/resources": ContentType.RESOURCE,
    "data/resources/patterns": ContentType.PATTERN,
    "data/resources/practices": ContentType.PRACTICE,
    "data/resources/primitives": ContentType.PRIMITIVE,
    "data/resources/protocols": ContentType.PROTOCOL,
    "data/resources/playbooks": ContentType.PLAYBOOK,
    "data/resources/questions": ContentType.QUESTION,
    "data/stories": ContentType.STORY,
    "data/stories/studies": ContentType.STUDY,
    "data/stories/articles": ContentType.ARTICLE,
}
"""Folder to type: the specification's own map, and the newer layout of the same base."""

SUFFIXES = (".md", ".mdx", ".markdown")
"""How the names of notes end."""

FOREIGN = frozenset({"node_modules"})
"""Folders of other people's packages, which are looked into only where a source lies in one."""

EXCLUDED: Sequence[str] = (
    "/README.md",
    "/CONTRIBUTING.md",
    "/CODE_OF_CONDUCT.md",
    "/SECURITY.md",
    "/CHANGELOG.md",
    "/LICENSE.md",
)
"""What belongs to a repository and not to its knowledge base: the root's own files."""


def infer_type(path: str, types: Mapping[str, ContentType]) -> ContentType:
    """The type of the first pattern that the note matches, or else of the longest folder.

    Args:
        path: relative to the source, with ``/`` between its parts.
        types: patterns, with ``*`` or ``?`` in them, and folders, of which only whole parts
            match; and their types. ``file`` where there is none.
    """
    for pattern, type in types.items():
        if is_pattern(pattern) and fnmatch.fnmatchcase(path, pattern.lstrip("/")):
            return type
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        found = types.get("/".join(parts[:length]))
        if found is not None:
            return found
    return ContentType.FILE


def is_pattern(key: str) -> bool:
    """Whether a key of ``path_map`` is a pattern, and not a folder."""
    return "*" in key or "?" in key


def is_note(
    path: str,
    exclude: Sequence[str],
    include: Sequence[str] = (),
    suffixes: Sequence[str] = SUFFIXES,
) -> bool:
    """Whether the file at ``path`` is a note: markdown, not hidden, included and not excluded.

    Args:
        path: relative to the source, with ``/`` between its parts.
        exclude: patterns of what is left out (:func:`matches`).
        include: patterns of what alone is taken; everything where there are none.
        suffixes: how the names of notes end, in lower case.
    """
    parts = path.split("/")
    if not parts[-1].lower().endswith(tuple(suffixes)):
        return False
    if any(is_passed_over(part) for part in parts):
        return False
    if include and not matches(include, path):
        return False
    return not matches(exclude, path)


def is_passed_over(part: str) -> bool:
    """Whether nothing is read below a folder of this name, nor a file of it."""
    return part.startswith(".") or part in FOREIGN


def matches(patterns: Sequence[str], path: str) -> bool:
    """Whether a path matches one of some patterns with ``*`` and ``?``.

    Args:
        patterns: one that begins with ``/`` matches the path from the source's root, one that
            ends with ``/`` everything in such a folder, any other the file's name.
        path: relative to the source, with ``/`` between its parts.
    """
    parts = path.split("/")
    return any(_matches(pattern, path, parts) for pattern in patterns)


def _matches(pattern: str, path: str, parts: Sequence[str]) -> bool:
    if pattern.endswith("/"):
        folder = pattern.strip("/")
        if pattern.startswith("/"):
            above = "/".join(parts[:-1][: folder.count("/") + 1])
            return path.startswith(folder + "/") or (
                above.count("/") == folder.count("/") and fnmatch.fnmatchcase(above, folder)
            )
        return any(fnmatch.fnmatchcase(part, folder) for part in parts[:-1])
    if pattern.startswith("/"):
        return path.count("/") == pattern.count("/") - 1 and fnmatch.fnmatchcase(path, pattern[1:])
    return fnmatch.fnmatchcase(parts[-1], pattern)
