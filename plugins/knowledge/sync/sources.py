"""Where notes come from, and a directory as a source, which may be a local Git checkout."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gateway.contract import ContentScrub
from gateway.repositories import Checkout, Outside, read_file, real_path
from plugins.knowledge.config import SourceConfig
from plugins.knowledge.notes import conversion
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.note import Note, Origin, Rules, parse
from plugins.knowledge.notes.paths import PATH_TYPES, SUFFIXES, is_note, is_passed_over
from plugins.knowledge.notes.secrets import clean

_AT_ONCE = datetime.min.replace(tzinfo=UTC)
"""When a file is read again that could not be: who lets it be read need not change it."""


class SourceMissing(OSError):
    """A source cannot be listed, so nothing can be said about what was deleted from it."""

    def __str__(self) -> str:
        """What is wrong, and what the admin does about it; without a full stop."""
        return (
            f"The notes cannot be listed ({self.strerror}). The portal's admin makes the directory "
            "readable, or names another under plugins.knowledge.sources in portal.yaml"
        )


@dataclass(frozen=True, slots=True)
class File:
    """A note's file as a scan finds it.

    Attributes:
        path: the document's path; it begins with the source's name, if that has one.
        relative: the path in the source.
        stamp: of a file, its modification time (ns), size (bytes) and inode; on GitHub, the id of
            its blob. Equal stamps mean equal bytes.
        size: in bytes.
        modified: when the file was last written.
    """

    path: str
    relative: str
    stamp: str
    size: int
    modified: datetime


@dataclass(slots=True)
class Scan:
    """All that a source holds now.

    Attributes:
        files: by their path.
        commit: the commit that is checked out, or an empty text.
        problems: files that cannot be notes.
        is_away: whether it cannot be listed just now; the files are those that are known, and none
            can be read.
    """

    files: dict[str, File] = field(default_factory=dict)
    commit: str = ""
    problems: list[Problem] = field(default_factory=list)
    is_away: bool = False


class NoteSource:
    """What every source has in common: which files are notes, and how one is read.

    Args:
        config: its part of the plugin's section.
        words: types that notes name and the ontology does not know.
        max_note: the largest note, in bytes.
        scrub: takes secrets out of the notes.

    Attributes:
        key: what tells it apart from the other sources.
        name: what the admin calls it, or an empty text.
        prefix: what its documents' paths begin with.
    """

    def __init__(
        self,
        config: SourceConfig,
        words: Mapping[str, ContentType],
        max_note: int,
        scrub: ContentScrub | None = None,
    ) -> None:
        self.key = config.key
        self._named, self._scrub = config.name or config.key, scrub or ContentScrub("knowledge")
        folders = {**PATH_TYPES, **config.path_map}
        publish = config.publish
        self.rules = Rules(
            folders,
            {**words, **config.types},
            config.tier,
            publish=publish == "all" if isinstance(publish, str) else publish,
            names=config.map,
            ids_by_path=config.ids == "path",
            inline_tags=config.inline_tags,
        )
        self.include = config.include
        self.suffixes = (*SUFFIXES, *conversion.suffixes(config.documents))
        self.name = config.name or ""
        self.prefix = f"{config.name}/" if config.name else ""
        self.exclude = config.exclude
        if config.drafts and config.directory is not None:  # on GitHub they lie in other branches
            self.exclude = (*self.exclude, f"/{config.drafts_folder}/")
        self.max_note = max_note

    def is_note(self, path: str) -> bool:
        """Whether a file of the source is a note."""
        return is_note(path, self.exclude, self.include, self.suffixes)

    @property
    def selection(self) -> str:
        """What names the settings that say which files are notes."""
        said = repr((self.include, self.exclude, self.suffixes))
        return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()

    def scan(self) -> Scan:
        """List the notes; blocks.

        Raises:
            SourceMissing: they cannot be listed.
        """
        raise NotImplementedError

    @property
    def fetched(self) -> str:
        """The commit whose notes were fetched last; an empty text where nothing is fetched."""
        return ""

    async def refresh(self) -> None:
        """Take up what another process has fetched."""

    async def provide(self, paths: Iterable[str]) -> None:
        """Have the bytes of notes at hand that a plan may ask for.

        Args:
            paths: of documents; those of other sources are passed over.
        """

    def date(self, file: File, commit: str) -> datetime:
        """The date of a note that names none."""
        return file.modified

    def is_dated(self, file: File, date: datetime, commit: str, before: str | None) -> bool:
        """Whether a note that names no date still has this one.

        Args:
            file: its file, which has not changed.
            date: the date that it had.
            commit: the commit of now.
            before: the commit at which it had that.
        """
        return self.date(file, commit) == date

    def is_dated_by_file(self, file: File, commit: str) -> bool:
        """Whether nothing dates a note that names no date but when its file was last written."""
        return False

    def cited(self, file: File, data: bytes, commit: str) -> str:
        """The commit that holds a file's bytes, as far as it is that of now; or an empty text."""
        return commit

    def stays_uncited(self, file: File, commit: str, before: str | None) -> bool:
        """Whether a document that names no commit can name none now either.

        Args:
            file: its file, which has not changed.
            commit: the commit of now.
            before: the commit at which it was read.
        """
        return True

    def content(self, file: File) -> bytes | None:
        """The note's bytes, or None where they are not at hand now.

        Raises:
            OSError: the file cannot be read.
        """
        raise NotImplementedError

    def clean(self, data: bytes, path: str) -> tuple[bytes, Sequence[Problem]]:
        """A note's bytes as they are kept: without secrets; and what was taken out of them."""
        return clean(data, path, self._scrub, self._named)

    def read(self, file: File, commit: str) -> Note | None:
        """Read a note; whatever is wrong with it is among its problems.

        Returns:
            None where its bytes are not at hand: what is known of it stays, until they are.
        """
        origin, again = Origin(file.path, file.relative, self.date(file, commit), commit), None
        try:
            is_document = conversion.is_document(file.relative)
            limit = conversion.MAX_DOCUMENT_BYTES if is_document else self.max_note
            if file.size > limit:
                raise ValueError(
                    f"the file has {file.size:,} bytes; {limit:,} is the limit"
                    + ("" if is_document else " (max_note)")
                )
            if (data := self.content(file)) is None:
                return None
            origin = replace(origin, commit=self.cited(file, data, commit))
            return self._converted(data, origin) if is_document else self.parse(data, origin)
        except OSError as error:
            reason, again = f"cannot be read: {error.strerror}", _AT_ONCE
        except ValueError as error:
            reason = str(error)
        note = Note(origin, turns=again)
        # What cannot say that it wants to be served asks for nothing unless the source does.
        asks = not conversion.is_document(file.relative) or self.rules.publishes(file.relative)
        note.report(1, reason, error=asks)
        return note

    def _converted(self, data: bytes, origin: Origin) -> Note:
        markdown = conversion.convert(data, origin.relative)
        note = self.parse(markdown, origin)
        if not conversion.has_text(markdown):
            note.report(1, "has no text, so that its name alone is found; a scan needs OCR first")
        return note

    def parse(self, data: bytes, origin: Origin) -> Note:
        """Read a note's bytes, without the secrets in them."""
        cleaned, taken = self.clean(data, origin.path)
        note = parse(cleaned, origin, self.rules)
        note.problems = sorted([*note.problems, *taken], key=lambda problem: problem.line)
        return note


