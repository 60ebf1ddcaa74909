"""A branch on GitHub as a source of notes: reads what was fetched of it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from gateway.contract import ContentScrub, ObjectInfo, Objects
from gateway.repositories import A_LINK
from plugins.knowledge.config import SourceConfig
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.ids import raw_key
from plugins.knowledge.sync.changed_items import changed_items
from plugins.knowledge.sync.listing import KeptListing, ListedFile, Listing
from plugins.knowledge.sync.sources import File, NoteSource, Scan

LISTINGS = "sources/"
"""What the keys of listings begin with."""
FETCHED = "fetched/"
"""What the keys of everything begin with that is kept until a sync has taken it in."""
FETCHED_KEPT = timedelta(hours=1)
"""How long that is kept for a process that may have died meanwhile."""


class GithubSource(NoteSource):
    """Notes of a branch on GitHub. It asks GitHub nothing: what it holds was fetched before.

    The listing is kept for good, the bytes of a note only until a sync has taken them in.

    Args:
        config: its part of the plugin's section, which names a repository.
        words: types that notes name and the ontology does not know.
        max_note: the largest note, in bytes.
        objects: the plugin's share of the object store.
        scrub: takes secrets out of the notes.

    Attributes:
        listing: the commit that is served, or being taken in.
    """

    def __init__(
        self,
        config: SourceConfig,
        words: Mapping[str, ContentType],
        max_note: int,
        objects: Objects,
        scrub: ContentScrub | None = None,
    ) -> None:
        super().__init__(config, words, max_note, scrub)
        self.repository = config.github or ""
        self.branch = config.branch or "main"
        self.listing = Listing()
        self._objects = objects
        self._id = hashlib.blake2b(self.key.encode(), digest_size=8).hexdigest()
        self._bytes: dict[str, bytes] = {}
        self._kept = KeptListing(objects, f"{LISTINGS}{self._id}.json")
        self._scanned: tuple[Mapping[str, ListedFile], dict[str, File]] = {}, {}
        self._draft: KeptListing | None = None

    @property
    def fetched(self) -> str:
        """The commit whose notes were fetched last."""
        return self.listing.commit

    async def refresh(self) -> None:
        """Take up the listing that an earlier process, or another one, has left."""
        found = await self._kept.load()
        self.listing = self.listing if found is None else found

    async def draft(self, listing: Listing) -> None:
        """Keep a listing whose notes are still to be fetched."""
        self._draft = self._drafts(listing.commit)
        await self._draft.save(listing)

    async def drafted(self, commit: str) -> Listing | None:
        """The listing of a commit whose notes are fetched."""
        if self._draft is None or self._draft.key != self._drafts(commit).key:
            self._draft = self._drafts(commit)
        return await self._draft.load()

    async def adopt(self, listing: Listing) -> None:
        """Serve another commit; its notes are fetched."""
        await self._kept.save(listing)
        self.listing = listing

    async def keep(self, sha: str, data: bytes) -> None:
        """Keep a note's bytes until they are taken in."""
        await self._objects.put(self._blob_key(sha), data)

    async def has(self, path: str, sha: str) -> bool:
        """Whether the bytes of a note are here: fetched, or as the published original.

        Args:
            path: of its document.
            sha: of its blob.
        """
        return await self._found(path, sha) is not None

    async def provide(self, paths: Iterable[str]) -> None:
        """Have the bytes of notes at hand that a plan may ask for.

        Args:
            paths: of documents; those of other sources are passed over.
        """
        self._bytes.clear()
        for path in paths:
            listed = self.listing.files.get(path.removeprefix(self.prefix))
            if listed is None or not path.startswith(self.prefix):
                continue
            if (data := await self._found(path, listed.sha)) is not None:
                self._bytes[listed.sha] = data

    async def clear(self) -> None:
        """Drop what was fetched of the commit that is served, and what nobody came for."""
        self._bytes.clear()
        self._draft = None
        await self._objects.delete(*await self.leftover())

    async def leftover(self) -> list[str]:
        """The keys of what was fetched and is needed no more.

        What is fetched of another commit than the one that is served may be for a process that
        has yet to take it in, so it counts an hour later (:data:`FETCHED_KEPT`).
        """
        found = [info async for info in self._objects.list(self.fetched_prefix)]
        if not found:
            return []
        return await asyncio.to_thread(self._needed_no_more, found, self.listing)

    def _needed_no_more(self, found: Sequence[ObjectInfo], served: Listing) -> list[str]:
        taken = {one.sha for one in served.files.values()}
        draft = self._drafts(served.commit)
        taken |= {self._name(draft.key), self._name(draft.changes_key)}
        abandoned = datetime.now(UTC) - FETCHED_KEPT
        return sorted(
            info.key for info in found if self._name(info.key) in taken or info.modified < abandoned
        )

    def scan(self) -> Scan:
        """The notes of the commit that was fetched last."""
        return self.scan_of(self.listing)

    def scan_of(self, listing: Listing) -> Scan:
        """The notes of a listing; what is listed as the last time is the same file as then."""
        listed, files = self._scanned
        if listed is not listing.files:
            files = self._followed(listing.files)
            self._scanned = listing.files, files
        # A link asks for nothing: what it leads to in the branch is served where that lies.
        problems = [
            Problem(self.prefix + path, 1, reason, "warning" if reason == A_LINK else "error")
            for path, reason in listing.left_out.items()
        ]
        return Scan(files, listing.commit, problems)

    def _followed(self, listed: Mapping[str, ListedFile]) -> dict[str, File]:
        """The files of a listing, made of those of the one that was scanned before."""
        before, files = self._scanned
        new, gone = changed_items(before, listed)
        files = files | {self.prefix + path: self._file(path, one) for path, one in new.items()}
        for path in gone:
            del files[self.prefix + path]
        return files

    def _file(self, relative: str, listed: ListedFile) -> File:
        return File(self.prefix + relative, relative, listed.sha, listed.size, listed.date)

    def content(self, file: File) -> bytes | None:
        """The note's bytes, where :meth:`provide` found them."""
        return self._bytes.get(file.stamp)

    async def _found(self, path: str, sha: str) -> bytes | None:
        for key in (self._blob_key(sha), raw_key(path)):
            data = await self._objects.get(key)
            if data is not None and blob_id(data) == sha:
                return data
        return None

    @property
    def listing_keys(self) -> tuple[str, str]:
        """Where the listing is kept: whole, and what has changed since."""
        return self._kept.key, self._kept.changes_key

    @property
    def fetched_prefix(self) -> str:
        """What the keys begin with of all that is fetched for this source."""
        return f"{FETCHED}{self._id}/"

    def _drafts(self, commit: str) -> KeptListing:
        return KeptListing(self._objects, f"{self.fetched_prefix}{commit}.json", self._kept)

    def _name(self, key: str) -> str:
        """What is kept under a key: a blob by its id, a listing by its file's name."""
        return key.removeprefix(self.fetched_prefix).removesuffix(".md")

    def _blob_key(self, sha: str) -> str:
        return f"{self.fetched_prefix}{sha}.md"


def blob_id(data: bytes) -> str:
    """The id of bytes as a Git blob (gitformat-pack(5): SHA-1 of a header and the bytes)."""
    header = f"blob {len(data)}\0".encode()
    return hashlib.sha1(header + data, usedforsecurity=False).hexdigest()
