"""What the assistant keeps of people: exported with their account, and erased with it."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import AsyncIterator, Collection, Mapping, MutableMapping
from typing import cast

from gateway.assistant.assistant import Assistant
from gateway.contract import Offer, PersonalData, PersonalFile

NAME = "assistant"
"""Under which name what it keeps stands among what plugins keep."""


def with_conversations(offers: Mapping[str, Offer], assistant: Assistant) -> Mapping[str, Offer]:
    """What plugins offer, and beside it how the assistant answers for what it keeps.

    It answers also while the portal has no model: what was said before is there still.

    Args:
        offers: what each open plugin offers; what opens later is seen as well.
        assistant: the portal's.
    """
    own = {NAME: Offer(personal=personal_data(assistant))}
    return ChainMap(own, cast("MutableMapping[str, Offer]", offers))


def personal_data(assistant: Assistant) -> PersonalData:
    """How the assistant answers for what it keeps.

    Args:
        assistant: the portal's.
    """

    async def people() -> Collection[str]:
        return await assistant.store.people()

    async def export(person: str) -> AsyncIterator[PersonalFile]:
        from gateway.assistant.export import as_json, as_markdown

        async for each in assistant.store.all(person):
            yield PersonalFile(f"{each.id}.md", as_markdown(each).encode())
            yield PersonalFile(f"{each.id}.json", as_json(each))

    async def erase(person: str) -> None:
        await assistant.store.erase(person)

    return PersonalData(people, export, erase)
