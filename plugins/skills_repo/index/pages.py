"""Pages and the paths they are asked for by: the index.md convention, both ways.

A page's path is the list of its folders and its name without an ending; a folder's own page is
its ``index.md``. What :func:`tree` shows, :func:`candidates` finds again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from plugins.skills_repo.index.entries import DocEntry

_ENDINGS = (".md", ".mdx")


def candidates(path: Sequence[str]) -> list[str]:
    """The files that a path may mean, in the order in which they are tried.

    Args:
        path: the path's parts; a last part with an ending may also be the file itself. No parts
            are the first page of all.
    """
    if not path:
        return ["index.md", "index.mdx"]
    stem = "/".join(path)
    found = [f"{stem}/index.md", f"{stem}.md", f"{stem}/index.mdx", f"{stem}.mdx"]
    return [*found, stem] if stem.endswith(_ENDINGS) else found


def page_name(file: str) -> str:
    """What a page is asked for by, as one text: its path without an ending or ``index``."""
    stem = file.rpartition(".")[0]
    return stem.removesuffix("/index")


def tree(entries: Iterable[DocEntry]) -> dict[str, Any]:
    """The pages as sections within sections; a leaf is what a page says of itself.

    A folder's own page is the key ``index`` in its section, or the folder's key itself where it
    has no other page. A page that another one covers is shown with its ending.
    """
    pages = {entry.path: entry for entry in entries}
    root: dict[str, Any] = {}
    for path, shown in _all_shown(pages).items():
        *above, leaf = shown
        section = root
        for name in above:
            section = section.setdefault(name, {})
        section[leaf] = pages[path].description or pages[path].title
    return root


def _all_shown(pages: dict[str, DocEntry]) -> dict[str, list[str]]:
    """Where each page is shown. Moving one into a section may make room for that section."""
    sections = _sections(pages)
    while True:
        shown = {path: _shown_at(path, pages, sections) for path in sorted(pages)}
        needed = {"/".join(keys[:n]) for keys in shown.values() for n in range(1, len(keys))}
        if needed <= sections:
            return shown
        sections |= needed


def _sections(pages: Iterable[str]) -> set[str]:
    """The folders that hold more than a page of their own."""
    found: set[str] = set()
    for path in pages:
        parts = path.split("/")
        depth = len(parts) - 1
        if parts[-1].rpartition(".")[0] == "index":
            depth -= 1
        found |= {"/".join(parts[:count]) for count in range(1, depth + 1)}
    return found


def _shown_at(path: str, pages: dict[str, DocEntry], sections: set[str]) -> list[str]:
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0]
    own = f"{folder}/{stem}" if folder else stem
    for keys in (folder, own) if stem == "index" and folder else (own,):
        first = next((each for each in candidates(keys.split("/")) if each in pages), None)
        if first == path and keys not in sections:
            return keys.split("/")
    return path.split("/")
