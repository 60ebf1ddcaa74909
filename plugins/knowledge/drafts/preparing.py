"""Finds where a draft is to go, and what it would be there, for its person and nobody else."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.contract import Caller, Host, Tier, ToolFailed
from plugins.knowledge.drafts.composing import Composed, composed
from plugins.knowledge.drafts.draft import Draft, DraftArgs
from plugins.knowledge.drafts.places import Place, Target
from plugins.knowledge.drafts.placing import path_of, slug_of
from plugins.knowledge.drafts.store import DraftStore
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.notes.documents import DocumentEntry
from plugins.knowledge.notes.ids import raw_key
from plugins.knowledge.notes.paths import SUFFIXES
from plugins.knowledge.notes.secrets import TAKEN_OUT
from plugins.knowledge.sync.github import blob_id


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft, ready to be shown or proposed.

    Attributes:
        place: where it goes.
        path: its file's path there.
        target: what lies there now.
        made: the file.
        own: the draft of its person that it is the next version of, or None.
        upon: the blob that its person has seen there; None where there was no file.
        updates: the page that it changes, as contentType/id, or None.
    """

    place: Place
    path: str
    target: Target
    made: Composed
    own: Draft | None
    upon: str | None
    updates: str | None

    @property
    def is_stale(self) -> bool:
        """Whether what lies there is another file than its person has seen."""
        return self.upon != self.target.blob


