"""What the sync asks of a search index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from plugins.knowledge.notes.documents import Document


class IndexContents(Protocol):
    """What an index holds, as it was when it was listed."""

    def compare(self, document: Document) -> Iterator[str]:
        """What is wrong with a document's part; it counts as compared from then on."""
        ...

    def rest(self) -> Iterator[tuple[str, str]]:
        """What belongs to no document that was compared: its key, and what it is."""
        ...


class SearchIndex(Protocol):
    """Keeps the passages of the served documents, so that they are found.

    Every call is idempotent: after a crash the sync repeats those of which it cannot know
    whether they were finished.
    """

    @property
    def fingerprint(self) -> str:
        """The index's layout and its model; when it changes, every document is given again."""
        ...

    async def replace(self, documents: Sequence[Document]) -> None:
        """Index the documents, in place of what was known under their keys.

        May return once they are taken in; :meth:`finish` waits for them.
        """
        ...

    async def stock(self) -> IndexContents:
        """All that it holds, for comparing it with the documents."""
        ...

    async def remove(self, keys: Sequence[str]) -> None:
        """Forget documents by their ``contentType/id``; an unknown key is not an error."""
        ...

    async def finish(self) -> None:
        """Make all that was taken in durable and quick to search.

        The manifest records documents only after this.

        Raises:
            Exception: something could not be indexed; the sync gives it again later.
        """
        ...
