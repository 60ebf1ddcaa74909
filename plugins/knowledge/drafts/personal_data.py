"""What is kept of people's drafts: handed to them, and erased when they leave.

What reviewers have of a draft lies in the source, under the name that its author has agreed to, and
stays there.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection
from dataclasses import asdict

from gateway.contract import PersonalData, PersonalFile
from plugins.knowledge.drafts.store import DraftStore


def personal_data(store: DraftStore, others: PersonalData | None) -> PersonalData:
    """The declaration of the plugin, with that of its other part.

    Args:
        store: the drafts.
        others: that of memory, where it is on.
    """

    async def people() -> Collection[str]:
        return {*(await others.people() if others else ()), *(await store.people())}

    async def export(person: str) -> AsyncIterator[PersonalFile]:
        if others is not None:
            async for file in others.export(person):
                yield file
        for draft in await store.of(person):
            told = json.dumps(asdict(draft), default=str, ensure_ascii=False, indent=2)
            yield PersonalFile(f"drafts/{draft.id}.json", told.encode())

    async def erase(person: str) -> None:
        if others is not None:
            await others.erase(person)
        await store.forget(person)

    return PersonalData(people, export, erase)