class Preparing:
    """Prepares drafts.

    Args:
        host: the plugin's services.
        knowledge: the knowledge base.
        places: the sources that take drafts.
        store: the drafts.
    """

    def __init__(
        self, host: Host, knowledge: Knowledge, places: Sequence[Place], store: DraftStore
    ) -> None:
        self._host = host
        self._knowledge = knowledge
        self._places = places
        self._store = store

    async def own(self, id: str, caller: Caller) -> Draft:
        """A draft of the caller's own.

        Raises:
            ToolFailed: ``not_found``, as also for one of somebody else.
        """
        draft = await self._store.get(id)
        if draft is None or draft.person != caller.person:
            raise ToolFailed(
                "not_found",
                "You have no draft of this id; list_drafts shows yours.",
                on_page="You have no such draft. It may be taken in, or taken back, by now.",
            )
        return draft

    def place(self, source: str) -> Place | None:
        """The place of a draft, by its source's key."""
        return next((each for each in self._places if each.source.key == source), None)

    async def prepare(self, asked: DraftArgs, caller: Caller) -> Prepared:
        """Find its place, and make its file.

        Raises:
            ToolFailed: it cannot be placed, what it changes is not there, or a secret is in it.
            SourceFailed: the source does not say what lies there.
        """
        place, path, own, updates = await self._placed(asked, caller)
        if own is None:
            own = await self._store.at(caller.person or "", place.source.key, path)
        page = updates or (own.updates if own else None)
        if page is not None:
            self._refuse_unserved(page, place, path, caller)
        target = await place.target(path, own)
        pushed = own is not None and own.pushed > 0
        if updates is None and not pushed and (target.blob or target.taken):
            raise self._taken(place.source.prefix + (target.taken or path), caller)
        if updates is not None and not pushed and target.blob is None:
            text = f"{path} is gone from {place.label}; the portal will know at its next sync."
            raise ToolFailed("changed_meanwhile", text)
        existing = None if target.data is None else target.data.decode("utf-8", "replace")
        now, is_new = self._now(own), updates is None
        made = composed(asked, place.source, path, now, existing, is_new=is_new)
        _refuse_secrets(made)
        upon = asked.base
        if upon is None and own is not None and own.pushed:
            upon = own.upon
        elif upon is None and updates is not None:
            upon = await self._served(place, path) or target.blob
        return Prepared(place, path, target, made, own, upon, updates)

    def words(self, own: Draft) -> str:
        """What a draft says, as a file, whatever lies at its place or may be seen of it."""
        place = self.place(own.source)
        if place is None:
            return own.text or ""
        asked, is_new = DraftArgs.model_validate(own.proposal), not own.is_change
        return composed(asked, place.source, own.path, own.created, None, is_new=is_new).text

    def _now(self, own: Draft | None) -> datetime:
        # The day of a draft stays: the same arguments make the same file tomorrow.
        return self._store.clock() if own is None else own.created

    async def _placed(
        self, asked: DraftArgs, caller: Caller
    ) -> tuple[Place, str, Draft | None, str | None]:
        if asked.draft is not None:
            own = await self.own(asked.draft, caller)
            if own.ended:
                text = f"This draft is {own.state}. Leave draft out to begin another one."
                raise ToolFailed("draft_ended", text, {"draft": own.id, "state": own.state})
            place = self.place(own.source)
            if place is None:
                raise ToolFailed("no_drafts", "Its source takes no drafts any more.")
            return place, own.path, own, own.updates
        if asked.updates is not None:
            place, path = self._of_page(asked, caller)
            return place, path, None, asked.updates
        place = self._chosen(asked.source)
        slug = slug_of(asked.slug or asked.title)
        prefix = place.source.prefix
        known = self._knowledge.store.entries(Tier.MEMBERS)
        paths = [each.path.removeprefix(prefix) for each in known if each.path.startswith(prefix)]
        path = path_of(asked.content_type, slug, place.source.rules.folders, paths)
        key = f"{asked.content_type}/{place.source.rules.id(path)}"
        there = self._knowledge.store.entry(key, Tier.MEMBERS)
        if there is not None:
            raise self._taken(there.path, caller)
        return place, path, None, None

    def _taken(self, path: str, caller: Caller) -> ToolFailed:
        """The failure where a file is there already: what it is hears who may read the page."""
        entries = self._knowledge.store.entries(caller.tier)
        page = next((each.key for each in entries if each.path == path), None)
        if page is None:
            text = "A new page cannot have this name here. Give another slug."
            return ToolFailed("bad_slug", text)
        text = f"There is the page {page} already. Name it in updates to change it; or give another"
        return ToolFailed("taken", f"{text} slug.", {"document": page})

    def _refuse_unserved(self, page: str, place: Place, path: str, caller: Caller) -> None:
        """A page may be withdrawn or closed while a draft of it is there."""
        entry = self._knowledge.store.entry(page, caller.tier)
        if entry is None or entry.path != place.source.prefix + path:
            text = f"{page} is not served to you at {path} any more. Your draft keeps your words."
            raise ToolFailed("not_found", text)

    def _of_page(self, asked: DraftArgs, caller: Caller) -> tuple[Place, str]:
        entry: DocumentEntry | None = self._knowledge.store.entry(asked.updates or "", caller.tier)
        if entry is None:
            text = f"There is no page {asked.updates}. Leave updates out for a new one."
            raise ToolFailed("not_found", text)
        if entry.content_type is not asked.content_type:
            text = f"{asked.updates} is of type {entry.content_type}; give that as contentType."
            raise ToolFailed("bad_type", text)
        for place in self._places:
            if entry.path.startswith(place.source.prefix):
                path = entry.path.removeprefix(place.source.prefix)
                if posixpath.splitext(path)[1].lower() not in SUFFIXES:
                    text = f"{path} is no Markdown file, and is changed where it comes from."
                    raise ToolFailed("no_drafts", text)
                return place, path
        text = f"The source of {asked.updates} takes no drafts: the portal's admin may let it."
        raise ToolFailed("no_drafts", text)

    def _chosen(self, name: str | None) -> Place:
        if name is None and len(self._places) == 1:
            return self._places[0]
        for each in self._places:
            if name in (each.label, each.source.prefix.rstrip("/") or None):
                return each
        known = ", ".join(each.source.prefix.rstrip("/") or each.label for each in self._places)
        raise ToolFailed("bad_source", f"Say for which source it is: {known}.")

    async def _served(self, place: Place, path: str) -> str | None:
        """The blob of the page as the portal serves it, which is what its readers have seen."""
        data = await self._host.objects.get(raw_key(place.source.prefix + path))
        return None if data is None else blob_id(data)


def _refuse_secrets(made: Composed) -> None:
    found = [each for each in made.problems if each.severity == "secret"]
    if found:
        where = "; ".join(f"line {e.line}: {e.reason.removesuffix(TAKEN_OUT)}" for e in found)
        text = f"The draft holds what looks like a secret ({where}). Nothing was kept. Take it out."
        raise ToolFailed("secret", text)
