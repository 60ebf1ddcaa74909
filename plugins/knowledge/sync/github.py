"""A branch on GitHub as a source of notes: reads what was fetched of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from gateway.contract import ContentScrub, Objects
from plugins.knowledge.config import SourceConfig
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.frontmatter import Problem
from plugins.knowledge.notes.ids import raw_key
from plugins.knowledge.sync import listing as listings
from plugins.knowledge.sync.listing import Listing
from plugins.knowledge.sync.sources import File, NoteSource, Scan

LISTINGS = "sources/"
"""What the keys of listings begin with."""
FETCHED = "fetched/"
"""What the keys of everything begin with that is kept until a sync has taken it in."""


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

    async def refresh(self) -> None:
        """Take up the listing that an earlier process, or another one, has left."""
        found = await listings.load(self._objects, self.listing_key)
        self.listing = self.listing if found is None else found

    async def draft(self, listing: Listing) -> None:
        """Keep a listing whose notes are still to be fetched."""
        await listings.save(self._objects, self._draft_key(listing.commit), listing)

    async def drafted(self, commit: str) -> Listing | None:
        """The listing of a commit whose notes are fetched."""
        return await listings.load(self._objects, self._draft_key(commit))

    async def adopt(self, listing: Listing) -> None:
        """Serve another commit; its notes are fetched."""
        await listings.save(self._objects, self.listing_key, listing)
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
        """Drop the bytes that were fetched, and drafts: they are taken in."""
        self._bytes.clear()
        keys = [info.key async for info in self._objects.list(f"{FETCHED}{self._id}/")]
        for key in keys:
            await self._objects.delete(key)

    def scan(self) -> Scan:
        """The notes of the commit that was fetched last."""
        return self.scan_of(self.listing)

    def scan_of(self, listing: Listing) -> Scan:
        """The notes of a listing."""
        scan = Scan(commit=listing.commit)
        for relative, listed in listing.files.items():
            path = self.prefix + relative
            scan.files[path] = File(path, relative, listed.sha, listed.size, listed.date)
        scan.problems = [
            Problem(self.prefix + path, 1, reason) for path, reason in listing.left_out.items()
        ]
        return scan

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
    def listing_key(self) -> str:
        """Where the listing is kept."""
        return f"{LISTINGS}{self._id}.json"

    def _draft_key(self, commit: str) -> str:
        return f"{FETCHED}{self._id}/{commit}.json"

    def _blob_key(self, sha: str) -> str:
        return f"{FETCHED}{self._id}/{sha}.md"


def blob_id(data: bytes) -> str:
    """The id of bytes as a Git blob (gitformat-pack(5): SHA-1 of a header and the bytes)."""
    header = f"blob {len(data)}\0".encode()
    return hashlib.sha1(header + data, usedforsecurity=False).hexdigest()
