"""The layer that an index starts from, and what differs from it now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gateway.contract import Database
from plugins.codegraph.indexing.said import reader_of
from plugins.codegraph.indexing.scan import Found, Scan
from plugins.codegraph.indexing.snapshot import Known
from plugins.codegraph.indexing.tasks import Parsed
from plugins.codegraph.model import FileReport
from plugins.codegraph.store.owners import Owner
from plugins.codegraph.store.states import FileState, LinkStates, file_states, link_states


@dataclass(slots=True)
class Difference:
    """What a scan shows that a layer does not know.

    Attributes:
        unread: files that are new, or may have changed.
        skipped: files that are left out and were not, or for another reason.
        gone: paths that are no more.
    """

    unread: list[Found] = field(default_factory=list)
    skipped: list[FileReport] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.unread or self.skipped or self.gone)

    def __len__(self) -> int:
        return len(self.unread) + len(self.skipped) + len(self.gone)


class Basis:
    """A layer as it is, read when it is needed.

    Args:
        database: the plugin's database.
        owner: whose layer.
        layer: its number.
        files: its files.
    """

    def __init__(
        self, database: Database, owner: Owner, layer: int, files: Mapping[str, FileState]
    ) -> None:
        self._database, self._owner = database, owner
        self.layer, self.files = layer, files
        self.links = LinkStates()

    @classmethod
    async def of(cls, database: Database, owner: Owner, layer: int) -> Basis:
        """The files of a layer."""
        return cls(database, owner, layer, await file_states(database, owner, layer))

    async def load_links(self) -> None:
        """Read also what it was linked by."""
        self.links = await link_states(self._database, self._owner, self.layer)

    @cached_property
    def known(self) -> dict[str, Known]:
        """Its files of known languages, once the links are loaded."""
        found = {}
        for path, link in self.links.files.items():
            report = self.files[path].report
            reader = reader_of(path)
            found[path] = Known(
                report.digest, reader, report.language, link.package, link.interface
            )
        return found

    def settled(self) -> dict[str, Parsed]:
        """Its files as if they had just been parsed, once the links are loaded."""
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
        """What a scan shows that this layer does not know."""
        difference = Difference()
        files = self.files
        for found in scan.found:
            state = files.get(found.path)
            if state is None or not _same(state, found):
                difference.unread.append(found)
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
    # What was left out by its name or size alone has no time, and is looked at by the scan.
    return found.mtime != 0 and known == (found.size, found.mtime, found.inode)


def unchanged(basis: Basis, parsed: Parsed) -> bool:
    """Whether a file that was read again is what it was."""
    state = basis.files.get(parsed.report.path)
    return state is not None and state.report == parsed.report
