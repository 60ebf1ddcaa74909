"""Drafts as they are shown: to their person whole, to others what reviewers see."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gateway.contract import Caller, Host
from plugins.knowledge.drafts.composing import diff_of
from plugins.knowledge.drafts.draft import Draft
from plugins.knowledge.drafts.places import Place
from plugins.knowledge.drafts.preparing import Prepared
from plugins.knowledge.drafts.results import (
    DraftAnswer,
    DraftLink,
    DraftList,
    DraftProblem,
    DraftRemark,
    DraftSummary,
    Status,
)
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.links import Targets, links_of
from plugins.knowledge.notes.documents import Document
from plugins.knowledge.retrieval.names import Names

_WIKI = re.compile(r"\[\[([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{0,300}))?\]\]")
_PROBLEM_FIELD = re.compile(r"([A-Za-z_][\w-]{0,63}): ")


class Showing:
    """Shows drafts.

    Args:
        host: the plugin's services.
        knowledge: the knowledge base.
        places: the sources that take drafts.
    """

    def __init__(self, host: Host, knowledge: Knowledge, places: Sequence[Place]) -> None:
        self._host = host
        self._knowledge = knowledge
        self._labels = {each.source.key: each.label for each in places}
        self._names = Names(knowledge.store)

    def may_see(self, draft: Draft, caller: Caller) -> bool:
        """Whether a caller may see a draft: it is theirs, or proposed, and the page is for them."""
        if draft.person == caller.person:
            return True
        if draft.state == "proposed":
            return False
        tier = self._host.rows.tier(f"document:{draft.document}", draft.tier)
        return caller.tier.allows(tier)

    async def prepared(self, draft: Draft, ready: Prepared, caller: Caller) -> DraftAnswer:
        """A draft for its person, with what there is to mend and how it is proposed."""
        made, existing = ready.made, ready.target.data
        before = None if existing is None else existing.decode("utf-8", "replace")
        links, preview = self._linked(made.document, caller)
        notices = [*made.notices]
        if ready.is_stale and draft.text != made.text:
            notices.append(
                "Somebody has changed this page since the portal read it, or since your draft was "
                "begun: the diff is against what stands there now. Take their change in."
            )
        notices += [
            f"This link leads nowhere: {each.written}" for each in links if not each.document
        ]
        arguments = {**draft.proposal, "draft": draft.id, "base": ready.target.blob}
        return DraftAnswer(
            draft=await self._summary(draft, caller),
            text=made.text,
            preview=preview,
            diff=diff_of(before, made.text, ready.path),
            links=links,
            problems=[_problem(each.line, each.reason) for each in made.problems],
            notices=notices,
            base=ready.target.blob,
            page=_page_of(draft),
            arguments={name: each for name, each in arguments.items() if each is not None},
        )

    async def published(
        self, draft: Draft, caller: Caller, note: str = "", words: str | None = None
    ) -> DraftAnswer:
        """A draft without what it changes: as reviewers have it, or in its person's own words."""
        text = (draft.text or "") if words is None else words
        return DraftAnswer(
            draft=await self._summary(draft, caller, note),
            text=text,
            preview=text.partition("\n---\n")[2],
            diff="",
            links=[],
            problems=[],
            notices=[],
            page=_page_of(draft),
        )

    async def listed(self, drafts: Sequence[Draft], caller: Caller) -> DraftList:
        """Drafts in a list."""
        names = await self._host.people.names({each.person for each in drafts})
        several = [await self._summary(each, caller, names=names) for each in drafts]
        note = None if several else "No draft waits that you may see."
        return DraftList(drafts=several, note=note)

    async def _summary(
        self,
        draft: Draft,
        caller: Caller,
        note: str = "",
        names: Mapping[str, str] | None = None,
    ) -> DraftSummary:
        if names is None:
            names = await self._host.people.names({draft.person})
        name = names.get(draft.person)
        entry = self._knowledge.store.entry(draft.document, caller.tier)
        served = entry is not None and (draft.state == "merged" or draft.is_change)
        return DraftSummary(
            id=draft.id,
            title=draft.title,
            document=draft.document,
            source=self._labels.get(draft.source, "a source that takes no drafts now"),
            path=draft.path,
            status=_status(draft),
            by=None if name == draft.person else name,
            mine=draft.person == caller.person,
            version=draft.version,
            url=draft.url or None,
            problem=(draft.problem or None) if draft.person == caller.person else None,
            remarks=[DraftRemark.model_validate(each) for each in draft.remarks],
            permalink=self._knowledge.permalinks.of(entry) if entry and served else None,
            note=note or _note(draft, served=served),
            changed=draft.changed,
        )

    def _linked(self, document: Document | None, caller: Caller) -> tuple[list[DraftLink], str]:
        """The links of a page, and its text with those resolved that lead to pages."""
        if document is None:
            return [], ""
        targets = Targets(self._knowledge.store, self._names, caller.tier)
        found: list[DraftLink] = []
        addresses: dict[str, str] = {}
        for link in dict.fromkeys(links_of(document)):
            entry = targets.of(link)
            if entry is not None:
                told = DraftLink(written=link.written, document=entry.key, title=entry.title)
                addresses[link.written] = self._knowledge.permalinks.of(entry)
                found.append(told)
            elif link.names_a_note:
                found.append(DraftLink(written=link.written))

        def resolved(match: re.Match[str]) -> str:
            label, address = (match[2] or match[1]).strip(), addresses.get(match[0])
            return f"[{label}](<{address}>)" if address else f"{label} (?)"

        return found, _with_addresses(_WIKI.sub(resolved, document.content), addresses)


def _with_addresses(text: str, addresses: Mapping[str, str]) -> str:
    """A text whose links to files are the addresses of their pages."""
    for written, address in addresses.items():
        if not written.startswith("[["):
            text = text.replace(f"]({written})", f"](<{address}>)")
    return text


def _status(draft: Draft) -> Status:
    if draft.state == "open" and draft.wants_changes:
        return "changes_requested"
    return draft.state


def _note(draft: Draft, *, served: bool) -> str | None:
    if draft.state == "publishing":
        return "It is on its way; the portal goes on by itself, also where the source is away."
    if draft.state == "merged" and not served:
        return "It is merged; the portal serves it at its next sync."
    if draft.state == "open" and draft.conflicts:
        return "It conflicts with what was merged meanwhile; a reviewer has to resolve that."
    return None


def _problem(line: int, reason: str) -> DraftProblem:
    named = _PROBLEM_FIELD.match(reason)
    return DraftProblem(line=line, reason=reason, field=named[1] if named else None)


def _page_of(draft: Draft) -> str:
    return f"/knowledge/draft?draft={draft.id}"
