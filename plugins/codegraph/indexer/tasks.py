"""The tasks of workers: reading and parsing files, and linking them. Plain functions over plain
values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gateway.toolkit.content_scrub import ContentScrub, Redaction
from plugins.codegraph.facts import FileFacts
from plugins.codegraph.indexer import dependencies, file_reader
from plugins.codegraph.indexer.facts_cache import FactsCache
from plugins.codegraph.indexer.parsed_file import packed, parse_file, reader_of, unpacked
from plugins.codegraph.indexer.paths import holds_keys
from plugins.codegraph.indexer.scan import HOLDS_KEYS, Found, Limits
from plugins.codegraph.indexer.snapshot import Snapshot, load
from plugins.codegraph.indexer.snapshot_view import RecentFacts, SnapshotView
from plugins.codegraph.linker.entities import entities_of
from plugins.codegraph.linker.linker import Linker
from plugins.codegraph.model import FileReport
from plugins.codegraph.store.compression import deflated
from plugins.codegraph.store.rows import FileGraph


class ParseTask(msgspec.Struct, frozen=True, array_like=True, tag="parse"):
    """Read and parse some files.

    Attributes:
        root: the repository's directory.
        cache: the facts cache file.
        limits: the limits of what is indexed.
        files: the files.
        given: the bytes of each, if they do not come from the directory.
        scrub: removes secrets from them.
    """

    root: str
    cache: str
    limits: Limits
    files: list[Found]
    given: list[bytes] | None = None
    scrub: ContentScrub = ContentScrub()

    @property
    def paths(self) -> list[str]:
        """The paths of its files."""
        return [each.path for each in self.files]

    def only(self, path: str) -> ParseTask:
        """The same task for one file alone."""
        at = self.paths.index(path)
        given = None if self.given is None else [self.given[at]]
        return msgspec.structs.replace(self, files=[self.files[at]], given=given)


class LinkTask(msgspec.Struct, frozen=True, array_like=True, tag="link"):
    """Link some files of a snapshot, each given with its report."""

    snapshot: str
    files: list[FileGraph]

    @property
    def paths(self) -> list[str]:
        """The paths of its files."""
        return [each.report.path for each in self.files]

    def only(self, path: str) -> LinkTask:
        """The same task for one file alone."""
        return LinkTask(self.snapshot, [self.files[self.paths.index(path)]])


class Parsed(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The result of parsing one file.

    Attributes:
        report: its report.
        found: the file as it was when it was read.
        package, interface: of its facts.
        facts: its packed facts; b"" if they are cached already, or there are none.
        text: its bytes, deflated; b"" if it is not in the graph.
    """

    report: FileReport
    found: Found
    package: str = ""
    interface: str = ""
    facts: bytes = b""
    text: bytes = b""


Task = ParseTask | LinkTask
_MAX_LINES, _MAX_LENGTH = 5, 500
"""In the summary of a file's secrets: the most lines per kind, and the most characters."""


class Worker:
    """Runs tasks, and caches between them what the next one may need.

    Args:
        lines: the number of source lines after which the linker's cache is dropped.
    """

    def __init__(self, lines: int = 400_000) -> None:
        self._lines = lines
        self._caches: dict[str, RecentFacts] = {}
        self._state = ""
        self._linker: Linker | None = None
        self._view: SnapshotView | None = None
        self._snapshot: Snapshot | None = None
        self._linked = 0

    def parse(self, task: ParseTask) -> Iterator[Parsed]:
        """Read and parse files."""
        cache = self._recent(task.cache).cache
        root = Path(task.root)
        for at, found in enumerate(task.files):
            try:
                if holds_keys(found.path):
                    raise file_reader.Unreadable(HOLDS_KEYS)
                if task.given is None:
                    data, found = file_reader.read(root, found, task.limits)
                else:
                    data = task.given[at]
                file_reader.check_text(data)
            except file_reader.Unreadable as reason:
                seen = found if reason.lasting else msgspec.structs.replace(found, mtime=0)
                yield Parsed(refused(found, str(reason)), seen)
                continue
            yield _parsed(cache, found, data, task.scrub)

    def link(self, task: LinkTask) -> Iterator[FileGraph]:
        """Link files."""
        self._prepare(task.snapshot)
        for file in task.files:
            yield self._link(file)

    def _link(self, file: FileGraph) -> FileGraph:
        snapshot, linker, view = self._snapshot, self._linker, self._view
        if snapshot is None or linker is None or view is None:
            raise RuntimeError("no snapshot was loaded")
        path = file.report.path
        known = snapshot.files.get(path)
        if known is None:
            plain = FileFacts("", file.report.lines)
            entities = entities_of(snapshot.repo, path, plain)
            return msgspec.structs.replace(file, entities=entities)
        facts = view.facts(path)
        if facts is None:
            raise LookupError(f"The facts of {path} are gone. Index the repository again.")
        result = linker.link(path)
        self._linked += facts.lines
        return msgspec.structs.replace(
            file,
            entities=entities_of(snapshot.repo, path, facts),
            edges=result.edges,
            unresolved=result.unresolved,
            mentions=result.mentions,
            endpoints=result.endpoints,
            interface=known.interface,
            package=known.package,
            asked=dependencies.packed(result.dependencies),
        )

    def _prepare(self, file: str) -> None:
        if self._state != file or self._snapshot is None:
            self._snapshot, self._state, self._linker = load(Path(file)), file, None
        if self._linker is None or self._linked > self._lines:
            self._view = SnapshotView(self._snapshot, self._recent(self._snapshot.cache))
            self._linker, self._linked = Linker(self._view), 0

    def _recent(self, file: str) -> RecentFacts:
        if file not in self._caches:
            for old in self._caches.values():
                old.cache.close()
            self._caches = {file: RecentFacts(FactsCache(Path(file)))}
        return self._caches[file]


def secrets_summary(removed: Sequence[Redaction]) -> str:
    """A description of the secrets removed from a file: each kind with its first lines."""
    lines: dict[str, list[str]] = {}
    for each in removed:
        lines.setdefault(each.kind, []).append(f"{each.line or 1}")
    told = (
        f"{kind} (line {', '.join(found[:_MAX_LINES])}{', ...' if len(found) > _MAX_LINES else ''})"
        for kind, found in lines.items()
    )
    return "; ".join(told)[:_MAX_LENGTH]


def refused(found: Found, reason: str) -> FileReport:
    """The report of a skipped file."""
    return FileReport(found.path, "", "", 0, found.size, reason, skipped=True)


def _parsed(cache: FactsCache, found: Found, raw: bytes, scrub: ContentScrub) -> Parsed:
    # Everything from here on, the digest included, is of the scrubbed text.
    data, removed = scrub.data(file_reader.as_utf8(found.path, raw))
    secrets = secrets_summary(removed)
    digest = hashlib.sha256(data).hexdigest()
    reader = reader_of(found.path)
    text = deflated(data)
    if not reader:
        lines = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
        report = FileReport(found.path, digest, "", lines, len(raw), secrets=secrets)
        return Parsed(report, found, text=text)
    kept = cache.get((digest, reader))
    says = parse_file(found.path, data) if kept is None else unpacked(kept)
    language = reader.partition(".")[0]
    report = FileReport(
        *(found.path, digest, language, says.lines, len(raw), says.problem), secrets=secrets
    )
    facts = packed(says) if kept is None else b""
    return Parsed(report, found, says.package, says.interface, facts, text)
