"""Which files are notes, and the type a note gets from its folder (specification, 3.5)."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence

from plugins.knowledge.notes.content import ContentType

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
    """The type of the longest folder in the map that holds the note; ``file`` where none does.

    Args:
        path: relative to the source, with ``/`` between its parts.
        types: folders and their types; only whole parts of a path match.
    """
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        found = types.get("/".join(parts[:length]))
        if found is not None:
            return found
    return ContentType.FILE


def is_note(path: str, exclude: Sequence[str]) -> bool:
    """Whether the file at ``path`` is a note: markdown, not hidden, and not excluded.

    Args:
        path: relative to the source, with ``/`` between its parts.
        exclude: patterns with ``*`` and ``?``. One that begins with ``/`` matches the path from
            the source's root, one that ends with ``/`` everything in such a folder, any other
            the file's name.
    """
    parts = path.split("/")
    if not parts[-1].lower().endswith(".md") or any(part.startswith(".") for part in parts):
        return False
    return not any(_excludes(pattern, path, parts) for pattern in exclude)


def _excludes(pattern: str, path: str, parts: Sequence[str]) -> bool:
    if pattern.endswith("/"):
        folder = pattern.strip("/")
        if pattern.startswith("/"):
            return path.startswith(folder + "/")
        return any(fnmatch.fnmatchcase(part, folder) for part in parts[:-1])
    if pattern.startswith("/"):
        return path.count("/") == pattern.count("/") - 1 and fnmatch.fnmatchcase(path, pattern[1:])
    return fnmatch.fnmatchcase(parts[-1], pattern)
