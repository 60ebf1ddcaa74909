"""Where a new page is to stand: its folder by its content type, its file's name by its title."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

from gateway.contract import ToolFailed
from gateway.repositories import SourceFailed, checked_path
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.paths import infer_type, is_pattern

MAX_SLUG_BYTES = 100
"""Bytes of a file's name, without its ending: every file system and every branch takes it."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])")
"""Names that Windows gives to no file."""
_OF_FOLDERS = frozenset({"index", "readme"})
"""Names whose page is called by its folder."""


def slug_of(title: str) -> str:
    """A file's name for a title: letters and digits of any script, in lower case, and hyphens.

    Raises:
        ToolFailed: ``bad_slug``, nothing of it makes a name.
    """
    folded = unicodedata.normalize("NFKC", title).casefold()
    words = re.sub(r"[^\w]+", "-", folded).replace("_", "-")
    whole = re.sub(r"-{2,}", "-", unicodedata.normalize("NFC", words)).strip("-")
    slug = whole.encode()[:MAX_SLUG_BYTES].decode(errors="ignore").strip("-")
    if not slug or slug in _OF_FOLDERS or _RESERVED.fullmatch(slug):
        shown = title if len(title) <= 60 else title[:60] + "…"
        message = f"{shown!r} makes no name for a file. Give slug: letters, digits and hyphens."
        raise ToolFailed("bad_slug", message)
    return slug


def folder_of(
    content_type: ContentType, folders: Mapping[str, ContentType], paths: Iterable[str]
) -> str:
    """The folder for a page of a type: of those that mean it, the one that most such pages lie in.

    Args:
        content_type: the type.
        folders: folders and patterns of the source, and the types of what lies in them.
        paths: of the pages that the source has.
    """
    meant = [
        each.strip("/")
        for each, type in folders.items()
        if type is content_type and not is_pattern(each)
    ]
    there = Counter(posixpath.dirname(path) for path in paths)
    around: Counter[str] = Counter()
    for folder, count in there.items():
        parts = folder.split("/")
        for length in range(1, len(parts) + 1):
            around["/".join(parts[:length])] += count
    if meant:
        order = {folder: place for place, folder in enumerate(meant)}
        return max(
            meant,
            key=lambda each: (around[each], around[posixpath.dirname(each)], -order[each]),
        )
    return "notes"


def path_of(
    content_type: ContentType,
    slug: str,
    folders: Mapping[str, ContentType],
    paths: Iterable[str],
) -> str:
    """The path of a new page's file in its source; it never leaves it.

    Raises:
        ToolFailed: ``bad_slug``, the name cannot stand in a path.
    """
    path = f"{folder_of(content_type, folders, paths)}/{slug}.md"
    try:
        return checked_path(path, "slug")
    except SourceFailed as failure:
        raise ToolFailed("bad_slug", failure.message) from None


def needs_type(path: str, content_type: ContentType, folders: Mapping[str, ContentType]) -> bool:
    """Whether a page at a path has to name its type, as its folder says another one."""
    return infer_type(path, folders) is not content_type


def same_place(first: str, second: str) -> bool:
    """Whether two paths are one for some file system: capitals and Unicode forms aside."""
    return _plain(first) == _plain(second)


def _plain(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
