"""The history of a document, as one caller may see it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from itertools import zip_longest

from pydantic import Field

from gateway.contract import Tier, ToolFailed
from gateway.repositories import FileHistory
from gateway.toolkit.visible_text import visible
from plugins.knowledge.history.differences import difference, text_of
from plugins.knowledge.history.judgement import SeenVersion, seen
from plugins.knowledge.history.versions import MAX_VERSIONS, NoHistory, Versions
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.notes.fields import Maybe
from plugins.knowledge.results import STANDING, DocumentStanding, Result
from plugins.knowledge.standing import Standings
from plugins.knowledge.store import Store
from plugins.knowledge.sync.sources import NoteSource

MAX_SHOWN_CHARS = 3000
"""Characters of a difference among others."""
MAX_WHOLE_CHARS = 100_000
"""Characters of the difference that was asked for alone."""
_MAX_SAID_CHARS = 300


class DocumentVersion(Result):
    """A commit that touched a document."""

    commit: str
    date: datetime = Field(description="When it was committed.")
    author: str = Field(description="As the repository shows them.")
    subject: Maybe[str] = Field(
        default=None,
        description="What the commit says of itself. It may speak of whatever else the commit "
        "changed, so it is shown to members alone.",
    )
    title: str = Field(description="What the document was called.")
    path: str = Field(description="Its file then.")
    renamed_from: Maybe[str] = Field(default=None, description="Its file in the version before.")
    added: int = Field(description="How many lines it has that the version before has not.")
    removed: int = Field(description="How many lines of the version before it has not.")
    difference: Maybe[str] = Field(
        default=None, description="A unified difference to the version before that you may see."
    )
    is_cut: Maybe[bool] = Field(
        default=None, description="Whether `difference` is not whole; ask for the `commit` alone."
    )


class DocumentHistory(Result):
    """What has become of a document, and how fresh it is."""

    content_type: ContentType
    id: str
    title: str
    path: str
    date: datetime = Field(description="Its date, as it says itself, or else its last commit's.")
    synced_at: datetime = Field(description="When its last change was taken in here.")
    standing: Maybe[DocumentStanding] = Field(default=None, description=STANDING)
    versions: list[DocumentVersion] = Field(description="The newest first.")
    has_more: bool = Field(description="Whether there are older versions that `limit` leaves out.")
    is_newer: Maybe[bool] = Field(
        default=None,
        description="Whether what is served says something else than the newest version here: "
        "no commit holds it yet.",
    )
    note: Maybe[str] = Field(default=None, description="What to know about this history.")


class Histories:
    """Tells the histories of documents.

    Args:
        store: says which documents a tier sees.
        standings: which documents hold.

    Attributes:
        versions: reads the files' versions.
    """

    def __init__(self, store: Store, standings: Standings) -> None:
        self.versions = Versions()
        self._store = store
        self._standings = standings

    async def of(
        self, document: Document, limit: int, commit: str | None, up_to: Tier
    ) -> DocumentHistory:
        """The history of a document.

        Args:
            document: the document, which the caller may read.
            limit: how many versions at most.
            commit: the only version to tell, with all of its difference; or None.
            up_to: the tier of the caller.

        Raises:
            ToolFailed: ``not_found``, there is no such version.
        """
        told: list[DocumentVersion] = []
        is_newer, has_more, note = None, False, ""
        try:
            source, found = await self.versions.of(document.path)
        except NoHistory as reason:
            note = str(reason)
        else:
            known = await asyncio.to_thread(self._seen, source, found, document, up_to)
            told = await asyncio.to_thread(_told, known, source, limit, commit, up_to)
            has_more = commit is None and len(known) > limit
            is_newer = await asyncio.to_thread(_differs, known, document)
            note = _note(found, known)
        if commit is not None and not told:
            raise ToolFailed("not_found", f"There is no such version. {note}".strip())
        return DocumentHistory(
            content_type=document.content_type,
            id=document.id,
            title=document.title,
            path=document.path,
            date=document.metadata.date,
            synced_at=document.synced_at,
            standing=self._standings.of(document, up_to),
            versions=told,
            has_more=has_more,
            is_newer=is_newer or None,
            note=note or None,
        )

    def _seen(
        self, source: NoteSource, found: FileHistory, now: Document, up_to: Tier
    ) -> list[SeenVersion]:
        def shows(then: Document) -> bool:
            return self._store.shows(then, up_to)

        return list(seen(found.versions, now, source, shows))


def _differs(known: Sequence[SeenVersion], now: Document) -> bool:
    return bool(known) and text_of(known[0].document) != text_of(now)


def _told(
    known: Sequence[SeenVersion],
    source: NoteSource,
    limit: int,
    commit: str | None,
    up_to: Tier,
) -> list[DocumentVersion]:
    """The versions as they are shown, each beside the one before it. It blocks."""
    pairs = list(zip_longest(known, known[1:]))
    if commit is None:
        return [_version(*pair, source, MAX_SHOWN_CHARS, up_to) for pair in pairs[:limit]]
    return [
        _version(*pair, source, MAX_WHOLE_CHARS, up_to)
        for pair in pairs
        if pair[0].version.commit == commit
    ]


def _version(
    one: SeenVersion, before: SeenVersion | None, source: NoteSource, most: int, up_to: Tier
) -> DocumentVersion:
    version = one.version
    lines = text_of(before.document) if before else []
    changed = difference(lines, text_of(one.document), most)
    moved = before is not None and before.version.path != version.path
    return DocumentVersion(
        commit=version.commit,
        date=version.date,
        author=_said(version.author, source),
        subject=_said(version.subject, source) or None if up_to == Tier.MEMBERS else None,
        title=one.document.title,
        path=one.document.path,
        renamed_from=before.document.path if moved and before else None,
        added=changed.added,
        removed=changed.removed,
        difference=changed.text or None if before else None,
        is_cut=(changed.is_cut and before is not None) or None,
    )


def _said(text: str, source: NoteSource) -> str:
    """What a commit says, without secrets and with nothing in it that the eye does not see."""
    cleaned, _ = source.clean(text[:_MAX_SAID_CHARS].encode(errors="replace"), "")
    return visible(cleaned.decode(errors="replace"))


def _note(found: FileHistory, known: Sequence[SeenVersion]) -> str:
    """What bounds a history; the same whether or not versions are kept from the caller."""
    parts = []
    if found.older:
        parts.append(f"Only the newest {MAX_VERSIONS} commits of it are looked at.")
    elif found.missing:
        parts.append(found.missing)
    if not known:
        parts.append("No commit that you may see holds it.")
    return " ".join(parts)
