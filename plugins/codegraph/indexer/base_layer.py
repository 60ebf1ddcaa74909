"""The layer that an index starts from, and how the files on disk differ from it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from gateway.contract import Database
from plugins.codegraph.indexer.dependencies import DependencyIndex
from plugins.codegraph.indexer.parsed_file import reader_of
from plugins.codegraph.indexer.scan import Found, Scan
from plugins.codegraph.indexer.snapshot import Known
from plugins.codegraph.indexer.tasks import Parsed
from plugins.codegraph.model import FileReport
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph
from plugins.codegraph.store.states import (
    FileState,
    LinkState,
    LinkStates,
    file_states,
    link_states,
)

_encoder = msgspec.msgpack.Encoder()


@dataclass(slots=True)
class Difference:
    """How a scan differs from a layer.

    Attributes:
        unread: files that are new, or may have changed.
        skipped: files that are newly skipped, or skipped for another reason.
        gone: paths that no longer exist.
        doubtful: how many of ``unread`` have an unreliable modification time, because they were
            last read just after a change; most are unchanged.
    """

    unread: list[Found] = field(default_factory=list)
    skipped: list[FileReport] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    doubtful: int = 0

    def __bool__(self) -> bool:
        return bool(self.unread or self.skipped or self.gone)

    def __len__(self) -> int:
        return len(self.unread) + len(self.skipped) + len(self.gone)


class BaseLayer:
    """The state of a layer, loaded on demand.

    Args:
        database: the plugin's database.
        owner: the owner of the layer.
        layer: its number.
        files: its files, by path.
    """

    def __init__(
        self, database: Database, owner: Owner, layer: int, files: dict[str, FileState]
    ) -> None:
        self._database, self._owner = database, owner
        self.layer, self.files = layer, files
        self.links = LinkStates()
        self.known: dict[str, Known] = {}
        """Its files of known languages; filled by :meth:`load_links`."""
        self._loaded = False
        self._written: dict[str, bytes] = {}

    @classmethod
    async def of(cls, database: Database, owner: Owner, layer: int) -> BaseLayer:
        """Load a layer with its file states."""
        return cls(database, owner, layer, await file_states(database, owner, layer))

    async def load_links(self) -> None:
        """Load the link states too, once."""
        if not self._loaded:
            self.links = await link_states(self._database, self._owner, self.layer)
            self.known = await asyncio.to_thread(self._all_known)
            self._loaded = True

    async def prepare(self) -> None:
        """Load everything that an update may need. The layer must not be used meanwhile."""
        await self.load_links()
        await asyncio.to_thread(lambda: self.dependents)

    @cached_property
    def dependents(self) -> DependencyIndex:
        """The dependencies between its files. Needs :meth:`load_links`."""
        return DependencyIndex({path: each.asked for path, each in self.links.files.items()})

    def _all_known(self) -> dict[str, Known]:
        return {path: self._known(path, link) for path, link in self.links.files.items()}

    def _known(self, path: str, link: LinkState) -> Known:
        report = self.files[path].report
        return Known(report.digest, reader_of(path), report.language, link.package, link.interface)

    def touched(self, path: str, mtime: int, inode: int) -> None:
        """A file has a new time or inode, but the same content."""
        self.files[path] = FileState(self.files[path].report, mtime, inode)
        self._written.pop(path, None)

    def other(self, linked: Sequence[FileGraph]) -> list[FileGraph]:
        """Those of the files that differ from their last known write, or have none."""
        return [each for each in linked if self._written.get(each.report.path) != _digest(each)]

    def rewritten(self, written: Sequence[FileGraph], gone: Collection[str]) -> None:
        """Apply a rewrite of some files to this object. Needs :meth:`load_links`."""
        known = self.known
        for path in (*gone, *(each.report.path for each in written)):
            self.files.pop(path, None)
            known.pop(path, None)
            self._written.pop(path, None)
            link = self.links.files.pop(path, None)
            if link is not None and "dependents" in self.__dict__:
                self.dependents.remove(path, link.asked)
        for each in written:
            path = each.report.path
            self.files[path] = FileState(each.report, each.mtime, each.inode)
            self._written[path] = _digest(each)
            if not each.interface:
                continue
            link = LinkState(each.interface, each.package, each.asked)
            self.links.files[path] = link
            known[path] = self._known(path, link)
            if "dependents" in self.__dict__:
                self.dependents.add(path, link.asked)

    def as_parsed(self) -> dict[str, Parsed]:
        """Its files as if they had just been parsed. Needs :meth:`load_links`."""
        found = {}
        for path, state in self.files.items():
            if state.report.skipped:
                continue
            link = self.links.files.get(path)
            seen = Found(path, state.report.size, state.mtime, state.inode)
            package, interface = (link.package, link.interface) if link else ("", "")
            found[path] = Parsed(state.report, seen, package, interface)
        return found

    def difference(self, scan: Scan) -> Difference:
        """How a scan differs from this layer."""
        difference = Difference()
        files = self.files
        for found in scan.found:
            state = files.get(found.path)
            if state is None or not _same(state, found):
                difference.unread.append(found)
                difference.doubtful += state is not None and _doubtful(state, found)
        for report in scan.skipped:
            state = files.get(report.path)
            if state is None or state.report != report:
                difference.skipped.append(report)
        there = {each.path for each in scan.found}
        there.update(each.path for each in scan.skipped)
        difference.gone = files.keys() - there
        return difference


def _same(state: FileState, found: Found) -> bool:
    """Whether a file need not be read again."""
    known = state.report.size, state.mtime, state.inode
    # Time 0 means just changed or, in the layer, skipped unread (by name or size).
    return found.mtime != 0 and known == (found.size, found.mtime, found.inode)


def _digest(file: FileGraph) -> bytes:
    return hashlib.sha256(_encoder.encode(file)).digest()


def _doubtful(state: FileState, found: Found) -> bool:
    """Whether only an unreliable time suggests that a file has changed."""
    known = state.report.size, state.inode
    return state.mtime == 0 and known == (found.size, found.inode)


def unchanged(base: BaseLayer, parsed: Parsed) -> bool:
    """Whether a file that was read again is the same as in the layer."""
    state = base.files.get(parsed.report.path)
    return state is not None and state.report == parsed.report