class DirectorySource(NoteSource):
    """A directory of notes. Its methods block; call them in a thread.

    Args:
        config: its part of the plugin's section, which names a directory.
        words: types that notes name and the ontology does not know.
        max_note: the largest note, in bytes.
        scrub: takes secrets out of the notes.
    """

    def __init__(
        self,
        config: SourceConfig,
        words: Mapping[str, ContentType],
        max_note: int,
        scrub: ContentScrub | None = None,
    ) -> None:
        super().__init__(config, words, max_note, scrub)
        self.directory = config.directory or Path()
        self._checkout = Checkout(self.directory)

    def scan(self) -> Scan:
        """List the notes.

        Raises:
            SourceMissing: the directory, or a folder in it, cannot be listed.
        """
        scan = Scan()
        try:
            for relative, stat in self._walk(self.directory, ""):
                path = self.prefix + relative
                if not _is_text(relative):
                    shown = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
                    scan.problems.append(Problem(shown, 1, "the file's name is not UTF-8"))
                    continue
                stamp = f"{stat.st_mtime_ns}:{stat.st_size}:{stat.st_ino}"
                modified = datetime.fromtimestamp(stat.st_mtime, UTC)
                scan.files[path] = File(path, relative, stamp, stat.st_size, modified)
        except OSError as error:
            raise SourceMissing(
                error.errno, f"{error.filename or self.directory}: {error.strerror}"
            ) from error
        scan.commit = self._checkout.commit()
        return scan

    def date(self, file: File, commit: str) -> datetime:
        """The date of a note that names none: its last commit's, or else its file's."""
        return self._checkout.dates(commit).get(file.relative, file.modified)

    def is_dated(self, file: File, date: datetime, commit: str, before: str | None) -> bool:
        """Whether a note still has its date; Git is not asked for the same commit twice."""
        return commit == before or super().is_dated(file, date, commit, before)

    def is_dated_by_file(self, file: File, commit: str) -> bool:
        """Whether nothing dates a note that names no date but when its file was last written."""
        return file.relative not in self._checkout.dates(commit)

    def cited(self, file: File, data: bytes, commit: str) -> str:
        """The commit that is checked out, unless the file was changed since, or is not in it."""
        return commit if self._checkout.holds(commit, file.relative, data) else ""

    def stays_uncited(self, file: File, commit: str, before: str | None) -> bool:
        """Whether a document that names no commit can name none now: no other one has its file."""
        return commit == before or not self._checkout.has(commit, file.relative)

    def content(self, file: File) -> bytes | None:
        """The note's bytes; None where the file is another since the scan, as the next one sees.

        Raises:
            OSError: the file cannot be read.
        """
        try:
            found = read_file(self.directory, file.relative, file.size, self.is_note)
        except (FileNotFoundError, Outside):
            return None
        return found if isinstance(found, bytes) else None

    def _walk(self, folder: Path, below: str) -> Iterator[tuple[str, os.stat_result]]:
        """Every note below a folder; a link is one where it leads to a note of the source."""
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            if not below:
                raise
            return  # it has gone since it was listed
        for entry in listed:
            relative = below + entry.name
            if entry.is_dir(follow_symlinks=False):
                if not is_passed_over(entry.name):
                    yield from self._walk(folder / entry.name, relative + "/")
            elif self.is_note(relative) and self._is_inside(entry):
                try:
                    yield relative, entry.stat()
                except FileNotFoundError:
                    continue

    def _is_inside(self, entry: os.DirEntry[str]) -> bool:
        if not entry.is_symlink():
            return entry.is_file()
        root = self.directory.resolve()
        path = Path(entry.path).relative_to(self.directory).as_posix()
        try:
            return (root / real_path(root, path, self.is_note)).is_file()
        except (Outside, OSError):
            return False


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
