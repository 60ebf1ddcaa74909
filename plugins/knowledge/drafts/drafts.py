"""The drafts of a knowledge base: shown, proposed after their person's yes, followed, withdrawn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from gateway.contract import Caller, Host, Job, JobRun, ToolFailed
from gateway.repositories import SourceFailed
from plugins.knowledge.drafts.draft import UNDER_WAY, Draft, DraftArgs
from plugins.knowledge.drafts.places import Place, changed_meanwhile
from plugins.knowledge.drafts.preparing import Prepared, Preparing
from plugins.knowledge.drafts.results import DraftAnswer, DraftList
from plugins.knowledge.drafts.showing import Showing
from plugins.knowledge.drafts.store import DraftStore
from plugins.knowledge.knowledge import Knowledge

JOB = "drafts"
FRESH = timedelta(minutes=1)
"""For how long what a source said of a draft is told without asking again."""
MAX_LOOKED_AT = 20
"""Drafts that a list asks their source about; the job asks about all."""
_AT_ONCE = 4
_STEPS = 3


class Drafts:
    """The drafts.

    Args:
        host: the plugin's services.
        knowledge: the knowledge base.
        places: the sources that take drafts.
        store: the drafts, as they are kept; an attribute too.
    """

    def __init__(
        self, host: Host, knowledge: Knowledge, places: Sequence[Place], store: DraftStore
    ) -> None:
        self._host = host
        self.store = store
        self._preparing = Preparing(host, knowledge, places, store)
        self._showing = Showing(host, knowledge, places)

    async def preview(self, asked: DraftArgs, caller: Caller) -> DraftAnswer:
        """Keep a draft for its person alone, and show what it would be.

        Raises:
            ToolFailed: it cannot be placed.
        """
        ready = await self._preparing.prepare(asked, caller)
        draft = await self.store.propose(_page(ready, asked, caller), ready.own)
        return await self._showing.prepared(draft, ready, caller)

    async def create(self, asked: DraftArgs, caller: Caller) -> DraftAnswer:
        """Propose a draft; its person has said yes to it.

        Raises:
            ToolFailed: ``draft_problems``, it is not as its type asks; ``changed_meanwhile``; or
                it cannot be placed. It is kept, but for a secret.
            SourceFailed: the source refuses.
        """
        ready = await self._preparing.prepare(asked, caller)
        page = _page(ready, asked, caller)
        draft = await self.store.propose(page, ready.own)
        if ready.made.problems:
            raise _problems(draft, ready)
        if ready.is_stale and draft.text != ready.made.text:
            raise changed_meanwhile(draft, f"in {ready.place.label}")
        signed = await self._signed(caller)
        draft = await self.store.accept(draft, ready.made.text, ready.upon, signed, page)
        draft = await self._on_its_way(draft)
        return await self._showing.prepared(draft, ready, caller)

    async def get(self, id: str, caller: Caller) -> DraftAnswer:
        """A draft that the caller may see, as it stands.

        Raises:
            ToolFailed: ``not_found``.
        """
        draft = await self.store.get(id)
        if draft is None or not self._showing.may_see(draft, caller):
            raise ToolFailed(
                "not_found",
                "There is no such draft; list_drafts shows what waits.",
                on_page="There is no such draft. It may be taken in, or taken back, by now.",
            )
        draft = (await self._fresh([draft]))[0]
        if draft.person != caller.person or draft.ended:
            return await self._showing.published(draft, caller)
        asked = DraftArgs.model_validate({**draft.proposal, "draft": draft.id, "base": None})
        try:
            ready = await self._preparing.prepare(asked, caller)
        except ToolFailed as failure:  # their own words are theirs to read all the same
            words = self._preparing.words(draft)
            return await self._showing.published(draft, caller, failure.message, words)
        return await self._showing.prepared(draft, ready, caller)

    async def listed(self, caller: Caller, *, mine: bool = False) -> DraftList:
        """What waits, as far as the caller may see it, and their own that ended lately."""
        found = await (self.store.of if mine else self.store.shown)(caller.person or "")
        seen = [
            each
            for each in found
            if self._showing.may_see(each, caller)
            and (each.person == caller.person or not each.ended)
        ]
        return await self._showing.listed(await self._fresh(seen), caller)

    async def withdraw(self, id: str, caller: Caller) -> DraftAnswer:
        """Take a draft of the caller's own back.

        Raises:
            ToolFailed: ``not_found``, or it has ended.
            SourceFailed: the source refuses.
        """
        own = await self._preparing.own(id, caller)
        draft = await self.store.withdraw(own)
        if draft is None:
            text = f"This draft has ended: it is {own.state}."
            raise ToolFailed("draft_ended", text, {"draft": id})
        return await self._showing.published(await self._on_its_way(draft), caller)

    def job(self, schedule: str) -> Job:
        """The job that goes on with what was begun, and asks how drafts stand.

        Args:
            schedule: when, as a cron expression in UTC.
        """
        return Job(JOB, self.keep_up, schedule=schedule)

    async def keep_up(self, run: JobRun, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Go on with what a process that has died, or a source that was away, has left."""
        done = failed = 0
        for draft in await self.store.under_way():
            try:
                after = await self._on_its_way(draft)
                done += after.state not in UNDER_WAY
            except ToolFailed as failure:
                failed += 1
                self._host.log.warning("draft_not_published", draft=draft.id, reason=failure.code)
        await self._fresh(await self.store.open(), most=None)
        await self.store.forget()
        return {"done": done, "failed": failed}

    async def _on_its_way(self, draft: Draft) -> Draft:
        """Do what is to be done at the source; what it does not answer stays to be done."""
        for _ in range(_STEPS):
            if draft.state not in UNDER_WAY:
                return draft
            before, draft = draft, await self._step(draft)
            if (draft.state, draft.version) == (before.state, before.version):
                return draft
        return draft

    async def _step(self, draft: Draft) -> Draft:
        place = self._preparing.place(draft.source)
        if place is None:
            return await self.store.failed(draft, "Its source takes no drafts now.", again=True)
        if not await self.store.lease(draft):  # another replica is at it
            return await self.store.get(draft.id) or draft
        try:
            if draft.state == "publishing":
                seen = await place.publish(draft, self.store.trying)
            else:
                seen = await place.withdraw(draft)
        except SourceFailed as failure:
            again = failure.transient or failure.retry_after is not None
            kept = await self.store.failed(draft, failure.message, again=again)
            if not again:
                raise
            return kept
        except ToolFailed as failure:
            await self.store.failed(draft, failure.message, again=False)
            raise
        return await self.store.arrived(draft, seen)

    async def _fresh(
        self, drafts: Sequence[Draft], most: int | None = MAX_LOOKED_AT
    ) -> list[Draft]:
        """The drafts, as their sources have them now; as they were where one does not answer."""
        old = self.store.clock() - FRESH
        stale = [
            each
            for each in drafts
            if each.state == "open" and (each.looked is None or each.looked < old)
        ][:most]
        turns = asyncio.Semaphore(_AT_ONCE)

        async def looked(draft: Draft) -> Draft:
            place = self._preparing.place(draft.source)
            if place is None:
                return draft
            async with turns:
                try:
                    return await self.store.arrived(draft, await place.look(draft))
                except ToolFailed as failure:
                    self._host.log.info("draft_not_looked_at", draft=draft.id, why=failure.code)
                    return draft

        seen = await asyncio.gather(*map(looked, stale))
        known = {each.id: each for each in seen}
        return [known.get(each.id, each) for each in drafts]

    async def _signed(self, caller: Caller) -> Mapping[str, str]:
        """Who is named as the author: as Git shows them, with what their account gives."""
        told = await self._host.people.attribution(caller.person or "")
        name = (told.name if told else None) or caller.name or ""
        if name == caller.person:  # who has no name is no number either
            name = ""
        return {"name": name, "email": (told.email if told else None) or ""}


def _page(ready: Prepared, asked: DraftArgs, caller: Caller) -> dict[str, Any]:
    """What is kept of a draft."""
    document, source = ready.made.document, ready.place.source
    proposal = asked.model_dump(mode="json", by_alias=True, exclude={"draft", "base"})
    return {
        "person": caller.person or "",
        "source": source.key,
        "path": ready.path,
        "document": f"{asked.content_type}/{source.rules.id(ready.path)}",
        "title": asked.title.strip(),
        "tier": source.rules.tier if document is None else document.tier,
        "proposal": proposal | {"updates": ready.updates, "frontmatter": ready.made.frontmatter},
    }


def _problems(draft: Draft, ready: Prepared) -> ToolFailed:
    told = "\n".join(f"{each}" for each in ready.made.problems[:20])
    text = f"The draft is kept, and not proposed. Mend this first:\n{told}"
    lines = [{"line": each.line, "reason": each.reason} for each in ready.made.problems]
    return ToolFailed("draft_problems", text, {"draft": draft.id, "problems": lines})
