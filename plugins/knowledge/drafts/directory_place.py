"""Drafts in a directory: each in a folder of its own, at the path below it that it is meant for.

Who keeps the directory moves the file to that path, and so publishes it; or deletes it.
"""

from __future__ import annotations

import asyncio
import posixpath
from pathlib import Path

from gateway.contract import ToolFailed
from gateway.repositories import (
    File,
    LocalRepository,
    SourceFailed,
    remove_file,
    write_file,
)
from plugins.knowledge.drafts.draft import Draft, Seen
from plugins.knowledge.drafts.places import Target, Trying, changed_meanwhile
from plugins.knowledge.drafts.placing import same_place
from plugins.knowledge.sync.github import blob_id
from plugins.knowledge.sync.sources import DirectorySource, NoteSource


class DirectoryPlace:
    """A directory that has a folder for drafts.

    Args:
        source: the source.
        folder: the folder, from the directory.
        label: what people are told it is called.
    """

    is_remote = False

    def __init__(self, source: DirectorySource, folder: str, label: str) -> None:
        self.source: NoteSource = source
        self.label = label
        self._root = source.directory
        self._folder = folder
        self._files = LocalRepository(source.directory, None, source.max_note)

    async def target(self, path: str, draft: Draft | None) -> Target:
        """What a draft would replace (see :class:`Place`)."""
        if draft is not None and draft.pushed:
            data = await self._read(self._path(draft))
            if data is not None:
                return Target(blob_id(data), data)
        data = await self._read(path)
        if data is not None:
            return Target(blob_id(data), data)
        return Target(taken=await asyncio.to_thread(_twin, self._root, path))

    async def publish(self, draft: Draft, trying: Trying) -> Seen:
        """Write a draft's file."""
        blob, path = blob_id(draft.data), self._path(draft)
        there = await self._blob(path)
        if there != blob:
            if there is None and draft.pushed:  # who keeps the directory has taken or refused it
                return await self.look(draft)
            known = there in draft.tried or there == draft.upon
            if there is None and await self._blob(draft.path) != draft.upon:
                raise changed_meanwhile(draft, f"in {self.label}")
            if there is not None and not known:
                raise changed_meanwhile(draft, f"in {path}")
            await trying(draft, blob)
            await asyncio.to_thread(write_file, self._root, path, draft.data)
        return Seen("open", blob=blob, url=path)

    async def look(self, draft: Draft) -> Seen:
        """Whether its file is there still, and where it has gone."""
        path = self._path(draft)
        if await self._blob(path) is not None:
            return Seen("open", url=path)
        page = await self._blob(draft.path)
        # It counts as taken where the page has its words, or is there where none was.
        taken = page is not None and (page in draft.tried or not draft.is_change)
        return Seen("merged" if taken else "closed", url=draft.path if taken else "")

    async def withdraw(self, draft: Draft) -> Seen:
        """Remove its file."""
        path = self._path(draft)
        there = await self._blob(path)
        if there is None and draft.pushed:
            seen = await self.look(draft)
            return seen if seen.state == "merged" else Seen("withdrawn")
        if there is not None and there not in draft.tried:
            text = f"Somebody has changed {path}; it is not removed. Ask who keeps the directory."
            raise ToolFailed("changed_meanwhile", text, {"draft": draft.id})
        await asyncio.to_thread(remove_file, self._root, path, self._folder)
        return Seen("withdrawn")

    def _path(self, draft: Draft) -> str:
        return f"{draft.place_name(self._folder)}/{draft.path}"

    async def _blob(self, path: str) -> str | None:
        data = await self._read(path)
        return None if data is None else blob_id(data)

    async def _read(self, path: str) -> bytes | None:
        try:
            found = await self._files.read(path)
        except SourceFailed as failure:
            if failure.code == "NOT_FOUND" and self._root.is_dir():
                return None
            raise
        return found.content if isinstance(found, File) else None


def _twin(root: Path, path: str) -> str | None:
    """A file that some file systems take for the one at a path; blocks."""
    folder = root / posixpath.dirname(path)
    if not folder.is_dir():
        return None
    below = posixpath.dirname(path)
    names = (posixpath.join(below, each.name) for each in folder.iterdir())
    return next((each for each in names if same_place(each, path)), None)
